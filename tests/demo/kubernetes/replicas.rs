//! Two replicas of the broker: what would be the chart's pods.

use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context, ensure};
use suite::broker::exchange;
use tempfile::TempPath;

use super::terminal::Terminal;
use crate::objects::{Folder, free_port};
use crate::process::{Process, program};
use crate::tell;

/// One replica. Dropping it kills it.
pub(super) struct Replica {
    pub(super) name: String,
    pub(super) process: Process,
    pub(super) admin: SocketAddr,
}

impl Replica {
    /// Whether it leads, as its metrics tell.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub(super) fn leads(&self) -> anyhow::Result<bool> {
        let request = "GET /metrics HTTP/1.1\r\nhost: broker\r\nconnection: close\r\n\r\n";
        let (status, metrics) = exchange(self.admin, request).with_context(|| format!("{} is silent", self.name))?;
        ensure!(status == 200, "the metrics of {} answer {status}", self.name);
        Ok(metrics.lines().any(|line| line == "agentkourier_leader 1"))
    }
}

/// What pods have of the chart: its settings, and the kubeconfig of whoever bears a token of its service account. That file
/// is gone when this is dropped: a replica reads it at its start.
pub(super) struct Given {
    account: TempPath,
}

impl Given {
    /// Takes it out of the cluster.
    ///
    /// # Errors
    ///
    /// When the chart is not installed.
    pub(super) fn take(terminal: &Terminal, folder: &Folder) -> anyhow::Result<Self> {
        let settings = terminal.read(
            "kubectl -n agent-kourier get configmap agent-kourier-settings -o jsonpath={.data.settings\\.yaml}",
        )?;
        folder.put("settings.yaml", &settings)?;
        let token = terminal.read("kubectl -n agent-kourier create token agent-kourier")?;
        let account = terminal.cluster().kubeconfig_for(token.trim(), "agent-kourier")?;
        Ok(Self { account })
    }

    /// Starts a replica.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(super) fn start(&self, name: &str, folder: &Folder) -> anyhow::Result<Replica> {
        let admin = free_port()?;
        let arguments =
            ["run", "--config", "settings.yaml", "--components", "components", "--admin", &admin, "--allow-loopback"];
        tell::typed(&format!("POD_NAME={name} agent-kourier {}", arguments.join(" ")));
        let mut command = Command::new(program()?);
        command.args(arguments).current_dir(folder.path());
        command.env("POD_NAME", name).env("KUBECONFIG", &self.account);
        let process = Process::start(&mut command, &folder.path().join(format!("{name}.log")))?;
        Ok(Replica { name: name.to_owned(), process, admin: admin.parse()? })
    }
}
