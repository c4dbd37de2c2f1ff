//! Time as an argument: a monotonic [`Moment`] for waits, a [`Timestamp`] for what people read.

use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point on the monotonic clock of this process: the time since an origin that the caller chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The origin.
    pub const ORIGIN: Self = Self(Duration::ZERO);

    /// The moment that lies this long after the origin.
    #[must_use]
    pub const fn after_origin(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// How long before this moment `earlier` was; zero when it was not before it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(wait))
    }
}

/// A point in civil time, as Kubernetes keeps it: whole seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);
