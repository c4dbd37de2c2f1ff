//! A world in a cluster: the real API server, a namespace, a Slack, an agent, and brokers that serve them.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kourier_test_cluster::Cluster;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::broker::Setup;
use crate::peer::{CARD, Peer, answer};
use crate::slack::{Channel, FakeSlack, Token, Workspace};

/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(100);
/// The longest that a condition may take. Never waited out when all is well; long, because machines are busy.
const PATIENCE: Duration = Duration::from_secs(90);
/// The bot's token.
pub const TOKEN: &str = "xoxb-fake";
/// The bot.
pub const BOT: &str = "U0BOT";

/// A namespace of a real API server with an AgentBackend `agents`, a ChatConnection `slack` and its Secret, and the peers
/// that they lead to. The bot is in the channels `C1` to `C9`, and not in `C10`.
pub struct World<'c> {
    /// The cluster, which others may use too.
    pub cluster: &'c Cluster,
    /// The namespace.
    pub namespace: String,
    /// The chat platform.
    pub slack: FakeSlack,
    /// The agent: it answers everything with a usable card.
    pub agent: Peer,
    /// The broker that the connection names: this world's own.
    pub broker: String,
    /// Runs the peers.
    pub runtime: Runtime,
}

impl World<'static> {
    /// A new world; none when no API server can be had, which is said loudly, and is a failure under CI.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[must_use]
    pub fn or_skip(test: &str) -> Option<Self> {
        let cluster = kourier_test_cluster::or_skip(test, Cluster::shared())?;
        Some(Self::on(cluster))
    }
}

impl<'c> World<'c> {
    /// A new world on this cluster.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[must_use]
    pub fn on(cluster: &'c Cluster) -> Self {
        cluster.crds().expect("the CRDs can be installed");
        let namespace = cluster.namespace().expect("a namespace can be made");
        let runtime = Runtime::new().expect("a runtime can be started");
        let (slack, agent) = runtime.block_on(async {
            let slack = FakeSlack::start(workspace()).await.expect("the Slack starts");
            let agent = Peer::start(|_| vec![answer("200 OK", "content-type: application/json\r\n", CARD.as_bytes())]);
            (slack, agent.await.expect("the agent starts"))
        });
        let world = Self { cluster, broker: namespace.clone(), namespace, slack, agent, runtime };
        world.secret("slack", "token", TOKEN);
        world.connection("slack", &world.slack.url());
        world.backend("agents", &world.agent.url());
        world
    }

    /// Applies a manifest of this namespace.
    ///
    /// # Panics
    ///
    /// When it is refused.
    pub fn apply(&self, kind: &str, name: &str, spec: &Value) {
        let object = json!({
            "apiVersion": "agentkourier.io/v1alpha1",
            "kind": kind,
            "metadata": {"namespace": self.namespace, "name": name},
            "spec": spec,
        });
        self.cluster.kubectl().apply(&object.to_string()).expect("the manifest is taken");
    }

    /// Applies an AgentBackend.
    pub fn backend(&self, name: &str, url: &str) {
        self.apply("AgentBackend", name, &json!({"url": url}));
    }

    /// Applies a Slack ChatConnection with the credential of Secret `slack`, for this world's broker.
    pub fn connection(&self, name: &str, url: &str) {
        let secret = json!({"name": "slack", "key": "token"});
        let spec = json!({"platform": "slack", "broker": self.broker, "url": url, "secretRef": secret});
        self.apply("ChatConnection", name, &spec);
    }

    /// Applies a Binding of a channel of `slack` to the agent of this AgentBackend.
    pub fn binding(&self, name: &str, backend: &str, channel: &str) {
        let chat = json!({"connectionRef": {"name": "slack"}, "channel": channel});
        self.apply("Binding", name, &json!({"agent": {"backendRef": {"name": backend}}, "chat": chat}));
    }

