//! The numbers of an election.

use std::time::Duration;

/// What may pass between the end of a claim and its holder's taking note, on a busy machine. 250 ms.
pub const SLACK: Duration = Duration::from_millis(250);

/// The longest duration that a Lease may have, ours or another's. 5 min: were it longer, a mistaken record of a holder
/// that is gone would leave everyone without a leader for as long.
pub const LONGEST: Duration = Duration::from_secs(300);

/// How long a leader holds, and how often it says so. All replicas of a broker should have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long others wait for a leader that is not heard of; whole seconds, at most [`LONGEST`]. 15 s: what the
    /// controllers of Kubernetes itself have.
    pub duration: Duration,
    /// From the last successful renewal to when the leader stops leading. 10 s: so much shorter than `duration` that a
    /// call which was sent at its last moment has ended before another leads.
    pub renew_deadline: Duration,
    /// From one renewal, or look, to the next. 2 s: a leader has five attempts before it must stop, and one that
    /// released its Lease is followed within that time.
    pub retry: Duration,
    /// How long one call may take. 3 s: a call that hangs leaves time for others within `renew_deadline`.
    pub call: Duration,
}

/// Why an election with these numbers could have two leaders, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimingError {
    /// `duration` is none that a Lease can have.
    Duration(Duration),
    /// A number is zero.
    Zero(&'static str),
    /// A leader that could not renew would stop too late: the two numbers.
    Overlap(Timing),
    /// There is no time for a second attempt: the two numbers.
    OneAttempt(Timing),
}

impl Default for Timing {
    fn default() -> Self {
        let [duration, renew_deadline, retry, call] = [15, 10, 2, 3].map(Duration::from_secs);
        Self { duration, renew_deadline, retry, call }
    }
}

impl Timing {
    /// Whether an election can go by these numbers.
    ///
    /// # Errors
    ///
    /// What is wrong with which of them.
    pub fn check(&self) -> Result<(), TimingError> {
        if self.duration.subsec_nanos() != 0 || self.duration.is_zero() || self.duration > LONGEST {
            return Err(TimingError::Duration(self.duration));
        }
        for (number, name) in [(self.retry, "retry"), (self.call, "call")] {
            if number.is_zero() {
                return Err(TimingError::Zero(name));
            }
        }
        if self.renew_deadline.saturating_add(self.call).saturating_add(SLACK) >= self.duration {
            return Err(TimingError::Overlap(self.clone()));
        }
        if self.retry.saturating_add(self.call) > self.renew_deadline {
            return Err(TimingError::OneAttempt(self.clone()));
        }
        Ok(())
    }

    /// From one attempt to the next: up to a fifth less than `retry`, by `jitter` (of 255 parts), so that candidates
    /// do not stay in step. Never more: a candidate that looks late takes over late.
    pub(super) fn pause(&self, jitter: u8) -> Duration {
        self.retry.saturating_sub(self.retry / 5 * u32::from(jitter) / 255)
    }

    /// `duration` as a Lease has it.
    pub(super) fn seconds(&self) -> i32 {
        i32::try_from(self.duration.as_secs()).unwrap_or(i32::MAX)
    }
}

impl std::fmt::Display for TimingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duration(found) => {
                let most = LONGEST.as_secs();
                write!(f, "duration: {found:?} is not a whole number of seconds from 1 to {most}")
            }
            Self::Zero(name) => write!(f, "{name}: it must be more than zero"),
            Self::Overlap(Timing { duration, renew_deadline, call, .. }) => write!(
                f,
                "renewDeadline: with a call of {call:?} and {SLACK:?} to spare, {renew_deadline:?} does not end before \
                 duration, which is {duration:?}"
            ),
            Self::OneAttempt(Timing { renew_deadline, retry, call, .. }) => write!(
                f,
                "renewDeadline: {renew_deadline:?} is less than retry ({retry:?}) and call ({call:?}) together, so one \
                 call that hangs would end the leadership"
            ),
        }
    }
}

impl std::error::Error for TimingError {}
