//! A peer that speaks TLS with a certificate of its own making.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use anyhow::Context as _;
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A running peer. Its thread ends with the process: it holds nothing but a socket.
pub struct TlsPeer {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its certificate, which signs itself, in PEM.
    pub certificate: String,
}

impl TlsPeer {
    /// Listens on a free port of 127.0.0.1 with a certificate for this name, which expired if `expired`. It answers each
    /// request with `200` and `{}`, and closes.
    ///
    /// # Errors
    ///
    /// When there is no free port, or no certificate can be made.
    pub fn start(name: &str, expired: bool) -> anyhow::Result<Self> {
        let mut params = CertificateParams::new([name.to_owned()])?;
        if expired {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        }
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())?;
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr().context("a socket that listens has an address")?;
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                // An error is the other side not liking the certificate.
                let _ = converse(stream, &config);
            }
        });
        Ok(Self { address, certificate: certificate.pem() })
    }
}

fn converse(stream: TcpStream, config: &Arc<ServerConfig>) -> anyhow::Result<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(config))?, stream);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")?;
    stream.conn.send_close_notify();
    stream.flush()?;
    Ok(())
}
