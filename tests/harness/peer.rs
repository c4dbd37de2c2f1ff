//! A scripted peer: a TCP or TLS server that answers with exactly the bytes that a test wants, and counts.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A card of A2A 0.3 that the broker can use.
pub const CARD: &str = r#"{"name": "agent", "description": "d", "version": "1", "protocolVersion": "0.3.0",
    "url": "https://agent.example/a2a", "preferredTransport": "JSONRPC", "capabilities": {},
    "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}"#;

/// What a peer does with a connection, in order.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends these bytes again and again, as fast as they are taken, until it sent so many; none: for ever.
    Flood(Bytes, Option<u64>),
    /// Sends one byte of these after each pause.
    Drip(Bytes, Duration),
    /// Says nothing for so long.
    Wait(Duration),
    /// Says nothing until the other side goes away.
    Hang,
    /// Ends its own side in good order, over TLS with the alert that says so, and goes on reading.
    Finish,
    /// Breaks the connection off with a reset.
    Reset,
    /// Closes the connection, over TLS without a word. Without it, the next request is read.
    Close,
}

/// A request as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Request line and fields, as sent.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
    /// Which connection it came on, from 0.
    pub connection: usize,
}

impl Seen {
    /// The path with its query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The value of the first field of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.fields().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The fields, in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.map(|(name, value)| (name, value.trim()))
    }
}

/// A running peer. It ends when this is dropped.
pub struct Peer {
    address: SocketAddr,
    scheme: &'static str,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    sent: AtomicU64,
    said: Mutex<Said>,
}

/// Bytes that are kept of the beginning, and as many of the end, of what a peer sent.
const KEPT: usize = 4 << 10;

/// The beginning and the end of what a peer sent.
#[derive(Default)]
struct Said {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Said {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT - self.first.len()));
        self.first.extend(first);
        self.last.extend(&rest[rest.len().saturating_sub(KEPT)..]);
        let old = self.last.len().saturating_sub(KEPT);
        self.last.drain(..old);
    }
}

type Script = dyn Fn(&Seen) -> Vec<Act> + Send + Sync;

/// What a peer does with a connection.
#[derive(Clone)]
enum Manner {
    /// Reads requests and answers each.
    Answers(Arc<Script>),
    /// The same behind TLS.
    Secure(TlsAcceptor, Arc<Script>),
    /// Does not wait for a word.
    Speaks(Vec<Act>),
}

impl Peer {
    /// Listens on a free port of 127.0.0.1. `script` says what to do with each request.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn start(script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::listen(local().await?, "http", Manner::Answers(Arc::new(script)))
    }

    /// The same on a socket that listens already.
    ///
    /// # Errors
    ///
    /// When it has no address.
    pub fn on(
        listener: TcpListener,
        script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::listen(listener, "http", Manner::Answers(Arc::new(script)))
    }

    /// As [`Self::start`], behind TLS.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn start_tls(
        config: Arc<ServerConfig>,
        script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::listen(local().await?, "https", Manner::Secure(TlsAcceptor::from(config), Arc::new(script)))
    }

    /// Listens on a free port of 127.0.0.1, does this with each connection without waiting for a word, and closes it.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn speaking(acts: Vec<Act>) -> std::io::Result<Self> {
        Self::listen(local().await?, "http", Manner::Speaks(acts))
    }

    /// The same as a server whose URL says https, whatever it speaks.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn speaking_as_tls(acts: Vec<Act>) -> std::io::Result<Self> {
        Self::listen(local().await?, "https", Manner::Speaks(acts))
    }

    fn listen(listener: TcpListener, scheme: &'static str, manner: Manner) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let task = tokio::spawn(serve(listener, manner, Arc::clone(&counts)));
        Ok(Self { address, scheme, counts, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, or with https.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// The requests that came, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.counts.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections were opened.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// What it sent, but for the middle of what is long. Of TLS, what is within.
    #[must_use]
    pub fn said(&self) -> Vec<u8> {
        let said = self.counts.said.lock().unwrap_or_else(PoisonError::into_inner);
        [said.first.as_slice(), &said.last].concat()
    }

    /// How many bytes it got rid of: what the other side read, and what lies in the sockets' buffers.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.counts.sent.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends these bytes.
pub fn send(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(Bytes::copy_from_slice(bytes.as_ref()))
}

/// An answer with its length.
#[must_use]
pub fn answer(status: &str, fields: &str, body: &[u8]) -> Act {
    let head = format!("HTTP/1.1 {status}\r\n{fields}content-length: {}\r\n\r\n", body.len());
    Act::Send([head.as_bytes(), body].concat().into())
}

async fn local() -> std::io::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", 0)).await
}

/// Bytes in both directions, and the TCP connection below them.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Wire for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn serve(listener: TcpListener, manner: Manner, counts: Arc<Counts>) {
    // Conversations end with the peer.
    let mut conversations = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let connection = counts.connections.fetch_add(1, Ordering::SeqCst);
        let (manner, counts) = (manner.clone(), Arc::clone(&counts));
        conversations.spawn(async move {
            // An error is the other side going away.
            let _ = meet(stream, connection, manner, &counts).await;
        });
        while conversations.try_join_next().is_some() {}
    }
}

