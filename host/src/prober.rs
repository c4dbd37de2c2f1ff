//! The prober: runs what is due, and publishes what it found.
//!
//! One loop asks core's [`Schedule`] what to do, begins probes in the sandbox, and hands their ends back. It decides
//! nothing itself: when, whom and in which order is [`kourier_core::schedule`]'s, whether a component is run at all is
//! [`kourier_core::pause`]'s, and what a probe may do is the sandbox's.
//!
//! What is absent: the names of reasons, the writing of a status, and a queue. The newest results are a value that
//! others look at; a change of the Accepted set only wakes the loop, and its look each few seconds repairs what a
//! missed change would leave behind.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::Accepted;
use kourier_core::condition::Results;
use kourier_core::id::ObjectKey;
use kourier_core::outcome::Fault;
use kourier_core::pause::{PausePolicy, Pauses};
use kourier_core::schedule::{Cadence, Check, Job, Schedule, Step};
use kourier_core::time::Moment;
use kourier_sandbox::{Pass, Sandbox, Transport};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout};

use crate::clock;
use crate::components::{Components, Loaded};
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::secrets::Secrets;

mod peer;
mod probe;
mod report;

use probe::{Ended, Told};
use report::Report;

/// How long a look waits for Secrets that are read for the first time. 1 s: a read takes milliseconds.
const READ: Duration = Duration::from_secs(1);

/// From one publication of results to the next, at least. 100 ms: a pass over many Bindings ends many probes in a second,
/// and each publication is whole.
const PUBLISH: Duration = Duration::from_millis(100);

/// What the probes of every listed Binding ended with, as last published. Empty before the prober's first look.
pub type Found = Arc<BTreeMap<ObjectKey, Results>>;

/// What the prober works with.
pub struct Prober {
    /// Runs the components.
    pub sandbox: Sandbox,
    /// On which runtime.
    pub guests: Guests,
    /// The components.
    pub components: Arc<Components>,
    /// Where credentials and certificates are read.
    pub secrets: Arc<Secrets>,
    /// The way to the peers. The probes of a pass share its answers.
    pub transport: Arc<dyn Transport>,
    /// How long a request may take that several probes of a pass share.
    pub request: Duration,
    /// How often.
    pub cadence: Cadence,
    /// When a component that fails is paused.
    pub pauses: PausePolicy,
    /// Where probes are counted.
    pub metrics: Arc<Metrics>,
    /// Beats as the loop turns.
    pub pulse: Pulse,
}

/// The runtime on which guests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guests {
    /// Their own, so that a guest that spins delays nobody else.
    Apart,
    /// The prober's, whose clock may be paused.
    Here,
}

impl Prober {
    /// Probes what is accepted, for as long as this broker leads: until `shutdown` ends, or nobody sets the Accepted set
    /// any more. Probes that run then are dropped.
    pub async fn run(
        self,
        accepted: watch::Receiver<Arc<Accepted>>,
        results: watch::Sender<Found>,
        shutdown: impl Future<Output = ()>,
    ) {
        let mut shutdown = pin!(shutdown);
        let mut turning = Turning::new(self, accepted, results);
        turning.drop_revoked();
        loop {
            let until = turning.advance().await;
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                changed = turning.accepted.changed() => match changed {
                    Ok(()) => turning.drop_revoked(),
                    Err(_) => return,
                },
                Some(joined) = turning.running.join_next_with_id() => {
                    turning.joined(joined);
                    turning.join_all_ended();
                }
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }
}

/// The state of the loop.
struct Turning {
    prober: Arc<Prober>,
    accepted: watch::Receiver<Arc<Accepted>>,
    results: watch::Sender<Found>,
    origin: Instant,
    schedule: Schedule,
    pauses: Pauses,
    running: JoinSet<Ended>,
    jobs: HashMap<Id, Begun>,
    pass: Option<PassUnderWay>,
    report: Report,
    /// When results were last published.
    published: Option<Instant>,
    /// They are others now.
    unpublished: bool,
}

/// A probe that runs.
struct Begun {
    job: Job,
    component: Loaded,
}

/// The pass under way: what its probes share.
struct PassUnderWay {
    number: u64,
    start: Instant,
    transport: Arc<Pass>,
}

impl Turning {
    fn new(prober: Prober, accepted: watch::Receiver<Arc<Accepted>>, results: watch::Sender<Found>) -> Self {
        Self {
            schedule: Schedule::new(prober.cadence.clone(), Moment::ORIGIN),
            pauses: Pauses::new(prober.pauses.clone()),
            report: Report::new(Arc::clone(&prober.metrics)),
            prober: Arc::new(prober),
            accepted,
            results,
            origin: Instant::now(),
            running: JoinSet::new(),
            jobs: HashMap::new(),
            pass: None,
            published: None,
            unpublished: false,
        }
    }

    /// Does all that is to be done now, publishes what came of it, and says until when nothing more is to be done.
    async fn advance(&mut self) -> Instant {
        let until = loop {
            match self.schedule.next(self.now()) {
                Step::Look => self.look().await,
                Step::Begin(job) => self.begin(job),
                Step::Gated(job, said) => self.report.ended(&job, &Told::left_alone(said)),
                Step::Wait { until } => break self.origin + until.since(Moment::ORIGIN),
            }
        };
        self.end_pass();
        let publication = self.publish();
        self.prober.pulse.beat();
        publication.map_or(until, |at| at.min(until))
    }

