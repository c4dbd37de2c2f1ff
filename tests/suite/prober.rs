//! The prober with the real sandbox, guests on their own runtime, and peers on this machine.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_kourier::components::Components;
use agent_kourier::metrics::Metrics;
use agent_kourier::prober::{Found, Guests, Prober};
use agent_kourier::pulse::Pulse;
use agent_kourier::secrets::Secrets;
use futures::future::BoxFuture;
use kourier_core::accept::{Accepted, AgentPeer, ChatPeer, Judged, Served, Used};
use kourier_core::condition::Results;
use kourier_core::egress::EgressRules;
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::object::SecretRef;
use kourier_core::pause::PausePolicy;
use kourier_core::platform::CredentialPlace;
use kourier_core::schedule::Cadence;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{Connector, Failure, HttpRequest, HttpResponse, Limits, Sandbox, Transport};
use suite::guests;
use suite::peer::{CARD, Peer, answer};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::Instant;

/// As often as a test wants it.
fn hasty() -> Cadence {
    Cadence {
        start_delay: Duration::ZERO,
        look_interval: Duration::from_millis(10),
        pass_gap: Duration::from_millis(20),
        interval: Duration::from_millis(40),
        concurrency: NonZeroUsize::MIN,
    }
}

fn prober(dir: &Path, sandbox: Sandbox, components: Arc<Components>, metrics: Arc<Metrics>) -> Prober {
    let rules = EgressRules { allow_loopback: true, ..EgressRules::default() };
    Prober {
        sandbox,
        guests: Guests::Apart,
        components,
        secrets: Arc::new(Secrets::new(dir.join("secrets"))),
        transport: Arc::new(Connector::new(rules, Limits::default().body).unwrap()),
        request: Limits::default().request,
        cadence: hasty(),
        pauses: PausePolicy::default(),
        metrics,
        pulse: Pulse::default(),
    }
}

/// The Binding `one` of a namespace: the agent, and the guest that misbehaves as its channel says.
fn served(namespace: &str, channel: &str, agent: &str) -> (ObjectKey, Judged) {
    let used = |name: &str| Used {
        key: ObjectKey::new(namespace, name),
        uid: Uid(format!("{namespace}/{name}")),
        generation: Generation(1),
    };
    let url = BaseUrl::parse(agent).unwrap();
    let served = Served {
        generation: Generation(1),
        agent: AgentPeer { backend: used("agent"), url: url.clone(), card_path: None, auth: None, tls: None },
        chat: ChatPeer {
            connection: used("chat"),
            platform: "rogue".to_owned(),
            url,
            default_url: false,
            channel: channel.to_owned(),
            settings: BTreeMap::new(),
            credential: CredentialPlace::Bearer,
            secret_ref: SecretRef { name: "bot".to_owned(), key: "token".to_owned() },
            tls: None,
        },
    };
    let judged = Judged {
        uid: Uid(format!("{namespace}/one")),
        generation: Generation(1),
        owned: true,
        channel: Some(channel.to_owned()),
        refusal: None,
        served: Some(served),
    };
    (ObjectKey::new(namespace, "one"), judged)
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// A folder with the rogue component, and a Secret in each of these namespaces.
fn rogue_and_secrets_of(namespaces: [&str; 2]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("components/rogue.wasm"), guests::ROGUE);
    for namespace in namespaces {
        write(&dir.path().join("secrets").join(namespace).join("bot/token"), b"sesame");
    }
    dir
}

