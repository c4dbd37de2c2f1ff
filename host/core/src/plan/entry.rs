//! What the writer knows of one object.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::{Answer, Case, Failure, Note, Order, Pace, Standing, Text, Version};
use crate::condition::{Condition, advance};
use crate::id::{ObjectKey, Uid};
use crate::time::{Moment, Timestamp};

/// What is to be done with a Binding now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing is to be said, as far as is known.
    Rest,
    /// Something is to be said, but not yet.
    Later,
    /// A write may begin.
    Write {
        /// Whether all it does is undo what somebody else did.
        put_back: bool,
    },
}

/// What the writer knows of one object.
#[derive(Debug)]
pub(super) struct Entry {
    uid: Uid,
    under_way: bool,
    /// When it became known, or its last write ended.
    since: Moment,
    /// When there last was a case of it.
    last_case: Moment,
    /// The case at which nothing is to be done, and nothing is waited for.
    rests_at: Option<Arc<Case>>,
    /// No write before this: the gap, or the wait after failures.
    not_before: Moment,
    failures: u32,
    /// The text of the last failure that was reported, and the code of its answer.
    reported: Option<(Text, Option<u16>)>,
    /// What was last said, by a write that is known to have been made or by whoever said it before.
    made: Option<Made>,
    /// Writes of which it is not known whether they were made.
    in_doubt: Vec<Sent>,
    /// A version that is known not to be the object's newest.
    outdated: Option<Outdated>,
    /// When put-backs ended, as far as they count.
    put_backs: VecDeque<Moment>,
    fight: bool,
    managers: BTreeSet<String>,
    /// What the operator has not heard yet.
    notes: Vec<Note>,
}

/// A version of which a write told that it is not the object's newest.
#[derive(Debug)]
struct Outdated {
    version: Version,
    /// Since when a newer one is missing, or was last told to be.
    since: Moment,
    /// Whether there surely is a newer one: it came in the answer. A server that answers "not found" may not know the
    /// kind yet.
    certain: bool,
}

/// A write of which it is not known whether it was made.
#[derive(Clone, Debug)]
struct Sent {
    base: Version,
    text: Text,
    put_back: bool,
}

/// What was last said.
#[derive(Debug)]
struct Made {
    text: Text,
    kept: Text,
    /// With their times: a put-back has the same.
    conditions: Vec<Condition>,
}

