//! What happens to requests before the workspace sees them: counts, limits, faults.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// How many requests each token may make to a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Requests in a window.
    pub requests: u32,
    /// From a window's first request to its end.
    pub window: Duration,
}

/// What goes wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An HTML page with this status, as Slack's edge sends it.
    Html(u16),
    /// Plain text with this status.
    Text(u16, String),
    /// The right answer, but later.
    Delay(Duration),
    /// The right answer, but the connection breaks after so many bytes of the body.
    Cut(usize),
    /// The right answer, but the body ends after so many bytes, and HTTP thinks that all is well.
    Truncated(usize),
    /// `ok: false` with this code and status 200.
    Error(String),
    /// 429 with so many seconds of `Retry-After`.
    Limited(u32),
    /// The right answer, and then spaces without an end.
    Endless,
}

/// Counts, limits and faults, by method.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    counts: BTreeMap<String, u64>,
    limits: BTreeMap<String, Limit>,
    windows: BTreeMap<(String, String), Window>,
    faults: BTreeMap<String, VecDeque<(Fault, u32)>>,
}

#[derive(Debug)]
struct Window {
    began: Instant,
    used: u32,
}

impl Traffic {
    pub(super) fn limit(&mut self, method: &str, limit: Option<Limit>) {
        self.windows.retain(|(limited, _), _| limited != method);
        match limit {
            Some(limit) => self.limits.insert(method.to_owned(), limit),
            None => self.limits.remove(method),
        };
    }

    pub(super) fn fault(&mut self, method: &str, fault: Fault, times: u32) {
        self.faults.entry(method.to_owned()).or_default().push_back((fault, times));
    }

    pub(super) fn clear_faults(&mut self) {
        self.faults.clear();
    }

    pub(super) fn requests(&self, method: &str) -> u64 {
        self.counts.get(method).copied().unwrap_or_default()
    }

    pub(super) fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// Counts a request and says what goes wrong with it, if something does.
    pub(super) fn admit(&mut self, method: &str, token: &str, now: Instant) -> Option<Fault> {
        *self.counts.entry(method.to_owned()).or_default() += 1;
        self.next_fault(method).or_else(|| self.over_limit(method, token, now).map(Fault::Limited))
    }

    fn next_fault(&mut self, method: &str) -> Option<Fault> {
        let queue = self.faults.get_mut(method)?;
        let (fault, times) = queue.front_mut()?;
        let fault = fault.clone();
        *times = times.saturating_sub(1);
        if *times == 0 {
            queue.pop_front();
        }
        Some(fault)
    }

    /// For how many seconds, rounded up, a token that used up its window has to wait.
    fn over_limit(&mut self, method: &str, token: &str, now: Instant) -> Option<u32> {
        let limit = *self.limits.get(method)?;
        let key = (method.to_owned(), token.to_owned());
        let window = self.windows.entry(key).or_insert(Window { began: now, used: 0 });
        if now.duration_since(window.began) >= limit.window {
            *window = Window { began: now, used: 0 };
        }
        if window.used < limit.requests {
            window.used += 1;
            return None;
        }
        let left = limit.window.saturating_sub(now.duration_since(window.began));
        Some(u32::try_from(left.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1))
    }
}
