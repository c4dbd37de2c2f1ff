//! When a pass starts and what is due in it.
//!
//! The prober asks [`Schedule::next`] what to do and does it: wait, take the served Bindings as they are
//! ([`Schedule::look`]), or begin a probe, whose end it reports ([`Schedule::ended`]). What every probe ended with is
//! kept here, for as long as its Binding is served.
//!
//! A pass runs over the Bindings that were due when it began, and only with the configuration that they had then. A
//! probe whose Binding changed before its turn is left out, so that no new credential goes to an old address; the
//! Binding is due again, and first, in the next pass.
//!
//! What is absent: a clock, IO, and a memory of an earlier leader.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::accept::{Accepted, Served, Used};
use crate::condition::Results;
use crate::id::{Generation, ObjectKey, Uid};
use crate::outcome::Outcome;
use crate::reason::{BackendReason, ChannelReason};
use crate::time::Moment;

mod cadence;

pub use cadence::Cadence;

/// Everything that a Binding's probes depend on. Equal values ask the same questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// The object.
    pub uid: Uid,
    /// What is served of it.
    pub served: Served,
    /// The versions of the Secrets that it refers to.
    pub secrets: SecretVersions,
}

impl Inputs {
    /// Whom this probe asks.
    fn origin(&self, check: Check) -> &str {
        match check {
            Check::Agent => self.served.agent.url.origin(),
            Check::Channel => self.served.chat.url.origin(),
        }
    }
}

/// The versions of the Secrets that a Binding refers to, in an order that depends on the Binding alone. A version is
/// any text that changes when the content does; one that says why a Secret cannot be read is as good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretVersions(pub Vec<String>);

/// One of the two probes of a Binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The agent's card: `BackendReachable`.
    Agent,
    /// The bot's place in the channel: `ChannelJoined`.
    Channel,
}

impl Check {
    /// The two probes, in the order of their conditions.
    pub const ALL: [Self; 2] = [Self::Agent, Self::Channel];

    /// The probe's name in logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Channel => "chat",
        }
    }
}

/// A probe that has begun. It is not `Clone`: it is handed back once, when the probe ends.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a probe that is not handed back keeps its place among the running ones"]
pub struct Job {
    /// Which pass it belongs to, from 1.
    pub pass: u64,
    /// The Binding.
    pub key: ObjectKey,
    /// Which of its probes.
    pub check: Check,
    /// The configuration with which the pass began.
    pub inputs: Arc<Inputs>,
    /// Whether no other probe of its pass asks its origin, so that its answers are of use to nobody else.
    pub asks_alone: bool,
}

impl Job {
    /// The generation that the result is about.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.inputs.served.generation
    }
}

/// What a probe ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Of the agent.
    Agent(Outcome<BackendReason>),
    /// Of the channel.
    Channel(Outcome<ChannelReason>),
}

/// What is to be done now.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing before `until`, unless a probe ends.
    Wait {
        /// The next look.
        until: Moment,
    },
    /// Take the served Bindings as they are and call [`Schedule::look`].
    Look,
    /// Run this probe, and hand it back to [`Schedule::ended`] or [`Schedule::left_out`].
    Begin(Job),
    /// This probe ended without a request, because its peer asked to be left alone. It is recorded already.
    Gated(Job, Said),
}

/// The state of the prober of one leader.
#[derive(Debug)]
pub struct Schedule {
    cadence: Cadence,
    next_look: Moment,
    passes: u64,
    last_pass: Option<Moment>,
    queue: VecDeque<Job>,
    running: usize,
    listed: BTreeMap<ObjectKey, Listed>,
    gates: BTreeMap<(Check, Used), Moment>,
    /// The results are others than those last told of.
    news: bool,
}

/// A Binding that the prober has listed.
#[derive(Debug)]
struct Listed {
    inputs: Arc<Inputs>,
    last: Option<Begun>,
    /// A probe of it was left out of a pass.
    owed: bool,
    results: Results,
}

/// The newest probe of a Binding.
#[derive(Debug)]
struct Begun {
    at: Moment,
    inputs: Arc<Inputs>,
}

/// Why a Binding is due. The order is the order in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Never probed, or changed since its last probe began.
    Changed,
    /// Its last probe began too long ago.
    Old,
}

impl Schedule {
    /// The schedule of a leader that starts now.
    #[must_use]
    pub fn new(cadence: Cadence, now: Moment) -> Self {
        Self {
            next_look: now + cadence.start_delay,
            cadence,
            passes: 0,
            last_pass: None,
            queue: VecDeque::new(),
            running: 0,
            listed: BTreeMap::new(),
            gates: BTreeMap::new(),
            news: false,
        }
    }

