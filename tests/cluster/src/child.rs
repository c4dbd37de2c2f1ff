//! A child process that does not outlive this one, however this one ends.
//!
//! A guard kills nothing when its process is killed itself, so the child's life hangs on a pipe: see `hold.sh`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context as _, ensure};

/// Of a log, so many of its last lines are told when a child fails.
const LOG_LINES: usize = 30;

/// A running child. Dropping it kills it and waits for its end.
#[derive(Debug)]
pub(crate) struct Held {
    wrapper: Child,
    pid: String,
    log: PathBuf,
}

impl Held {
    /// Starts `program`, which writes to `log`. The folder `owned`, if any, is removed after its end.
    pub(crate) fn start(program: &Path, args: &[String], log: PathBuf, owned: Option<&Path>) -> anyhow::Result<Self> {
        let mut command = Command::new("bash");
        command.args(["-c", include_str!("hold.sh"), "hold"]);
        command.arg(owned.unwrap_or(Path::new(""))).arg(program).args(args);
        // Its own group: a Ctrl-C at the terminal ends the tests, and the pipe ends the child.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut wrapper = command.spawn().context("bash")?;
        let mut pid = String::new();
        if let Some(out) = wrapper.stdout.take() {
            BufReader::new(out).read_line(&mut pid)?;
        }
        Ok(Self { wrapper, pid: pid.trim().to_owned(), log })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.wrapper.try_wait()?)
    }

    /// Sends it a signal, by its name without `SIG`.
    pub(crate) fn signal(&self, name: &str) -> anyhow::Result<()> {
        let status = Command::new("kill").args(["-s", name, &self.pid]).status().context("kill")?;
        ensure!(status.success(), "kill -s {name} {} ended with {status}", self.pid);
        Ok(())
    }

    /// The end of what it wrote.
    pub(crate) fn log(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closes its standard input, which kills the program.
        drop(self.wrapper.stdin.take());
        let _ = self.wrapper.wait();
    }
}
