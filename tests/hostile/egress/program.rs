//! The program itself: proxies of its environment, and what it says of a denial.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use kourier_core::egress::DenyRule;
use serde_json::Value;
use suite::broker::{Broker, Setup, program};
use suite::leak::series;
use suite::peer::{Peer, answer};
use suite::tls::{Identity, server_params};

use crate::case::{Case, Checked};
use crate::peers::honest_document;
use crate::published::{self, Text};
use crate::world::{CHANNEL, Probe};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = proxies();
    cases.push(Case::new("egress::program::the-log-and-a-metric-name-the-rule-and-no-status-does", || async {
        let texts = tokio::task::spawn_blocking(named).await.map_err(|error| error.to_string())?;
        texts.into_iter().for_each(published::text);
        Ok(())
    }));
    cases
}

const LOWER: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy"];
const UPPER: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"];

fn proxies() -> Vec<Case> {
    let mut cases = Vec::new();
    for (case, names) in [("lower-case", LOWER), ("upper-case", UPPER)] {
        for (scheme, secure) in [("http", false), ("https", true)] {
            for which in Probe::ALL {
                let name = format!("egress::proxy::{case}-for-{scheme}::{}", which.name());
                cases.push(Case::new(name, move || ask_past_a_proxy(names, secure, which)));
            }
        }
    }
    cases
}

/// Runs a probe with a proxy in its environment. It has to reach its peer, and the proxy nobody.
async fn ask_past_a_proxy(names: [&'static str; 4], secure: bool, which: Probe) -> Checked {
    let script = |_: &suite::peer::Seen| vec![answer("200 OK", "", honest_document("").as_bytes())];
    let proxy = Peer::start(|_| vec![answer("502 Bad Gateway", "", b"")]).await.map_err(|error| error.to_string())?;
    let identity = Identity::own(&server_params(&["127.0.0.1"]).expect("a name")).expect("a certificate");
    let peer =
        if secure { Peer::start_tls(identity.server().expect("TLS"), script).await } else { Peer::start(script).await };
    let peer = peer.map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (bundle, secret) = (folder.path().join("ca.pem"), folder.path().join("token"));
    fs::write(&bundle, &identity.pem).and_then(|()| fs::write(&secret, "token")).map_err(|error| error.to_string())?;

    let mut command = Command::new(program());
    command.args(["probe", "run", which.name(), "--allow-loopback", "--output", "json", "--url", &peer.url()]);
    command.arg("--ca-file").arg(bundle).arg("--credential-file").arg(secret);
    if which == Probe::Slack {
        command.args(["--channel", CHANNEL]);
    }
    command.envs(names.map(|name| (name, proxy.url()))).env_remove("NO_PROXY").env_remove("no_proxy");
    let ran = tokio::task::spawn_blocking(move || command.output()).await.map_err(|error| error.to_string())?;
    let output = ran.map_err(|error| error.to_string())?;
    published::text(Text::Log("the output of probe run", String::from_utf8_lossy(&output.stdout).into_owned()));
    match (output.status.code(), peer.seen().is_empty(), proxy.connections()) {
        (Some(0), false, 0) => Ok(()),
        ended => Err(format!("{ended:?}: {}", String::from_utf8_lossy(&output.stdout))),
    }
}

/// Backends that are denied, each by the rule of its name, and one that is not there.
const BACKENDS: [(&str, &str, Option<DenyRule>); 7] = [
    ("dead", "http://127.0.0.1:9", None),
    ("metadata", "http://169.254.169.254/latest/meta-data", Some(DenyRule::Metadata)),
    ("broadcast", "http://4294967295", Some(DenyRule::Broadcast)),
    ("link-local", "http://169.254.1.1", Some(DenyRule::LinkLocal)),
    ("multicast", "http://[ff02::1]", Some(DenyRule::Multicast)),
    ("port", "http://10.0.0.1:10250", Some(DenyRule::Port)),
    ("operator", "http://10.20.30.40", Some(DenyRule::Operator)),
];

/// A folder with these backends, and a Binding of each to a platform that is denied, too.
fn folder() -> Setup {
    let setup = Setup::new();
    setup.settings(
        "prober: {startDelay: 0s, lookInterval: 1s, passGap: 1s}\negress: {allowLoopback: true, deny: [10.20.0.0/16]}",
    );
    setup.secret("team-a", "chat", "token", "xoxb-not-a-token\n");
    let mut text = String::from(
        "apiVersion: agentkourier.io/v1alpha1\nkind: ChatConnection\nmetadata: {namespace: team-a, name: chat}\n\
         spec: {platform: slack, url: \"http://192.0.2.1\", secretRef: {name: chat, key: token}}\n",
    );
    for (number, (name, url, _)) in BACKENDS.iter().enumerate() {
        text += &format!(
            "---\napiVersion: agentkourier.io/v1alpha1\nkind: AgentBackend\nmetadata: {{namespace: team-a, name: {name}}}\n\
             spec: {{url: \"{url}\"}}\n---\napiVersion: agentkourier.io/v1alpha1\nkind: Binding\n\
             metadata: {{namespace: team-a, name: {name}}}\nspec: {{agent: {{backendRef: {{name: {name}}}}}, \
             chat: {{connectionRef: {{name: chat}}, channel: C{number}}}}}\n"
        );
    }
    setup.manifest("all.yaml", &text);
    setup
}

fn named() -> [Text; 2] {
    let setup = folder();
    let mut broker = setup.start();
    let mut words = BTreeMap::new();
    for (name, ..) in BACKENDS {
        let condition = |broker: &Broker, kind: &str| {
            broker.condition("team-a", name, kind).filter(|condition| condition["reason"] != "Pending")
        };
        let agent = broker.wait("the agent was probed", |broker| condition(broker, "BackendReachable"));
        let channel = broker.wait("the channel was probed", |broker| condition(broker, "ChannelJoined"));
        for (condition, reason) in [(&agent, "Unreachable"), (&channel, "PlatformUnavailable")] {
            assert_eq!(condition["reason"], reason, "{name}");
            let said = (condition["status"].clone(), condition["message"].clone());
            // What is said of the first one, the dead one, is said of all.
            assert_eq!(*words.entry(reason).or_insert_with(|| said.clone()), said, "{name}");
        }
    }
    let statuses = broker.get("/bindings").expect("it answers").1;
    for part in ["169.254", "ff02", "10.20", "192.0.2", "10250", "denied"] {
        assert!(!statuses.contains(part), "{part} is in {statuses}");
    }
    let metrics = broker.get("/metrics").expect("it answers").1;
    let rules = BACKENDS.iter().filter_map(|(name, _, rule)| Some((*name, (*rule)?)));
    for (name, rule) in rules {
        let counted = format!("agentkourier_egress_denied_total{{rule=\"{rule}\"}}");
        assert!(broker.metric(&counted).is_some(), "{counted} is not in\n{metrics}");
        let lines = broker.lines();
        let is_it = |line: &&Value| {
            let text = line.to_string();
            text.contains(&format!("egress denied: {rule}")) && text.contains(name)
        };
        assert!(lines.iter().any(|line| is_it(&line)), "no line says that {name} was denied by {rule}: {lines:?}");
    }
    [Text::Public("the statuses", statuses), Text::Public("the labels of the metrics", series(&metrics))]
}
