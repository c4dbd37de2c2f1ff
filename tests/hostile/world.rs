//! What all cases stand on: one runtime, one sandbox, the built-in components, the real connector.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use agent_kourier::builtin;
use kourier_core::egress::{DenyRule, EgressRules};
use kourier_core::outcome::{Fault, Outcome};
use kourier_core::schedule::Said;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{
    AgentTarget, ChatTarget, Component, Connector, Credential, Endpoint, Limits, Pass, Run, Sandbox, Secret, Transport,
    Trust,
};
use tokio::runtime::{Builder, Runtime};

use crate::published;

/// Where cases and their requests run.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime);
/// Where peers run: what they do is not to be in the way of the requests.
pub(crate) static PEERS: LazyLock<Runtime> = LazyLock::new(runtime);

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// The engine, with the limits that the program has by default.
pub(crate) static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).expect("an engine"));

static AGENT_CARD: LazyLock<Component> = LazyLock::new(|| built_in("agent-card"));
static SLACK: LazyLock<Component> = LazyLock::new(|| built_in("slack"));

/// The network, where this machine may be reached.
static NEAR: LazyLock<Arc<dyn Transport>> =
    LazyLock::new(|| connector(EgressRules { allow_loopback: true, ..EgressRules::default() }));

/// The credential of every run.
pub(crate) const SECRET: &str = "xoxb-7f3a9c51d2e8-hostile";
/// The channel of every run.
pub(crate) const CHANNEL: &str = "C0HOSTILE";

fn built_in(name: &str) -> Component {
    let component = builtin::ALL.iter().find(|component| component.name == name).expect("it is built in");
    SANDBOX.load(component.wasm).expect("it loads")
}

/// The network under these rules.
pub(crate) fn connector(rules: EgressRules) -> Arc<dyn Transport> {
    Arc::new(Connector::new(rules, Limits::default().body).expect("TLS"))
}

/// The network, where this machine may be reached.
pub(crate) fn near() -> Arc<dyn Transport> {
    Arc::clone(&NEAR)
}

/// A built-in probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Of agents.
    AgentCard,
    /// Of channels.
    Slack,
}

impl Probe {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::AgentCard, Self::Slack];

    /// Its name, as the last part of a case's.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AgentCard => "agent-card",
            Self::Slack => "slack",
        }
    }
}

/// How a run ended, whichever probe it was.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// The reason, as a status has it.
    pub(crate) reason: &'static str,
    /// For how long the peer is left alone.
    pub(crate) gate: Option<Duration>,
    /// The prober's own fault.
    pub(crate) fault: Option<Fault>,
    /// Lines for the log.
    pub(crate) lines: Vec<String>,
    /// Requests that the probe made.
    pub(crate) requests: u32,
    /// Rules that denied one.
    pub(crate) denied: Vec<DenyRule>,
    /// From start to end, by the clock of whoever waited.
    pub(crate) waited: Duration,
    /// From start to end, by the clock of the run.
    pub(crate) wall: Duration,
    /// CPU time of the run.
    pub(crate) cpu: Duration,
}

impl Judged {
    /// The end of a run against the peer at this URL. What of it would be published is looked at when the case is over.
    fn of<R: Copy>(run: Run<R>, said: impl Fn(Outcome<R>) -> Said, url: &str, waited: Duration) -> Self {
        published::ran(&run, &said, url);
        let said = said(run.outcome);
        let (reason, gate) = match said {
            Said::Agent(outcome) => (outcome.reason.as_str(), outcome.gate),
            Said::Channel(outcome) => (outcome.reason.as_str(), outcome.gate),
        };
        Self {
            reason,
            gate,
            fault: run.fault,
            lines: run.causes.into_iter().chain(run.advice).collect(),
            requests: run.requests,
            denied: run.denied,
            waited,
            wall: run.wall,
            cpu: run.cpu,
        }
    }
}

/// Runs a probe once over this network, as the prober does with one that alone asks its origin in a pass.
///
/// # Panics
///
/// When the URL is none.
pub(crate) async fn probe(which: Probe, url: &str, trust: Trust, network: Arc<dyn Transport>) -> Judged {
    probe_over(which, url, trust, Arc::new(Pass::new(network)).for_one()).await
}

/// Runs a probe once over this transport.
///
/// # Panics
///
/// When the URL is none.
pub(crate) async fn probe_over(which: Probe, url: &str, trust: Trust, transport: Arc<dyn Transport>) -> Judged {
    let credential = Credential::bearer(Secret::new(SECRET.to_owned()));
    let base = BaseUrl::parse(url).expect("a URL");
    let peer = Endpoint { base, credential: Some(credential), trust, absolute_name: false, transport };
    let started = Instant::now();
    match which {
        Probe::AgentCard => {
            let run = SANDBOX.check_agent(&AGENT_CARD, AgentTarget { card_path: None }, peer).await;
            Judged::of(run, Said::Agent, url, started.elapsed())
        }
        Probe::Slack => {
            let target = ChatTarget { channel: CHANNEL.to_owned(), settings: [].into() };
            let run = SANDBOX.check_chat(&SLACK, target, peer).await;
            Judged::of(run, Said::Channel, url, started.elapsed())
        }
    }
}

/// Makes what all cases share, and runs each probe once, so that no case pays for it.
pub(crate) fn warm_up() {
    static WARM: LazyLock<()> = LazyLock::new(|| {
        // Its thread ends with the process.
        std::thread::spawn(count_lost_time);
        for which in Probe::ALL {
            let honest = RUNTIME.spawn(published::of(crate::peers::honest(which)));
            let (checked, published) = RUNTIME.block_on(honest).expect("no panic");
            published.judge(checked.map(drop)).expect("an honest peer");
        }
    });
    LazyLock::force(&WARM);
}

/// How long this process lay still because the machine had no time for it, in all, in nanoseconds.
static LOST: AtomicU64 = AtomicU64::new(0);

/// How long this process lay still so far. Nothing is lost on a machine with time to spare; on one whose cores many
/// programs share, whole seconds are, and no deadline can be kept while they are.
pub(crate) fn lost() -> Duration {
    Duration::from_nanos(LOST.load(Ordering::Relaxed))
}

/// Sleeps again and again, and counts what is slept too long.
fn count_lost_time() {
    const NAP: Duration = Duration::from_millis(10);
    loop {
        let asleep = Instant::now();
        std::thread::sleep(NAP);
        let lost = asleep.elapsed().saturating_sub(NAP * 2);
        LOST.fetch_add(u64::try_from(lost.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