    /// What is to be done now. Ask again after each thing done.
    pub fn next(&mut self, now: Moment) -> Step {
        if now >= self.next_look {
            return Step::Look;
        }
        self.begin_next(now).unwrap_or(Step::Wait { until: self.next_look })
    }

    /// Lists the Bindings that are served now, forgets the others, and begins a pass if it may and something is due.
    pub fn look(&mut self, now: Moment, served: BTreeMap<ObjectKey, Inputs>) {
        self.next_look = now + self.cadence.look_interval;
        self.gates.retain(|_, until| *until > now);
        self.list(served);
        if !self.under_way() && self.last_pass.is_none_or(|last| now.since(last) >= self.cadence.pass_gap) {
            self.begin_pass(now);
        }
    }

    /// Puts a look off that could not be made, because the served Bindings are not known.
    pub fn postpone(&mut self, now: Moment) {
        self.next_look = now + self.cadence.look_interval;
    }

    /// Forgets what is not served any more, results included. To be called whenever the Accepted set changes: the
    /// next look would do it too, but later.
    pub fn retain_served(&mut self, accepted: &Accepted) {
        let before = self.listed.len();
        self.listed.retain(|key, listed| {
            accepted.bindings.get(key).is_some_and(|judged| judged.uid == listed.inputs.uid && judged.served.is_some())
        });
        self.news |= self.listed.len() != before;
    }

    /// Takes a probe's result. It counts for the object and generation with which the pass began; if that object is
    /// not served any more, it is dropped. A wish of the peer to be left alone counts either way.
    pub fn ended(&mut self, job: &Job, said: Said, now: Moment) {
        self.running = self.running.saturating_sub(1);
        let gate = match said {
            Said::Agent(outcome) => outcome.gate,
            Said::Channel(outcome) => outcome.gate,
        };
        if let Some(wait) = gate {
            self.gates.insert(gate_of(job), now + wait);
        }
        self.record(job, said);
    }

    /// Takes back a probe that was not run, because its Binding was changed or lost its permission after the last
    /// look. If it is still served, it is due in the next pass.
    pub fn left_out(&mut self, job: &Job) {
        self.running = self.running.saturating_sub(1);
        self.owe(&job.key);
    }

    /// What every listed Binding's probes ended with. A Binding that is listed and not probed yet is here, without
    /// outcomes.
    #[must_use]
    pub fn results(&self) -> BTreeMap<ObjectKey, Results> {
        self.listed.iter().map(|(key, listed)| (key.clone(), listed.results.clone())).collect()
    }

    /// Whether the results may be others than when this was last asked: most probes end as they did before.
    pub const fn take_news(&mut self) -> bool {
        std::mem::replace(&mut self.news, false)
    }

    /// How many passes have begun.
    #[must_use]
    pub const fn passes(&self) -> u64 {
        self.passes
    }

    /// Whether a pass is under way: probes of it run or wait.
    #[must_use]
    pub fn under_way(&self) -> bool {
        self.running > 0 || !self.queue.is_empty()
    }

    fn list(&mut self, served: BTreeMap<ObjectKey, Inputs>) {
        let mut before = std::mem::take(&mut self.listed);
        for (key, inputs) in served {
            let known = before.remove(&key).filter(|listed| listed.inputs.uid == inputs.uid);
            let listed = match known {
                Some(listed) if *listed.inputs == inputs => listed,
                Some(listed) => Listed { inputs: Arc::new(inputs), ..listed },
                None => {
                    self.news = true;
                    Listed::new(inputs)
                }
            };
            self.listed.insert(key, listed);
        }
        self.news |= !before.is_empty();
    }

