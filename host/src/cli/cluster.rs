//! Which cluster a subcommand asks, as kubectl's own flags say it.

use std::path::PathBuf;

use kourier_kube::client::Access;

/// Which cluster is asked, and as whom.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ClusterArgs {
    /// The kubeconfig; without it, KUBECONFIG, ~/.kube/config, or the pod's service account.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl ClusterArgs {
    /// Whether a cluster was named.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    /// The way to it.
    #[must_use]
    pub fn access(&self) -> Access {
        Access { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() }
    }
}
