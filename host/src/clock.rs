//! The two things that the loops take from the machine: civil time, and threads that may block.

use std::panic::resume_unwind;
use std::time::{SystemTime, UNIX_EPOCH};

use kourier_core::time::Timestamp;
use tokio::task::spawn_blocking;

/// Civil time, in whole seconds.
#[must_use]
pub fn now() -> Timestamp {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    Timestamp(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// Runs what may block, or compute for long, apart from the async threads. A panic in it goes on in the caller.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // Blocking work that has begun is never cancelled; the runtime that ends drops this future as well.
            Err(_) => std::future::pending().await,
        },
    }
}
