//! What all that is tried again has in common: how long it may take, how long to wait, and what to say of it.

use std::error::Error;
use std::time::Duration;

use crate::client::ApiError;

/// Waits that double from one failure to the next.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    cap: Duration,
    failures: u32,
}

impl Backoff {
    /// The first wait, and the longest.
    pub(crate) const fn new(first: Duration, cap: Duration) -> Self {
        Self { first, cap, failures: 0 }
    }

    /// The wait after one more failure.
    pub(crate) fn next(&mut self) -> Duration {
        let factor = 2_u32.checked_pow(self.failures).unwrap_or(u32::MAX);
        self.failures = self.failures.saturating_add(1);
        self.first.saturating_mul(factor).min(self.cap)
    }

    /// It worked: the next failure is the first.
    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }
}

/// The trouble that was told last: each is told once, until it is another one or over.
#[derive(Debug, Default)]
pub(crate) struct Told(Option<String>);

impl Told {
    /// Whether this is news.
    pub(crate) fn is_news(&mut self, trouble: &str) -> bool {
        if self.0.as_deref() == Some(trouble) {
            return false;
        }
        self.0 = Some(trouble.to_owned());
        true
    }

    /// Whether there was a trouble, which is over now.
    pub(crate) fn is_over(&mut self) -> bool {
        self.0.take().is_some()
    }
}

/// For how many seconds a watch is asked to be open: the client takes no more.
pub(crate) fn seconds(watch: Duration) -> u32 {
    u32::try_from(watch.as_secs()).unwrap_or(u32::MAX).clamp(1, 290)
}

/// What is behind a failed call, in one line: what the API server said, or the whole chain of the error.
pub(crate) fn cause(error: &ApiError) -> String {
    match error {
        ApiError::Api(kube::Error::Api(status)) if !status.message.is_empty() => status.message.clone(),
        ApiError::Api(kube::Error::Api(status)) => format!("status {} {}", status.code, status.reason),
        ApiError::Api(error) => chain(error),
        ApiError::Access(_) | ApiError::Timeout(_) => error.to_string(),
    }
}

/// An error with its sources. Many of the client's repeat the text of their source: nothing is said twice.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, Told, cause, seconds};
    use crate::client::ApiError;

    #[test]
    fn waits_double_up_to_the_longest_and_begin_anew() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
        let waits: Vec<_> = (0..5).map(|_| backoff.next().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 5, 5]);
        backoff.reset();
        assert_eq!(backoff.next().as_secs(), 1);
    }

    #[test]
    fn ever_more_failures_never_overflow() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
        assert!((0..200).map(|_| backoff.next()).all(|wait| wait <= Duration::from_secs(5)));
    }

    #[test]
    fn a_watch_is_asked_for_no_longer_than_the_client_takes() {
        for (wanted, asked) in [(0, 1), (60, 60), (290, 290), (295, 290), (u64::MAX, 290)] {
            assert_eq!(seconds(Duration::from_secs(wanted)), asked);
        }
    }

    #[test]
    fn a_trouble_is_told_once_until_it_is_another_or_over() {
        let mut told = Told::default();
        assert!(!told.is_over());
        assert!(told.is_news("a"));
        assert!(!told.is_news("a"));
        assert!(told.is_news("b"));
        assert!(told.is_over());
        assert!(told.is_news("b"));
    }

    #[test]
    fn a_cause_says_nothing_twice() {
        let source = std::io::Error::other("reset by peer");
        let cause = cause(&ApiError::Api(kube::Error::ReadEvents(source)));
        assert_eq!(cause.matches("reset by peer").count(), 1, "{cause}");
    }
}
