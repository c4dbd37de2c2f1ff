//! `agent-kourier why`: what holds a Binding back, and what to do about it.

use std::process::ExitCode;

use anyhow::anyhow;
use kourier_core::id::ObjectKey;
use kourier_kube::client;
use kourier_kube::inquiry;

use crate::cli::cluster::ClusterArgs;
use crate::cli::{self, Failure, Outcome};
use crate::clock;

mod say;

/// What to do where there is no cluster.
const ELSEWHERE: &str = "name a cluster with --kubeconfig or KUBECONFIG; where objects are files, `agent-kourier status \
                         NAME -o wide` asks the broker itself";

/// Says what holds a Binding back and what to do, from what the cluster tells. Exit code 1: it is not Ready.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The Binding, as NAMESPACE/NAME; NAME alone is in --namespace.
    #[arg(value_name = "NAMESPACE/NAME")]
    binding: String,
    /// The namespace of a Binding that is given as NAME alone; the one of the kubeconfig when it is left out.
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Prints why.
///
/// # Errors
///
/// When the cluster cannot be asked, or has no such Binding.
pub fn run(args: &Args) -> Outcome {
    cli::block_on(async {
        let (namespace, name) = cli::binding(&args.binding, args.namespace.as_deref())?;
        let server = client::server(&args.cluster.access())
            .await
            .map_err(|error| Failure::input(anyhow!("{error}; {ELSEWHERE}")))?;
        let key = ObjectKey::new(namespace.unwrap_or(&server.namespace), name);
        let found = inquiry::inquire(&server.client, &key, clock::now()).await.map_err(Failure::input)?;
        let Some(found) = found else { return Err(Failure::input(anyhow!("there is no Binding {key}"))) };
        let said = say::say(&found, clock::now());
        cli::print(&said.text)?;
        Ok(if said.ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
