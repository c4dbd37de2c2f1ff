//! The broker of files: started once, and asked by its own subcommands.

use std::process::Command;

use anyhow::ensure;

use crate::objects::{Folder, SECRETS, free_port, sample};
use crate::process::{Process, program};
use crate::rows::{self, Row};
use crate::tell;

/// A running broker.
pub(crate) struct Broker {
    process: Process,
    admin: String,
}

impl Broker {
    /// Writes settings and Secrets, and starts `agent-kourier run`.
    ///
    /// # Errors
    ///
    /// When a file cannot be written, or it cannot be started.
    pub(crate) fn start(folder: &Folder) -> anyhow::Result<Self> {
        let admin = free_port()?;
        for (name, key, value) in SECRETS {
            folder.put(&format!("secrets/team-a/{name}/{key}"), value)?;
        }
        let settings = sample("settings.yaml")?
            .replace("/tmp/agent-kourier", &folder.file(""))
            .replace("deploy/samples/objects", &folder.file("objects"))
            .replace("127.0.0.1:9090", &admin);
        folder.put("settings.yaml", &settings)?;

        let arguments = ["run", "--config", "settings.yaml"];
        tell::command(&arguments);
        let mut command = Command::new(program()?);
        command.args(arguments).current_dir(folder.path());
        let process = Process::start(&mut command, &folder.path().join("broker.log"))?;
        Ok(Self { process, admin })
    }

    /// The address of its admin port.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
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
        rows::read(&output.stdout)
    }

    /// Looks at the table until it is so, and yields it.
    ///
    /// # Errors
    ///
    /// When it is not so in time: `what` is named.
    pub(crate) fn wait_for(&self, what: &str, so: impl FnMut(&[Row]) -> bool) -> anyhow::Result<Vec<Row>> {
        rows::wait_for(|| self.rows(), what, so)
    }

    /// Asks it to stop, and waits for it.
    ///
    /// # Errors
    ///
    /// When it does not stop in time, or not cleanly.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.process.stop()
    }

    fn asking(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(program()?);
        command.args(arguments).env("AGENT_KOURIER_ADMIN", &self.admin);
        Ok(command)
    }
}

/// Runs a subcommand that needs no broker, in the folder, and shows what it prints.
///
/// # Errors
///
/// When it fails.
pub(crate) fn show(folder: &Folder, arguments: &[&str]) -> anyhow::Result<()> {
    tell::command(arguments);
    let status = Command::new(program()?).args(arguments).current_dir(folder.path()).status()?;
    ensure!(status.success(), "agent-kourier {} ended with {status}", arguments.join(" "));
    Ok(())
}