    /// Applies a Secret.
    ///
    /// # Panics
    ///
    /// When it is refused.
    pub fn secret(&self, name: &str, key: &str, value: &str) {
        let metadata = json!({"namespace": self.namespace, "name": name});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {key: value}});
        self.cluster.kubectl().apply(&secret.to_string()).expect("the Secret is taken");
    }

    /// kubectl in this namespace: what it prints.
    ///
    /// # Panics
    ///
    /// When it fails.
    #[must_use]
    pub fn kubectl(&self, args: &[&str]) -> String {
        let all: Vec<&str> = ["--namespace", &self.namespace].into_iter().chain(args.iter().copied()).collect();
        self.cluster.kubectl().ok(&all).expect("kubectl succeeds")
    }

    /// A Binding as it stands; null when there is none.
    ///
    /// # Panics
    ///
    /// When kubectl fails.
    #[must_use]
    pub fn get(&self, name: &str) -> Value {
        let text = self.kubectl(&["get", "akbinding", name, "--ignore-not-found", "--output=json"]);
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// A condition of a Binding as it stands; null when it has none of this type.
    #[must_use]
    pub fn condition(&self, name: &str, kind: &str) -> Value {
        condition_of(&self.get(name), kind)
    }

    /// Waits until `look` yields something.
    ///
    /// # Panics
    ///
    /// When it does not in time: with all Bindings of the namespace.
    pub fn wait<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            let all = || self.kubectl(&["get", "akbinding", "--output=yaml"]);
            assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}\n{}", all());
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until Ready of a Binding has this reason at its newest generation, and yields it.
    pub fn wait_for_reason(&self, name: &str, reason: &str) -> Value {
        self.wait(&format!("{name} is {reason}"), || {
            let binding = self.get(name);
            let ready = condition_of(&binding, "Ready");
            let newest = ready["observedGeneration"] == binding["metadata"]["generation"];
            (newest && ready["reason"] == reason).then_some(ready)
        })
    }

    /// A replica of this world's broker, not started yet, with the rights of whoever the kubeconfig is for. It is quick:
    /// probes and writes do not wait as long for each other as they do by default. `more` are further settings.
    #[must_use]
    pub fn replica(&self, kubeconfig: &Path, more: &str) -> Setup {
        let setup = Setup::new();
        setup.cluster_settings(&self.broker, &self.namespace, kubeconfig, more);
        setup
    }

    /// The kubeconfig of a user who may do everything.
    #[must_use]
    pub fn admin(&self) -> PathBuf {
        self.cluster.kubeconfig().to_owned()
    }
}

macro_rules! quick {
    ($lease:literal) => {
        concat!(
            "prober: {startDelay: 0s, lookInterval: 200ms, passGap: 500ms}\n",
            "writer: {lookInterval: 100ms, gap: 500ms, cap: 5s}\n",
            "lease: {",
            $lease,
            "}\n"
        )
    };
}

/// Settings with which a broker is quick, for tests that are not about its rhythm. A Lease is not lost because the
/// machine is busy: what a leader knows of put-backs goes with it.
pub const QUICK: &str = quick!("duration: 15s, renewDeadline: 10s, retryPeriod: 300ms, call: 3s");

/// The same for tests that wait until a Lease is over.
pub const SHORT_LEASE: &str = quick!("duration: 4s, renewDeadline: 2s, retryPeriod: 300ms, call: 1s");

/// The condition of this type of an object; null when it has none.
#[must_use]
pub fn condition_of(object: &Value, kind: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    found.cloned().unwrap_or(Value::Null)
}

fn workspace() -> Workspace {
    let mut workspace = Workspace::new("T0001").token(TOKEN, Token::of(BOT, &["channels:read", "groups:read"]));
    for number in 1..=9 {
        workspace = workspace.channel(&format!("C{number}"), Channel::of(&[BOT]));
    }
    workspace.channel("C10", Channel::of(&[]))
}
