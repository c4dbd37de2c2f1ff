//! The command line: one module a subcommand, each with `Args` and `run`.
//!
//! Subcommands write what they found to standard output, and what went wrong to standard error. What they print is
//! made by plain functions, so that a test can compare it.

pub mod age;
pub mod check;
pub mod cluster;
pub mod components;
pub mod crds;
pub mod explain;
pub mod probe;
pub mod probe_run;
pub mod probe_test;
pub mod run;
pub mod status;
pub mod table;
pub mod why;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use kourier_core::rule::{LABEL, NAME};
use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;

use crate::config::Settings;

/// What `--help` says of exit codes.
const EXIT_CODES: &str = "\
Exit codes:
  0  good
  1  found something wrong: a problem, a failed case, with `status --wait`
     or `why` a Binding that is not Ready
  2  bad usage, or input that cannot be read
  3  internal: the program or the machine failed";

/// Joins chat channels to A2A agents, and says in each Binding's status whether it works.
#[derive(Debug, Parser)]
#[command(name = "agent-kourier", version, after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Check(check::Args),
    Status(status::Args),
    Why(why::Args),
    /// Runs or tests one probe component by itself.
    #[command(subcommand)]
    Probe(probe::Command),
    Explain(explain::Args),
    Crds(crds::Args),
    Components(components::Args),
}

impl Command {
    fn run(self) -> Outcome {
        match self {
            Self::Run(args) => run::run(args),
            Self::Check(args) => check::run(&args),
            Self::Crds(args) => crds::run(&args),
            Self::Status(args) => status::run(&args),
            Self::Why(args) => why::run(&args),
            Self::Probe(command) => command.run(),
            Self::Explain(args) => explain::run(&args),
            Self::Components(args) => components::run(&args),
        }
    }
}

/// Why a subcommand could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The caller's: bad usage, or input that cannot be read.
    Input(anyhow::Error),
    /// The program's or the machine's.
    Internal(anyhow::Error),
}

/// How a subcommand ends: `SUCCESS` when all is well, `FAILURE` when it did its work and found something wrong, or why
/// it could not do its work.
pub type Outcome = Result<ExitCode, Failure>;

impl Failure {
    /// A failure of the caller's, for `map_err`.
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::Input(error.into())
    }

    /// A failure of the program's, for `map_err`.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self::Internal(error.into())
    }

    const fn code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Internal(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) | Self::Internal(error) => write!(f, "{error:#}"),
        }
    }
}

/// How a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns, for people.
    #[default]
    Table,
    /// JSON, for programs.
    Json,
}

/// Parses the command line, runs the subcommand and yields the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    let cli = Cli::from_arg_matches(&command_line(&called).get_matches()).unwrap_or_else(|error| error.exit());
    match cli.command.run() {
        Ok(code) => code,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            ExitCode::from(failure.code())
        }
    }
}

/// The command line of the program when it is called by this name: as a plugin, kubectl calls it `kubectl-kourier`, and
/// what it asks is the cluster.
fn command_line(called: &OsStr) -> clap::Command {
    let plugin = Path::new(called).file_name().is_some_and(|name| name == "kubectl-kourier");
    if !plugin {
        return Cli::command();
    }
    let plugin = Cli::command().name("kubectl kourier").bin_name("kubectl kourier");
    plugin.mut_subcommand("status", status::of_the_cluster)
}

/// The namespace and the name of a Binding that is written as NAMESPACE/NAME, or as NAME beside `--namespace`.
fn binding<'a>(written: &'a str, namespace: Option<&'a str>) -> Result<(Option<&'a str>, &'a str), Failure> {
    let (in_name, name) = written.split_once('/').map_or((None, written), |(namespace, name)| (Some(namespace), name));
    if in_name.is_some() && namespace.is_some() {
        return Err(Failure::input(anyhow!("--namespace: the Binding has one already: write NAMESPACE/NAME, or NAME")));
    }
    if let Some(what) = namespace.and_then(|namespace| LABEL.fault(namespace)) {
        return Err(Failure::input(anyhow!("--namespace: {what}")));
    }
    if NAME.fault(name).is_some() || in_name.is_some_and(|namespace| LABEL.fault(namespace).is_some()) {
        return Err(Failure::input(anyhow!("{written:?} is no Binding: write NAMESPACE/NAME, or NAME")));
    }
    Ok((in_name.or(namespace), name))
}

