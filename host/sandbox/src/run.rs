//! One run of a component.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kourier_core::egress::DenyRule;
use kourier_core::outcome::{Fault, Outcome};
use kourier_core::reason::{BackendReason, ChannelReason};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use wasmtime::component::Linker;
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::component::{Component, LoadError, Pre};
use crate::endpoint::Endpoint;
use crate::engine::{Ticker, engine};
use crate::fault::Cut;
use crate::guest::{self, Guest};
use crate::journal::Journal;
use crate::lanes::{Habit, Lanes, Start};
use crate::limiter::Limiter;
use crate::limits::Limits;
use crate::mask::Mask;
use crate::meter::Meter;
use crate::peer::{Peer, UnusableCredential};
use crate::world::{CheckAgent, CheckChat, World};

/// The engine, its ticker, and the threads on which guests run. One for a process; cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    no_pool: Option<String>,
    linker: Linker<Guest>,
    ticker: Ticker,
    limits: Arc<Limits>,
    lanes: Lanes,
    /// A permit for each run that the engine has room for.
    turns: Semaphore,
}

/// What an agent probe is to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTarget {
    /// The only place of the card; none: the well-known ones.
    pub card_path: Option<String>,
}

/// What a chat probe is to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTarget {
    /// The channel's id.
    pub channel: String,
    /// The connection's settings.
    pub settings: BTreeMap<String, String>,
}

/// How a run ended. Everything but `outcome` is for the operator.
#[derive(Clone, Debug)]
pub struct Run<R> {
    /// What it comes to.
    pub outcome: Outcome<R>,
    /// The fault, when the probe could not say anything.
    pub fault: Option<Fault>,
    /// Why, for the log: the journal's causes, escaped, cut and masked, and the host's own words (which egress rule,
    /// which TLS error).
    pub causes: Vec<String>,
    /// The journal's advice, treated likewise.
    pub advice: Vec<String>,
    /// Journal lines that were dropped.
    pub dropped: u32,
    /// Requests that the probe made.
    pub requests: u32,
    /// The rules that denied a request, one for each request that was denied.
    pub denied: Vec<DenyRule>,
    /// CPU time of the guest.
    pub cpu: Duration,
    /// From start to end.
    pub wall: Duration,
}

impl Sandbox {
    /// Starts the engine, the ticker and the guests' threads.
    ///
    /// # Errors
    ///
    /// When the machine cannot run the engine, or no thread can be started.
    pub fn new(limits: Limits) -> anyhow::Result<Self> {
        let (engine, no_pool) =
            engine(&limits).map_err(anyhow::Error::from).context("cannot start the WebAssembly engine")?;
        let ticker = Ticker::start(&engine).context("cannot start the thread that cuts probes")?;
        let mut linker = Linker::new(&engine);
        guest::link(&mut linker)?;
        let lanes = Lanes::start().context("cannot start the threads on which probes run")?;
        let turns = Semaphore::new(limits.runs as usize);
        let limits = Arc::new(limits);
        Ok(Self { inner: Arc::new(Inner { engine, no_pool, linker, ticker, limits, lanes, turns }) })
    }

    /// Compiles a component, checks its imports, and asks a chat probe to describe itself. Blocks for as long as the
    /// compilation takes: tens of milliseconds for a probe in Rust.
    ///
    /// # Errors
    ///
    /// See [`LoadError`].
    pub fn load(&self, bytes: &[u8]) -> Result<Component, LoadError> {
        Component::load(self, bytes)
    }

    /// Runs an agent probe on the guests' threads.
    pub async fn check_agent(&self, probe: &Component, target: AgentTarget, peer: Endpoint) -> Run<BackendReason> {
        let Pre::Agent(pre) = probe.pre() else { return wrong_kind().told(Fault::backend_reason) };
        self.apart::<CheckAgent>(pre.clone(), probe.habit(), target, peer).await.told(Fault::backend_reason)
    }

    /// Runs a chat probe on the guests' threads.
    pub async fn check_chat(&self, probe: &Component, target: ChatTarget, peer: Endpoint) -> Run<ChannelReason> {
        let Pre::Chat(pre) = probe.pre() else { return wrong_kind().told(Fault::channel_reason) };
        self.apart::<CheckChat>(pre.clone(), probe.habit(), target, peer).await.told(Fault::channel_reason)
    }

    /// [`Self::check_agent`] on the runtime of the caller: for recorded cases, whose clock may be paused.
    pub async fn check_agent_here(&self, probe: &Component, target: AgentTarget, peer: Endpoint) -> Run<BackendReason> {
        let Pre::Agent(pre) = probe.pre() else { return wrong_kind().told(Fault::backend_reason) };
        self.here::<CheckAgent>(pre.clone(), target, peer).await.told(Fault::backend_reason)
    }

