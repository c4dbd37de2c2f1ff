//! A real API server for tests: etcd and kube-apiserver as child processes, with RBAC, and the real kubectl and helm.
//!
//! `tests/cluster/setup` builds and fetches the programs, once. A [`Cluster`] is ready in seconds, and gone when its
//! process is, however that ends.
//!
//! ```no_run
//! # use kourier_test_cluster::{Cluster, or_skip};
//! let Some(cluster) = or_skip("the_name_of_the_test", Cluster::shared()) else { return };
//! cluster.crds().expect("the CRDs");
//! let namespace = cluster.namespace().expect("a namespace");
//! cluster.kubectl().ok(&["get", "akbinding", "--namespace", &namespace]).expect("a table");
//! ```

mod audit;
mod certificates;
mod child;
mod cluster;
mod kubeconfig;
mod kubectl;
mod server;
mod tools;

pub use audit::Call;
pub use cluster::Cluster;
pub use kubectl::Kubectl;
pub use server::Server;
pub use tools::{Missing, Tools, or_skip};
