//! The built-in probe of agents against peers: what the page says of a card.

use std::sync::LazyLock;

use agent_kourier::builtin;
use kourier_core::outcome::Outcome;
use kourier_core::reason::BackendReason;
use kourier_sandbox::{AgentTarget, Component, Run};
use suite::peer::{Act, Peer, answer};

use super::answers::{LIMIT, padded};
use super::{SANDBOX, endpoint, network};

static AGENT_CARD: LazyLock<Component> = LazyLock::new(|| {
    let built_in = builtin::ALL.iter().find(|component| component.name == "agent-card").expect("it is built in");
    SANDBOX.load(built_in.wasm).expect("it loads")
});

const CARD: &[u8] = br#"{"name": "Agent", "url": "https://agent.example/a2a", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}"#;

async fn probe(peer: &Peer) -> Run<BackendReason> {
    SANDBOX.check_agent(&AGENT_CARD, AgentTarget { card_path: None }, endpoint(&peer.url(), None, network())).await
}

#[tokio::test]
async fn a_card_of_exactly_one_mebibyte_is_judged_and_a_larger_one_is_invalid() {
    for way in ["length", "chunks", "until the end"] {
        for (size, want) in [(LIMIT, BackendReason::Ok), (LIMIT + 1, BackendReason::InvalidAgentCard)] {
            let peer = Peer::start(move |_| padded(way, CARD, size)).await.unwrap();
            let run = probe(&peer).await;
            assert_eq!((run.outcome, run.fault), (Outcome::of(want), None), "{way}, {size}: {run:?}");
            assert!(run.cpu.as_millis() < 150, "{way}, {size}: {:?} of CPU time", run.cpu);
        }
    }
}

#[tokio::test]
async fn an_endless_card_is_invalid() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"name\": \"".to_vec();
    let peer = Peer::start(move |_| vec![Act::Send(head.clone()), Act::Flood(b'a', None)]).await.unwrap();
    assert_eq!(probe(&peer).await.outcome.reason, BackendReason::InvalidAgentCard);
}

#[tokio::test]
async fn each_status_has_its_reason() {
    let cases = [
        ("404 Not Found", BackendReason::AgentNotFound),
        ("401 Unauthorized", BackendReason::AgentUnauthorized),
        ("302 Found", BackendReason::AgentRedirected),
        ("500 Internal Server Error", BackendReason::AgentError),
        ("503 Service Unavailable", BackendReason::AgentError),
        ("429 Too Many Requests", BackendReason::AgentBusy),
    ];
    for (status, want) in cases {
        let peer = Peer::start(move |_| vec![answer(status, "location: /elsewhere\r\n", b"<html>")]).await.unwrap();
        let run = probe(&peer).await;
        assert_eq!(run.outcome.reason, want, "{status}: {run:?}");
        assert_eq!(run.outcome.gate.is_some(), want == BackendReason::AgentBusy, "{status}");
    }
}

#[tokio::test]
async fn a_compressed_card_is_invalid_because_nothing_is_decoded() {
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0];
    let peer = Peer::start(move |_| vec![answer("200 OK", "content-encoding: gzip\r\n", &gzip)]).await.unwrap();
    assert_eq!(probe(&peer).await.outcome.reason, BackendReason::InvalidAgentCard);
}

#[tokio::test]
async fn json_that_is_made_to_break_a_parser_is_invalid_and_breaks_nothing() {
    let deep = "[".repeat(1_000_000);
    let objects = "{\"a\":".repeat(150_000);
    let keys: String = (0..60_000).map(|number| format!("\"k{number}\":1,")).collect();
    let cases = [
        ("deep lists", deep),
        ("deep objects", objects),
        ("a deep member", format!("{{\"name\": {}", "[".repeat(900_000))),
        ("many keys", format!("{{{keys}\"z\":1}}")),
        ("a long number", format!("{{\"name\": {}}}", "9".repeat(100_000))),
        ("UTF-16", "\u{feff}{\0}\0".to_owned()),
        ("NaN", "{\"name\": NaN}".to_owned()),
        ("nothing", String::new()),
        ("a list", "[]".to_owned()),
    ];
    for (case, text) in cases {
        let peer = Peer::start(move |_| vec![answer("200 OK", "", text.as_bytes())]).await.unwrap();
        let run = probe(&peer).await;
        assert_eq!((run.outcome.reason, run.fault), (BackendReason::InvalidAgentCard, None), "{case}: {run:?}");
    }
}
