//! What to write to a Binding's status, and when.
//!
//! The writer asks [`Plan::next`] what to do and does it: wait, compare what it would say with what stands
//! ([`Plan::look`]), or take one Binding ([`Plan::take`]) as it is at that moment, send the order that comes out, and
//! report the answer ([`Plan::answered`]). A Binding whose status says what is so is never written.
//!
//! What is absent: a clock, IO, the claim (who sends checks it at the moment of sending), and an order of versions: an
//! object's version is only ever compared for being the same.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::condition::{Assessment, Condition, Words};
use crate::id::{Generation, ObjectKey, Uid};
use crate::time::{Moment, Timestamp};

mod entry;

use entry::{Entry, Turn};

/// How often and how fast the writer writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From one look to the next. 1 s: a comparison costs nothing, and an edit is answered within seconds.
    pub look_interval: Duration,
    /// From the end of one write of a Binding to the earliest start of its next. 10 s: every write wakes everyone who
    /// watches Bindings.
    pub gap: Duration,
    /// The longest wait after failures, and the wait between put-backs in a fight. 5 min.
    pub cap: Duration,
    /// Put-backs of one Binding within `fight_window` that make a fight. 3: two are a person who tries twice.
    pub fight_put_backs: NonZeroUsize,
    /// See `fight_put_backs`. 10 min; a fight is over when nobody interfered for as long.
    pub fight_window: Duration,
    /// Writes that are under way at a time. 4: more gain little on an API server, and delay others' calls.
    pub concurrency: NonZeroUsize,
    /// From the start of one write to the start of the next, of any Binding. 50 ms, which is 20 a second: a change
    /// that concerns a thousand Bindings is not a burst.
    pub spacing: Duration,
    /// For how long a newer version of an object, of which a write told, may be missing from the watch. 30 s: a watch
    /// is behind by a fraction of a second; one that is behind by more may have missed it for good.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            look_interval: Duration::from_secs(1),
            gap: Duration::from_secs(10),
            cap: Duration::from_secs(300),
            fight_put_backs: NonZeroUsize::MIN.saturating_add(2),
            fight_window: Duration::from_secs(600),
            concurrency: NonZeroUsize::MIN.saturating_add(3),
            spacing: Duration::from_millis(50),
            patience: Duration::from_secs(30),
        }
    }
}

/// `metadata.resourceVersion`: opaque, another one for each change of the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub String);

/// What stands in the object's status, as far as it is ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The conditions of our types, in any order.
    pub conditions: Vec<Condition>,
    /// `status.observedGeneration`, if the field is there.
    pub observed_generation: Option<Generation>,
}

/// One Binding for which this broker answers, as the writer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The object.
    pub uid: Uid,
    /// The version of the object that was last seen.
    pub version: Version,
    /// What stands in that version.
    pub standing: Standing,
    /// The field managers other than ours that own a part of our conditions in that version: for the operator.
    pub managers: BTreeSet<String>,
    /// What is so.
    pub assessment: Assessment,
}

/// One write. It is not `Clone`: it is handed back once, with the answer.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an order that is not answered keeps its Binding from being written"]
pub struct Order {
    /// The Binding.
    pub key: ObjectKey,
    /// The object that is meant.
    pub uid: Uid,
    /// The version that the write requires.
    pub version: Version,
    /// All conditions of ours, in the fixed order.
    pub conditions: Vec<Condition>,
    /// `status.observedGeneration`: that of Ready.
    pub observed_generation: Generation,
    /// Whether it undoes a change that somebody else made.
    pub put_back: bool,
}

/// How a write ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was made: the object's version after it, and what the server kept.
    Written {
        /// The object's version now.
        version: Version,
        /// What stands now.
        standing: Standing,
    },
    /// The object is at another version, or is gone. The watch will tell.
    Stale,
    /// It was refused or could not be sent, and nothing was written.
    Failed(Failure),
    /// It may have been made: there was no answer in time, or one that does not tell.
    InDoubt(Failure),
}

/// What is known of a write that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status code of the answer; none when there was no answer.
    pub code: Option<u16>,
    /// For how long the server asked not to be asked again, if it did. It is honoured up to [`Pace::cap`].
    pub wait: Option<Duration>,
}

/// What the operator should hear of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A write failed.
    Failing {
        /// Failures in a row.
        failures: u32,
        /// For how long the Binding is not written.
        wait: Duration,
        /// Whether it is the first failure with this text and this code: the others need no warning of their own.
        first: bool,
    },
    /// The server did not keep all of what was sent, for example because its CRD is older than this program. The same
    /// text is not sent again.
    Pruned,
    /// A write told of a newer version of the object, and the watch has not shown one for [`Pace::patience`]: it may
    /// have missed it. Told again each time as much has passed.
    Unseen,
    /// A change that somebody else made was undone.
    PutBack,
    /// Somebody undoes what we write, again and again: put-backs of this Binding are rare from now on.
    Fight {
        /// The field managers seen in the object that are not ours.
        managers: BTreeSet<String>,
    },
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing before `until`, unless a write ends.
    Wait {
        /// The next look, or the next write.
        until: Moment,
    },
    /// Call [`Plan::look`].
    Look,
    /// Call [`Plan::take`] for this Binding.
    Take(ObjectKey),
}

