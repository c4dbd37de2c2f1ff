//! What a test's own thread logs.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::Dispatch;
use tracing::dispatcher::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

/// Captures for as long as it lives.
pub(super) struct Capturing {
    _guard: DefaultGuard,
    /// As long as there is one subscriber alone, `tracing` asks the thread that comes first to an event's place whether
    /// anybody listens, and that may be another test's, where nobody does. Two are all asked.
    _second: Dispatch,
}

impl Log {
    /// Captures what this thread logs.
    pub(super) fn capture(&self) -> Capturing {
        let second = self.subscriber();
        Capturing { _guard: tracing::dispatcher::set_default(&self.subscriber()), _second: second }
    }

    fn subscriber(&self) -> Dispatch {
        let builder = tracing_subscriber::fmt().with_ansi(false).with_max_level(tracing::Level::DEBUG);
        Dispatch::new(builder.with_writer(self.clone()).finish())
    }

    /// The lines that hold this text.
    pub(super) fn lines(&self, text: &str) -> Vec<String> {
        let written = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        written.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
