//! A terminal: kubectl and helm, the real ones, typed by somebody who may do everything.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, bail, ensure};
use kourier_test_cluster::Cluster;

use crate::objects::{Folder, repository};
use crate::process::program;
use crate::rows::{self, Row};
use crate::tell;

/// A cluster, and a shell in the demo's folder.
pub(super) struct Terminal {
    cluster: Cluster,
    folder: PathBuf,
    /// The folders of programs: first the one with the plugin of kubectl.
    path: OsString,
}

impl Terminal {
    /// Starts a cluster, and installs the program as a plugin of kubectl.
    ///
    /// # Errors
    ///
    /// When the cluster does not start.
    pub(super) fn open(folder: &Folder) -> anyhow::Result<Self> {
        let folder = folder.path().to_owned();
        let plugins = folder.join("bin");
        fs::create_dir(&plugins)?;
        std::os::unix::fs::symlink(program()?, plugins.join("kubectl-kourier"))?;
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([plugins].into_iter().chain(std::env::split_paths(&others)))?;
        Ok(Self { cluster: Cluster::start()?, folder, path })
    }

    /// The cluster.
    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The folders of the plugin and of kubectl, as a shell's PATH has them.
    ///
    /// # Errors
    ///
    /// When kubectl is in no folder.
    pub(super) fn programs(&self) -> anyhow::Result<String> {
        let kubectl = self.cluster.tools().kubectl.parent().context("kubectl is in no folder")?;
        Ok(format!("{}:{}", self.folder.join("bin").display(), kubectl.display()))
    }

    /// Runs a line and shows what it prints.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub(super) fn show(&self, line: &str) -> anyhow::Result<()> {
        let status = self.run(line)?;
        ensure!(status.success(), "{line} ended with {status}");
        Ok(())
    }

    /// Runs a line, shows what it prints, and yields how it ended.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(super) fn run(&self, line: &str) -> anyhow::Result<ExitStatus> {
        tell::typed(line);
        self.command(line)?.status().with_context(|| line.to_owned())
    }

    /// Runs a line, and yields what it prints without showing it.
    ///
    /// # Errors
    ///
    /// When it fails: with what it says then.
    pub(super) fn read(&self, line: &str) -> anyhow::Result<String> {
        let output = self.command(line)?.stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{line} ended with {}: {}", output.status, said.trim());
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The table as it stands.
    ///
    /// # Errors
    ///
    /// When the API server does not give it.
    pub(super) fn rows(&self) -> anyhow::Result<Vec<Row>> {
        rows::read(self.read("kubectl get akbinding -A -o json")?.as_bytes())
    }

    /// A line as a command. Its words are parted by blanks; quotes around a word are the shell's.
    fn command(&self, line: &str) -> anyhow::Result<Command> {
        let mut words = line.split_whitespace().map(|word| word.trim_matches('\''));
        let mut command = match words.next() {
            Some("kubectl") => {
                // Not its option, which has no place before a plugin's name.
                let mut kubectl = Command::new(&self.cluster.tools().kubectl);
                kubectl.env("KUBECONFIG", self.cluster.kubeconfig()).env("KUBECACHEDIR", self.folder.join("cache"));
                kubectl.env("PATH", &self.path).env("KUBERC", "off").current_dir(&self.folder);
                kubectl
            }
            Some("helm") => {
                let mut helm = self.cluster.helm()?;
                helm.current_dir(repository(""));
                helm
            }
            _ => bail!("{line}: this terminal has kubectl and helm alone"),
        };
        command.args(words).stdin(Stdio::null());
        Ok(command)
    }
}