#[tokio::test]
async fn a_component_that_keeps_failing_is_paused_in_the_namespace_in_which_it_fails() {
    let agent =
        Peer::start(|_| vec![answer("200 OK", "content-type: application/json\r\n", CARD.as_bytes())]).await.unwrap();
    let dir = rogue_and_secrets_of(["bad", "good"]);
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let components = Arc::new(Components::load(&sandbox, Some(&dir.path().join("components"))));
    let metrics = Arc::new(Metrics::new(&components));
    let (_accepted, accepted) = watch::channel(Arc::new(Accepted {
        bindings: BTreeMap::from([served("bad", "trap", &agent.url()), served("good", "well", &agent.url())]),
        ..Accepted::default()
    }));
    let (send, results) = watch::channel(Found::default());
    let prober = prober(dir.path(), sandbox, components, Arc::clone(&metrics));
    let paused = async {
        while !metrics.encode().contains(r#"kind="paused""#) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), prober.run(accepted, send, paused)).await.expect("a pause");

    let text = metrics.encode();
    assert!(
        text.contains(r#"agentkourier_component_faults_total{component="rogue",kind="trap",blame="guest"} 5"#),
        "{text}"
    );
    let results = results.borrow();
    let reasons: Vec<_> = results
        .values()
        .map(|found| (found.backend.unwrap().1.reason.as_str(), found.channel.unwrap().1.reason.as_str()))
        .collect();
    assert_eq!(reasons, [("OK", "ProbeFailed"), ("OK", "InvalidChannel")]);
}

/// Agents with a card, and a chat platform that is well until this second and says something else from then on.
struct Turning {
    origin: Instant,
    turns: u64,
    /// When the channels' guests asked, by the host of their connection.
    asked: Mutex<Vec<(String, u64)>>,
}

impl Turning {
    fn seconds(&self, host: &str) -> Vec<u64> {
        self.asked.lock().unwrap().iter().filter(|(asked, _)| asked == host).map(|(_, second)| *second).collect()
    }
}

impl Transport for Turning {
    fn send(&self, request: HttpRequest, _deadline: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        let second = self.origin.elapsed().as_secs();
        let is_card = request.url.path() == "/.well-known/agent-card.json";
        if !is_card {
            self.asked.lock().unwrap().push((request.url.host_str().unwrap().to_owned(), second));
        }
        let status = if is_card || second < self.turns { 200 } else { 500 };
        let body = if is_card { CARD.into() } else { "{}".into() };
        Box::pin(async move { Ok(HttpResponse { status, headers: Vec::new(), body }) })
    }
}

/// The reasons of both probes of a Binding.
type Reasons = [Option<&'static str>; 2];

fn reasons(results: &Results) -> Reasons {
    let backend = results.backend.map(|(_, outcome)| outcome.reason.as_str());
    [backend, results.channel.map(|(_, outcome)| outcome.reason.as_str())]
}

/// What the Binding of each namespace came to once both of its probes had ended, whenever it was something else, and in
/// which second.
async fn history(mut results: watch::Receiver<Found>, origin: Instant) -> BTreeMap<String, Vec<(u64, Reasons)>> {
    let mut history: BTreeMap<String, Vec<(u64, Reasons)>> = BTreeMap::new();
    while results.changed().await.is_ok() {
        for (key, found) in results.borrow_and_update().iter() {
            let (before, now) = (history.entry(key.namespace.clone()).or_default(), reasons(found));
            if now.iter().all(Option::is_some) && before.last().is_none_or(|(_, last)| *last != now) {
                before.push((origin.elapsed().as_secs(), now));
            }
        }
    }
    history
}

#[tokio::test(start_paused = true)]
async fn a_component_that_spins_after_a_success_is_run_less_and_less_and_others_are_judged_as_before() {
    let dir = rogue_and_secrets_of(["honest", "turning"]);
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let components = Arc::new(Components::load(&sandbox, Some(&dir.path().join("components"))));
    let metrics = Arc::new(Metrics::new(&components));
    let (_accepted, accepted) = watch::channel(Arc::new(Accepted {
        bindings: BTreeMap::from([
            served("honest", "keep-a-global", "http://honest.example"),
            served("turning", "spin-when-told-so", "http://turning.example"),
        ]),
        ..Accepted::default()
    }));
    let (send, results) = watch::channel(Found::default());
    let platform = Arc::new(Turning { origin: Instant::now(), turns: 900, asked: Mutex::default() });
    let rules = Prober {
        guests: Guests::Here,
        transport: Arc::clone(&platform) as Arc<dyn Transport>,
        cadence: Cadence::default(),
        ..prober(dir.path(), sandbox, components, Arc::clone(&metrics))
    };
    let until = tokio::time::sleep_until(platform.origin + Duration::from_secs(4000));
    let (history, ()) = futures::join!(history(results, platform.origin), rules.run(accepted, send, until));
    assert_eq!(history["honest"], [(15, [Some("OK"), Some("OK")])]);
    assert_eq!(history["turning"], [(15, [Some("OK"), Some("OK")]), (915, [Some("OK"), Some("ProbeFailed")])]);
    // Five faults in a row, and then a pause after each, twice as long as the one before: 1, 2, 4, 8, 16 minutes.
    let run = [15, 315, 615, 915, 1215, 1515, 1815, 2115, 2415, 2715, 3015, 3615];
    assert_eq!(platform.seconds("turning.example"), run);
    let text = metrics.encode();
    for (kind, count) in [("cpu-budget", 9), ("paused", 2)] {
        let line = format!(r#"component_faults_total{{component="rogue",kind="{kind}",blame="guest"}} {count}"#);
        assert!(text.contains(&line), "{line} is not in {text}");
    }
}
