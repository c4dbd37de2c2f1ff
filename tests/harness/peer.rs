//! A scripted peer: a TCP server that answers with exactly the bytes that a test wants, and counts.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a peer does with a connection, in order.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends this byte as fast as it is taken, so many times; none: for ever.
    Flood(u8, Option<u64>),
    /// Sends one byte of these after each pause.
    Drip(Vec<u8>, Duration),
    /// Says nothing for so long.
    Wait(Duration),
    /// Says nothing until the other side goes away.
    Hang,
    /// Closes the connection. Without it, the next request is read.
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
        let fields = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// A running peer. It ends when this is dropped.
pub struct Peer {
    address: SocketAddr,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    sent: AtomicU64,
}

type Script = Arc<dyn Fn(&Seen) -> Vec<Act> + Send + Sync>;

impl Peer {
    /// Listens on a free port of 127.0.0.1. `script` says what to do with each request.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub async fn start(script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let task = tokio::spawn(serve(listener, Arc::new(script), Arc::clone(&counts)));
        Ok(Self { address, counts, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
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

/// An answer with its length.
#[must_use]
pub fn answer(status: &str, fields: &str, body: &[u8]) -> Act {
    let head = format!("HTTP/1.1 {status}\r\n{fields}content-length: {}\r\n\r\n", body.len());
    Act::Send([head.as_bytes(), body].concat())
}

async fn serve(listener: TcpListener, script: Script, counts: Arc<Counts>) {
    // Conversations end with the peer.
    let mut conversations = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let connection = counts.connections.fetch_add(1, Ordering::SeqCst);
        let (script, counts) = (Arc::clone(&script), Arc::clone(&counts));
        conversations.spawn(async move {
            // An error is the other side going away.
            let _ = converse(stream, connection, &script, &counts).await;
        });
    }
}

async fn converse(mut stream: TcpStream, connection: usize, script: &Script, counts: &Counts) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = Vec::new();
    while let Some(mut seen) = request(&mut stream, &mut read).await? {
        seen.connection = connection;
        let acts = script(&seen);
        counts.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        for act in acts {
            if matches!(act, Act::Close) {
                return Ok(());
            }
            perform(&mut stream, act, counts).await?;
        }
    }
    Ok(())
}

/// The next request, or none at the end of the connection.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> std::io::Result<Option<Seen>> {
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

async fn perform(stream: &mut TcpStream, act: Act, counts: &Counts) -> std::io::Result<()> {
    match act {
        Act::Send(bytes) => send(stream, &bytes, counts).await,
        Act::Drip(bytes, pause) => {
            for byte in bytes {
                tokio::time::sleep(pause).await;
                send(stream, &[byte], counts).await?;
            }
            Ok(())
        }
        Act::Flood(byte, times) => {
            let chunk = [byte; 16 << 10];
            let mut left = times.unwrap_or(u64::MAX);
            while left > 0 {
                let size = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
                send(stream, &chunk[..size], counts).await?;
                left -= size as u64;
            }
            Ok(())
        }
        Act::Wait(time) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
        Act::Hang => stream.read_u8().await.map(drop),
        Act::Close => Ok(()),
    }
}

/// Sends, counting each part that the socket took.
async fn send(stream: &mut TcpStream, mut bytes: &[u8], counts: &Counts) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let taken = stream.write(bytes).await?;
        counts.sent.fetch_add(taken as u64, Ordering::SeqCst);
        bytes = &bytes[taken..];
    }
    Ok(())
}
