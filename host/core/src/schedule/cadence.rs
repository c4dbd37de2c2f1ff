//! The numbers of the prober's rhythm.

use std::num::NonZeroUsize;
use std::time::Duration;

/// How often the prober looks, begins and repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cadence {
    /// From the start of a leader to its first look. 15 s: the time for the first reading of objects and Secrets to
    /// settle, so that nothing is probed on half of it.
    pub start_delay: Duration,
    /// From one look to the next. 5 s: soon enough that an edit is not kept waiting by the look itself, and cheap,
    /// because a look sends nothing.
    pub look_interval: Duration,
    /// From the start of one pass to the earliest start of the next. 30 s: somebody who edits an object again and
    /// again does not make the broker ask its peers again and again.
    pub pass_gap: Duration,
    /// The age, from its start, at which a probe is made again. 5 min: a peer that fails shows within that time, and
    /// a thousand Bindings are about seven requests a second.
    pub interval: Duration,
    /// Probes that run at a time. 4: a pass over a few slow peers ends soon, and a burst is small for everyone.
    pub concurrency: NonZeroUsize,
}

impl Default for Cadence {
    fn default() -> Self {
        Self {
            start_delay: Duration::from_secs(15),
            look_interval: Duration::from_secs(5),
            pass_gap: Duration::from_secs(30),
            interval: Duration::from_secs(300),
            concurrency: NonZeroUsize::MIN.saturating_add(3),
        }
    }
}