/// The settings of this file, or the defaults.
fn settings(config: Option<&Path>) -> Result<Settings, Failure> {
    config.map_or_else(|| Ok(Settings::default()), |file| Settings::load(file).map_err(Failure::input))
}

/// Writes to standard output. A reader that has gone (`| head`) is not a failure: what was found still decides the exit
/// code. Who prints on and on ends with [`deaf`].
///
/// # Errors
///
/// When standard output cannot be written for another reason.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::internal(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Ends when nobody can read any more what is written to this output; never for a file.
pub async fn deaf(output: impl AsFd) {
    let gone = async {
        // A copy of the descriptor: closing it does not close the output.
        let output = Sender::from_owned_fd_unchecked(output.as_fd().try_clone_to_owned()?)?;
        output.ready(Interest::ERROR).await.map(drop)
    };
    if gone.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Writes a line to standard error. Where that cannot be written, the exit code has to do.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a value as indented JSON with a line end.
///
/// # Errors
///
/// When it cannot be written.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::internal)?;
    print(&format!("{text}\n"))
}

/// How long blocking work that nobody waits for any more (a component that is compiled) may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a future to its end on a runtime of its own. What still blocks then is left behind after a second.
///
/// # Errors
///
/// When the runtime cannot be started, or what the future yields.
pub fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::internal)?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(GRACE);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn work_that_blocks_does_not_hold_the_end() {
        let (held, hold) = std::sync::mpsc::channel::<()>();
        let (end, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let result = block_on(async {
                tokio::task::spawn_blocking(move || hold.recv());
                Ok(7)
            });
            end.send(result.is_ok_and(|value| value == 7))
        });
        let ended = ended.recv_timeout(Duration::from_secs(60));
        drop(held);
        assert_eq!(ended, Ok(true));
    }

    #[test]
    fn an_output_is_deaf_when_its_reader_has_gone() {
        let (reader, writer) = io::pipe().unwrap();
        let result = block_on(async {
            let mut deaf = std::pin::pin!(deaf(&writer));
            assert!(futures::poll!(&mut deaf).is_pending());
            tokio::task::yield_now().await;
            assert!(futures::poll!(&mut deaf).is_pending());
            drop(reader);
            deaf.await;
            Ok(())
        });
        assert!(result.is_ok());
    }

    #[test]
    fn usage_says_the_words_with_which_the_program_is_called() {
        for (called, words) in [
            ("/usr/bin/kubectl-kourier", "Usage: kubectl kourier why "),
            ("./agent-kourier", "Usage: agent-kourier why "),
        ] {
            let refused =
                command_line(OsStr::new(called)).try_get_matches_from([called, "why"]).unwrap_err().to_string();
            assert!(refused.contains(words), "{called}: {refused}");
        }
    }

    #[test]
    fn as_a_plugin_status_asks_the_cluster_unless_a_broker_is_named() {
        let asks_cluster = |called: &str, arguments: &[&str]| {
            let words = [&[called, "status"], arguments].concat();
            let cli = Cli::from_arg_matches(&command_line(OsStr::new(called)).get_matches_from(words)).unwrap();
            matches!(cli.command, Command::Status(args) if args.broker().is_none())
        };
        let cases: [(&[&str], bool, bool); 5] = [
            (&[], false, true),
            (&["--cluster"], true, true),
            (&["--context", "c"], true, true),
            (&["--admin", "127.0.0.1:9090"], false, false),
            (&["--admin", "127.0.0.1:9090", "--cluster"], true, true),
        ];
        for (arguments, program, plugin) in cases {
            assert_eq!(asks_cluster("agent-kourier", arguments), program, "agent-kourier status {arguments:?}");
            assert_eq!(asks_cluster("kubectl-kourier", arguments), plugin, "kubectl kourier status {arguments:?}");
        }
    }

    #[test]
    fn help_documents_every_exit_code() {
        let help = Cli::command().render_long_help().to_string();
        for line in EXIT_CODES.lines() {
            assert!(help.contains(line.trim()), "{line} is missing from\n{help}");
        }
    }
}
