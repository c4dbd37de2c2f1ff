//! `agent-kourier check`: everything that is wrong with manifests, by the broker's own rules.

use std::path::PathBuf;
use std::process::ExitCode;

/// Checks manifests by the broker's own rules: every problem at once, with file and line.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and folders of manifests; `-` is the standard input.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
}

/// Prints every problem. Exit code 0: none, 1: some, 2: something could not be read.
///
/// # Errors
///
/// When the components cannot be loaded or the output cannot be written.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    unimplemented!()
}
