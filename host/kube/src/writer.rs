//! The writer: does what core's [`Plan`] says.
//!
//! One loop asks the plan what to do, sends what it orders, and hands the answers back. It decides nothing itself: what
//! differs, whose turn it is and how long to wait is [`kourier_core::plan`]'s.
//!
//! A plan lives as long as one term of leadership. When the claim is lost the plan is dropped, and the writes under way
//! with it: nothing that one term wanted to write is sent in the next. The claim is looked at when a write is sent, and
//! no write outlives it: its deadline is the time left, for the API server too, which gets nothing to carry out before it
//! asks for it. What another leader has written since is out of reach for a second reason: a write requires the version
//! of the object that was seen.
//!
//! What is absent: what a status should say, the watch, and a queue: each look compares all Bindings anew.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use jiff::Timestamp as Clock;
use kourier_core::condition::Condition;
use kourier_core::id::ObjectKey;
use kourier_core::plan::{Case, Note, Order, Pace, Plan, Step};
use kourier_core::time::{Moment, Timestamp};
use kube::Client;
use tokio::time::Instant;

use crate::events::{self, Events};
use crate::lease::Claim;
use crate::observe::{Observation, Observer, WriteResult};

mod advice;
mod apply;

use apply::Reply;

/// Events that are on their way at a time; one more is lost. 16: they are a courtesy, and never hold up a write.
const EVENTS_UNDER_WAY: usize = 16;

/// Told of a Binding of which the watch may have missed a newer version: it is to be read again. It must not block.
pub type Suspect = Arc<dyn Fn(&ObjectKey) + Send + Sync>;

/// What the writer works with.
pub struct Writer {
    /// The way to the API server: [`crate::client::Server::writes`].
    pub client: Client,
    /// How often and how fast.
    pub pace: Pace,
    /// Where writes are counted.
    pub observer: Observer,
    /// Where people are told that a Binding became Ready, or stopped being it; none: nowhere.
    pub events: Option<Events>,
    /// Who reads a Binding again.
    pub suspect: Suspect,
}

/// Cases by Binding. One of which nothing changed is the very same in the next.
pub type AllCases = BTreeMap<ObjectKey, Arc<Case>>;

/// The Bindings for which this broker answers, as they are now.
pub trait Cases: Send + Sync {
    /// All of them.
    fn all(&self) -> Arc<AllCases>;
    /// This one; none when there is nothing to say of it.
    fn one(&self, key: &ObjectKey) -> Option<Arc<Case>>;
    /// A text that changes when the CRDs do.
    fn schema(&self) -> String;
}

impl Writer {
    /// Writes what differs, whenever this replica leads, until `shutdown` ends: then the writes under way are awaited,
    /// and none begins. `leads` yields the claim; none: this replica does not lead. A claim of another term begins anew,
    /// though none was ever seen to be lost.
    pub async fn run(
        self,
        cases: impl Cases,
        leads: impl Fn() -> Option<Claim> + Send + Sync,
        shutdown: impl Future<Output = ()>,
    ) {
        let mut shutdown = pin!(shutdown);
        loop {
            if let Some(Claim { term, .. }) = held(&leads) {
                let end = Term::new(&self, &cases, &leads, term).run(shutdown.as_mut()).await;
                (self.observer)(Observation::Waiting(0));
                if end == End::Stopped {
                    return;
                }
            }
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                () = tokio::time::sleep(self.pace.look_interval) => {}
            }
        }
    }
}

/// The claim, if there is any time left of it.
fn held(leads: &impl Fn() -> Option<Claim>) -> Option<Claim> {
    leads().filter(|claim| !claim.left(Instant::now()).is_zero())
}

/// When this term ends unless it is renewed; none: it is over.
fn end(leads: &impl Fn() -> Option<Claim>, term: u64) -> Option<Instant> {
    held(leads).filter(|claim| claim.term == term).map(|claim| claim.until)
}

/// How a term ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The claim is lost.
    Lost,
    /// The program stops.
    Stopped,
}

/// One term of leadership.
struct Term<'a, C, L> {
    writer: &'a Writer,
    cases: &'a C,
    leads: &'a L,
    number: u64,
    origin: Instant,
    plan: Plan,
    /// The CRDs of which an operator was told that they do not keep all of a status.
    prunes: Option<String>,
    under_way: FuturesUnordered<BoxFuture<'a, Option<Ended>>>,
    events: FuturesUnordered<BoxFuture<'a, ()>>,
}

/// A write that ended.
struct Ended {
    order: Order,
    /// What stood when it was sent.
    before: Vec<Condition>,
    reply: Reply,
    took: Duration,
}

impl<'a, C: Cases, L: Fn() -> Option<Claim> + Send + Sync> Term<'a, C, L> {
    fn new(writer: &'a Writer, cases: &'a C, leads: &'a L, number: u64) -> Self {
        Self {
            plan: Plan::new(writer.pace.clone(), Moment::ORIGIN),
            writer,
            cases,
            leads,
            number,
            origin: Instant::now(),
            prunes: None,
            under_way: FuturesUnordered::new(),
            events: FuturesUnordered::new(),
        }
    }

