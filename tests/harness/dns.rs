//! A name server that answers what a test wants, truthful or not, over UDP and TCP.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use simple_dns::rdata::{A, AAAA, CNAME, RData};
use simple_dns::{CLASS, Name, Packet, PacketFlag, QTYPE, RCODE, ResourceRecord, TYPE};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// Bytes of an answer over UDP: whoever wants more asks over TCP.
const DATAGRAM: usize = 512;
/// Aliases that are followed.
const ALIASES: usize = 32;

/// What is said of a name.
#[derive(Clone, Debug)]
pub enum Say {
    /// These addresses; of the family that was asked for.
    Addresses(Vec<IpAddr>),
    /// It is another name for this one.
    Alias(String),
    /// An error.
    Error(RCODE),
    /// Nothing, ever.
    Nothing,
    /// These bytes after the query's own id.
    Bytes(Vec<u8>),
    /// The right answer to another query.
    OtherId(Vec<IpAddr>),
}

/// What is said of each name, without a dot at its end: one answer after the other, the last one again and again.
pub type Zone = BTreeMap<String, Vec<Say>>;

/// A running server. It ends when this is dropped.
pub struct NameServer {
    _tasks: JoinSet<()>,
    zone: Arc<Served>,
}

struct Served {
    zone: Zone,
    /// How often each name was asked for, by name and family.
    asked: Mutex<BTreeMap<(String, u16), usize>>,
}

impl NameServer {
    /// Serves this zone there. Other names do not exist.
    ///
    /// # Errors
    ///
    /// When the address is not free.
    pub async fn start(at: SocketAddr, zone: Zone) -> std::io::Result<Self> {
        let zone = Arc::new(Served { zone, asked: Mutex::default() });
        let (datagrams, streams) = (UdpSocket::bind(at).await?, TcpListener::bind(at).await?);
        let mut tasks = JoinSet::new();
        tasks.spawn(serve_datagrams(datagrams, Arc::clone(&zone)));
        tasks.spawn(serve_streams(streams, Arc::clone(&zone)));
        Ok(Self { _tasks: tasks, zone })
    }

    /// How often the IPv4 addresses of a name were asked for.
    #[must_use]
    pub fn asked(&self, name: &str) -> usize {
        let asked = self.zone.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get(&(name.to_owned(), TYPE::A.into())).copied().unwrap_or(0)
    }
}

async fn serve_datagrams(socket: UdpSocket, zone: Arc<Served>) {
    let mut query = [0; 1500];
    while let Ok((size, from)) = socket.recv_from(&mut query).await {
        if let Some(answer) = zone.answer(&query[..size], DATAGRAM) {
            // Whoever asked may have gone.
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

async fn serve_streams(listener: TcpListener, zone: Arc<Served>) {
    let mut conversations = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let zone = Arc::clone(&zone);
        conversations.spawn(async move {
            // An error is the other side going away.
            let _ = converse(stream, &zone).await;
        });
    }
}

async fn converse(mut stream: TcpStream, zone: &Served) -> std::io::Result<()> {
    loop {
        let mut query = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut query).await?;
        if let Some(answer) = zone.answer(&query, usize::from(u16::MAX)) {
            let size = u16::try_from(answer.len()).unwrap_or(u16::MAX);
            stream.write_all(&[size.to_be_bytes().as_slice(), &answer].concat()).await?;
        }
    }
}

impl Served {
    /// The answer, which is cut to `size` bytes by leaving all records out and saying so; none: it stays silent.
    fn answer(&self, query: &[u8], size: usize) -> Option<Vec<u8>> {
        let query = Packet::parse(query).ok()?;
        let question = query.questions.first()?;
        let QTYPE::TYPE(family) = question.qtype else { return None };
        let mut reply = Packet::new_reply(query.id());
        reply.set_flags(PacketFlag::RECURSION_AVAILABLE | PacketFlag::RECURSION_DESIRED);
        reply.questions.push(question.clone());
        let mut name = question.qname.to_string().to_ascii_lowercase();
        for _ in 0..ALIASES {
            match self.say(&name, family) {
                Say::Alias(other) => {
                    reply.answers.push(record(&name, RData::CNAME(CNAME(Name::new(&other).ok()?.into_owned()))));
                    name = other;
                }
                Say::Addresses(addresses) => {
                    reply.answers.extend(of_family(&addresses, family).map(|data| record(&name, data)));
                    break;
                }
                Say::Error(code) => {
                    *reply.rcode_mut() = code;
                    break;
                }
                Say::Nothing => return None,
                Say::Bytes(bytes) => return Some([query.id().to_be_bytes().as_slice(), &bytes].concat()),
                Say::OtherId(addresses) => {
                    reply.set_id(query.id().wrapping_add(1));
                    reply.answers.extend(of_family(&addresses, family).map(|data| record(&name, data)));
                    break;
                }
            }
        }
        let whole = reply.build_bytes_vec_compressed().ok()?;
        if whole.len() <= size {
            return Some(whole);
        }
        reply.answers.clear();
        reply.set_flags(PacketFlag::TRUNCATION);
        reply.build_bytes_vec_compressed().ok()
    }

    fn say(&self, name: &str, family: TYPE) -> Say {
        let Some(answers) = self.zone.get(name) else { return Say::Error(RCODE::NameError) };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = asked.entry((name.to_owned(), family.into())).or_default();
        let say = answers.get(*turn).or_else(|| answers.last()).cloned();
        *turn += 1;
        say.unwrap_or(Say::Nothing)
    }
}

fn of_family(addresses: &[IpAddr], family: TYPE) -> impl Iterator<Item = RData<'static>> {
    addresses.iter().filter_map(move |address| match (address, family) {
        (IpAddr::V4(v4), TYPE::A) => Some(RData::A(A { address: v4.to_bits() })),
        (IpAddr::V6(v6), TYPE::AAAA) => Some(RData::AAAA(AAAA { address: v6.to_bits() })),
        _ => None,
    })
}

/// A record that nobody may keep.
fn record(name: &str, data: RData<'static>) -> ResourceRecord<'static> {
    ResourceRecord::new(Name::new_unchecked(name).into_owned(), CLASS::IN, 0, data)
}
