//! Conditions: first what is so ([`Assessment`], without times), then since when ([`advance`]).

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

/// What is so of one Binding.
///
/// `results` is none until the prober has listed the Binding: Ready is then the bare Pending. `standing` is the status
/// that stands in the object: a probed condition that is Pending takes over one that is True and of the generation
/// served.
#[must_use]
pub fn assess(_judged: &Judged, _results: Option<&Results>, _standing: &[Condition]) -> Assessment {
    unimplemented!()
}

/// Turns an assessment into conditions, in the fixed order. A condition whose status is the same as in `previous`
/// keeps its transition time; another one gets `now`.
#[must_use]
pub fn advance(_previous: &[Condition], _assessment: &Assessment, _now: Timestamp) -> Vec<Condition> {
    unimplemented!()
}
