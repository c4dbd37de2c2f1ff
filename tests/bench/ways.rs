//! The ways to do a check, whole and in parts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_kourier::builtin;
use bytes::Bytes;
use futures::future::BoxFuture;
use kourier_core::egress::EgressRules;
use kourier_core::outcome::Fault;
use kourier_core::reason::BackendReason;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{
    AgentTarget, ChatTarget, Component, Connector, Endpoint, Failure, HttpRequest, HttpResponse, Limits, Method,
    Sandbox, Transport, Trust,
};
use tokio::time::Instant;

use crate::fetch;
use crate::sdk::agent::Verdict;
use crate::sdk::endpoint::{Failure as Told, Response};

/// Everything that the ways share.
pub(crate) struct Ways {
    sandbox: Sandbox,
    probe: Component,
    network: Arc<dyn Transport>,
    plain: reqwest::Client,
    base: BaseUrl,
    path: String,
    card: Bytes,
}

/// Answers at once.
struct Ready(HttpResponse);

impl Transport for Ready {
    fn send(&self, _: HttpRequest, _: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        let answer = self.0.clone();
        Box::pin(async move { Ok(answer) })
    }
}

/// Is never asked.
struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: HttpRequest, _: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(async { Err(Failure::Unreachable(String::new())) })
    }
}

/// A path that breaks a rule of the interface.
const REFUSED: &str = "//";

impl Ways {
    /// The names of all ways.
    pub(crate) const NAMES: [&'static str; 6] = [
        "whole check, sandboxed",
        "whole check, native",
        "instance, call and drop",
        "instance, call, answer at once, judging, drop",
        "request alone, through the connector",
        "judging the card alone, native",
    ];

    pub(crate) fn new(url: &str, card: &[u8]) -> Self {
        // The broker has fewer at a time: this is for the memory of many.
        let limits = Limits { runs: 1024, ..Limits::default() };
        let rules = EgressRules { allow_loopback: true, ..EgressRules::default() };
        let sandbox = Sandbox::new(limits.clone()).unwrap();
        let built_in = builtin::ALL.iter().find(|component| component.name == "agent-card").unwrap();
        let probe = sandbox.load(built_in.wasm).unwrap();
        let network = Arc::new(Connector::new(rules, limits.body).unwrap());
        // Plain HTTP only, but the client sets up TLS all the same.
        rustls::crypto::ring::default_provider().install_default().ok();
        let plain = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let (base, path) = (BaseUrl::parse(url).unwrap(), format!("/{}", card.len()));
        Self { sandbox, probe, network, plain, base, path, card: Bytes::copy_from_slice(card) }
    }

    pub(crate) async fn take(&self, name: &str) {
        match name {
            "whole check, sandboxed" => self.sandboxed(Arc::clone(&self.network), BackendReason::Ok).await,
            "whole check, native" => self.native().await,
            "instance, call and drop" => self.instance().await,
            "instance, call, answer at once, judging, drop" => {
                let answer = HttpResponse { status: 200, headers: Vec::new(), body: self.card.clone() };
                self.sandboxed(Arc::new(Ready(answer)), BackendReason::Ok).await;
            }
            "request alone, through the connector" => self.request().await,
            "judging the card alone, native" => self.judge(self.card.to_vec()),
            other => panic!("no way is called {other}"),
        }
    }

    /// A check through this transport, on the guests' threads.
    pub(crate) async fn sandboxed(&self, transport: Arc<dyn Transport>, want: BackendReason) {
        let run = self.sandbox.check_agent(&self.probe, Self::target(&self.path), self.peer(transport)).await;
        assert_eq!(run.outcome.reason, want, "{run:?}");
    }

    /// A run whose only request is refused before it is sent, on the guests' threads.
    pub(crate) async fn instance(&self) {
        let run = self.sandbox.check_agent(&self.probe, Self::target(REFUSED), self.peer(Arc::new(Nowhere))).await;
        assert_eq!(run.outcome.reason, BackendReason::Unreachable, "{run:?}");
    }

    /// The same on the caller's thread.
    pub(crate) async fn instance_here(&self) {
        let run = self.sandbox.check_agent_here(&self.probe, Self::target(REFUSED), self.peer(Arc::new(Nowhere))).await;
        assert_eq!(run.outcome.reason, BackendReason::Unreachable, "{run:?}");
    }

    /// Compiles a component.
    pub(crate) fn load(&self, wasm: &[u8]) -> Component {
        self.sandbox.load(wasm).unwrap()
    }

    /// Runs a guest that spins until it is cut.
    pub(crate) async fn spin(&self, rogue: &Component) {
        let target = ChatTarget { channel: "spin".to_owned(), settings: BTreeMap::new() };
        let run = self.sandbox.check_chat(rogue, target, self.peer(Arc::new(Nowhere))).await;
        assert_eq!(run.fault, Some(Fault::CpuBudget), "{run:?}");
    }

    fn target(path: &str) -> AgentTarget {
        AgentTarget { card_path: Some(path.to_owned()) }
    }

    fn peer(&self, transport: Arc<dyn Transport>) -> Endpoint {
        Endpoint { base: self.base.clone(), credential: None, trust: Trust::System, absolute_name: false, transport }
    }

    async fn native(&self) {
        let answer = self.plain.get(self.base.join(&self.path).as_str()).send().await.unwrap();
        self.judge(answer.bytes().await.unwrap().into());
    }

    async fn request(&self) {
        let request = HttpRequest {
            method: Method::Get,
            url: self.base.join(&self.path).as_str().parse().unwrap(),
            headers: Vec::new(),
            body: None,
            trust: Trust::System,
            absolute_name: false,
        };
        let answer = self.network.send(request, Instant::now() + Duration::from_secs(5)).await.unwrap();
        assert_eq!(answer.body.len(), self.card.len());
    }

    fn judge(&self, body: Vec<u8>) {
        let mut answer = Some(Response { status: 200, body });
        let finding = fetch::check(Some(self.path.clone()), |_| answer.take().ok_or(Told::Spent));
        assert_eq!(finding.verdict, Verdict::Ok, "{:?}", finding.cause);
    }
}