    async fn run(mut self, mut shutdown: Pin<&mut impl Future<Output = ()>>) -> End {
        while end(self.leads, self.number).is_some() {
            let until = self.advance();
            tokio::select! {
                biased;
                () = &mut shutdown => {
                    self.drain().await;
                    return End::Stopped;
                }
                Some(ended) = self.under_way.next() => match ended {
                    Some(ended) => self.ended(ended),
                    None => return End::Lost,
                },
                Some(()) = self.events.next() => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
        End::Lost
    }

    /// Does all that is to be done now, and says until when nothing more is to be done.
    fn advance(&mut self) -> Instant {
        loop {
            match self.plan.next(self.now()) {
                Step::Look => self.look(),
                Step::Take(key) => self.take(&key),
                Step::Wait { until } => return self.origin + until.since(Moment::ORIGIN),
            }
        }
    }

    fn look(&mut self) {
        let notes = self.plan.look(self.now(), &self.cases.schema(), &self.cases.all());
        self.observe(Observation::Waiting(self.plan.waiting()));
        for (key, note) in notes {
            self.hear(&key, &note, None);
        }
    }

    fn take(&mut self, key: &ObjectKey) {
        let case = self.cases.one(key);
        let clock = Timestamp(Clock::now().as_second());
        let Some(order) = self.plan.take(self.now(), clock, key, case.as_deref()) else { return };
        let before = case.map(|case| case.standing.conditions.clone()).unwrap_or_default();
        self.under_way.push(Box::pin(write(self.writer, self.leads, self.number, order, before)));
    }

    /// The writes under way end; what they came to is counted.
    async fn drain(&mut self) {
        while let Some(ended) = self.under_way.next().await {
            if let Some(ended) = ended {
                self.ended(ended);
            }
        }
    }

    fn ended(&mut self, ended: Ended) {
        let Ended { order, before, reply, took } = ended;
        self.observe(Observation::Write { result: reply.result, took });
        tracing::debug!(binding = %order.key, result = reply.result.as_str(), cause = reply.cause, "a write of a status ended");
        // A put-back only restores what was told before.
        if reply.result == WriteResult::Changed && !order.put_back {
            self.tell(&order, &before);
        }
        for note in self.plan.answered(self.now(), &order, reply.answer) {
            self.hear(&order.key, &note, reply.cause.as_deref());
        }
    }

    fn tell(&self, order: &Order, before: &[Condition]) {
        let Some(events) = &self.writer.events else { return };
        let Some(transition) = events::transition(before, &order.conditions) else { return };
        if self.events.len() >= EVENTS_UNDER_WAY {
            return self.observe(Observation::EventLost);
        }
        self.events.push(Box::pin(events.tell(order.key.clone(), order.uid.clone(), transition)));
    }

    fn hear(&mut self, key: &ObjectKey, note: &Note, cause: Option<&str>) {
        match note {
            Note::Failing { failures, wait, first } => {
                let (wait, advice) = (wait.as_secs(), cause.and_then(advice::of_failure));
                if *first {
                    tracing::warn!(binding = %key, cause, advice, failures, wait_s = wait, "a status could not be written");
                } else {
                    tracing::debug!(binding = %key, cause, failures, wait_s = wait, "a status could not be written");
                }
            }
            Note::Pruned => self.hear_pruned(key),
            Note::Unseen => {
                tracing::info!(binding = %key, "the watch shows no newer version of a Binding: it is read again");
                (self.writer.suspect)(key);
            }
            Note::PutBack => {
                tracing::info!(binding = %key, "a status that somebody else changed is put back");
                self.observe(Observation::PutBack);
            }
            Note::Fight { managers } => {
                tracing::warn!(binding = %key, managers = names(managers), "{}", advice::of_fight(managers));
                self.observe(Observation::Fight);
            }
        }
    }

    /// It is the CRD that prunes, whatever the Binding: one warning is enough.
    fn hear_pruned(&mut self, key: &ObjectKey) {
        self.observe(Observation::Pruned);
        let schema = self.cases.schema();
        if self.prunes.as_ref() == Some(&schema) {
            tracing::debug!(binding = %key, "a part of a status was not kept");
            return;
        }
        tracing::warn!(binding = %key, "a part of a status was not kept: update the CRDs, they are older than this program");
        self.prunes = Some(schema);
    }

    fn observe(&self, observation: Observation) {
        (self.writer.observer)(observation);
    }

    fn now(&self) -> Moment {
        Moment::after_origin(self.origin.elapsed())
    }
}

/// Sends one write, if this term still lasts; none: it does not, and nothing was sent.
async fn write(
    writer: &Writer,
    leads: &(impl Fn() -> Option<Claim> + Sync),
    term: u64,
    order: Order,
    before: Vec<Condition>,
) -> Option<Ended> {
    let until = end(leads, term)?;
    let started = Instant::now();
    let reply = apply::send(&writer.client, &order, until).await;
    Some(Ended { order, before, reply, took: started.elapsed() })
}

fn names(managers: &BTreeSet<String>) -> String {
    managers.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
