//! Serves a cluster until standard input closes, and says its kubeconfig in one line: `tests/run` shares it among all
//! test binaries of a run.

use std::io::{self, Write as _};
use std::process::ExitCode;

use kourier_test_cluster::{Cluster, Missing};

/// The exit code when the programs cannot be had.
const MISSING: u8 = 3;

fn main() -> anyhow::Result<ExitCode> {
    let cluster = match Cluster::start() {
        Err(error) if error.is::<Missing>() => {
            eprintln!("test-cluster: {error}");
            return Ok(ExitCode::from(MISSING));
        }
        started => started?,
    };
    println!("{}", cluster.kubeconfig().display());
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(ExitCode::SUCCESS)
}
