//! `agent-kourier crds`: the CustomResourceDefinitions of the three kinds.

use std::process::ExitCode;

/// Prints the CustomResourceDefinitions of the three kinds as YAML.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the definitions.
///
/// # Errors
///
/// When the output cannot be written.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    unimplemented!()
}
