//! A cluster: what tests ask for.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tempfile::{NamedTempFile, TempPath};

use crate::audit::{self, Call};
use crate::certificates::Certificates;
use crate::kubectl::Kubectl;
use crate::server::{Etcd, Server};
use crate::tools::Tools;

/// What kubectl keeps of a server, beside its kubeconfig.
pub(crate) const CACHE: &str = "kubectl-cache";

/// How long a new CRD may take until its objects can be listed.
const ESTABLISHED: Duration = Duration::from_secs(60);

/// A Kubernetes API with RBAC and no controllers: nothing collects garbage, fills namespaces or runs pods.
#[derive(Debug)]
pub struct Cluster {
    tools: &'static Tools,
    kubectl: Kubectl,
    own: Option<Own>,
    has_crds: Mutex<bool>,
}

/// The processes of a cluster that this process started. Dropped in this order: etcd, whose end removes the folder, last.
#[derive(Debug)]
struct Own {
    server: Server,
    etcd: Etcd,
    certificates: Certificates,
    folder: Folder,
}

/// A folder that is gone in the end.
#[derive(Debug)]
struct Folder(PathBuf);

impl Cluster {
    /// The cluster that all tests of a run share: that of the kubeconfig in `KOURIER_TEST_CLUSTER`; with
    /// `USE_EXISTING_CLUSTER=true` that of the ambient kubeconfig; else one that is started for this process, once.
    /// A test keeps to a [`namespace`](Self::namespace) of its own.
    ///
    /// # Errors
    ///
    /// When the programs cannot be had ([`Missing`](crate::Missing)), or do not start.
    pub fn shared() -> anyhow::Result<&'static Self> {
        static SHARED: OnceLock<anyhow::Result<Cluster>> = OnceLock::new();
        match SHARED.get_or_init(Self::given_or_own) {
            Ok(cluster) => Ok(cluster),
            Err(error) => match error.downcast_ref::<crate::Missing>() {
                Some(missing) => Err(missing.clone().into()),
                None => bail!("{error:#}"),
            },
        }
    }

    /// A cluster of its own, for a test that changes CRDs or freezes servers. Takes seconds and 350 MB of memory.
    ///
    /// # Errors
    ///
    /// When the programs cannot be had ([`Missing`](crate::Missing)), or do not start.
    pub fn start() -> anyhow::Result<Self> {
        let tools = Tools::find()?;
        // It holds keys.
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("kourier-cluster-").permissions(private).tempdir()?;
        let folder = Folder(folder.keep());
        fs::create_dir(folder.0.join(CACHE))?;
        let certificates = Certificates::make(&folder.0)?;
        let etcd = Etcd::start(tools, &folder.0)?;
        let server = Server::start(tools, &folder.0, &etcd, &certificates)?;
        let kubectl = server.kubectl().clone();
        let own = Own { server, etcd, certificates, folder };
        Ok(Self { tools, kubectl, own: Some(own), has_crds: Mutex::new(false) })
    }

    /// Another API server on the same etcd: what one takes, the other shows.
    ///
    /// # Errors
    ///
    /// When it does not start, or the cluster was not started here.
    pub fn second_server(&self) -> anyhow::Result<Server> {
        let own = self.own()?;
        Server::start(self.tools, &own.folder.0, &own.etcd, &own.certificates)
    }

    /// The API server itself, to freeze it.
    ///
    /// # Errors
    ///
    /// When the cluster was not started here: others use it.
    pub fn server(&self) -> anyhow::Result<&Server> {
        Ok(&self.own()?.server)
    }

    /// What the API servers of this cluster have answered so far, in no order.
    ///
    /// # Errors
    ///
    /// When a log cannot be read, or the cluster was not started here.
    pub fn audit(&self) -> anyhow::Result<Vec<Call>> {
        audit::read(&self.own()?.folder.0)
    }

    /// The kubeconfig of a user who may do everything.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        self.kubectl.kubeconfig()
    }

    /// kubectl for a user who may do everything.
    #[must_use]
    pub fn kubectl(&self) -> &Kubectl {
        &self.kubectl
    }

    /// Helm for a user who may do everything, not started yet.
    ///
    /// # Errors
    ///
    /// When there is no Helm ([`Missing`](crate::Missing)).
    pub fn helm(&self) -> anyhow::Result<Command> {
        let mut command = Command::new(self.tools.helm()?);
        // Of another one's cluster nothing is kept here.
        if let Some(cache) = self.kubectl.cache() {
            for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
                command.env(variable, cache.join(variable));
            }
            command.env("KUBECACHEDIR", cache);
        }
        command.env("KUBECONFIG", self.kubeconfig()).stdin(Stdio::null());
        Ok(command)
    }

    /// The programs that the cluster was started with.
    #[must_use]
    pub fn tools(&self) -> &Tools {
        self.tools
    }

    /// Makes a namespace with a name that no other has, and says it. It stays: on a cluster that is not for tests alone,
    /// `kubectl delete namespace -l agentkourier.io/test` removes those of all tests.
    ///
    /// # Errors
    ///
    /// When the API server does not take it.
    pub fn namespace(&self) -> anyhow::Result<String> {
        let meta = "{generateName: test-, labels: {agentkourier.io/test: \"true\"}}";
        self.kubectl.generate(&format!("{{apiVersion: v1, kind: Namespace, metadata: {meta}}}"))
    }

    /// Makes a service account and the kubeconfig of its bearer. It may do what RBAC gives it: nothing yet. The file is
    /// gone when the answer is dropped.
    ///
    /// # Errors
    ///
    /// When the API server does not take it, or issues no token.
    pub fn service_account(&self, namespace: &str, name: &str) -> anyhow::Result<TempPath> {
        let namespaced = format!("--namespace={namespace}");
        self.kubectl.ok(&["create", "serviceaccount", name, &namespaced])?;
        let token = self.kubectl.ok(&["create", "token", name, &namespaced])?;
        self.kubeconfig_for(token.trim(), namespace)
    }

    /// The kubeconfig of whoever bears this token, with this namespace as its default. The file is gone when the answer
    /// is dropped.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn kubeconfig_for(&self, token: &str, namespace: &str) -> anyhow::Result<TempPath> {
        let admin = self.kubectl.ok(&["config", "view", "--raw", "--minify", "--flatten", "--output=json"])?;
        let file = NamedTempFile::new()?.into_temp_path();
        crate::kubeconfig::write_bearer(&file, &serde_json::from_str(&admin)?, token, namespace)?;
        Ok(file)
    }

    /// Installs the CRDs of deploy/crds, once, and waits until their objects can be listed.
    ///
    /// # Errors
    ///
    /// When the API server refuses one, or does not serve it in time.
    pub fn crds(&self) -> anyhow::Result<()> {
        let mut has = self.has_crds.lock().unwrap_or_else(PoisonError::into_inner);
        if *has {
            return Ok(());
        }
        let folder = format!("--filename={}", crd_folder().display());
        // On the server: two runs that apply the same at the same time do not disturb each other.
        self.kubectl.ok(&["apply", "--server-side", "--force-conflicts", &folder])?;
        self.kubectl.ok(&["wait", "--for=condition=Established", "--timeout=60s", &folder])?;
        self.until_listed()?;
        *has = true;
        Ok(())
    }

    /// Established says that the names are taken; the paths are served shortly after.
    fn until_listed(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        while let Err(error) = self.kubectl.ok(&["get", "akbinding,akbackend,akconnection", "--all-namespaces"]) {
            ensure!(started.elapsed() < ESTABLISHED, "the CRDs are not served: {error:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn given_or_own() -> anyhow::Result<Self> {
        let given = match std::env::var_os("KOURIER_TEST_CLUSTER") {
            Some(file) if !file.is_empty() => Some(PathBuf::from(file)),
            _ if std::env::var_os("USE_EXISTING_CLUSTER").is_some_and(|value| value == "true") => Some(ambient()?),
            _ => None,
        };
        let Some(kubeconfig) = given else { return Self::start() };
        let tools = Tools::find()?;
        // A server that tests/run started has its cache beside its kubeconfig; any other one keeps its address.
        let cache = kubeconfig.parent().map(|folder| folder.join(CACHE)).filter(|folder| folder.exists());
        let kubectl = Kubectl::new(&tools.kubectl, kubeconfig, cache);
        kubectl.ok(&["get", "--raw", "/readyz"]).context("the cluster that was given is not ready")?;
        Ok(Self { tools, kubectl, own: None, has_crds: Mutex::new(false) })
    }

    fn own(&self) -> anyhow::Result<&Own> {
        self.own.as_ref().context("this cluster is not the test's own: use Cluster::start")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // As a rule it is gone by now: see hold.sh.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The first file of `KUBECONFIG`, or the one in the home folder.
fn ambient() -> anyhow::Result<PathBuf> {
    let listed = std::env::var_os("KUBECONFIG").and_then(|list| std::env::split_paths(&list).next());
    match listed {
        Some(file) if !file.as_os_str().is_empty() => Ok(file),
        _ => Ok(std::env::home_dir().context("there is no home folder")?.join(".kube/config")),
    }
}

/// deploy/crds.
fn crd_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds")
}