impl Entry {
    pub(super) const fn new(uid: Uid, now: Moment) -> Self {
        Self {
            uid,
            under_way: false,
            since: now,
            last_case: now,
            rests_at: None,
            not_before: Moment::ORIGIN,
            failures: 0,
            reported: None,
            made: None,
            in_doubt: Vec::new(),
            outdated: None,
            put_backs: VecDeque::new(),
            fight: false,
            managers: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    pub(super) const fn uid(&self) -> &Uid {
        &self.uid
    }

    pub(super) const fn waits_since(&self) -> Moment {
        self.since
    }

    pub(super) const fn last_case(&self) -> Moment {
        self.last_case
    }

    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Another schema may keep what this one did not, or take what it refused.
    pub(super) fn forget_schema(&mut self, pace: &Pace) {
        self.rests_at = None;
        self.recover(pace);
        self.made.take_if(|made| made.text != made.kept);
    }

    /// What is to be done, at a look.
    pub(super) fn looked_at(&mut self, pace: &Pace, case: &Arc<Case>, now: Moment) -> Turn {
        self.last_case = now;
        if self.rests_at.as_ref().is_some_and(|rested| Arc::ptr_eq(rested, case)) {
            return Turn::Rest;
        }
        self.look_for_newer(pace, case, now);
        let turn = self.turn(pace, case, now);
        self.rests_at = (turn == Turn::Rest && self.is_settled()).then(|| Arc::clone(case));
        turn
    }

    /// Whether nothing can become due by time alone.
    fn is_settled(&self) -> bool {
        let waits = self.under_way || self.outdated.is_some() || !self.in_doubt.is_empty();
        !waits && self.failures == 0 && self.put_backs.is_empty()
    }

    /// What is to be done.
    pub(super) fn turn(&mut self, pace: &Pace, case: &Case, now: Moment) -> Turn {
        if self.under_way || self.outdated.as_ref().is_some_and(|outdated| outdated.version == case.version) {
            return Turn::Rest;
        }
        self.outdated = None;
        let stands = case.standing.text();
        self.settle_doubt(pace, case, &stands, now);
        let wanted = case.wanted();
        let last = self.made.as_ref().filter(|made| made.text == wanted);
        if stands == wanted || last.is_some_and(|made| made.kept == stands) {
            if last.is_none() {
                self.adopt(stands, &case.standing);
            }
            self.rest(pace, now);
            return Turn::Rest;
        }
        // Our text is the one that was said, and something else stands: that was not us.
        let put_back = last.is_some();
        if put_back {
            self.managers.extend(case.managers.iter().cloned());
        }
        let not_before = if put_back { self.not_before.max(self.fight_pause(pace)) } else { self.not_before };
        if now < not_before { Turn::Later } else { Turn::Write { put_back } }
    }

    /// Tells of a newer version that the watch does not show. Where it is not certain that there is one, the write is
    /// tried again.
    fn look_for_newer(&mut self, pace: &Pace, case: &Case, now: Moment) {
        let Some(outdated) = self.outdated.as_mut().filter(|outdated| outdated.version == case.version) else { return };
        if now.since(outdated.since) < pace.patience {
            return;
        }
        outdated.since = now;
        self.outdated.take_if(|outdated| !outdated.certain);
        self.notes.push(Note::Unseen);
    }

    /// What is so stands already, whoever wrote it: with its times it is what a put-back would restore.
    fn adopt(&mut self, text: Text, standing: &Standing) {
        self.made = Some(Made { kept: text.clone(), text, conditions: standing.conditions.clone() });
    }

    pub(super) fn order(&mut self, key: &ObjectKey, case: &Case, put_back: bool, clock: Timestamp) -> Order {
        self.under_way = true;
        let previous = self.made.as_ref().map_or(&case.standing.conditions, |made| &made.conditions);
        Order {
            key: key.clone(),
            uid: case.uid.clone(),
            version: case.version.clone(),
            conditions: advance(previous, &case.assessment, clock),
            observed_generation: case.assessment.ready().observed_generation,
            put_back,
        }
    }

    pub(super) fn answered(&mut self, pace: &Pace, now: Moment, order: &Order, answer: Answer) {
        self.under_way = false;
        self.rests_at = None;
        self.since = now;
        self.not_before = now + pace.gap;
        let sent = Sent { base: order.version.clone(), text: order.text(), put_back: order.put_back };
        let outdated = |certain| Outdated { version: order.version.clone(), since: now, certain };
        match answer {
            Answer::Written { version, standing } => {
                // A write that changed nothing leaves the version as it is: then there is nothing to wait for.
                self.outdated = (version != order.version).then(|| outdated(true));
                let kept = standing.text();
                let made = Made { text: sent.text, kept, conditions: order.conditions.clone() };
                self.made(pace, now, sent.put_back, made);
            }
            Answer::Stale => self.outdated = Some(outdated(false)),
            Answer::Failed(failure) => self.failed(pace, now, sent.text, failure),
            Answer::InDoubt(failure) => {
                // Two writes that require the same version cannot both be made.
                self.in_doubt.retain(|other| other.base != sent.base || other.text != sent.text);
                self.in_doubt.push(sent.clone());
                self.failed(pace, now, sent.text, failure);
            }
        }
    }

    /// A write in doubt was made if its text stands in a version after the one that it required. In another such
    /// version it was not, or somebody has changed it since.
    fn settle_doubt(&mut self, pace: &Pace, case: &Case, stands: &Text, now: Moment) {
        let (settled, open) = self.in_doubt.drain(..).partition::<Vec<_>, _>(|sent| sent.base != case.version);
        self.in_doubt = open;
        if let Some(sent) = settled.into_iter().rev().find(|sent| sent.text == *stands) {
            let made = Made { text: sent.text, kept: stands.clone(), conditions: case.standing.conditions.clone() };
            self.made(pace, now, sent.put_back, made);
        }
    }

    fn made(&mut self, pace: &Pace, now: Moment, put_back: bool, made: Made) {
        self.recover(pace);
        self.in_doubt.clear();
        if made.kept != made.text {
            self.notes.push(Note::Pruned);
        }
        self.made = Some(made);
        if put_back {
            self.notes.push(Note::PutBack);
            self.count_put_back(pace, now);
        }
    }

    /// Failures are past, and so is the wait after them.
    fn recover(&mut self, pace: &Pace) {
        if self.failures > 0 {
            self.not_before = self.since + pace.gap;
        }
        self.failures = 0;
        self.reported = None;
    }

    fn failed(&mut self, pace: &Pace, now: Moment, text: Text, failure: Failure) {
        let cap = pace.cap.max(pace.gap);
        let factor = 2_u32.checked_pow(self.failures).unwrap_or(u32::MAX);
        let wait = pace.gap.saturating_mul(factor).max(failure.wait.unwrap_or_default()).min(cap);
        self.failures = self.failures.saturating_add(1);
        self.not_before = now + wait;
        let report = Some((text, failure.code));
        let first = self.reported != report;
        self.reported = report;
        self.notes.push(Note::Failing { failures: self.failures, wait, first });
    }

    fn count_put_back(&mut self, pace: &Pace, now: Moment) {
        self.put_backs.push_back(now);
        while self.put_backs.front().is_some_and(|first| now.since(*first) > pace.fight_window) {
            self.put_backs.pop_front();
        }
        if !self.fight && self.put_backs.len() >= pace.fight_put_backs.get() {
            self.fight = true;
            self.notes.push(Note::Fight { managers: self.managers.clone() });
        }
    }

    /// In a fight, when the next put-back may begin.
    fn fight_pause(&self, pace: &Pace) -> Moment {
        let last = self.put_backs.back().copied().unwrap_or(Moment::ORIGIN);
        last + if self.fight { pace.cap } else { Duration::ZERO }
    }

    /// What is so stands: failures are past, and a fight in which nobody interfered for a whole window is over.
    fn rest(&mut self, pace: &Pace, now: Moment) {
        self.recover(pace);
        if self.put_backs.back().is_some_and(|last| now.since(*last) > pace.fight_window) {
            self.put_backs.clear();
            self.managers.clear();
            self.fight = false;
        }
    }
}
