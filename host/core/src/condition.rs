//! Conditions: first what is so ([`Assessment`], without times), then since when ([`advance`]).

use std::fmt::Display;

use crate::accept::Judged;
use crate::id::{Generation, Uid};
use crate::message::Message;
use crate::outcome::Outcome;
use crate::reason::{AcceptedReason, BackendReason, ChannelReason, ConditionType, ReadyReason, Status};
use crate::time::Timestamp;

/// What one condition says, without its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<R> {
    /// The reason, of the condition's closed set: the status follows from it.
    pub reason: R,
    /// Empty when the status is True.
    pub message: Message,
    /// The generation of the Binding that this describes.
    pub observed_generation: Generation,
}

/// The conditions of one Binding, without times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// The broker serves the Binding: four conditions.
    Served {
        /// `Accepted`.
        accepted: Finding<AcceptedReason>,
        /// `BackendReachable`.
        backend: Finding<BackendReason>,
        /// `ChannelJoined`.
        channel: Finding<ChannelReason>,
        /// `Ready`.
        ready: Finding<ReadyReason>,
    },
    /// The broker does not serve the Binding: two conditions.
    NotServed {
        /// `Accepted`.
        accepted: Finding<AcceptedReason>,
        /// `Ready`.
        ready: Finding<ReadyReason>,
    },
}

/// The prober's results for one Binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// The object that was probed. Results for another one are never claimed.
    pub uid: Uid,
    /// The generation served that the last probe of the agent began with, and what it ended with.
    pub backend: Option<(Generation, Outcome<BackendReason>)>,
    /// The same of the channel.
    pub channel: Option<(Generation, Outcome<ChannelReason>)>,
}

/// One condition as written: strings at the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `type`.
    pub kind: ConditionType,
    /// `status`.
    pub status: Status,
    /// `reason`. Text, because one that stands may have been written by another version.
    pub reason: String,
    /// `message`.
    pub message: String,
    /// `lastTransitionTime`.
    pub last_transition_time: Timestamp,
    /// `observedGeneration`.
    pub observed_generation: Generation,
}

/// What one condition says, without its time, as written. Two conditions with the same words differ in their times only;
/// sorted, they are in the fixed order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Words {
    /// `type`.
    pub kind: ConditionType,
    /// `status`.
    pub status: Status,
    /// `reason`.
    pub reason: String,
    /// `message`.
    pub message: String,
    /// `observedGeneration`.
    pub observed_generation: Generation,
}

/// What is so of one Binding.
///
/// `results` is none until the prober has listed the Binding: Ready is then the bare Pending. `standing` is the status
/// that stands in the object: a probed condition that is Pending takes over one that is True and of the generation
/// served.
#[must_use]
pub fn assess(judged: &Judged, results: Option<&Results>, standing: &[Condition]) -> Assessment {
    let accepted = accepted(judged);
    let Some(served) = &judged.served else {
        return Assessment::NotServed { ready: not_accepted(&accepted), accepted };
    };
    // Results for another object are none for this one: the prober has yet to list it.
    let results = results.filter(|results| results.uid == judged.uid);
    let stands = |kind| stands_true(standing, kind, served.generation);
    let backend = probed(results.and_then(|r| r.backend), served.generation, stands);
    let channel = probed(results.and_then(|r| r.channel), served.generation, stands);
    let ready = if judged.refusal.is_some() {
        not_accepted(&accepted)
    } else {
        // The bare Pending is not written over a Ready that stands, as long as what that derives from stands as well.
        let stood = backend.reason == BackendReason::Ok && channel.reason == ChannelReason::Ok;
        let is_bare = results.is_none() && !(stood && stands(ConditionType::Ready));
        ready(&accepted, &backend, &channel, is_bare)
    };
    Assessment::Served { accepted, backend, channel, ready }
}

/// Turns an assessment into conditions, in the fixed order. A condition whose status is the same as in `previous`
/// keeps its transition time; another one gets `now`, or its old time if that is later: a time never goes back.
#[must_use]
pub fn advance(previous: &[Condition], assessment: &Assessment, now: Timestamp) -> Vec<Condition> {
    let stamp = |words: Words| {
        let before = previous.iter().find(|condition| condition.kind == words.kind);
        let time = match before {
            Some(before) if before.status == words.status => before.last_transition_time,
            Some(before) => before.last_transition_time.max(now),
            None => now,
        };
        words.since(time)
    };
    assessment.words().into_iter().map(stamp).collect()
}

impl Assessment {
    /// `Accepted`.
    #[must_use]
    pub const fn accepted(&self) -> &Finding<AcceptedReason> {
        match self {
            Self::Served { accepted, .. } | Self::NotServed { accepted, .. } => accepted,
        }
    }

    /// `Ready`.
    #[must_use]
    pub const fn ready(&self) -> &Finding<ReadyReason> {
        match self {
            Self::Served { ready, .. } | Self::NotServed { ready, .. } => ready,
        }
    }

