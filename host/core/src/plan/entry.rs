//! What the writer knows of one object.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::{Answer, Case, Note, Order, Pace, Text, Version};
use crate::condition::{Condition, advance};
use crate::id::{ObjectKey, Uid};
use crate::time::{Moment, Timestamp};

/// What is to be done with a Binding now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing is to be said, or not yet.
    Rest,
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
    /// No write before this: the gap, or the wait after failures.
    not_before: Moment,
    failures: u32,
    /// The text of the last failure that was reported.
    reported: Option<Text>,
    /// The last write that is known to have been made.
    made: Option<Made>,
    /// Writes of which it is not known whether they were made.
    in_doubt: Vec<Sent>,
    /// A version that is known not to be the object's newest.
    outdated: Option<Version>,
    /// When put-backs ended, as far as they count.
    put_backs: VecDeque<Moment>,
    fight: bool,
    managers: BTreeSet<String>,
    /// What the operator has not heard yet.
    notes: Vec<Note>,
}

/// A write that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    base: Version,
    text: Text,
    conditions: Vec<Condition>,
    put_back: bool,
}

/// A write that was made.
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

    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Another schema may keep what this one did not.
    pub(super) fn forget_pruning(&mut self) {
        self.made.take_if(|made| made.text != made.kept);
    }

    pub(super) fn turn(&mut self, pace: &Pace, case: &Case, now: Moment) -> Turn {
        if self.under_way || self.outdated.as_ref() == Some(&case.version) {
            return Turn::Rest;
        }
        self.outdated = None;
        let stands = case.standing.text();
        self.settle_doubt(pace, &case.version, &stands, now);
        let wanted = case.wanted();
        let last = self.made.as_ref().filter(|made| made.text == wanted);
        if stands == wanted || last.is_some_and(|made| made.kept == stands) {
            self.rest(pace, now);
            return Turn::Rest;
        }
        // Our text is the one that was written, and something else stands: that was not us.
        let put_back = last.is_some();
        if put_back {
            self.managers.extend(case.managers.iter().cloned());
        }
        let not_before = if put_back { self.not_before.max(self.fight_pause(pace)) } else { self.not_before };
        if now < not_before { Turn::Rest } else { Turn::Write { put_back } }
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
        self.since = now;
        self.not_before = now + pace.gap;
        let sent = Sent {
            base: order.version.clone(),
            text: order.text(),
            conditions: order.conditions.clone(),
            put_back: order.put_back,
        };
        match answer {
            Answer::Written { version, standing } => {
                // A write that changed nothing leaves the version as it is: then there is nothing to wait for.
                self.outdated = (version != order.version).then(|| order.version.clone());
                self.made(pace, now, sent, standing.text());
            }
            Answer::Stale => self.outdated = Some(order.version.clone()),
            Answer::Failed => self.failed(pace, now, sent.text),
            Answer::InDoubt => {
                if !self.in_doubt.contains(&sent) {
                    self.in_doubt.push(sent.clone());
                }
                self.failed(pace, now, sent.text);
            }
        }
    }

    /// A write in doubt was made if its text stands in a version after the one that it required. In another such
    /// version it was not, or somebody has changed it since.
    fn settle_doubt(&mut self, pace: &Pace, version: &Version, stands: &Text, now: Moment) {
        let (settled, open) = self.in_doubt.drain(..).partition::<Vec<_>, _>(|sent| sent.base != *version);
        self.in_doubt = open;
        if let Some(sent) = settled.into_iter().rev().find(|sent| sent.text == *stands) {
            self.made(pace, now, sent, stands.clone());
        }
    }

    fn made(&mut self, pace: &Pace, now: Moment, sent: Sent, kept: Text) {
        self.failures = 0;
        self.reported = None;
        self.in_doubt.clear();
        if kept != sent.text {
            self.notes.push(Note::Pruned);
        }
        self.made = Some(Made { text: sent.text, kept, conditions: sent.conditions });
        if sent.put_back {
            self.notes.push(Note::PutBack);
            self.count_put_back(pace, now);
        }
    }

    fn failed(&mut self, pace: &Pace, now: Moment, text: Text) {
        let factor = 2_u32.checked_pow(self.failures).unwrap_or(u32::MAX);
        let wait = pace.gap.saturating_mul(factor).min(pace.cap.max(pace.gap));
        self.failures = self.failures.saturating_add(1);
        self.not_before = now + wait;
        let first = self.reported.as_ref() != Some(&text);
        self.reported = Some(text);
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
        self.failures = 0;
        self.reported = None;
        if self.put_backs.back().is_some_and(|last| now.since(*last) > pace.fight_window) {
            self.put_backs.clear();
            self.managers.clear();
            self.fight = false;
        }
    }
}
