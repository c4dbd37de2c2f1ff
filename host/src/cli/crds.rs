//! `agent-kourier crds`: the CustomResourceDefinitions of the three kinds.

use std::process::ExitCode;

use kourier_core::id::Kind;

use crate::crd;

/// Prints the CustomResourceDefinitions of the three kinds as YAML, for `kubectl apply --server-side -f -`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the definitions.
///
/// # Errors
///
/// When the output cannot be written.
pub fn run(_args: &Args) -> crate::cli::Outcome {
    let documents: Vec<String> = Kind::ALL.into_iter().map(crd::yaml).collect();
    crate::cli::print(&documents.join("---\n"))?;
    Ok(ExitCode::SUCCESS)
}
