//! Settings: what an operator may choose, checked once.
//!
//! [`SETTINGS`] is the one table of them: each has its key, its unit, one line of why, and how it is read and shown. The
//! reader, the YAML of the defaults ([`yaml`]) and docs/limits.md ([`markdown`]) are made from it.

mod read;
mod show;
mod table;
mod value;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kourier_core::egress::EgressRules;
use kourier_core::lease::Timing;
use kourier_core::object::DEFAULT_BROKER;
use kourier_core::plan::Pace;
use kourier_core::schedule::Cadence;
use kourier_kube::client::Access;
use kourier_sandbox::Limits;

use crate::file;
use crate::shown::Shown;

pub use show::{markdown, yaml};
pub use table::{SETTINGS, Setting};

/// The checked settings of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `broker`: the name by which ChatConnections choose this broker.
    pub broker: String,
    /// `config`: where the objects come from.
    pub config: ConfigSettings,
    /// `secrets.dir`: the folder of `NAMESPACE/NAME/KEY`.
    pub secrets_dir: PathBuf,
    /// `store`: what survives a restart, and where.
    pub store: StoreKind,
    /// `storePath`: the SQLite file.
    pub store_path: PathBuf,
    /// `components.dir`: a folder of probe components beside the built-in ones; none: only those.
    pub components_dir: Option<PathBuf>,
    /// `admin.listen`: where metrics, health and Bindings are served.
    pub admin_listen: SocketAddr,
    /// `egress`: what probes may reach beside the default rules.
    pub egress: EgressRules,
    /// `prober`: when probes run.
    pub prober: Cadence,
    /// `probe`: the bounds of one run.
    pub probe: Limits,
    /// `kubernetes`: the way to the API server.
    pub kubernetes: Access,
    /// `lease`: how replicas elect a leader.
    pub lease: Timing,
    /// `lease.namespace`: where the Lease is; none: the pod's own namespace.
    pub lease_namespace: Option<String>,
    /// `writer`: how often and how fast statuses are written.
    pub writer: Pace,
    /// `events.enabled`: whether Events are sent.
    pub events: bool,
    /// `log`: how the broker logs.
    pub log: LogSettings,
}

/// `config`: where the objects come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSettings {
    /// `config.source`.
    pub source: ConfigSource,
    /// `config.dir`: the folder of manifests.
    pub dir: PathBuf,
    /// `config.interval`: between two looks at the folder.
    pub interval: Duration,
}

/// `config.source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// A folder of manifests. Nothing is written to a cluster.
    Files,
    /// The custom resources of a cluster, whose statuses are written.
    Crds,
}

/// `store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// A file, for one replica: nobody is elected.
    Sqlite,
    /// The cluster: replicas elect a leader.
    Kubernetes,
}

/// `log`: how the broker logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// `log.format`.
    pub format: LogFormat,
    /// `log.level`: a filter as `tracing` reads it, for example `info,agent_kourier::prober=debug`.
    pub level: String,
}

/// `log.format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line: for machines.
    Json,
    /// One line of text an event: for people.
    Text,
}

/// Everything that is wrong with the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, if they are of one.
    pub file: Option<PathBuf>,
    /// Never empty.
    pub problems: Vec<ConfigProblem>,
}

/// One thing that is wrong with the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The line, from 1; none when the file as a whole is meant.
    pub line: Option<u64>,
    /// The key, for example `prober.passGap`; empty when the file as a whole is meant.
    pub key: String,
    /// What is wrong and what would be right.
    pub what: String,
}

impl Settings {
    /// Reads a file of settings over the defaults.
    ///
    /// # Errors
    ///
    /// All problems of the file at once, or that it cannot be read.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let of_file = |problems| ConfigError { file: Some(file.to_owned()), problems };
        let text = file::text(file, file::MAX_TEXT)
            .map_err(|unread| of_file(vec![ConfigProblem::whole(unread.to_string())]))?;
        read::read(&text).map_err(of_file)
    }

    /// Reads a YAML text of settings over the defaults.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        read::read(text).map_err(|problems| ConfigError { file: None, problems })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            broker: DEFAULT_BROKER.to_owned(),
            config: ConfigSettings {
                source: ConfigSource::Files,
                dir: PathBuf::from("/etc/agent-kourier/config"),
                interval: Duration::from_secs(2),
            },
            secrets_dir: PathBuf::from("/etc/agent-kourier/secrets"),
            store: StoreKind::Sqlite,
            store_path: PathBuf::from("/var/lib/agent-kourier/store.db"),
            components_dir: None,
            admin_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9090)),
            egress: EgressRules::default(),
            prober: Cadence::default(),
            probe: Limits::default(),
            kubernetes: Access::default(),
            lease: Timing::default(),
            lease_namespace: None,
            writer: Pace::default(),
            events: true,
            log: LogSettings { format: LogFormat::Text, level: "info".to_owned() },
        }
    }
}

impl ConfigProblem {
    fn whole(what: String) -> Self {
        Self { line: None, key: String::new(), what }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            match (&self.file, problem.line) {
                (Some(file), Some(line)) => write!(f, "{}:{line}: ", Shown(file))?,
                (Some(file), None) => write!(f, "{}: ", Shown(file))?,
                (None, Some(line)) => write!(f, "line {line}: ")?,
                (None, None) => {}
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests;
