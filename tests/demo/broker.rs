//! The real program, as an operator runs it.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::objects::Files;
use crate::tell;

/// Between two looks at the table.
const LOOK: Duration = Duration::from_millis(300);
/// The longest that a broker may take to stop: a probe that runs is waited for.
const STOP: Duration = Duration::from_secs(15);

/// A running broker. Dropping it kills it.
pub(crate) struct Broker {
    child: Child,
    admin: String,
}

/// One Binding, as its status has it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Of Ready.
    pub(crate) reason: String,
    /// Of Ready.
    pub(crate) message: String,
    pub(crate) ready_generation: i64,
    pub(crate) accepted_generation: i64,
    pub(crate) conditions: usize,
}

impl Broker {
    /// Starts `agent-kourier run`.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(files: &Files) -> anyhow::Result<Self> {
        let settings = files.settings();
        let arguments = ["run", "--config", &settings];
        tell::command(&arguments);
        tell::text(&format!("$ export AGENT_KOURIER_ADMIN={}", files.admin()));
        let log = File::create(files.log())?;
        let mut command = Command::new(program()?);
        let child = command.args(arguments).stdout(log.try_clone()?).stderr(log).stdin(Stdio::null()).spawn()?;
        Ok(Self { child, admin: files.admin().to_owned() })
    }

    /// Runs a subcommand that asks this broker, and shows what it prints.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub(crate) fn show(&self, arguments: &[&str]) -> anyhow::Result<()> {
        tell::command(arguments);
        let status = self.asking(arguments)?.status()?;
        ensure!(status.success(), "agent-kourier {} ended with {status}", arguments.join(" "));
        Ok(())
    }

    /// The table as it stands.
    ///
    /// # Errors
    ///
    /// When the broker does not answer.
    pub(crate) fn rows(&self) -> anyhow::Result<Vec<Row>> {
        let output = self.asking(&["status", "--output", "json"])?.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
        let list: Value = serde_json::from_slice(&output.stdout)?;
        let items = list["items"].as_array().context("status --output json is no List")?;
        items.iter().map(row).collect()
    }

    /// Looks at the table until it is so.
    ///
    /// # Errors
    ///
    /// When the broker ended, or it is not so in time: `what` is named.
    pub(crate) fn wait_for(
        &self,
        patience: Duration,
        what: &str,
        mut so: impl FnMut(&[Row]) -> bool,
    ) -> anyhow::Result<()> {
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < patience {
            match self.rows() {
                Ok(rows) if so(&rows) => return Ok(()),
                Ok(_) => {}
                Err(error) => last = Some(error),
            }
            sleep(LOOK);
        }
        let last = last.map_or_else(String::new, |error| format!("; the last error: {error:#}"));
        bail!("not within {} s: {what}{last}", patience.as_secs())
    }

    fn asking(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(program()?);
        command.args(arguments).env("AGENT_KOURIER_ADMIN", &self.admin);
        Ok(command)
    }

    /// Asks it to stop, as a cluster does, and waits for it.
    ///
    /// # Errors
    ///
    /// When it does not stop in time, or not cleanly.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        ensure!(asked.success(), "the broker has ended by itself");
        let begun = Instant::now();
        while begun.elapsed() < STOP {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the broker ended with {status}");
                return Ok(());
            }
            sleep(LOOK);
        }
        bail!("the broker did not stop within {} s of SIGTERM", STOP.as_secs())
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // It may have ended, and nobody is left to be told.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a subcommand that needs no broker, and shows what it prints.
///
/// # Errors
///
/// When it fails.
pub(crate) fn show(arguments: &[&str]) -> anyhow::Result<()> {
    tell::command(arguments);
    let status = Command::new(program()?).args(arguments).status()?;
    ensure!(status.success(), "agent-kourier {} ended with {status}", arguments.join(" "));
    Ok(())
}

/// The program that was built beside this one.
fn program() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("agent-kourier");
    ensure!(program.exists(), "{} is missing: run `make demo`", program.display());
    Ok(program)
}

fn row(binding: &Value) -> anyhow::Result<Row> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &binding["metadata"];
    let conditions = binding["status"]["conditions"].as_array().context("a Binding without conditions")?;
    let of = |kind: &str| conditions.iter().find(|condition| condition["type"] == kind).cloned().unwrap_or_default();
    let (ready, accepted) = (of("Ready"), of("Accepted"));
    Ok(Row {
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"]),
        reason: text(&ready["reason"]),
        message: text(&ready["message"]),
        ready_generation: ready["observedGeneration"].as_i64().unwrap_or_default(),
        accepted_generation: accepted["observedGeneration"].as_i64().unwrap_or_default(),
        conditions: conditions.len(),
    })
}
