//! Peers that misbehave, each against both built-in probes.
//!
//! A [`Script`] says what the peer does and which reason is right. Beside the reason, each run has to be without a fault
//! (a peer must not be able to make a component look broken), over in time and in little memory, and the peer may get
//! nothing but the probe's own requests.

mod body;
mod cards;
mod echo;
mod framing;
mod heads;
mod json;
mod pieces;
mod redirects;
mod shared;
mod slack;
mod slow;
mod statuses;
mod tls;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::future::BoxFuture;
use kourier_core::outcome::Fault;
use kourier_core::reason::{BackendReason, ChannelReason};
use kourier_sandbox::Trust;
use suite::peer::{Act, Peer, Seen, answer};

use crate::case::{Case, Checked, MEMORY, Pace};
use crate::memory::Peak;
use crate::published;
use crate::world::{CHANNEL, Judged, PEERS, Probe, SECRET, lost, near, probe};
pub(crate) use pieces::honest_document;

/// The page's 10 seconds, and what this machine may need to notice that they are over. What the machine had no time for
/// comes on top: see [`lost`].
const DEADLINE: Duration = Duration::from_millis(10_100);
/// The same by the clock of whoever waits for the run, beside six floods that keep all threads that carry requests busy.
const FLOODED: Duration = Duration::from_secs(30);
/// What a run keeps back to say what it saw. A machine that lies still for longer lets it run into its deadline.
const RESERVE: Duration = Duration::from_millis(250);
/// CPU time of a run. Its budget is 200 ms, and a peer that could make a probe use that up could make it look broken.
const CPU: Duration = Duration::from_millis(150);

/// The longest that a case takes whose peer does not make it wait. Far more than any needs, and far less than a request's
/// 8 seconds, because machines are busy.
const PROMPT: Duration = Duration::from_secs(5);

/// Which reasons are right: of the agent, of the channel. None where a script is not for that probe.
#[derive(Clone, Copy, Debug)]
struct Want(Option<BackendReason>, Option<ChannelReason>);

const fn both(agent: BackendReason, chat: ChannelReason) -> Want {
    Want(Some(agent), Some(chat))
}

const fn agent(reason: BackendReason) -> Want {
    Want(Some(reason), None)
}

const fn chat(reason: ChannelReason) -> Want {
    Want(None, Some(reason))
}

/// The answer is one that a probe can use.
const GOOD: Want = both(BackendReason::Ok, ChannelReason::Ok);
/// There is no answer.
const NONE: Want = both(BackendReason::Unreachable, ChannelReason::PlatformUnavailable);
/// There is no whole answer in time.
const LATE: Want = both(BackendReason::Unreachable, ChannelReason::PlatformTimeout);
/// The answer is larger than 1 MiB.
const LARGE: Want = both(BackendReason::InvalidAgentCard, ChannelReason::UnexpectedAnswer);
/// The answer is not what it should be.
const BAD: Want = LARGE;

impl Want {
    fn reason(self, which: Probe) -> Option<&'static str> {
        match which {
            Probe::AgentCard => self.0.map(BackendReason::as_str),
            Probe::Slack => self.1.map(ChannelReason::as_str),
        }
    }
}

type Answers = Arc<dyn Fn(&Seen) -> Vec<Act> + Send + Sync>;
type Start = Arc<dyn Fn() -> BoxFuture<'static, (Peer, Trust)> + Send + Sync>;

/// What a peer does, and what is right.
struct Script {
    name: String,
    want: Want,
    gate: Option<Duration>,
    pace: Pace,
    /// Whether the probe may also wait for its deadline.
    may_be_late: bool,
    start: Start,
}

impl Script {
    /// A peer that does this with each request. What it does is made when the case runs, not before.
    fn new(name: impl Into<String>, want: Want, acts: impl Fn() -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self::answering(name, want, move || {
            let acts = acts();
            Arc::new(move |_| acts.clone())
        })
    }

    /// A peer that looks at the request.
    fn by_request(
        name: impl Into<String>,
        want: Want,
        acts: impl Fn(&Seen) -> Vec<Act> + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::answering(name, want, move || Arc::new(acts.clone()))
    }

    fn answering(name: impl Into<String>, want: Want, answers: impl Fn() -> Answers + Send + Sync + 'static) -> Self {
        let answers = Arc::new(answers);
        Self::started(name, want, move || {
            let answers = answers();
            async move { (Peer::start(move |seen| answers(seen)).await.expect("a port"), Trust::System) }
        })
    }

