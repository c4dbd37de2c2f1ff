//! What a run of a probe ends with.

use std::fmt;
use std::time::Duration;

use crate::reason::{BackendReason, ChannelReason};

/// The least time for which a gate stays closed, whatever a peer asks for.
pub const GATE_MIN: Duration = Duration::from_secs(1);
/// The longest time for which a gate stays closed, whatever a peer asks for.
pub const GATE_MAX: Duration = Duration::from_secs(3600);
/// For how long a gate stays closed when the peer named no time.
pub const GATE_DEFAULT: Duration = Duration::from_secs(30);

/// For how long a peer that asked to wait is left alone, from what it said.
#[must_use]
pub fn gate(asked: Option<u32>) -> Duration {
    asked.map_or(GATE_DEFAULT, |seconds| Duration::from_secs(u64::from(seconds)).clamp(GATE_MIN, GATE_MAX))
}

/// What a probe says, or the prober's own fault, for a condition whose reasons are `R`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<R> {
    /// The condition's reason.
    pub reason: R,
    /// For how long the peer is to be left alone, when it asked for that.
    pub gate: Option<Duration>,
}

impl<R> Outcome<R> {
    /// This reason, with no wish of the peer to be left alone.
    pub const fn of(reason: R) -> Self {
        Self { reason, gate: None }
    }
}

/// What the prober itself found when a probe could not say anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The run was older than the wall deadline, for example because the probe kept waiting for its peer.
    Deadline,
    /// The probe used more CPU time than its budget.
    CpuBudget,
    /// The probe asked for more memory, or for larger tables, than its limit.
    Memory,
    /// The probe recursed deeper than its stack.
    Stack,
    /// The probe panicked: its journal has the place.
    Panic,
    /// The probe trapped for another reason.
    Trap,
    /// The probe's answer broke the interface's limits.
    BadAnswer,
    /// The component is paused after several faults in a row.
    Paused,
    /// No component is loaded for this check.
    NotLoaded,
    /// The broker itself lacked descriptors, ports, memory or threads.
    Host,
    /// The Secret or its key is missing, unreadable or unusable.
    Credential,
}

/// Whose doing a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The component's.
    Guest,
    /// The broker's, or its operator's.
    Host,
}

impl Fault {
    /// Every fault, in the order of the declaration.
    pub const ALL: [Self; 11] = [
        Self::Deadline,
        Self::CpuBudget,
        Self::Memory,
        Self::Stack,
        Self::Panic,
        Self::Trap,
        Self::BadAnswer,
        Self::Paused,
        Self::NotLoaded,
        Self::Host,
        Self::Credential,
    ];

    /// The fault's name in logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::CpuBudget => "cpu-budget",
            Self::Memory => "memory",
            Self::Stack => "stack",
            Self::Panic => "panic",
            Self::Trap => "trap",
            Self::BadAnswer => "bad-answer",
            Self::Paused => "paused",
            Self::NotLoaded => "not-loaded",
            Self::Host => "host",
            Self::Credential => "credential",
        }
    }

    /// Whose doing it is.
    #[must_use]
    pub const fn blame(self) -> Blame {
        match self {
            Self::Deadline
            | Self::CpuBudget
            | Self::Memory
            | Self::Stack
            | Self::Panic
            | Self::Trap
            | Self::BadAnswer
            | Self::Paused => Blame::Guest,
            Self::NotLoaded | Self::Host | Self::Credential => Blame::Host,
        }
    }

    /// The reason that this fault becomes in `BackendReachable`.
    #[must_use]
    pub const fn backend_reason(self) -> BackendReason {
        match self.class() {
            Class::Timeout => BackendReason::ProbeTimeout,
            Class::Credential => BackendReason::CredentialUnavailable,
            Class::Failed => BackendReason::ProbeFailed,
        }
    }

    /// The reason that this fault becomes in `ChannelJoined`: the same as for the backend.
    #[must_use]
    pub const fn channel_reason(self) -> ChannelReason {
        match self.class() {
            Class::Timeout => ChannelReason::ProbeTimeout,
            Class::Credential => ChannelReason::CredentialUnavailable,
            Class::Failed => ChannelReason::ProbeFailed,
        }
    }

    const fn class(self) -> Class {
        match self {
            Self::Deadline => Class::Timeout,
            Self::Credential => Class::Credential,
            Self::CpuBudget
            | Self::Memory
            | Self::Stack
            | Self::Panic
            | Self::Trap
            | Self::BadAnswer
            | Self::Paused
            | Self::NotLoaded
            | Self::Host => Class::Failed,
        }
    }
}

/// The three reasons that are the prober's own.
#[derive(Clone, Copy)]
enum Class {
    Timeout,
    Credential,
    Failed,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Blame {
    /// Its name in logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
