//! Where the programs are: etcd, kube-apiserver, kubectl and helm.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The programs that a real API server for tests takes.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The database.
    pub etcd: PathBuf,
    /// The API server.
    pub kube_apiserver: PathBuf,
    /// The client.
    pub kubectl: PathBuf,
    /// Helm, which need not be there: see [`Tools::helm`].
    helm: PathBuf,
}

/// The programs are neither here nor can be built or fetched.
#[derive(Clone, Debug, thiserror::Error)]
#[error("there is no API server for tests: {0}")]
pub struct Missing(String);

impl Tools {
    /// Finds the programs, once for each process; builds and fetches them first where they lack, which takes minutes and
    /// shows progress on standard error. `tests/cluster/setup` says where it looks.
    ///
    /// # Errors
    ///
    /// When they are neither there nor can be had.
    pub fn find() -> Result<&'static Self, Missing> {
        static FOUND: OnceLock<Result<Tools, Missing>> = OnceLock::new();
        FOUND.get_or_init(Self::set_up).as_ref().map_err(Clone::clone)
    }

    /// Helm.
    ///
    /// # Errors
    ///
    /// When it is not there: a folder of KUBEBUILDER_ASSETS seldom has it.
    pub fn helm(&self) -> Result<&Path, Missing> {
        if self.helm.exists() { Ok(&self.helm) } else { Err(Missing(format!("{} is not there", self.helm.display()))) }
    }

    fn set_up() -> Result<Self, Missing> {
        let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("setup");
        let output = Command::new(setup).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| Missing(format!("tests/cluster/setup: {error}")))?;
        if !output.status.success() {
            return Err(Missing(format!("tests/cluster/setup ended with {}", output.status)));
        }
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let tool = |variable: &str, name: &str| match std::env::var_os(variable) {
            Some(path) if !path.is_empty() => PathBuf::from(path),
            _ => folder.join(name),
        };
        Ok(Self {
            etcd: tool("TEST_ASSET_ETCD", "etcd"),
            kube_apiserver: tool("TEST_ASSET_KUBE_APISERVER", "kube-apiserver"),
            kubectl: tool("TEST_ASSET_KUBECTL", "kubectl"),
            helm: tool("TEST_ASSET_HELM", "helm"),
        })
    }
}

/// What `found` holds; none, and a loud line, on a machine where the programs cannot be had.
///
/// ```no_run
/// # use kourier_test_cluster::{Cluster, or_skip};
/// let Some(cluster) = or_skip("the_name_of_the_test", Cluster::shared()) else { return };
/// # let _ = cluster;
/// ```
///
/// # Panics
///
/// On any other error, and under `CI=true` also on this one, because nothing may be left out there.
#[must_use]
pub fn or_skip<T>(test: &str, found: anyhow::Result<T>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(error) => {
            let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(!ci && error.is::<Missing>(), "{test}: {error:#}");
            // Not `eprintln!`, which the test runner keeps to itself when a test passes.
            let _ = writeln!(io::stderr(), "SKIPPED: {test}: {error:#}");
            None
        }
    }
}
