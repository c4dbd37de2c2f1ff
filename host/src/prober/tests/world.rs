//! A prober with the built-in components, a paused clock, and peers that answer as they are told to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use kourier_core::accept::{Accepted, AgentPeer, ChatPeer, Judged, Served, Used};
use kourier_core::condition::Results;
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::object::SecretRef;
use kourier_core::pause::PausePolicy;
use kourier_core::platform::CredentialPlace;
use kourier_core::schedule::Cadence;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{Failure, HttpRequest, HttpResponse, Limits, Sandbox, Transport};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::{Found, Guests, Prober};
use crate::components::Components;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::secrets::Secrets;

/// A request as a peer saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) second: u64,
    pub(super) host: String,
    pub(super) authorization: Option<String>,
}

/// How a peer answers.
#[derive(Clone, Debug)]
struct Manner {
    delay: Duration,
    status: u16,
    headers: Vec<(String, String)>,
    body: Value,
}

/// All peers, by host. One that was not told anything answers well: an agent with a card, Slack with all channels.
pub(super) struct Peers {
    origin: Instant,
    seen: Mutex<Vec<Seen>>,
    manners: Mutex<BTreeMap<String, Manner>>,
    /// Requests under way, and the most that were.
    load: Mutex<(usize, usize)>,
}

impl Peers {
    pub(super) fn answer(&self, host: &str, delay: u64, status: u16, header: Option<(&str, &str)>) {
        let headers = header.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let manner = Manner { delay: Duration::from_secs(delay), status, headers, body: well(host) };
        self.manners.lock().unwrap().insert(host.to_owned(), manner);
    }

    pub(super) fn seen(&self, host: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.host == host).cloned().collect()
    }

    pub(super) fn seconds(&self, host: &str) -> Vec<u64> {
        self.seen(host).into_iter().map(|seen| seen.second).collect()
    }

    pub(super) fn most(&self) -> usize {
        self.load.lock().unwrap().1
    }

    async fn exchange(&self, request: HttpRequest) -> HttpResponse {
        let host = request.url.host_str().unwrap().to_owned();
        let authorization = request.headers.iter().find(|(name, _)| name == "authorization");
        let second = self.origin.elapsed().as_secs();
        let authorization = authorization.map(|(_, value)| value.clone());
        self.seen.lock().unwrap().push(Seen { second, host: host.clone(), authorization });
        let manner = self.manners.lock().unwrap().get(&host).cloned();
        let well = Manner { delay: Duration::from_millis(10), status: 200, headers: Vec::new(), body: well(&host) };
        let manner = manner.unwrap_or(well);
        {
            let mut load = self.load.lock().unwrap();
            load.0 += 1;
            load.1 = load.1.max(load.0);
        }
        tokio::time::sleep(manner.delay).await;
        self.load.lock().unwrap().0 -= 1;
        let mut headers = manner.headers;
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        HttpResponse { status: manner.status, headers, body: Bytes::from(manner.body.to_string()) }
    }
}

impl Transport for Peers {
    fn send(&self, request: HttpRequest, deadline: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(async move {
            tokio::time::timeout_at(deadline, self.exchange(request)).await.map_err(|_| Failure::TimedOut)
        })
    }
}

/// What a peer says that is well.
fn well(host: &str) -> Value {
    if host.starts_with("chat") {
        let channels: Vec<_> = (0..10).map(|n| json!({"id": format!("C{n}"), "is_archived": false})).collect();
        return json!({"ok": true, "channels": channels, "response_metadata": {"next_cursor": ""}});
    }
    json!({
        "protocolVersion": "0.3.0", "name": "An agent", "description": "It helps.", "version": "1.0.0",
        "url": format!("http://{host}/"), "preferredTransport": "JSONRPC", "capabilities": {},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []
    })
}

pub(super) struct World {
    pub(super) peers: Arc<Peers>,
    pub(super) results: watch::Receiver<Found>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) task: JoinHandle<()>,
    accepted: watch::Sender<Arc<Accepted>>,
    shutdown: Option<oneshot::Sender<()>>,
    secrets: TempDir,
}

/// The engine and the components are the same for all tests: to compile them is what takes time.
fn components() -> &'static (Sandbox, Arc<Components>) {
    static COMPONENTS: OnceLock<(Sandbox, Arc<Components>)> = OnceLock::new();
    COMPONENTS.get_or_init(|| {
        let sandbox = Sandbox::new(Limits::default()).unwrap();
        let components = Arc::new(Components::load(&sandbox, None));
        (sandbox, components)
    })
}