/// The state of the writer of one leader.
#[derive(Debug)]
pub struct Plan {
    pace: Pace,
    schema: String,
    next_look: Moment,
    next_write: Moment,
    under_way: usize,
    queue: VecDeque<ObjectKey>,
    waiting: usize,
    entries: BTreeMap<ObjectKey, Entry>,
}

impl Plan {
    /// The plan of a leader that starts now.
    #[must_use]
    pub fn new(pace: Pace, now: Moment) -> Self {
        Self {
            pace,
            schema: String::new(),
            next_look: now,
            next_write: now,
            under_way: 0,
            queue: VecDeque::new(),
            waiting: 0,
            entries: BTreeMap::new(),
        }
    }

    /// What is to be done now. Ask again after each thing done.
    pub fn next(&mut self, now: Moment) -> Step {
        if now >= self.next_look {
            return Step::Look;
        }
        if self.queue.is_empty() || self.under_way >= self.pace.concurrency.get() {
            return Step::Wait { until: self.next_look };
        }
        if now < self.next_write {
            return Step::Wait { until: self.next_write.min(self.next_look) };
        }
        self.queue.pop_front().map_or(Step::Wait { until: self.next_look }, Step::Take)
    }

    /// Compares all Bindings for which this broker answers with what stands. `schema` is any text that changes when the
    /// CRD does: what one did not keep, or did not take, is tried again with another one. What the operator should hear of writes that
    /// were in doubt.
    ///
    /// A case that is the very same as at the last look costs nothing if nothing was to be done with it then: whoever
    /// derives cases keeps those of which nothing changed.
    pub fn look(
        &mut self,
        now: Moment,
        schema: &str,
        cases: &BTreeMap<ObjectKey, Arc<Case>>,
    ) -> Vec<(ObjectKey, Note)> {
        self.next_look = now + self.pace.look_interval;
        if self.schema != schema {
            schema.clone_into(&mut self.schema);
            self.entries.values_mut().for_each(|entry| entry.forget_schema(&self.pace));
        }
        self.forget(now, cases);
        let (mut ready, mut notes) = (Vec::new(), Vec::new());
        self.waiting = 0;
        for (key, case) in cases {
            let entry = match self.entries.get_mut(key) {
                Some(entry) => entry,
                None => self.entries.entry(key.clone()).or_insert(Entry::new(case.uid.clone(), now)),
            };
            match entry.looked_at(&self.pace, case, now) {
                Turn::Rest => {}
                Turn::Later => self.waiting += 1,
                Turn::Write { .. } => ready.push((entry.waits_since(), key.clone())),
            }
            notes.extend(entry.take_notes().into_iter().map(|note| (key.clone(), note)));
        }
        ready.sort();
        self.waiting += ready.len();
        self.queue = ready.into_iter().map(|(_, key)| key).collect();
        notes
    }

    /// Of how many Bindings the last look found that something else is to be said than stands.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Forgets objects that are gone. One of which nothing is to be said may be one that another broker speaks for, and
    /// come back: its gap and its put-backs count on for as long as a fight would.
    fn forget(&mut self, now: Moment, cases: &BTreeMap<ObjectKey, Arc<Case>>) {
        let memory = self.pace.fight_window.max(self.pace.cap);
        self.entries.retain(|key, entry| match cases.get(key) {
            Some(case) => case.uid == *entry.uid(),
            None => now.since(entry.last_case()) <= memory,
        });
    }

    /// The write of this Binding, with its case as it is now; none when there is nothing to write any more.
    pub fn take(&mut self, now: Moment, clock: Timestamp, key: &ObjectKey, case: Option<&Case>) -> Option<Order> {
        let case = case?;
        let entry = self.entries.get_mut(key).filter(|entry| *entry.uid() == case.uid)?;
        let Turn::Write { put_back } = entry.turn(&self.pace, case, now) else { return None };
        self.under_way += 1;
        self.next_write = now + self.pace.spacing;
        Some(entry.order(key, case, put_back, clock))
    }

    /// Takes the answer to a write that ended now. What the operator should hear of it.
    pub fn answered(&mut self, now: Moment, order: &Order, answer: Answer) -> Vec<Note> {
        self.under_way = self.under_way.saturating_sub(1);
        let Some(entry) = self.entries.get_mut(&order.key).filter(|entry| *entry.uid() == order.uid) else {
            return Vec::new();
        };
        entry.answered(&self.pace, now, order, answer);
        entry.take_notes()
    }
}

/// What a status says, without times and order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    words: Vec<Words>,
    observed_generation: Option<Generation>,
}

impl Text {
    fn of(conditions: &[Condition], observed_generation: Option<Generation>) -> Self {
        let mut words: Vec<_> = conditions.iter().map(Condition::words).collect();
        words.sort();
        Self { words, observed_generation }
    }
}

impl Standing {
    fn text(&self) -> Text {
        Text::of(&self.conditions, self.observed_generation)
    }
}

impl Order {
    fn text(&self) -> Text {
        Text::of(&self.conditions, Some(self.observed_generation))
    }
}

impl Case {
    fn wanted(&self) -> Text {
        let observed_generation = Some(self.assessment.ready().observed_generation);
        Text { words: self.assessment.words(), observed_generation }
    }
}

#[cfg(test)]
mod tests;
