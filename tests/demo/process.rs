//! The real program as a process, as an operator runs it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use tokio::signal::unix::{SignalKind, signal};

/// Between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(100);
/// The longest that a broker may take to stop: a probe that runs is waited for.
const STOP: Duration = Duration::from_secs(15);

/// A running broker. Dropping it kills it.
pub(crate) struct Process(Child);

impl Process {
    /// Starts it; what it says goes to `log`.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(command: &mut Command, log: &Path) -> anyhow::Result<Self> {
        let log = File::create(log)?;
        Ok(Self(command.stdout(log.try_clone()?).stderr(log).stdin(Stdio::null()).spawn()?))
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Ends it with SIGKILL: it cannot say goodbye to anybody.
    ///
    /// # Errors
    ///
    /// When it has ended by itself.
    pub(crate) fn kill(mut self) -> anyhow::Result<()> {
        ensure!(self.0.try_wait()?.is_none(), "the broker has ended by itself");
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    /// Asks it to stop, as a cluster does, and waits for it.
    ///
    /// # Errors
    ///
    /// When it does not stop in time, or not cleanly.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        ensure!(self.0.try_wait()?.is_none(), "the broker has ended by itself");
        let asked = Command::new("kill").args(["-TERM", &self.id().to_string()]).status()?;
        ensure!(asked.success(), "kill -TERM ended with {asked}");
        let begun = Instant::now();
        while begun.elapsed() < STOP {
            if let Some(status) = self.0.try_wait()? {
                ensure!(status.success(), "the broker ended with {status}");
                return Ok(());
            }
            sleep(LOOK);
        }
        bail!("the broker did not stop within {} s of SIGTERM", STOP.as_secs())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended, and nobody is left to be told.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program that was built beside this one.
///
/// # Errors
///
/// When it was not.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("agent-kourier");
    ensure!(program.exists(), "{} is missing: run `make demo`", program.display());
    Ok(program)
}

/// Until somebody wants the program to end: Ctrl-C, SIGTERM, or a terminal that is closed.
///
/// # Errors
///
/// When no signal can be waited for.
pub(crate) async fn interrupted() -> anyhow::Result<()> {
    let (mut terminate, mut hang_up) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    tokio::select! {
        it = tokio::signal::ctrl_c() => it?,
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
    Ok(())
}

/// Asks every child of this program to end, whoever started it.
pub(crate) fn end_children() {
    let own = std::process::id().to_string();
    let is_child = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the program's name, which may have anything in it: the state, and the parent.
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)) == Some(&own)
    };
    let names =
        fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let children: Vec<String> =
        names.filter(|name| name.bytes().all(|b| b.is_ascii_digit())).filter(is_child).collect();
    // Those that have ended meanwhile are none of its business.
    let _ = Command::new("kill").arg("-TERM").args(children).stderr(Stdio::null()).status();
}
