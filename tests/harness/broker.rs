//! The real program, as an operator runs it: on a temporary folder, killed when a test ends.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::process;

/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);
/// The same where each look is work for a broker that has much to do.
const RARE_LOOK: Duration = Duration::from_millis(200);
/// The longest that a condition may take. Never waited out when all is well; long, because machines are busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, built once for all tests of a run.
///
/// # Panics
///
/// When it cannot be built.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // target/debug/deps/suite-0123, or target/release/bench: the program belongs into the profile's folder.
        let itself = std::env::current_exe().expect("a program knows where it is");
        let folder = itself.parent().expect("a program is in a folder");
        let profile = if folder.ends_with("deps") { folder.parent().expect("deps is in a profile's") } else { folder };
        let target = profile.parent().expect("a profile's folder is in the target folder");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--package", "agent-kourier", "--package", "suite"]);
        cargo.args(["--bin", "agent-kourier", "--target-dir"]).arg(target);
        // What `cargo test` tells a test of its package would make build scripts (ring's) run again, and with them all
        // that depends on theirs.
        for (name, _) in std::env::vars_os() {
            let is_ours = |ours: &&str| name.to_string_lossy().starts_with(*ours);
            if ["CARGO_PKG_", "CARGO_MANIFEST_", "OUT_DIR"].iter().any(is_ours) {
                cargo.env_remove(name);
            }
        }
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo can be started");
        assert!(built.success(), "the program does not build");
        profile.join("agent-kourier")
    })
}

/// Runs a subcommand to its end.
///
/// # Panics
///
/// When it cannot be started.
#[must_use]
pub fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).env_remove("AGENT_KOURIER_ADMIN").stdin(Stdio::null());
    command.output().expect("the program can be started")
}

/// A broker's folder: manifests, Secrets, components, store, settings and log.
pub struct Setup {
    folder: TempDir,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

impl Setup {
    /// An empty folder.
    ///
    /// # Panics
    ///
    /// When there is no room for it.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        for name in ["manifests", "secrets", "components"] {
            fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        let setup = Self { folder };
        setup.settings("prober: {startDelay: 0s, lookInterval: 1s, passGap: 1s}");
        setup
    }

    /// Writes the settings: these, beside the folders and the log.
    pub fn settings(&self, more: &str) {
        let path = |name: &str| self.path(name).display().to_string();
        let text = format!(
            "config: {{source: files, dir: {}, interval: 100ms}}\nsecrets: {{dir: {}}}\ncomponents: {{dir: {}}}\n\
             storePath: {}\nadmin: {{listen: \"127.0.0.1:0\"}}\nlog: {{format: json}}\n{more}\n",
            path("manifests"),
            path("secrets"),
            path("components"),
            path("store.db"),
        );
        self.write("settings.yaml", text.as_bytes());
    }

    /// Writes the settings of a replica of a broker on a cluster. `more` comes last: it must not repeat a key.
    pub fn cluster_settings(&self, broker: &str, namespace: &str, kubeconfig: &Path, more: &str) {
        let text = format!(
            "broker: {broker}\nconfig: {{source: crds}}\nstore: kubernetes\nkubernetes: {{kubeconfig: {}}}\n\
             components: {{dir: {}}}\nadmin: {{listen: \"127.0.0.1:0\"}}\nlog: {{format: json}}\n\
             egress: {{allowLoopback: true}}\n{more}\n",
            kubeconfig.display(),
            self.path("components").display(),
        );
        // The namespace of the Lease: a key of the section that `more` may have.
        let text = if text.contains("lease: {") {
            text.replace("lease: {", &format!("lease: {{namespace: {namespace}, "))
        } else {
            format!("{text}lease: {{namespace: {namespace}}}\n")
        };
        self.write("settings.yaml", text.as_bytes());
    }

    /// Writes a manifest's file, at once: as a whole or not at all.
    pub fn manifest(&self, name: &str, text: &str) {
        self.write("manifest.new", text.as_bytes());
        fs::rename(self.path("manifest.new"), self.path("manifests").join(name)).expect("a file can be renamed");
    }

    /// Writes a Secret's key.
    pub fn secret(&self, namespace: &str, name: &str, key: &str, value: &str) {
        let folder = self.path("secrets").join(namespace).join(name);
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(key), value).expect("a file can be written");
    }

    /// Writes a component's file.
    pub fn component(&self, name: &str, bytes: &[u8]) {
        self.write(&format!("components/{name}"), bytes);
    }

    /// The path of something in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the broker and waits until its admin port listens.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[must_use]
    pub fn start(&self) -> Broker {
        self.start_by(Command::new(program()))
    }

    /// The same with no more than so many KiB of address space, which is too little for a pool of instances.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    #[must_use]
    pub fn start_within(&self, address_space: u64) -> Broker {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -S -v {address_space} && exec \"$0\" \"$@\"")]).arg(program());
        self.start_by(shell)
    }

    fn start_by(&self, mut command: Command) -> Broker {
        let log = self.path("log");
        let settings = self.path("settings.yaml");
        let file = File::create(&log).expect("the log can be made");
        command.arg("run").arg("--config").arg(settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let child = command.spawn().expect("the program can be started");
        let mut broker = Broker { child, log, admin: SocketAddr::from(([127, 0, 0, 1], 0)) };
        broker.admin = broker.wait("the admin port listens", |broker| {
            let line = broker.lines().into_iter().find(|line| line["message"] == "the admin port listens")?;
            line["address"].as_str()?.parse().ok()
        });
        broker
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file can be written");
    }
}