    /// The conditions as written, without times, in the fixed order.
    #[must_use]
    pub fn words(&self) -> Vec<Words> {
        let first = self.accepted().words(ConditionType::Accepted, self.accepted().reason.status());
        let last = self.ready().words(ConditionType::Ready, self.ready().reason.status());
        match self {
            Self::Served { backend, channel, .. } => vec![
                first,
                backend.words(ConditionType::BackendReachable, backend.reason.status()),
                channel.words(ConditionType::ChannelJoined, channel.reason.status()),
                last,
            ],
            Self::NotServed { .. } => vec![first, last],
        }
    }
}

impl<R: Display> Finding<R> {
    fn words(&self, kind: ConditionType, status: Status) -> Words {
        Words {
            kind,
            status,
            reason: self.reason.to_string(),
            message: self.message.to_string(),
            observed_generation: self.observed_generation,
        }
    }
}

impl Words {
    /// A condition that says this since `time`.
    #[must_use]
    pub fn since(self, time: Timestamp) -> Condition {
        let Self { kind, status, reason, message, observed_generation } = self;
        Condition { kind, status, reason, message, last_transition_time: time, observed_generation }
    }
}

impl Condition {
    /// What the condition says, without its time.
    #[must_use]
    pub fn words(&self) -> Words {
        Words {
            kind: self.kind,
            status: self.status,
            reason: self.reason.clone(),
            message: self.message.clone(),
            observed_generation: self.observed_generation,
        }
    }
}

/// The reasons of a condition that a probe writes.
trait Probed: Copy + PartialEq {
    const KIND: ConditionType;
    const OK: Self;
    const PENDING: Self;
    fn sentence(self) -> Message;
}

impl Probed for BackendReason {
    const KIND: ConditionType = ConditionType::BackendReachable;
    const OK: Self = Self::Ok;
    const PENDING: Self = Self::Pending;

    fn sentence(self) -> Message {
        sentence(self.status(), self.meaning(), self.advice())
    }
}

impl Probed for ChannelReason {
    const KIND: ConditionType = ConditionType::ChannelJoined;
    const OK: Self = Self::Ok;
    const PENDING: Self = Self::Pending;

    fn sentence(self) -> Message {
        sentence(self.status(), self.meaning(), self.advice())
    }
}

/// A message is empty when the condition is True.
fn sentence(status: Status, meaning: &str, advice: &str) -> Message {
    match status {
        Status::True => Message::default(),
        Status::False | Status::Unknown => Message::new(&format!("{meaning} {advice}")),
    }
}

fn accepted(judged: &Judged) -> Finding<AcceptedReason> {
    let (reason, message) = match &judged.refusal {
        None => (AcceptedReason::Ok, Message::default()),
        Some(refusal) => (refusal.reason, refusal.message.clone()),
    };
    Finding { reason, message, observed_generation: judged.generation }
}

/// Ready of a Binding that is not accepted, or that is accepted and yet to be served: that is Pending.
fn not_accepted(accepted: &Finding<AcceptedReason>) -> Finding<ReadyReason> {
    let (reason, message) = if accepted.reason == AcceptedReason::Ok {
        (ReadyReason::Pending, pending())
    } else {
        (ReadyReason::Accepted(accepted.reason), accepted.message.clone())
    };
    Finding { reason, message, observed_generation: accepted.observed_generation }
}

fn stands_true(standing: &[Condition], kind: ConditionType, generation: Generation) -> bool {
    let is_this = |condition: &&Condition| condition.kind == kind;
    standing.iter().find(is_this).is_some_and(|c| c.status == Status::True && c.observed_generation == generation)
}

/// What a probe's result says, with the generation that it was made for: one for an older generation goes on saying
/// that of the older one. A result for a newer generation than the one served says nothing of what is served.
fn probed<R: Probed>(
    result: Option<(Generation, Outcome<R>)>,
    served: Generation,
    stands: impl Fn(ConditionType) -> bool,
) -> Finding<R> {
    let (observed_generation, reason) = match result {
        Some((generation, outcome)) if generation <= served => (generation, outcome.reason),
        Some(_) | None if stands(R::KIND) => (served, R::OK),
        Some(_) | None => (served, R::PENDING),
    };
    Finding { reason, message: reason.sentence(), observed_generation }
}

/// Ready of an accepted Binding: held back by the first condition that is not True, and no newer than its evidence.
fn ready(
    accepted: &Finding<AcceptedReason>,
    backend: &Finding<BackendReason>,
    channel: &Finding<ChannelReason>,
    is_bare: bool,
) -> Finding<ReadyReason> {
    let (reason, message) = if is_bare {
        (ReadyReason::Pending, pending())
    } else if backend.reason != BackendReason::Ok {
        (ReadyReason::Backend(backend.reason), backend.message.clone())
    } else if channel.reason != ChannelReason::Ok {
        (ReadyReason::Channel(channel.reason), channel.message.clone())
    } else {
        (ReadyReason::Ok, Message::default())
    };
    let probed = backend.observed_generation.min(channel.observed_generation);
    Finding { reason, message, observed_generation: accepted.observed_generation.min(probed) }
}

/// The message of the bare Pending.
fn pending() -> Message {
    let reason = ReadyReason::Pending;
    sentence(reason.status(), reason.meaning(), reason.advice())
}

#[cfg(test)]
mod tests;
