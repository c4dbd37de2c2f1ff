use std::sync::Arc;

use futures::future::BoxFuture;
use kourier_core::url::BaseUrl;
use tokio::time::Instant;

use super::*;
use crate::secret::Secret;
use crate::transport::{Failure, Transport, Trust};

/// Never asked.
struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: HttpRequest, _: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(std::future::pending())
    }
}

fn peer(base: &str, credential: Option<Credential>) -> Result<Peer, UnusableCredential> {
    let base = BaseUrl::parse(base).unwrap();
    Peer::new(Endpoint { base, credential, trust: Trust::System, absolute_name: false, transport: Arc::new(Nowhere) })
}

fn get(path: &str) -> wit::Request {
    wit::Request { method: wit::Method::Get, path: path.to_owned(), headers: Vec::new(), body: None }
}

fn check(base: &str, path: &str, want: Option<&str>) {
    let url = peer(base, None).unwrap().outgoing(get(path)).map(|request| request.url.to_string());
    assert_eq!(url.as_deref(), want, "{base} + {path}");
}

#[test]
fn a_path_is_joined_with_the_base_by_one_slash() {
    check("https://a.example", "/card.json", Some("https://a.example/card.json"));
    check("https://a.example/", "/card.json", Some("https://a.example/card.json"));
    check("https://a.example/api/v1/", "/x?y=z", Some("https://a.example/api/v1/x?y=z"));
    check("http://127.0.0.1:8080/a", "/", Some("http://127.0.0.1:8080/a/"));
}

#[test]
fn what_would_leave_the_base_is_not_sent_even_if_a_rule_had_let_it_through() {
    for path in ["/..", "/../b", "/%2e%2e/b", ".b.example/", ":80/", "@b.example/", "b", "#f"] {
        check("https://a.example/api", path, None);
    }
}

#[test]
fn the_hosts_headers_come_after_the_guests() {
    let credential = Credential::Header {
        name: "Authorization".to_owned(),
        prefix: "Bot ".to_owned(),
        secret: Secret::new("token".to_owned()),
    };
    let peer = peer("https://a.example", Some(credential)).unwrap();
    assert_eq!(peer.credential_header(), Some("authorization"));
    let mut request = get("/");
    request.headers.push(wit::Header { name: "Accept".to_owned(), value: "application/json".to_owned() });
    let outgoing = peer.outgoing(request.clone()).unwrap();
    let headers: Vec<_> = outgoing.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let version = concat!("agent-kourier/", env!("CARGO_PKG_VERSION"));
    let want = [
        ("accept", "application/json"),
        ("user-agent", version),
        ("accept-encoding", "identity"),
        ("authorization", "Bot token"),
    ];
    assert_eq!(headers, want);
    request.headers.push(wit::Header { name: "User-Agent".to_owned(), value: "probe/1".to_owned() });
    let agents = peer.outgoing(request).unwrap().headers.into_iter().filter(|(name, _)| name == "user-agent");
    assert_eq!(agents.map(|(_, value)| value).collect::<Vec<_>>(), ["probe/1"]);
}

#[test]
fn a_guest_does_not_see_the_connections_own_fields() {
    let names = ["set-cookie", "content-type", "connection", "transfer-encoding", "keep-alive", "etag"];
    let headers = names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
    let seen = incoming(HttpResponse { status: 200, headers, body: bytes::Bytes::new() });
    assert_eq!(seen.headers.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["content-type", "etag"]);
    let many = (0..150).map(|number| (format!("x-{number}"), String::new())).collect();
    assert_eq!(incoming(HttpResponse { status: 200, headers: many, body: bytes::Bytes::new() }).headers.len(), 100);
}
