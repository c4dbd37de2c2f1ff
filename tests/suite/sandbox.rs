//! The sandbox on the real engine. Guests and peers that misbehave are in `hostile`.

mod answers;
mod connections;
mod credentials;
mod ends;
mod loading;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use kourier_core::egress::EgressRules;
use kourier_core::reason::ChannelReason;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{ChatTarget, Component, Connector, Credential, Endpoint, Limits, Run, Sandbox, Transport, Trust};
use suite::guests;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).expect("an engine"));

static ROGUE: LazyLock<Component> = LazyLock::new(|| SANDBOX.load(guests::ROGUE).expect("the rogue guest loads"));

/// The network, where this machine may be reached.
fn network() -> Arc<dyn Transport> {
    let rules = EgressRules { allow_loopback: true, ..EgressRules::default() };
    Arc::new(Connector::new(rules, Limits::default().body).expect("TLS"))
}

fn endpoint(url: &str, credential: Option<Credential>, transport: Arc<dyn Transport>) -> Endpoint {
    let base = BaseUrl::parse(url).expect("a URL");
    Endpoint { base, credential, trust: Trust::System, absolute_name: false, transport }
}

fn target<'a>(channel: &str, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> ChatTarget {
    let settings: BTreeMap<_, _> =
        settings.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    ChatTarget { channel: channel.to_owned(), settings }
}

/// Runs one misbehaviour against a peer on this machine.
async fn behave(behaviour: &str, url: &str) -> Run<ChannelReason> {
    SANDBOX.check_chat(&ROGUE, target(behaviour, []), endpoint(url, None, network())).await
}

/// Fetches one path, as a probe does.
async fn fetch(url: &str, path: &str) -> Run<ChannelReason> {
    SANDBOX.check_chat(&ROGUE, target("fetch", [("path", path)]), endpoint(url, None, network())).await
}