/// A running broker. Dropping it kills it.
pub struct Broker {
    child: Child,
    log: PathBuf,
    admin: SocketAddr,
}

impl Broker {
    /// The admin port, for `status --admin`.
    #[must_use]
    pub fn admin(&self) -> String {
        self.admin.to_string()
    }

    /// The process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A figure of its memory in KiB, by its name in the process's `status`; none where the kernel does not tell.
    #[must_use]
    pub fn memory(&self, name: &str) -> Option<u64> {
        process::memory(&self.id().to_string(), name)
    }

    /// The lines of the log so far.
    #[must_use]
    pub fn lines(&self) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until `look` yields something.
    ///
    /// # Panics
    ///
    /// When it does not in time, or the broker has ended: with the log.
    pub fn wait<T>(&mut self, what: &str, look: impl FnMut(&Self) -> Option<T>) -> T {
        self.wait_looking(LOOK, what, look)
    }

    /// The same with few looks, for a broker that has much to do.
    ///
    /// # Panics
    ///
    /// As [`Self::wait`].
    pub fn wait_with_few_looks<T>(&mut self, what: &str, look: impl FnMut(&Self) -> Option<T>) -> T {
        self.wait_looking(RARE_LOOK, what, look)
    }

    fn wait_looking<T>(&mut self, pause: Duration, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            let ended = self.child.try_wait().expect("a child can be asked");
            let log = || fs::read_to_string(&self.log).unwrap_or_default();
            assert!(ended.is_none(), "the broker ended before {what}: {ended:?}\n{}", log());
            assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}\n{}", log());
            sleep(pause);
        }
    }

    /// What the admin port answers: status and body. None when it does not.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<(u16, String)> {
        exchange(self.admin, &format!("GET {path} HTTP/1.1\r\nhost: broker\r\nconnection: close\r\n\r\n"))
    }

    /// The value of a metric, which is a whole number: by its name and labels, as the metrics write them. None when there
    /// is no such metric, or no answer.
    #[must_use]
    pub fn metric(&self, series: &str) -> Option<usize> {
        let metrics = self.get("/metrics")?.1;
        metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
    }

    /// How many passes have ended, by its metrics.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.metric("agentkourier_pass_duration_seconds_count").unwrap_or(0)
    }

    /// How many Bindings have this condition, by its metrics. None when they do not know it yet.
    #[must_use]
    pub fn bindings(&self, kind: &str, status: &str, reason: &str) -> Option<usize> {
        let labels = format!("type=\"{kind}\",status=\"{status}\",reason=\"{reason}\"");
        self.metric(&format!("agentkourier_binding_conditions{{{labels}}}"))
    }

    /// The Ready condition of a Binding, if it has one.
    #[must_use]
    pub fn ready(&self, namespace: &str, name: &str) -> Option<Value> {
        self.condition(namespace, name, "Ready")
    }

    /// A condition of a Binding, if it has it.
    #[must_use]
    pub fn condition(&self, namespace: &str, name: &str, kind: &str) -> Option<Value> {
        let list: Value = serde_json::from_str(&self.get("/bindings")?.1).ok()?;
        let is_it = |item: &&Value| item["metadata"]["namespace"] == namespace && item["metadata"]["name"] == name;
        let conditions = list["items"].as_array()?.iter().find(is_it)?["status"]["conditions"].as_array()?.clone();
        conditions.into_iter().find(|condition| condition["type"] == kind)
    }

    /// Waits until Ready has this reason, and yields it.
    ///
    /// # Panics
    ///
    /// As [`Self::wait`].
    pub fn wait_for_reason(&mut self, (namespace, name): (&str, &str), reason: &str) -> Value {
        self.wait(&format!("{namespace}/{name} is {reason}"), |broker| {
            broker.ready(namespace, name).filter(|ready| ready["reason"] == reason)
        })
    }

    /// Asks it to stop, as a cluster does, and yields how it ended.
    ///
    /// # Panics
    ///
    /// When it does not stop.
    #[must_use]
    pub fn terminate(mut self) -> ExitStatus {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(asked.is_ok_and(|status| status.success()), "the broker has ended by itself");
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not stop");
            sleep(LOOK);
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a text and reads the answer of an HTTP server that closes the connection.
#[must_use]
pub fn exchange(address: SocketAddr, request: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