async fn meet(mut stream: TcpStream, connection: usize, manner: Manner, counts: &Counts) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    match manner {
        Manner::Answers(script) => converse(&mut stream, connection, &*script, counts).await,
        Manner::Secure(acceptor, script) => {
            converse(&mut acceptor.accept(stream).await?, connection, &*script, counts).await
        }
        Manner::Speaks(acts) => perform_all(&mut stream, acts, counts).await.map(drop),
    }
}

async fn converse(stream: &mut dyn Wire, connection: usize, script: &Script, counts: &Counts) -> std::io::Result<()> {
    let mut read = Vec::new();
    while let Some(mut seen) = request(stream, &mut read).await? {
        seen.connection = connection;
        let acts = script(&seen);
        counts.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        if !perform_all(stream, acts, counts).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request, or none at the end of the connection.
async fn request(stream: &mut dyn Wire, read: &mut Vec<u8>) -> std::io::Result<Option<Seen>> {
    loop {
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let mut seen = Seen { head: String::from_utf8_lossy(&read[..end]).into_owned(), ..Seen::default() };
            let length = seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0_usize);
            if read.len() >= end + 4 + length {
                let rest = read.split_off(end + 4 + length);
                seen.body = read.split_off(end + 4);
                *read = rest;
                return Ok(Some(seen));
            }
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    }
}

/// Whether the connection is still to be used.
async fn perform_all(stream: &mut dyn Wire, acts: Vec<Act>, counts: &Counts) -> std::io::Result<bool> {
    for act in acts {
        match act {
            Act::Close => return Ok(false),
            Act::Reset => {
                stream.tcp().set_zero_linger()?;
                return Ok(false);
            }
            other => perform(stream, other, counts).await?,
        }
    }
    Ok(true)
}

async fn perform(stream: &mut dyn Wire, act: Act, counts: &Counts) -> std::io::Result<()> {
    match act {
        Act::Send(bytes) => send_all(stream, &bytes, counts).await,
        Act::Drip(bytes, pause) => {
            for byte in bytes {
                tokio::time::sleep(pause).await;
                send_all(stream, &[byte], counts).await?;
            }
            Ok(())
        }
        Act::Flood(bytes, times) => flood(stream, &bytes, times.unwrap_or(u64::MAX), counts).await,
        Act::Wait(time) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
        Act::Hang => stream.read_u8().await.map(drop),
        Act::Finish => stream.shutdown().await,
        Act::Reset | Act::Close => Ok(()),
    }
}

/// About how much a flood sends at a time.
const WAVE: usize = 16 << 10;

async fn flood(stream: &mut dyn Wire, bytes: &[u8], mut left: u64, counts: &Counts) -> std::io::Result<()> {
    // Whole repetitions, so that each wave goes on where the last one ended.
    let wave = bytes.repeat(WAVE.div_ceil(bytes.len()));
    while left > 0 {
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(wave.len());
        send_all(stream, &wave[..size], counts).await?;
        left -= size as u64;
    }
    Ok(())
}

/// Sends, counting each part that the socket took.
async fn send_all(stream: &mut dyn Wire, mut bytes: &[u8], counts: &Counts) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let taken = stream.write(bytes).await?;
        counts.sent.fetch_add(taken as u64, Ordering::SeqCst);
        counts.said.lock().unwrap_or_else(PoisonError::into_inner).add(&bytes[..taken]);
        bytes = &bytes[taken..];
    }
    stream.flush().await
}