impl World {
    /// Starts a prober that serves nothing yet.
    pub(super) fn start() -> Self {
        let (sandbox, components) = components().clone();
        let peers = Arc::new(Peers {
            origin: Instant::now(),
            seen: Mutex::default(),
            manners: Mutex::default(),
            load: Mutex::default(),
        });
        let secrets = TempDir::new().unwrap();
        let metrics = Arc::new(Metrics::new(&components));
        let prober = Prober {
            sandbox,
            guests: Guests::Here,
            components,
            secrets: Arc::new(Secrets::new(secrets.path().to_owned())),
            transport: Arc::clone(&peers) as Arc<dyn Transport>,
            request: Limits::default().request,
            cadence: Cadence::default(),
            pauses: PausePolicy::default(),
            metrics: Arc::clone(&metrics),
            pulse: Pulse::default(),
        };
        let (accepted, accepted_now) = watch::channel(Arc::default());
        let (found, results) = watch::channel(Found::default());
        let (shutdown, told) = oneshot::channel();
        let task = tokio::spawn(prober.run(accepted_now, found, async move {
            let _ = told.await;
        }));
        Self { peers, results, metrics, task, accepted, shutdown: Some(shutdown), secrets }
    }

    /// Writes the Secret's key `token`.
    pub(super) fn secret(&self, namespace: &str, name: &str, value: &str) {
        let dir = self.secrets.path().join(namespace).join(name);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("token"), value).unwrap();
    }

    /// Serves a Binding: agent at `agent-NAME.example`, channel `C1` at `chat-NAMESPACE.example` with the Secret `bot`.
    pub(super) fn serve(&self, name: &str) {
        let key = key(name);
        let secret = self.secrets.path().join(&key.namespace).join("bot/token");
        if !secret.exists() {
            self.secret(&key.namespace, "bot", "xoxb-first");
        }
        self.change(|accepted| drop(accepted.bindings.insert(key.clone(), judged(&key))));
    }

    pub(super) fn edit(&self, name: &str, edit: impl Fn(&mut Judged)) {
        self.change(|accepted| edit(accepted.bindings.get_mut(&key(name)).unwrap()));
    }

    pub(super) fn remove(&self, name: &str) {
        self.change(|accepted| drop(accepted.bindings.remove(&key(name))));
    }

    fn change(&self, change: impl FnOnce(&mut Accepted)) {
        self.accepted.send_modify(|accepted| change(Arc::make_mut(accepted)));
    }

    pub(super) fn shut_down(&mut self) {
        self.shutdown.take().map(|shutdown| shutdown.send(()));
    }

    /// Waits until this second since the start, plus half of one, so that what is due then is done.
    pub(super) async fn until(&self, second: u64) {
        tokio::time::sleep_until(self.peers.origin + Duration::from_millis(second * 1000 + 500)).await;
    }

    /// The published results of a Binding.
    pub(super) fn found(&self, name: &str) -> Option<Results> {
        self.results.borrow().get(&key(name)).cloned()
    }

    /// `GENERATION AGENT-REASON, GENERATION CHANNEL-REASON`.
    pub(super) fn says(&self, name: &str) -> String {
        let Some(found) = self.found(name) else { return "not listed".to_owned() };
        let backend = found.backend.map_or("-".to_owned(), |(of, outcome)| format!("{of} {}", outcome.reason));
        let channel = found.channel.map_or("-".to_owned(), |(of, outcome)| format!("{of} {}", outcome.reason));
        format!("{backend}, {channel}")
    }
}

fn key(name: &str) -> ObjectKey {
    let (namespace, name) = name.split_once('/').unwrap();
    ObjectKey::new(namespace, name)
}

fn judged(key: &ObjectKey) -> Judged {
    let used = |name: &str| Used {
        key: ObjectKey::new(&key.namespace, name),
        uid: Uid(format!("uid of {name}")),
        generation: Generation(1),
    };
    let served = Served {
        generation: Generation(1),
        agent: AgentPeer {
            backend: used(&key.name),
            url: BaseUrl::parse(&format!("http://agent-{}.example", key.name)).unwrap(),
            card_path: None,
            auth: None,
            tls: None,
        },
        chat: ChatPeer {
            connection: used("chat"),
            platform: "slack".to_owned(),
            url: BaseUrl::parse(&format!("https://chat-{}.example", key.namespace)).unwrap(),
            default_url: false,
            channel: "C1".to_owned(),
            settings: BTreeMap::new(),
            credential: CredentialPlace::Bearer,
            secret_ref: SecretRef { name: "bot".to_owned(), key: "token".to_owned() },
            tls: None,
        },
    };
    Judged {
        uid: Uid(format!("uid of {key}")),
        generation: Generation(1),
        owned: true,
        channel: Some("C1".to_owned()),
        refusal: None,
        served: Some(served),
    }
}