    /// A peer that speaks first, and closes.
    fn speaking(name: impl Into<String>, want: Want, acts: impl Fn() -> Vec<Act> + Send + Sync + 'static) -> Self {
        let acts = Arc::new(acts);
        Self::started(name, want, move || {
            let acts = acts();
            async move { (Peer::speaking(acts).await.expect("a port"), Trust::System) }
        })
        .racing()
    }

    /// A peer that is started in this way, and whom the probe trusts so.
    fn started<F: Future<Output = (Peer, Trust)> + Send + 'static>(
        name: impl Into<String>,
        want: Want,
        start: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        let start: Start = Arc::new(move || Box::pin(start()));
        Self { name: name.into(), want, gate: None, pace: Pace::Alone, may_be_late: false, start }
    }

    /// It is to be left alone for so long.
    fn gate(self, seconds: u64) -> Self {
        Self { gate: Some(Duration::from_secs(seconds)), ..self }
    }

    /// It breaks the connection in the moment in which the request is handed to it. In about one run of a thousand on a
    /// busy machine the HTTP client then waits for the answer until its time is over, instead of failing at once.
    fn racing(self) -> Self {
        Self { may_be_late: true, ..self }
    }

    /// It makes the probe wait.
    fn slow(self) -> Self {
        Self { pace: Pace::Together, ..self }
    }

    /// It sends as fast as it can until the deadline.
    fn flooding(self) -> Self {
        Self { pace: Pace::Flooding, ..self }
    }
}

/// Every case of this family.
pub(crate) fn cases() -> Vec<Case> {
    all().into_iter().flat_map(against_both).chain(shared::cases()).collect()
}

/// A peer that makes nobody wait.
pub(crate) struct Prompt {
    /// The peer itself.
    pub(crate) peer: Peer,
    /// Whom its probes trust.
    pub(crate) trust: Trust,
}

/// Those that are taken, by number and name.
pub(crate) async fn prompt(is_taken: impl Fn(usize, &str) -> bool) -> Vec<Prompt> {
    let prompt = all().into_iter().filter(|script| script.pace == Pace::Alone && !script.may_be_late);
    let taken = prompt.enumerate().filter(|(number, script)| is_taken(*number, &script.name));
    let mut peers = Vec::new();
    for (_, script) in taken {
        let (peer, trust) = (script.start)().await;
        peers.push(Prompt { peer, trust });
    }
    peers
}

fn all() -> Vec<Script> {
    let scripts = [
        body::scripts(),
        cards::scripts(),
        echo::scripts(),
        framing::scripts(),
        heads::scripts(),
        json::scripts(),
        redirects::scripts(),
        slack::scripts(),
        slow::scripts(),
        statuses::scripts(),
        tls::scripts(),
    ];
    scripts.into_iter().flatten().collect()
}

fn against_both(script: Script) -> Vec<Case> {
    let Script { name, want, gate, pace, may_be_late, start } = script;
    let case = |which: Probe| {
        let reason = want.reason(which)?;
        let (name, start) = (format!("peer::{name}::{}", which.name()), Arc::clone(&start));
        Some(Case::paced(pace, name, move || async move {
            let (peer, trust) = PEERS.spawn(start()).await.expect("no panic");
            let peak = (pace == Pace::Alone).then(Peak::begin);
            let before = lost();
            let judged = probe(which, &peer.url(), trust, near()).await;
            let memory = peak.map_or(Ok(()), |peak| peak.at_most(MEMORY));
            let is_late = may_be_late && Some(judged.reason) == LATE.reason(which);
            let wait = match pace {
                Pace::Alone if !is_late => PROMPT,
                Pace::Alone | Pace::Together => DEADLINE,
                Pace::Flooding => FLOODED,
            };
            let bounds = Bounds { wait, lost: lost().saturating_sub(before) };
            let reason = if is_late { judged.reason } else { reason };
            let checked = check(&judged, reason, gate, bounds).and(memory);
            let (came, sent) = (peer.connections(), peer.sent());
            published::peer(peer.said());
            checked.map_err(|error| format!("{error}; {bounds:?}, {came} connections, {sent} bytes sent"))?;
            check_peer(&peer, which, &judged, pace).await
        }))
    };
    Probe::ALL.into_iter().filter_map(case).collect()
}

/// How long a case may take.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// By the clock of whoever waits.
    wait: Duration,
    /// What the machine had no time for meanwhile.
    lost: Duration,
}

