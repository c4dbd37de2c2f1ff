//! etcd and API servers, as processes on free ports of 127.0.0.1.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::audit;
use crate::certificates::Certificates;
use crate::child::Held;
use crate::cluster::CACHE;
use crate::kubeconfig;
use crate::kubectl::Kubectl;
use crate::tools::Tools;

/// The longest that a server may take to be ready. An idle machine needs 1 s and 4 s, one that builds much more.
const START: Duration = Duration::from_secs(180);

/// How often readiness is asked for.
const POLL: Duration = Duration::from_millis(100);

/// A free port is looked up and then taken: another process may come between, so many times at most.
const ATTEMPTS: usize = 3;

/// A running etcd.
#[derive(Debug)]
pub(crate) struct Etcd {
    _process: Held,
    url: String,
}

/// A running API server with a kubeconfig of its own. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    name: String,
    process: Held,
    kubectl: Kubectl,
}

impl Etcd {
    /// Starts it, with data in `folder`, which is removed after its end.
    pub(crate) fn start(tools: &Tools, folder: &Path) -> anyhow::Result<Self> {
        with_free_ports(|[client, peer]| {
            let (url, peers) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
            let args = [
                format!("--data-dir={}", folder.join("etcd").display()),
                format!("--listen-client-urls={url}"),
                format!("--advertise-client-urls={url}"),
                format!("--listen-peer-urls={peers}"),
                format!("--initial-advertise-peer-urls={peers}"),
                format!("--initial-cluster=default={peers}"),
                // What a test wrote need not survive a power cut.
                "--unsafe-no-fsync".to_owned(),
                "--log-level=warn".to_owned(),
            ];
            let mut process = Held::start(&tools.etcd, &args, folder.join("etcd.log"), Some(folder))?;
            until_ready(&mut process, || healthy(client))?;
            Ok(Self { _process: process, url })
        })
        .context("etcd did not start")
    }
}

impl Server {
    /// Starts one on this etcd, and waits until it is ready.
    pub(crate) fn start(
        tools: &Tools,
        folder: &Path,
        etcd: &Etcd,
        certificates: &Certificates,
    ) -> anyhow::Result<Self> {
        let policy = audit::write_policy(folder)?;
        with_free_ports(|[port]| {
            let mut args = arguments(folder, etcd, certificates, port);
            args.push(format!("--audit-policy-file={}", policy.display()));
            args.push(format!("--audit-log-path={}", folder.join(format!("{port}.{}", audit::ENDING)).display()));
            let process = Held::start(&tools.kube_apiserver, &args, folder.join(format!("{port}.log")), None)?;
            let config = folder.join(format!("{port}.kubeconfig"));
            kubeconfig::write_admin(&config, &format!("https://127.0.0.1:{port}"), certificates)?;
            let kubectl = Kubectl::new(&tools.kubectl, config, Some(folder.join(CACHE)));
            let mut server = Self { name: port.to_string(), process, kubectl };
            let kubectl = &server.kubectl;
            until_ready(&mut server.process, || kubectl.ok(&["get", "--raw", "/readyz"]).is_ok())?;
            Ok(server)
        })
        .context("kube-apiserver did not start")
    }

    /// Which of the servers of its cluster it is, as [`Call::server`](crate::Call::server) has it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kubeconfig of a user who may do everything, through this server.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        self.kubectl.kubeconfig()
    }

    /// kubectl for a user who may do everything, through this server.
    #[must_use]
    pub fn kubectl(&self) -> &Kubectl {
        &self.kubectl
    }

    /// Stops it in the middle of what it does: its connections stay open and nothing answers.
    ///
    /// # Errors
    ///
    /// When it runs no more.
    pub fn freeze(&self) -> anyhow::Result<()> {
        self.process.signal("STOP")
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When it runs no more.
    pub fn thaw(&self) -> anyhow::Result<()> {
        self.process.signal("CONT")
    }
}

fn arguments(folder: &Path, etcd: &Etcd, certificates: &Certificates, port: u16) -> Vec<String> {
    let file = |flag: &str, path: PathBuf| format!("--{flag}={}", path.display());
    vec![
        format!("--etcd-servers={}", etcd.url),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        file("cert-dir", folder.join(port.to_string())),
        file("tls-cert-file", certificates.certificate("server")),
        file("tls-private-key-file", certificates.key("server")),
        file("client-ca-file", certificates.authority()),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--allow-privileged=true".to_owned(),
        // There is no controller that makes the accounts which this one waits for.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        file("service-account-key-file", certificates.accounts()),
        file("service-account-signing-key-file", certificates.key("accounts")),
        // A loopback address is refused as an endpoint.
        "--endpoint-reconciler-type=none".to_owned(),
    ]
}

/// Tries `start` on free ports, and on other ones if it failed with those.
fn with_free_ports<const N: usize, T>(start: impl Fn([u16; N]) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut attempt = 1;
    loop {
        match start(free_ports()?) {
            Err(_) if attempt < ATTEMPTS => attempt += 1,
            ended => return ended,
        }
    }
}

fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    // All are held before the first is let go, so that they differ.
    let listeners: Vec<TcpListener> =
        (0..N).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<Result<_, _>>()?;
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

fn until_ready(process: &mut Held, ready: impl Fn() -> bool) -> anyhow::Result<()> {
    let started = Instant::now();
    while !ready() {
        if let Some(status) = process.ended()? {
            bail!("it ended with {status}:\n{}", process.log());
        }
        if started.elapsed() > START {
            bail!("it was not ready within {} s:\n{}", START.as_secs(), process.log());
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn healthy(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.contains("\"health\":\"true\""))
}
