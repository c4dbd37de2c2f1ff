//! `probe`: one component alone, away from any broker.

use clap::Subcommand;

use super::{Outcome, probe_run, probe_test};

/// Run or test one probe component by itself.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a component once, against a live peer.
    Run(probe_run::Args),
    /// Run a component against a folder of recorded cases, without a network.
    Test(probe_test::Args),
}

impl Command {
    /// Runs the subcommand.
    ///
    /// # Errors
    ///
    /// When it cannot do its work.
    pub fn run(self) -> Outcome {
        match self {
            Self::Run(args) => probe_run::run(&args),
            Self::Test(args) => probe_test::run(&args),
        }
    }
}
