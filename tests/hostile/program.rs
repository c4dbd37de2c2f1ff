//! What the whole program tells when all its peers mean harm: on its admin port, in the output of its subcommands, and in
//! its log at the most verbose level.

use std::fs;

use agent_kourier::metrics::CATALOGUE;
use kourier_sandbox::Trust;
use serde_json::{Value, json};
use suite::broker::{Broker, Setup, run};
use suite::leak::{Forbidden, Leak, none, series};

use crate::case::{Case, Checked};
use crate::peers::{self, Prompt};
use crate::published;
use crate::world::{CHANNEL, PEERS, SECRET};

/// The credential of each agent. That of each platform is the one of all cases.
const AGENTS: &str = "Tok3n/of\"the+agents-d41d8c";
/// A password where none belongs.
const PASSWORD: &str = "hunter2-correct-horse";
/// A host where none belongs, with its port.
const HOST: &str = "intern.corp.example:58443";
/// Peers of whom `probe run` is asked.
const ASKED: [&str; 2] = ["echo-10-hexadecimal-as-a-code", "tls-of-a-name-that-is-the-credential"];
/// Of so many peers the broker has one, and those who repeat a credential. Each for itself is looked at by the other
/// families.
const ONE_OF: usize = 8;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new("program::tells-nothing-of-its-peers", || async {
        let taken = |number: usize, name: &str| {
            number.is_multiple_of(ONE_OF) && !name.starts_with("tls-of-a-name") || name.starts_with("echo")
        };
        let peers = PEERS.spawn(peers::prompt(taken)).await.expect("no panic");
        let asked = PEERS.spawn(peers::prompt(|_, name| ASKED.contains(&name))).await.expect("no panic");
        published::by_itself();
        tokio::task::spawn_blocking(move || told(&peers, &asked)).await.map_err(|error| error.to_string())?
    })]
}

fn told(peers: &[Prompt], asked: &[Prompt]) -> Checked {
    if peers.is_empty() || asked.len() != ASKED.len() {
        return Err(format!(
            "{} peers, and {} of those that are to be asked: was one renamed?",
            peers.len(),
            asked.len()
        ));
    }
    let setup = folder(peers);
    let mut broker = setup.start();
    broker.wait_with_few_looks("every peer was probed", |broker| probed(broker, peers.len()).then_some(()));
    let bindings = broker.get("/bindings").ok_or("it does not answer")?.1;
    let runs: Vec<Vec<Run>> = asked.iter().map(|peer| probe_runs(&setup, peer)).collect();
    let forbidden = forbidden(peers.iter().chain(asked), &bindings, &without_peers());
    let mut leaks = forbidden.in_public("/bindings", &bindings);
    leaks.extend(admin(&broker, &forbidden));
    leaks.extend(subcommands(&setup, &broker, &forbidden));
    leaks.extend(runs.iter().flatten().flat_map(|run| run.leaks(&forbidden)));
    let log = fs::read_to_string(setup.path("log")).map_err(|error| error.to_string())?;
    for part in ["\"level\":\"TRACE\"", "hyper_util", "[masked]"] {
        assert!(log.contains(part), "the log is not what it should be: {part} is missing");
    }
    leaks.extend(forbidden.in_log("the log", &log));
    none(&leaks)
}

/// A Binding of each peer, which is both its agent and its platform, and Bindings of objects that are invalid.
fn folder(peers: &[Prompt]) -> Setup {
    let setup = Setup::new();
    setup.settings(
        "prober: {startDelay: 0s, lookInterval: 1s, passGap: 1s, concurrency: 8}\negress: {allowLoopback: true}",
    );
    let settings = setup.path("settings.yaml");
    let text = fs::read_to_string(&settings).expect("they were written");
    fs::write(settings, text.replace("format: json", "format: json, level: trace")).expect("they can be written");
    setup.secret("team-a", "agent", "token", AGENTS);
    setup.secret("team-a", "chat", "token", SECRET);
    let mut objects = Vec::new();
    for (number, peer) in peers.iter().enumerate() {
        let (name, url) = (format!("p{number}"), peer.peer.url());
        let tls = match &peer.trust {
            Trust::System => Value::Null,
            Trust::Only(pem) => {
                setup.secret("team-a", &name, "ca", pem);
                json!({"caSecretRef": {"name": name, "key": "ca"}})
            }
        };
        let auth = json!({"scheme": "bearer", "secretRef": {"name": "agent", "key": "token"}});
        let backend = json!({"url": url, "auth": auth, "tls": tls});
        let connection =
            json!({"platform": "slack", "url": url, "secretRef": {"name": "chat", "key": "token"}, "tls": tls});
        objects.extend(bound(&name, &backend, &connection));
    }
    setup.manifest("peers.json", &list(&objects));
    setup.manifest("invalid.json", &list(&invalid()));
    setup
}