    async fn look(&mut self) {
        // What is wanted since a moment ago is read in a moment: a Binding is not left out of a pass for it.
        let _ = timeout(READ, self.prober.secrets.read()).await;
        let (accepted, secrets) = (self.accepted.borrow().clone(), Arc::clone(&self.prober.secrets));
        let served = tokio::task::spawn_blocking(move || peer::served(&accepted, &secrets)).await;
        match served {
            Ok(served) => self.schedule.look(self.now(), served),
            // Nothing is known, so nothing is begun: the next look is at its usual time.
            Err(error) => {
                tracing::error!(cause = %error, "the prober could not read the Secrets' versions");
                self.schedule.postpone(self.now());
            }
        }
    }

    fn begin(&mut self, job: Job) {
        let components = Arc::clone(&self.prober.components);
        let component = match job.check {
            Check::Agent => components.agent_probe(),
            Check::Channel => components.chat_probe(&job.inputs.served.chat.platform),
        };
        let Some(component) = component else {
            return self.ended(&job, None, &Told::fault(job.check, Fault::NotLoaded, "no component is loaded for it"));
        };
        if self.pauses.paused(component.component.digest(), &job.key.namespace, self.now()) {
            let told = Told::fault(job.check, Fault::Paused, "the component is paused after faults in a row");
            return self.ended(&job, Some(component), &told);
        }
        let errand = probe::Errand {
            prober: Arc::clone(&self.prober),
            accepted: self.accepted.clone(),
            key: job.key.clone(),
            check: job.check,
            inputs: Arc::clone(&job.inputs),
            component: component.clone(),
            transport: self.transport_of(&job),
        };
        let id = self.running.spawn(errand.run()).id();
        self.jobs.insert(id, Begun { job, component: component.clone() });
    }

    /// The transport of a probe: that of its pass. The pass before it is dropped, answers included.
    fn transport_of(&mut self, job: &Job) -> Arc<dyn Transport> {
        let pass = match self.pass.take().filter(|pass| pass.number == job.pass) {
            Some(pass) => self.pass.insert(pass),
            None => {
                let shared = Pass::with_request_time(Arc::clone(&self.prober.transport), self.prober.request);
                let (start, transport) = (Instant::now(), Arc::new(shared));
                self.pass.insert(PassUnderWay { number: job.pass, start, transport })
            }
        };
        let transport = Arc::clone(&pass.transport);
        if job.asks_alone { transport.for_one() } else { transport }
    }

    /// Takes what ended in the same moment, so that it is published together.
    fn join_all_ended(&mut self) {
        while let Some(joined) = self.running.try_join_next_with_id() {
            self.joined(joined);
        }
    }

    fn joined(&mut self, joined: Result<(Id, Ended), JoinError>) {
        let (id, ended) = match joined {
            Ok((id, ended)) => (id, Ok(ended)),
            Err(error) => (error.id(), Err(error)),
        };
        let Some(Begun { job, component }) = self.jobs.remove(&id) else { return };
        match ended {
            Ok(Ended::Told(told)) => self.ended(&job, Some(&component), &told),
            Ok(Ended::LeftOut) => self.schedule.left_out(&job),
            Err(error) => {
                let told = Told::fault(job.check, Fault::Host, &format!("the probe's task ended early: {error}"));
                self.ended(&job, Some(&component), &told);
            }
        }
    }

    fn ended(&mut self, job: &Job, component: Option<&Loaded>, told: &Told) {
        let now = self.now();
        self.schedule.ended(job, told.said, now);
        self.report.ended(job, told);
        if let Some(fault) = told.fault {
            self.report.fault(component, fault);
        }
        let Some(component) = component else { return };
        let pause = self.pauses.ran(component.component.digest(), &job.key.namespace, told.fault, now);
        if let Some(pause) = pause {
            report::paused(component, &job.key.namespace, pause);
        }
    }

    fn drop_revoked(&mut self) {
        let accepted = self.accepted.borrow_and_update().clone();
        self.prober.secrets.want(&peer::wanted(&accepted));
        self.schedule.retain_served(&accepted);
    }

    fn end_pass(&mut self) {
        if self.schedule.under_way() {
            return;
        }
        if let Some(pass) = self.pass.take() {
            self.prober.metrics.pass_ended(pass.start.elapsed(), clock::now());
        }
    }

    /// Publishes the results if they are others, or says when they will be published.
    fn publish(&mut self) -> Option<Instant> {
        self.unpublished |= self.schedule.take_news();
        if !self.unpublished {
            return None;
        }
        let now = Instant::now();
        let due = self.published.map_or(now, |last| last + PUBLISH);
        if now < due {
            return Some(due);
        }
        (self.unpublished, self.published) = (false, Some(now));
        let results = self.schedule.results();
        self.report.retain(&results);
        self.results.send_if_modified(|published| {
            let changed = **published != results;
            if changed {
                *published = Arc::new(results);
            }
            changed
        });
        None
    }

    fn now(&self) -> Moment {
        Moment::after_origin(self.origin.elapsed())
    }
}

#[cfg(test)]
mod tests;
