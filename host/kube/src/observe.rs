//! What happened between the broker and the API server, for whoever counts it.

use std::sync::Arc;
use std::time::Duration;

use kourier_core::id::Kind;

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A write of a status ended.
    Write {
        /// How.
        result: WriteResult,
        /// How long it took.
        took: Duration,
    },
    /// A change that somebody else made was undone.
    PutBack,
    /// Somebody undoes what is written, again and again.
    Fight,
    /// A status was written, and a part of it was not kept: the CRD does not have it.
    Pruned,
    /// So many Bindings differ from what stands and wait to be written.
    Waiting(usize),
    /// This replica began to lead (`true`), or stopped (`false`).
    Leading(bool),
    /// The Lease was renewed.
    Renewed,
    /// A watch of this kind had to begin again.
    WatchRestarted(Kind),
    /// All objects of this kind were listed anew.
    Listed(Kind),
    /// The cache of this kind is known to be current: an event or a bookmark came.
    Fresh(Kind),
    /// An Event could not be sent.
    EventLost,
}

/// How a write of a status ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteResult {
    /// The object's status is another one now.
    Changed,
    /// The API server took it, and nothing changed.
    Unchanged,
    /// The object was at another version, or gone.
    Stale,
    /// There was no answer in time.
    Timeout,
    /// It was refused, or the API server could not be reached.
    Error,
}

impl WriteResult {
    /// Every result.
    pub const ALL: [Self; 5] = [Self::Changed, Self::Unchanged, Self::Stale, Self::Timeout, Self::Error];

    /// The result as a metric's label has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Stale => "stale",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }
}

/// Told of everything that happens. It must not block.
pub type Observer = Arc<dyn Fn(Observation) + Send + Sync>;