fn list(objects: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

/// An AgentBackend, a ChatConnection, and a Binding of both.
fn bound(name: &str, backend: &Value, connection: &Value) -> [Value; 3] {
    let object = |kind: &str, spec: &Value| {
        let metadata = json!({"namespace": "team-a", "name": name});
        json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec})
    };
    let chat = json!({"connectionRef": {"name": name}, "channel": CHANNEL});
    let binding = json!({"agent": {"backendRef": {"name": name}}, "chat": chat});
    [object("AgentBackend", backend), object("ChatConnection", connection), object("Binding", &binding)]
}

/// Objects whose values no message may repeat.
fn invalid() -> Vec<Value> {
    let urls = [
        format!("https://bot:{PASSWORD}@{HOST}/"),
        format!("http://{HOST}9/{PASSWORD}"),
        format!("http://{HOST}/?token={PASSWORD}"),
        format!("ftp://{HOST}/{PASSWORD}"),
        format!("//{HOST}/{PASSWORD}"),
        format!(" http://{HOST}"),
        format!("http://127.0.0.1\\@{HOST}/"),
        "http://10.9.8.7.6:58443/".to_owned(),
        "http://[fe80::1%25eth0]:58443/".to_owned(),
        "http://::1/".to_owned(),
    ];
    let secret = json!({"name": "chat", "key": "token"});
    let refers = |place: &str| json!({"name": place, "key": place});
    let whole = format!("https://bot:{PASSWORD}@{HOST}/");
    let mut backends: Vec<Value> = urls.iter().map(|url| json!({"url": url})).collect();
    let url = "http://127.0.0.1:9";
    backends.extend([
        json!({"url": url, "cardPath": whole}),
        json!({"url": url, "auth": {"scheme": "header", "header": whole, "secretRef": secret}}),
        json!({"url": url, "auth": {"scheme": "bearer", "secretRef": refers(&whole)}}),
        json!({"url": url, "tls": {"caSecretRef": refers(&whole)}}),
        json!({"url": url, "allowedNamespaces": [whole, "*"]}),
    ]);
    let mut connections: Vec<Value> =
        urls.iter().map(|url| json!({"platform": "slack", "url": url, "secretRef": secret})).collect();
    connections.extend([
        json!({"platform": whole, "url": url, "secretRef": secret}),
        json!({"platform": "slack", "url": url, "secretRef": refers(&whole)}),
        json!({"platform": "slack", "url": url, "secretRef": secret, "settings": {"teamId": whole}}),
        json!({"platform": "slack", "url": url, "secretRef": secret, "settings": {whole.as_str(): "x"}}),
        json!({"platform": "slack", "url": url, "secretRef": secret, "allowedNamespaces": ["::1"]}),
    ]);
    let pairs = backends.iter().zip(&connections).enumerate();
    pairs.flat_map(|(number, (backend, connection))| bound(&format!("invalid{number}"), backend, connection)).collect()
}

/// Whether no probe of so many Bindings is to come.
fn probed(broker: &Broker, bindings: usize) -> bool {
    let is_probed = |kind: &&str| broker.bindings(kind, "Unknown", "Pending") == Some(0);
    broker.bindings("Accepted", "True", "OK") == Some(bindings)
        && ["BackendReachable", "ChannelJoined"].iter().all(is_probed)
}

/// What the program says where no peer is asked: its words are its own.
fn without_peers() -> String {
    let folder = Setup::new();
    folder.manifest("invalid.json", &list(&invalid()));
    let folder = folder.path("manifests").display().to_string();
    let said = [["check", &folder, "-o", "json"].as_slice(), &["components", "-o", "json"]].map(run);
    // Our own words are allowed, so that what is forbidden must not pass for one of them.
    let (_, port) = HOST.rsplit_once(':').expect("it has a port");
    assert!(!String::from_utf8_lossy(&said[0].stdout).contains(port), "`check` repeats a port");
    let said: String = said.iter().map(|output| String::from_utf8_lossy(&output.stdout)).collect();
    let metrics: String = CATALOGUE.iter().map(|entry| format!("{} {} ", entry.name, entry.help)).collect();
    said + &metrics + " type unit null live ready requests"
}

