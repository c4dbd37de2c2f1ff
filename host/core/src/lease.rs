//! Who leads: what a candidate does with the Lease that all replicas of a broker share.
//!
//! The loop asks [`Election::next`] what to do and does it: wait, read the Lease, or write it on the condition that it
//! is still the version last seen. It reports the answer with [`Election::answered`]. [`Election::claim`] says until
//! when this candidate may lead; it may be asked at any time, and a claim that was not renewed ends by itself.
//!
//! Two candidates never hold at once, because
//!
//! * every write names the version that it replaces, so of two that saw the same one succeeds;
//! * a holder counts from before it *sent* its last successful renewal, and stops [`Timing::renew_deadline`] later;
//! * a candidate counts from after it *saw* the record change, and waits for the record's own, longer duration. Only
//!   its own monotonic clock counts: the times in a record are for people.
//!
//! What is absent: a clock, IO, randomness. A Lease that somebody deletes while its holder lives is made again by the
//! holder; candidates that had seen it wait for their own duration, which is the holder's where all have the same. Only
//! one that starts at that moment and has never seen it can lead beside the holder, until the holder's next attempt to
//! renew.

use std::time::Duration;

use crate::plan::Version;
use crate::time::Moment;

mod timing;

pub use timing::{LONGEST, SLACK, Timing, TimingError};

/// What of a Lease decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who holds it; empty: nobody.
    pub holder: String,
    /// For how many seconds after its last change; none or less than 1 is no duration, and the candidate's own counts.
    pub seconds: Option<i32>,
    /// How often the holder changed.
    pub transitions: i32,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing before this moment.
    Wait {
        /// When to ask again.
        until: Moment,
    },
    /// Read the Lease.
    Read,
    /// Write the Lease.
    Write(Write),
    /// Nothing any more: it was resigned, and the Lease does not name this candidate.
    Done,
}

/// A write of the Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The version that is replaced; none: it is made.
    pub version: Option<Version>,
    /// What it then says.
    pub record: Record,
    /// What for.
    pub purpose: Purpose,
}

/// What a Lease is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To become its holder.
    Take,
    /// To stay its holder.
    Renew,
    /// To let others take it at once.
    Release,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The Lease was read.
    Found(Record, Version),
    /// There is no Lease.
    Missing,
    /// The write was done, and made this version.
    Stored(Write, Version),
    /// The Lease is another version than the one that was to be replaced, or it was made by somebody else.
    Conflict,
    /// Nothing is known: a write may have been done, or may be yet.
    Failed,
}

/// When a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Before it was sent.
    pub sent: Moment,
    /// After its answer was there.
    pub ended: Moment,
    /// A number by chance, of this call alone.
    pub jitter: u8,
}

/// One candidate, from its start to its end.
#[derive(Debug)]
pub struct Election {
    identity: String,
    timing: Timing,
    seen: Seen,
    /// Whether what was seen may be no more: it is read before anything is written.
    stale: bool,
    /// Whether the last write met a conflict: a second one in a row waits for its turn.
    conflicted: bool,
    /// Whether a write may have made this candidate the holder without its knowing.
    doubtful: bool,
    resigned: bool,
    held: Option<Moment>,
    due: Moment,
}

/// What was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    /// No Lease; a new one may be made from this moment on.
    Missing {
        free: Moment,
    },
    Lease {
        record: Record,
        version: Version,
        /// From when on another than its holder may take it.
        free: Moment,
    },
}

impl Election {
    /// A candidate of this identity, which no other has or ever had: a process that starts again is another candidate.
    ///
    /// # Errors
    ///
    /// When there could be two leaders, or none, with this timing.
    pub fn new(identity: impl Into<String>, timing: Timing) -> Result<Self, TimingError> {
        timing.check()?;
        Ok(Self {
            identity: identity.into(),
            timing,
            seen: Seen::Nothing,
            stale: true,
            conflicted: false,
            doubtful: false,
            resigned: false,
            held: None,
            due: Moment::ORIGIN,
        })
    }

    /// Until when this candidate leads; none: it does not.
    #[must_use]
    pub fn claim(&self, now: Moment) -> Option<Moment> {
        self.held.filter(|until| now < *until)
    }