    /// [`Self::check_chat`] on the runtime of the caller: for recorded cases, whose clock may be paused.
    pub async fn check_chat_here(&self, probe: &Component, target: ChatTarget, peer: Endpoint) -> Run<ChannelReason> {
        let Pre::Chat(pre) = probe.pre() else { return wrong_kind().told(Fault::channel_reason) };
        self.here::<CheckChat>(pre.clone(), target, peer).await.told(Fault::channel_reason)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    pub(crate) fn linker(&self) -> &Linker<Guest> {
        &self.inner.linker
    }

    /// Why instances do not come from a pool; none: they do. Where the machine has no room for one, each is made anew, which
    /// takes three times as long.
    #[must_use]
    pub fn no_pool(&self) -> Option<&str> {
        self.inner.no_pool.as_deref()
    }

    /// The bounds of runs and components.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Runs without a peer, and blocks the caller: on no runtime of the caller's, so it may be called anywhere.
    pub(crate) fn alone<W: World>(&self, pre: W::Pre, target: W::Target) -> Ended<W::Answer> {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let (inner, meter) = (Arc::clone(&self.inner), Arc::new(Meter::default()));
        let run = self.inner.lanes.run(Start::Fast, Arc::clone(&meter), async move {
            // Fails only when the receiver has gone, and then nobody waits.
            let _ = send.send(inner.run::<W>(pre, target, None, meter).await);
        });
        let ended = receive.recv().unwrap_or_else(|_| Ended::without_run(Fault::Host, "the run ended early"));
        drop(run);
        ended
    }

    async fn apart<W: World>(&self, pre: W::Pre, habit: &Habit, target: W::Target, peer: Endpoint) -> Ended<W::Answer> {
        let peer = match Peer::new(peer) {
            Ok(peer) => peer,
            Err(unusable) => return unusable.into(),
        };
        let (inner, network, meter) = (Arc::clone(&self.inner), Handle::current(), Arc::new(Meter::default()));
        let metered = Arc::clone(&meter);
        let run = async move { inner.run::<W>(pre, target, Some((peer, network)), metered).await };
        let ended = self.inner.lanes.run(habit.start(), meter, run).await;
        let ended = ended.unwrap_or_else(|| Ended::without_run(Fault::Host, "the run ended early"));
        habit.note(ended.answer.as_ref().err().copied());
        ended
    }

    async fn here<W: World>(&self, pre: W::Pre, target: W::Target, peer: Endpoint) -> Ended<W::Answer> {
        match Peer::new(peer) {
            Ok(peer) => {
                let meter = Arc::new(Meter::default());
                self.inner.run::<W>(pre, target, Some((peer, Handle::current())), meter).await
            }
            Err(unusable) => unusable.into(),
        }
    }
}

impl Inner {
    /// A fresh store, one call, and the store is gone. The peer comes with the runtime on which its requests travel.
    async fn run<W: World>(
        &self,
        pre: W::Pre,
        target: W::Target,
        peer: Option<(Peer, Handle)>,
        meter: Arc<Meter>,
    ) -> Ended<W::Answer> {
        // Never closed. The time of a run does not count from when it was queued.
        let _turn = self.turns.acquire().await;
        let started = Instant::now();
        let deadline = started + self.limits.deadline;
        let mut store = self.store(peer, deadline, Arc::clone(&meter));
        let ticking = self.ticker.hold();
        let answer = match timeout_at(deadline, meter.watch(W::call(&mut store, pre, target))).await {
            Ok(answer) => answer,
            Err(_) => {
                store.data_mut().journal.note("deadline: the run was older than its wall time");
                Err(Fault::Deadline)
            }
        };
        drop(ticking);
        let guest = store.into_data();
        Ended {
            answer,
            causes: guest.journal.causes,
            advice: guest.journal.advice,
            dropped: guest.journal.dropped,
            requests: guest.requests,
            denied: guest.denied,
            cpu: meter.total(),
            wall: started.elapsed(),
        }
    }

    fn store(&self, peer: Option<(Peer, Handle)>, deadline: Instant, meter: Arc<Meter>) -> Store<Guest> {
        let (peer, network) = peer.unzip();
        let credential = peer.as_ref().and_then(|peer| peer.endpoint.credential.as_ref());
        let mask = credential.map(|credential| Mask::of(credential.secret())).unwrap_or_default();
        let guest = Guest {
            limiter: Limiter::new(&self.limits),
            limits: Arc::clone(&self.limits),
            meter,
            journal: Journal::new(&self.limits, mask),
            requests: 0,
            denied: Vec::new(),
            peer,
            network,
            deadline,
            told_late: false,
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(self.limits.handed_over());
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            if store.data().meter.spent() > store.data().limits.cpu {
                return Err(Cut::CpuBudget.into());
            }
            // Not the engine's own yield: that one wakes itself at once, before timers and sockets get their turn.
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
        });
        store
    }
}

/// How a run ended, before a fault becomes a reason.
pub(crate) struct Ended<A> {
    pub(crate) answer: Result<A, Fault>,
    pub(crate) causes: Vec<String>,
    advice: Vec<String>,
    dropped: u32,
    requests: u32,
    denied: Vec<DenyRule>,
    cpu: Duration,
    wall: Duration,
}

impl<A> Ended<A> {
    fn without_run(fault: Fault, cause: &str) -> Self {
        Self {
            answer: Err(fault),
            causes: vec![cause.to_owned()],
            advice: Vec::new(),
            dropped: 0,
            requests: 0,
            denied: Vec::new(),
            cpu: Duration::ZERO,
            wall: Duration::ZERO,
        }
    }
}

impl<A> From<UnusableCredential> for Ended<A> {
    fn from(UnusableCredential(why): UnusableCredential) -> Self {
        Self::without_run(Fault::Credential, &format!("the credential cannot be used: {why}"))
    }
}

impl<R> Ended<Outcome<R>> {
    fn told(self, reason: impl FnOnce(Fault) -> R) -> Run<R> {
        let (outcome, fault) = match self.answer {
            Ok(outcome) => (outcome, None),
            Err(fault) => (Outcome::of(reason(fault)), Some(fault)),
        };
        Run {
            outcome,
            fault,
            causes: self.causes,
            advice: self.advice,
            dropped: self.dropped,
            requests: self.requests,
            denied: self.denied,
            cpu: self.cpu,
            wall: self.wall,
        }
    }
}

fn wrong_kind<A>() -> Ended<A> {
    Ended::without_run(Fault::NotLoaded, "the component is a probe of the other kind")
}

#[cfg(test)]
mod tests;