fn forbidden<'p>(peers: impl Iterator<Item = &'p Prompt>, bindings: &str, own: &str) -> Forbidden {
    let mut forbidden = published::own().own(own).secret(AGENTS).secret(PASSWORD).url(&format!("http://{HOST}"));
    for Prompt { peer, .. } in peers {
        forbidden = forbidden.url(&peer.url()).said(&peer.said());
    }
    // What is known of a Binding beside its status is its owner's, and so are the times.
    let list: Value = serde_json::from_str(bindings).expect("JSON");
    for binding in list["items"].as_array().into_iter().flatten() {
        forbidden = forbidden.own(&binding["metadata"].to_string()).own(&binding["spec"].to_string());
        for condition in binding["status"]["conditions"].as_array().into_iter().flatten() {
            forbidden = forbidden.own(&condition["lastTransitionTime"].to_string());
        }
    }
    forbidden
}

fn admin(broker: &Broker, forbidden: &Forbidden) -> Vec<Leak> {
    let said = |path: &str| broker.get(path).expect("it answers").1;
    let mut leaks = forbidden.in_public("/metrics", &series(&said("/metrics")));
    leaks.extend(["/components", "/ready", "/live"].iter().flat_map(|path| forbidden.in_public(path, &said(path))));
    leaks
}

fn subcommands(setup: &Setup, broker: &Broker, forbidden: &Forbidden) -> Vec<Leak> {
    let (admin, folder) = (broker.admin(), setup.path("manifests").display().to_string());
    let mut commands: Vec<Vec<&str>> =
        ["table", "wide", "json", "yaml"].map(|way| vec!["status", "--admin", &admin, "-o", way]).into();
    commands.extend(["text", "json"].map(|way| vec!["check", &folder, "-o", way]));
    commands.extend(
        ["table", "json"].into_iter().flat_map(|way| [vec!["explain", "-o", way], vec!["components", "-o", way]]),
    );
    let leaks = |command: Vec<&str>| {
        let output = run(&command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.is_empty(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        forbidden.in_public(&format!("{command:?}"), &text)
    };
    commands.into_iter().flat_map(leaks).collect()
}

/// What `probe run` said of a peer.
struct Run {
    table: String,
    json: String,
}

/// With each component.
fn probe_runs(setup: &Setup, Prompt { peer, trust, .. }: &Prompt) -> Vec<Run> {
    let (url, token, ca) = (peer.url(), setup.path("secrets/team-a/chat/token"), setup.path("ca.pem"));
    let (token, ca_file) = (token.display().to_string(), ca.display().to_string());
    let said = |component: &[&str], way: &str| {
        let mut command = vec!["probe", "run"];
        command.extend(component);
        command.extend(["--url", &url, "--allow-loopback", "--credential-file", &token, "-o", way]);
        if let Trust::Only(pem) = trust {
            fs::write(&ca, pem.as_bytes()).expect("a file can be written");
            command.extend(["--ca-file", &ca_file]);
        }
        String::from_utf8_lossy(&run(&command).stdout).into_owned()
    };
    let components = [["agent-card"].as_slice(), &["slack", "--channel", CHANNEL]];
    components.map(|component| Run { table: said(component, "table"), json: said(component, "json") }).into()
}

impl Run {
    /// Causes and advice are the operator's, as in the log, and times are made by chance.
    fn leaks(&self, forbidden: &Forbidden) -> Vec<Leak> {
        let lines = self.table.lines().filter(|line| !line.starts_with("cause") && !line.starts_with("advice"));
        let lines: Vec<&str> = lines.collect();
        let mut report: Value = serde_json::from_str(&self.json).expect("JSON");
        for operators in ["causes", "advice", "seconds", "cpu_seconds"] {
            assert!(report.as_object_mut().is_some_and(|report| report.remove(operators).is_some()), "{}", self.json);
        }
        let public = [("probe run -o table", lines.join("\n")), ("probe run -o json", report.to_string())];
        let log = [("probe run -o table", &self.table), ("probe run -o json", &self.json)];
        let public = public.iter().flat_map(|(place, text)| forbidden.in_public(place, text));
        public.chain(log.iter().flat_map(|(place, text)| forbidden.in_log(place, text))).collect()
    }
}
