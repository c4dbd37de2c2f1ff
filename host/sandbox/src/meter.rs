//! CPU time of one run: what its guest used, not what it waited for.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cpu_time::ThreadTime;

/// Adds up the CPU time of the polls of a run's future. Only the thread that polls writes.
#[derive(Default)]
pub(crate) struct Meter {
    /// Nanoseconds of the polls that ended.
    ended: AtomicU64,
    /// The thread's own CPU time when the poll that is under way began, in nanoseconds.
    began: AtomicU64,
}

impl Meter {
    /// CPU time so far. To be called during a poll of [`Self::watch`], on the thread that polls.
    pub(crate) fn spent(&self) -> Duration {
        let under_way = thread_time().saturating_sub(self.began.load(Ordering::Relaxed));
        Duration::from_nanos(self.ended.load(Ordering::Relaxed) + under_way)
    }

    /// CPU time of the polls that ended.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.ended.load(Ordering::Relaxed))
    }

    /// Runs a future, metered.
    pub(crate) async fn watch<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.began.store(thread_time(), Ordering::Relaxed);
            let poll = future.as_mut().poll(context);
            let used = thread_time().saturating_sub(self.began.load(Ordering::Relaxed));
            self.ended.fetch_add(used, Ordering::Relaxed);
            poll
        })
        .await
    }
}

fn thread_time() -> u64 {
    // A machine without this clock leaves the wall deadline as the only bound.
    ThreadTime::try_now().map_or(0, |time| u64::try_from(time.as_duration().as_nanos()).unwrap_or(u64::MAX))
}
