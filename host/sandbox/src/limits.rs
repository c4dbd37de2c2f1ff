//! Every limit of runs and components, with its unit and reason.

use std::time::Duration;

/// The bounds of runs of probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Runs at a time, for which the engine has room. Those beyond wait for their turn, and their time does not run yet.
    /// A broker has as many as its prober starts at a time.
    pub runs: u32,
    /// Wall time of a run, from its start (never from when it was queued): the page's 10 seconds.
    pub deadline: Duration,
    /// Wall time of one request.
    pub request: Duration,
    /// Kept back from the last request of a run, so that the probe can still say what it saw.
    pub reserve: Duration,
    /// CPU time of a run: what its thread used, looked at every 5 ms. A probe needs 1 to 20 ms.
    pub cpu: Duration,
    /// Bytes of linear memory of a run. Rust needs 1-2 MiB, JavaScript 12, Python 14.
    pub memory: usize,
    /// Elements of all tables of a run.
    pub table_elements: usize,
    /// Bytes of stack of a run.
    pub stack: usize,
    /// Bytes of an answer's body: the page's 1 MiB.
    pub body: usize,
    /// Bytes of a request's body.
    pub request_body: usize,
    /// Requests of a run.
    pub requests: u32,
    /// Lines of a run's journal.
    pub journal_lines: usize,
    /// Bytes of a journal line.
    pub journal_line: usize,
    /// Bytes of a component file, compiled or not.
    pub component: usize,
}

impl Limits {
    /// Bytes that a guest may hand over in one call: a request, or a line of its journal, which a careless probe makes of
    /// a whole answer with three bytes for each that is no text. Of one piece of its memory a guest can make texts
    /// without number, each of which the host would copy.
    pub(crate) fn handed_over(&self) -> usize {
        const REST: usize = 64 << 10;
        self.body.saturating_mul(3).saturating_add(self.request_body).saturating_add(REST)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Of commands, which run one for each core at most, and of tests, which run some dozens.
            runs: 64,
            deadline: Duration::from_secs(10),
            request: Duration::from_secs(8),
            reserve: Duration::from_millis(250),
            cpu: Duration::from_millis(200),
            memory: 32 << 20,
            table_elements: 20_000,
            stack: 512 << 10,
            body: 1 << 20,
            request_body: 64 << 10,
            requests: 64,
            journal_lines: 16,
            journal_line: 512,
            component: 32 << 20,
        }
    }
}