    fn begin_pass(&mut self, now: Moment) {
        let mut due: Vec<_> = self
            .listed
            .iter()
            .filter_map(|(key, listed)| Some((listed.due(now, self.cadence.interval)?, key, listed)))
            .collect();
        if due.is_empty() {
            return;
        }
        self.last_pass = Some(now);
        self.passes += 1;
        due.sort_by_key(|(why, key, listed)| (*why, &key.namespace, listed.last.as_ref().map(|last| last.at), *key));
        let mut places: BTreeMap<(Due, &str), usize> = BTreeMap::new();
        let mut turns: Vec<_> = due
            .into_iter()
            .map(|(why, key, listed)| {
                let place = places.entry((why, &key.namespace)).or_default();
                *place += 1;
                ((why, *place), key, listed)
            })
            .collect();
        // Stable: within one turn, namespaces keep their order.
        turns.sort_by_key(|(turn, _, _)| *turn);
        let pass = self.passes;
        let askers = askers(turns.iter().map(|(_, _, listed)| &*listed.inputs));
        self.queue = turns
            .into_iter()
            .flat_map(|(_, key, listed)| Check::ALL.map(|check| (check, key, &listed.inputs)))
            .map(|(check, key, inputs)| {
                let asks_alone = askers.get(inputs.origin(check)) == Some(&1);
                Job { pass, key: key.clone(), check, inputs: Arc::clone(inputs), asks_alone }
            })
            .collect();
        for job in &self.queue {
            if let Some(listed) = self.listed.get_mut(&job.key) {
                listed.owed = false;
            }
        }
    }

    /// Begins the first probe of the queue that may run, and leaves out those before it whose Binding is another now.
    fn begin_next(&mut self, now: Moment) -> Option<Step> {
        while let Some(job) = self.queue.pop_front() {
            if self.listed.get(&job.key).is_none_or(|listed| listed.inputs != job.inputs) {
                self.owe(&job.key);
                continue;
            }
            let closed = self.gates.get(&gate_of(&job)).is_some_and(|until| *until > now);
            if !closed && self.running >= self.cadence.concurrency.get() {
                self.queue.push_front(job);
                return None;
            }
            self.mark_begun(&job, now);
            if closed {
                let said = left_alone(job.check);
                self.record(&job, said);
                return Some(Step::Gated(job, said));
            }
            self.running += 1;
            return Some(Step::Begin(job));
        }
        None
    }

    /// The age of a Binding's probes counts from the start of the first of the two.
    fn mark_begun(&mut self, job: &Job, now: Moment) {
        let Some(listed) = self.listed.get_mut(&job.key) else { return };
        if job.check == Check::Agent || listed.last.as_ref().is_none_or(|last| last.inputs != job.inputs) {
            listed.last = Some(Begun { at: now, inputs: Arc::clone(&job.inputs) });
        }
    }

    fn owe(&mut self, key: &ObjectKey) {
        if let Some(listed) = self.listed.get_mut(key) {
            listed.owed = true;
        }
    }

    fn record(&mut self, job: &Job, said: Said) {
        let Some(listed) = self.listed.get_mut(&job.key) else { return };
        if listed.inputs.uid != job.inputs.uid {
            return;
        }
        self.news |= match said {
            Said::Agent(outcome) => replaced(&mut listed.results.backend, (job.generation(), outcome)),
            Said::Channel(outcome) => replaced(&mut listed.results.channel, (job.generation(), outcome)),
        };
    }
}

impl Listed {
    fn new(inputs: Inputs) -> Self {
        let results = Results { uid: inputs.uid.clone(), backend: None, channel: None };
        Self { inputs: Arc::new(inputs), last: None, owed: false, results }
    }

    fn due(&self, now: Moment, interval: Duration) -> Option<Due> {
        match &self.last {
            Some(_) if self.owed => Some(Due::Changed),
            Some(last) if last.inputs != self.inputs => Some(Due::Changed),
            Some(last) => (now.since(last.at) >= interval).then_some(Due::Old),
            None => Some(Due::Changed),
        }
    }
}

/// How many probes of these Bindings ask each origin.
fn askers<'a>(bindings: impl Iterator<Item = &'a Inputs>) -> BTreeMap<&'a str, usize> {
    let mut askers = BTreeMap::new();
    for inputs in bindings {
        for check in Check::ALL {
            *askers.entry(inputs.origin(check)).or_default() += 1;
        }
    }
    askers
}

/// Takes a result in place of the former one, and says whether it is another.
fn replaced<T: PartialEq>(known: &mut Option<T>, result: T) -> bool {
    let differs = known.as_ref() != Some(&result);
    *known = Some(result);
    differs
}

/// Whose wish closes it: the object in use, so that an edit of the object opens it again.
fn gate_of(job: &Job) -> (Check, Used) {
    let served = &job.inputs.served;
    match job.check {
        Check::Agent => (Check::Agent, served.agent.backend.clone()),
        Check::Channel => (Check::Channel, served.chat.connection.clone()),
    }
}

fn left_alone(check: Check) -> Said {
    match check {
        Check::Agent => Said::Agent(Outcome::of(BackendReason::AgentBusy)),
        Check::Channel => Said::Channel(Outcome::of(ChannelReason::RateLimited)),
    }
}

#[cfg(test)]
mod tests;
