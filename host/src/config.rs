//! Settings: what an operator may choose, checked once.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kourier_core::egress::EgressRules;
use kourier_sandbox::Limits;

/// The checked settings of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `broker`: the name by which ChatConnections choose this broker.
    pub broker: String,
    /// `config`: where the objects come from.
    pub config: ConfigSettings,
    /// `secrets.dir`: the folder of `NAMESPACE/NAME/KEY`.
    pub secrets_dir: PathBuf,
    /// `storePath`: the SQLite file.
    pub store_path: PathBuf,
    /// `components.dir`: a folder of probe components beside the built-in ones; none: only those.
    pub components_dir: Option<PathBuf>,
    /// `admin.listen`: where metrics, health and Bindings are served.
    pub admin_listen: SocketAddr,
    /// `egress`: what probes may reach beside the default rules.
    pub egress: EgressRules,
    /// `prober`: when probes run.
    pub prober: ProberSettings,
    /// `probe`: the bounds of one run.
    pub probe: Limits,
    /// `log`: how the broker logs.
    pub log: LogSettings,
}

/// `config`: where the objects come from. The one source is `files`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSettings {
    /// `config.dir`: the folder of manifests.
    pub dir: PathBuf,
    /// `config.interval`: between two looks at the folder.
    pub interval: Duration,
}

/// `prober`: when probes run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProberSettings {
    /// `prober.startDelay`: before the first look.
    pub start_delay: Duration,
    /// `prober.lookInterval`: between two looks for work.
    pub look_interval: Duration,
    /// `prober.passGap`: from the start of a pass to the start of the next one, at least.
    pub pass_gap: Duration,
    /// `prober.interval`: the age at which a result is due again.
    pub interval: Duration,
    /// `prober.concurrency`: probes at a time.
    pub concurrency: usize,
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
    /// Never empty.
    pub problems: Vec<ConfigProblem>,
}

/// One thing that is wrong with the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The line, if it is in a file that could be read.
    pub line: Option<u64>,
    /// The key, for example `prober.passGap`; empty when the file as a whole is meant.
    pub key: String,
    /// What is wrong and what would be right.
    pub what: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}

impl std::error::Error for ConfigError {}

impl Default for Settings {
    fn default() -> Self {
        unimplemented!()
    }
}

impl Settings {
    /// Reads a file of settings over the defaults.
    ///
    /// # Errors
    ///
    /// All problems of the file at once, or that it cannot be read.
    pub fn load(_file: &Path) -> Result<Self, ConfigError> {
        unimplemented!()
    }

    /// Reads a YAML text of settings over the defaults.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn parse(_text: &str) -> Result<Self, ConfigError> {
        unimplemented!()
    }
}
