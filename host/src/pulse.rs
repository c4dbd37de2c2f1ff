//! Whether a loop still turns: what `/live` says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A time that never comes.
const RESTS: u64 = u64::MAX;

/// The pulse of one loop, shared between the loop and those who look at it. A new one has just beaten.
#[derive(Clone, Debug)]
pub struct Pulse {
    origin: Instant,
    last: Arc<AtomicU64>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { origin: Instant::now(), last: Arc::default() }
    }
}

impl Pulse {
    /// The loop turned.
    pub fn beat(&self) {
        let millis = u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(millis, Ordering::Relaxed);
    }

    /// The loop has nothing to do until it beats again: no age is too old for it.
    pub fn rest(&self) {
        self.last.store(RESTS, Ordering::Relaxed);
    }

    /// How long ago the loop turned; zero while it rests.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.origin.elapsed().saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }
}