    /// Who holds the Lease, as far as is known: for the log. It may be this candidate, whether it leads or not.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        match &self.seen {
            Seen::Lease { record, .. } if !record.holder.is_empty() => Some(&record.holder),
            Seen::Lease { .. } | Seen::Missing { .. } | Seen::Nothing => None,
        }
    }

    /// Gives up for good. The claim ends now; the next steps release the Lease, if this candidate holds it.
    pub fn resign(&mut self) {
        self.resigned = true;
        self.held = None;
        self.due = Moment::ORIGIN;
    }

    /// What to do now. It changes nothing: until an answer came, it is the same again.
    #[must_use]
    pub fn next(&self, now: Moment) -> Step {
        if self.resigned && !self.doubtful && self.holder() != Some(&self.identity) {
            return Step::Done;
        }
        if now < self.due {
            return Step::Wait { until: self.claim(now).map_or(self.due, |until| until.min(self.due)) };
        }
        match &self.seen {
            _ if self.stale => Step::Read,
            Seen::Missing { free } if now >= *free || self.claim(now).is_some() => Step::Write(self.make()),
            Seen::Lease { record, version, free } => match self.write(record, version, now >= *free) {
                Some(write) => Step::Write(write),
                None => Step::Read,
            },
            Seen::Missing { .. } | Seen::Nothing => Step::Read,
        }
    }

    /// Takes note of how a call ended.
    pub fn answered(&mut self, answer: Answer, call: Call) {
        let retry = call.ended.max(call.sent + self.timing.pause(call.jitter));
        match answer {
            Answer::Found(record, version) => {
                self.doubtful = false;
                self.found(record, version, call.ended);
                self.due = self.turn(call.ended, retry);
                self.conflicted &= self.due == call.ended;
            }
            Answer::Missing => {
                self.missing(call.ended);
                self.due = self.turn(call.ended, retry);
            }
            Answer::Stored(write, version) => {
                self.stored(write, version, call.sent);
                self.due = if self.resigned { call.ended } else { retry };
            }
            Answer::Conflict => {
                // What stands now may be an earlier write of this candidate, of which it had no answer.
                (self.stale, self.doubtful) = (true, true);
                self.due = if self.conflicted { retry } else { call.ended };
                self.conflicted = true;
            }
            Answer::Failed => {
                // What is stale is only read. So if it was not, this may have been a write.
                self.doubtful |= !self.stale;
                self.stale = true;
                self.due = retry;
            }
        }
    }

    /// The write of a Lease that stands, if this candidate may write it.
    fn write(&self, record: &Record, version: &Version, free: bool) -> Option<Write> {
        let version = Some(version.clone());
        let ours = record.holder == self.identity;
        if self.resigned {
            let record = Record { holder: String::new(), seconds: Some(1), ..record.clone() };
            return ours.then_some(Write { version, record, purpose: Purpose::Release });
        }
        if !ours && !free {
            return None;
        }
        let transitions = if ours { record.transitions } else { record.transitions.saturating_add(1) };
        let purpose = if ours { Purpose::Renew } else { Purpose::Take };
        Some(Write { version, record: self.record(transitions), purpose })
    }

    fn make(&self) -> Write {
        Write { version: None, record: self.record(0), purpose: Purpose::Take }
    }

    fn record(&self, transitions: i32) -> Record {
        Record { holder: self.identity.clone(), seconds: Some(self.timing.seconds()), transitions: transitions.max(0) }
    }

    /// The earliest moment at which something can be done with what was just seen; `retry` when it is not known.
    fn turn(&self, now: Moment, retry: Moment) -> Moment {
        match &self.seen {
            Seen::Lease { record, .. } if record.holder == self.identity => now,
            Seen::Missing { .. } if self.claim(now).is_some() => now,
            Seen::Lease { free, .. } | Seen::Missing { free } => retry.min(now.max(*free)),
            Seen::Nothing => retry,
        }
    }

    fn found(&mut self, record: Record, version: Version, now: Moment) {
        self.stale = false;
        if record.holder != self.identity {
            self.held = None;
        }
        if matches!(&self.seen, Seen::Lease { version: known, .. } if *known == version) {
            return;
        }
        let free = if record.holder.is_empty() { now } else { now + self.duration(&record) };
        self.seen = Seen::Lease { record, version, free };
    }

    /// There is no Lease. Whoever never saw one makes it at once; whoever did waits for a duration, because somebody may
    /// hold the one that was deleted. It is this candidate's own duration: people delete a Lease to be rid of a record
    /// that nobody stands behind, and what such a record says of itself may be minutes.
    fn missing(&mut self, now: Moment) {
        self.stale = false;
        self.doubtful = false;
        let free = match &self.seen {
            Seen::Nothing => now,
            Seen::Missing { free } => *free,
            Seen::Lease { .. } => now + self.timing.duration,
        };
        self.seen = Seen::Missing { free };
    }

    fn stored(&mut self, write: Write, version: Version, sent: Moment) {
        (self.stale, self.conflicted, self.doubtful) = (false, false, false);
        self.held = match write.purpose {
            Purpose::Take | Purpose::Renew if !self.resigned => Some(sent + self.timing.renew_deadline),
            Purpose::Take | Purpose::Renew | Purpose::Release => None,
        };
        // To this candidate its own Lease is always free: see `write`.
        self.seen = Seen::Lease { record: write.record, version, free: sent };
    }

    /// The duration of another's record, within what a duration can be.
    fn duration(&self, record: &Record) -> Duration {
        let seconds = record.seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0);
        seconds.map_or(self.timing.duration, Duration::from_secs).min(LONGEST)
    }
}

#[cfg(test)]
mod tests;
