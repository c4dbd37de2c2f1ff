//! What anybody may read of a Binding whose peers mean harm: its status, its Events, and what the program says of it.

use std::fs;

use serde_json::{Value, json};
use suite::cluster::{QUICK, World, condition_of};
use suite::leak::{Forbidden, Leak, none, spellings};
use suite::peer::{Act, Peer, Seen, answer};

/// The agents' credential.
const AGENTS: &str = "Tok3n-of-the-agents-d41d8c";
/// The platforms' credential.
const CHATS: &str = "xoxb-7f3a9c51d2e8-platforms";

/// What a peer does with a request.
type Script = fn(&Seen) -> Vec<Act>;

/// Repeats the credential that it was sent, in each form.
fn echo(seen: &Seen) -> Vec<Act> {
    let credential = seen.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let words: Vec<String> = spellings(credential).into_iter().map(|(_, word)| word).collect();
    let body = json!({"ok": false, "error": words[10], "needed": words[0], "name": words, "url": words[0]});
    vec![answer(&format!("200 {credential}"), "", body.to_string().as_bytes())]
}

fn page(_: &Seen) -> Vec<Act> {
    let body = b"<h1>Zugriff verweigert</h1> upstream db-7.intern.example:5432 (10.11.12.13, fd00:10:11::12) Traceback";
    vec![answer("503 Dienst gestoert", "server: Wundertuete\r\n", body)]
}

fn redirect(_: &Seen) -> Vec<Act> {
    vec![answer("302 Found", "location: http://169.254.169.254/latest/meta-data/\r\n", b"Moved elsewhere")]
}

fn good(_: &Seen) -> Vec<Act> {
    let body =
        br#"{"name": "Klabautermann \u002810.0.0.1\u0029", "url": "http://10.0.0.1:9/", "protocolVersion": "0.3.0",
        "ok": true, "channels": [{"id": "C1", "is_archived": false, "topic": "Rumpelkammer"}]}"#;
    vec![answer("200 Klabautermann", "", body)]
}

#[test]
fn neither_a_status_nor_an_event_tells_of_a_peer_and_no_log_tells_a_credential() {
    let test = "neither_a_status_nor_an_event_tells_of_a_peer_and_no_log_tells_a_credential";
    let Some(world) = World::or_skip(test) else { return };
    let scripts: [(&str, Script); 5] =
        [("echo", echo), ("page", page), ("redirect", redirect), ("good", good), ("gone", |_| vec![Act::Reset])];
    let peers = world
        .runtime
        .block_on(async { futures::future::join_all(scripts.map(|(_, script)| Peer::start(script))).await });
    let peers: Vec<Peer> = peers.into_iter().collect::<Result<_, _>>().unwrap();
    world.secret("agents", "token", AGENTS);
    world.secret("chats", "token", CHATS);
    let names = scripts.map(|(name, _)| name);
    names.iter().zip(&peers).for_each(|(name, peer)| bind(&world, name, &peer.url()));

    let (account, token) = account(&world);
    let replica = world.replica(&account, QUICK);
    let settings = replica.path("settings.yaml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("format: json", "format: json, level: \"trace,kube_client=trace\"")).unwrap();
    let _broker = replica.start();
    let told = world.wait("everybody was probed and told", || told(&world, &names));

    // Replicas have names that chance makes.
    let leases = world.kubectl(&["get", "leases", "--output=json"]);
    let forbidden = Forbidden::new().secret(AGENTS).secret(CHATS).secret(&token).own(&world.namespace).own(&leases);
    let forbidden = peers.iter().fold(forbidden, |forbidden, peer| forbidden.url(&peer.url()).said(&peer.said()));
    let mut leaks: Vec<Leak> = told.iter().flat_map(|text| forbidden.in_public("status or Event", text)).collect();
    leaks.extend(forbidden.in_public("kubectl get", &world.kubectl(&["get", "akbinding", "--output=wide"])));
    let config = world.admin().display().to_string();
    for name in names {
        let binding = format!("{}/{name}", world.namespace);
        let said = suite::broker::run(&["why", &binding, "--kubeconfig", &config]).stdout;
        leaks.extend(forbidden.in_public("why", &String::from_utf8_lossy(&said)));
    }
    let log = fs::read_to_string(replica.path("log")).unwrap();
    for part in ["\"level\":\"TRACE\"", "kube_client", "[masked]"] {
        assert!(log.contains(part), "{part} is not in the log");
    }
    leaks.extend(forbidden.in_log("the log", &log));
    assert_eq!(none(&leaks), Ok(()));
}

/// A Binding whose agent and platform are at this URL.
fn bind(world: &World<'_>, name: &str, url: &str) {
    let secret = |name: &str| json!({"name": name, "key": "token"});
    world.apply(
        "AgentBackend",
        name,
        &json!({"url": url, "auth": {"scheme": "bearer", "secretRef": secret("agents")}}),
    );
    let connection = json!({"platform": "slack", "broker": world.broker, "url": url, "secretRef": secret("chats")});
    world.apply("ChatConnection", name, &connection);
    let chat = json!({"connectionRef": {"name": name}, "channel": "C1"});
    world.apply("Binding", name, &json!({"agent": {"backendRef": {"name": name}}, "chat": chat}));
}

/// The kubeconfig of a service account that may do everything, and its token.
fn account(world: &World<'_>) -> (tempfile::TempPath, String) {
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("broker-{}", world.namespace)},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "broker", "namespace": world.namespace}]});
    let account = world.cluster.service_account(&world.namespace, "broker").unwrap();
    world.cluster.kubectl().apply(&binding.to_string()).unwrap();
    let config: Value = serde_json::from_str(&fs::read_to_string(&account).unwrap()).unwrap();
    let token = config.pointer("/users/0/user/token").and_then(Value::as_str).unwrap().to_owned();
    (account, token)
}

/// The status of each Binding and the words of all Events, when each was probed and has an Event.
fn told(world: &World<'_>, names: &[&str]) -> Option<Vec<String>> {
    let mut told = Vec::new();
    for name in names {
        let binding = world.get(name);
        let is_pending =
            |kind: &str| ["", "Pending"].contains(&condition_of(&binding, kind)["reason"].as_str().unwrap_or_default());
        if is_pending("BackendReachable") || is_pending("ChannelJoined") {
            return None;
        }
        told.push(binding["status"].to_string());
    }
    let events: Value =
        serde_json::from_str(&world.kubectl(&["get", "events.events.k8s.io", "--output=json"])).unwrap();
    let events = events["items"].as_array()?;
    let of = |name: &str| events.iter().any(|event| event["regarding"]["name"] == name);
    told.extend(events.iter().map(|event| format!("{} {}", event["reason"], event["note"])));
    names.iter().all(|name| of(name)).then_some(told)
}
