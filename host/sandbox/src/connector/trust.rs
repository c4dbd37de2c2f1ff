//! Whose certificates are trusted.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Certificates of one bundle: the system's own roots are about 150.
const CERTIFICATES: usize = 1000;

/// The system's roots.
pub(super) fn system() -> anyhow::Result<ClientConfig> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map(ToString::to_string).unwrap_or_default();
        bail!("the system has no root certificates (install ca-certificates, or set SSL_CERT_FILE): {why}");
    }
    config(roots).context("cannot set up TLS")
}

/// These certificates and no others.
pub(super) fn only(pem: &str) -> Result<ClientConfig, String> {
    config(roots(pem)?).map_err(|error| error.to_string())
}

/// Whether a PEM bundle can be used as the only trust of an endpoint.
///
/// # Errors
///
/// What is wrong with it, without a word of its contents.
pub fn check_certificates(pem: &str) -> Result<(), String> {
    roots(pem).map(drop)
}

fn roots(pem: &str) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()).take(CERTIFICATES) {
        let certificate = certificate.map_err(|_| "it is not in PEM".to_owned())?;
        roots.add(certificate).map_err(|_| format!("its certificate {} is no X.509 certificate", roots.len() + 1))?;
    }
    if roots.is_empty() { Err("it holds no certificate".to_owned()) } else { Ok(roots) }
}

fn config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    // Named here, so that no other crate's choice of a provider matters.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
