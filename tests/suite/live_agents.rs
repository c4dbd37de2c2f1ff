//! The built-in agent probe against servers of the official SDKs: what they serve counts, not what we think they do.

use std::sync::Arc;

use agent_kourier::builtin;
use kourier_core::egress::EgressRules;
use kourier_core::reason::BackendReason;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{AgentTarget, Component, Connector, Endpoint, Limits, Sandbox, Trust};
use suite::agents::{self, Sdk};

struct Probe {
    sandbox: Sandbox,
    component: Component,
    connector: Arc<Connector>,
}

impl Probe {
    fn new() -> Self {
        let limits = Limits::default();
        let rules = EgressRules { allow_loopback: true, ..EgressRules::default() };
        let connector = Arc::new(Connector::new(rules, limits.body).unwrap());
        let sandbox = Sandbox::new(limits).unwrap();
        let built_in = builtin::ALL.iter().find(|it| it.name == "agent-card").unwrap();
        let component = sandbox.load(built_in.wasm).unwrap();
        Self { sandbox, component, connector }
    }

    async fn says(&self, url: &str, card_path: Option<&str>) -> BackendReason {
        let peer = Endpoint {
            base: BaseUrl::parse(url).unwrap(),
            credential: None,
            trust: Trust::System,
            absolute_name: false,
            transport: Arc::clone(&self.connector) as _,
        };
        let target = AgentTarget { card_path: card_path.map(ToOwned::to_owned) };
        self.sandbox.check_agent(&self.component, target, peer).await.outcome.reason
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cards_of_the_official_sdks_are_ones_that_the_broker_can_use() {
    let Some(installed) = agents::install_or_skip("the cards of the official SDKs") else { return };
    let probe = Probe::new();
    for sdk in Sdk::ALL {
        for base in ["", "/agents/one"] {
            let agent = installed.start(sdk, base).unwrap();
            assert_eq!(probe.says(agent.url(), None).await, BackendReason::Ok, "{sdk:?} below {base:?}");
            let elsewhere = format!("{}/nobody", agent.url());
            assert_eq!(probe.says(&elsewhere, None).await, BackendReason::AgentNotFound, "{sdk:?} at {elsewhere}");
            let url = agent.url().to_owned();
            agent.stop().unwrap();
            assert_eq!(probe.says(&url, None).await, BackendReason::Unreachable, "{sdk:?}, stopped");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_0_3_sdk_answers_at_the_older_path() {
    let Some(installed) = agents::install_or_skip("the older path of the official SDKs") else { return };
    let probe = Probe::new();
    let older = Some("/.well-known/agent.json");
    for (sdk, expected) in [
        (Sdk::Python03, BackendReason::Ok),
        (Sdk::Python1, BackendReason::AgentNotFound),
        (Sdk::Js, BackendReason::AgentNotFound),
    ] {
        let agent = installed.start(sdk, "").unwrap();
        assert_eq!(probe.says(agent.url(), older).await, expected, "{sdk:?}");
    }
}