/// What is asked of every run.
fn check(judged: &Judged, reason: &str, gate: Option<Duration>, bounds: Bounds) -> Checked {
    let told = |what: &str| Err(format!("{what}: {judged:?}"));
    if judged.wall > DEADLINE + bounds.lost || judged.waited > bounds.wait + bounds.lost {
        return told("too late");
    }
    if judged.fault == Some(Fault::Deadline) && bounds.lost > RESERVE {
        return Ok(());
    }
    if judged.fault.is_some() {
        return told("a fault");
    }
    if (judged.reason, judged.gate) != (reason, gate) {
        return told(&format!("not {reason} with the gate {gate:?}"));
    }
    if judged.cpu > CPU {
        return told("too much CPU time");
    }
    let is_plain = |line: &String| line.len() <= 1024 && !line.chars().any(char::is_control) && !line.contains(SECRET);
    if judged.lines.iter().all(is_plain) { Ok(()) } else { told("a line that the log must not have") }
}

/// What no request of a probe has.
async fn check_peer(peer: &Peer, which: Probe, judged: &Judged, pace: Pace) -> Checked {
    let seen = peer.seen();
    // A GET whose kept connection died goes out twice.
    if seen.len() > 2 * judged.requests as usize {
        return Err(format!("{} requests came, the probe made {}", seen.len(), judged.requests));
    }
    for request in &seen {
        if let Some(what) = improper(request, peer.address(), which) {
            return Err(format!("the peer was sent {what}: {request:?}"));
        }
    }
    if ELSEWHERE.connections() > 0 {
        return Err("somebody else was asked".to_owned());
    }
    if pace == Pace::Flooding {
        return Ok(());
    }
    // What it gets rid of after the probe is done fits into the buffers of the machine.
    let bound =
        u64::from(judged.requests.max(1)) * ((1 << 20) + (512 << 10) + largest("tcp_rmem") + largest("tcp_wmem"));
    let sent = settled(peer).await;
    if sent <= bound { Ok(()) } else { Err(format!("the peer got rid of {sent} bytes, {bound} are explained")) }
}

/// What is wrong with a request.
fn improper(request: &Seen, host: SocketAddr, which: Probe) -> Option<String> {
    const FIELDS: [&str; 6] = ["a2a-version", "accept", "accept-encoding", "authorization", "host", "user-agent"];
    let mut lines = request.head.lines();
    let path = request.path().to_owned();
    let is_expected = match which {
        Probe::AgentCard => ["/.well-known/agent-card.json", "/.well-known/agent.json"].contains(&path.as_str()),
        Probe::Slack => {
            path.starts_with("/users.conversations?types=") || path == format!("/conversations.info?channel={CHANNEL}")
        }
    };
    if !is_expected || lines.next() != Some(format!("GET {path} HTTP/1.1").as_str()) || !request.body.is_empty() {
        return Some("another request than the probe's".to_owned());
    }
    let mut names: Vec<String> = request.fields().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    if names.len() != count || names.iter().any(|name| !FIELDS.contains(&name.as_str())) {
        return Some("a header that is not the probe's".to_owned());
    }
    let is_so = |name: &str, value: &str| request.header(name) == Some(value);
    let as_configured = is_so("host", &host.to_string())
        && is_so("authorization", &format!("Bearer {SECRET}"))
        && is_so("accept-encoding", "identity");
    (!as_configured).then(|| "a header with another value".to_owned())
}

/// The peer's count when it no longer moves: at once, unless it still sends.
async fn settled(peer: &Peer) -> u64 {
    loop {
        let before = peer.sent();
        tokio::time::sleep(Duration::from_millis(5)).await;
        if peer.sent() == before {
            return before;
        }
    }
}

/// The kernel's largest buffer of a socket.
fn largest(name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    text.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or(8 << 20)
}

/// Where redirects and the like point. Nobody is to come.
static ELSEWHERE: LazyLock<Peer> = LazyLock::new(|| {
    let _on = PEERS.enter();
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
    Peer::on(listener, |_| vec![answer("200 OK", "", honest_document("").as_bytes())]).expect("an address")
});

/// An honest peer: what every other is measured against.
pub(crate) async fn honest(which: Probe) -> Result<Judged, String> {
    let document = honest_document("");
    let peer = Peer::start(move |_| vec![answer("200 OK", "", document.as_bytes())]).await.expect("a port");
    let judged = probe(which, &peer.url(), Trust::System, near()).await;
    check(&judged, GOOD.reason(which).expect("both"), None, Bounds { wait: DEADLINE, lost: Duration::ZERO })?;
    Ok(judged)
}
