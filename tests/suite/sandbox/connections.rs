//! How the connector reaches a peer: names, addresses, and what becomes of connections.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kourier_core::egress::{DenyRule, EgressRules};
use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Connector, Failure, HttpRequest, HttpResponse, Lookup, Method, Pass, Transport, Trust};
use suite::peer::{Act, Peer, answer};
use suite::tls::{Identity, server_params};
use tokio::time::Instant;

use super::{ROGUE, SANDBOX, endpoint, network, target};

fn request(method: Method, url: &str) -> HttpRequest {
    let body = (method == Method::Post).then(|| "x".into());
    let url = url.parse().expect("a URL");
    HttpRequest { method, url, headers: Vec::new(), body, trust: Trust::System, absolute_name: false }
}

async fn send(transport: &dyn Transport, request: HttpRequest) -> Result<HttpResponse, Failure> {
    transport.send(request, Instant::now() + Duration::from_secs(5)).await
}

fn local() -> EgressRules {
    EgressRules { allow_loopback: true, ..EgressRules::default() }
}

#[tokio::test]
async fn a_denied_address_is_unreachable_to_the_guest_and_named_in_the_log() {
    let connector: Arc<dyn Transport> = Arc::new(Connector::new(EgressRules::default(), 1 << 20).unwrap());
    let cases = [
        ("http://127.0.0.1:8080", DenyRule::Loopback),
        ("http://127.1", DenyRule::Loopback),
        ("http://[::1]", DenyRule::Loopback),
        ("http://169.254.169.254", DenyRule::Metadata),
        ("http://2852039166", DenyRule::Metadata),
        ("http://0xa9fea9fe", DenyRule::Metadata),
        ("http://[::ffff:a9fe:a9fe]", DenyRule::Metadata),
        ("http://[64:ff9b::a9fe:a9fe]", DenyRule::Metadata),
        ("http://10.0.0.1:10250", DenyRule::Port),
    ];
    for (url, rule) in cases {
        let run = SANDBOX.check_chat(&ROGUE, target("fetch", []), endpoint(url, None, Arc::clone(&connector))).await;
        assert_eq!(run.outcome.reason, ChannelReason::PlatformUnavailable, "{url}: {run:?}");
        assert_eq!(run.denied, [rule], "{url}");
        assert!(run.causes.iter().any(|cause| cause.contains(&format!("egress denied: {rule}"))), "{url}: {run:?}");
    }
}

/// A resolver that gives these answers in turn, the last one again and again, and counts.
fn resolver(answers: Vec<Vec<IpAddr>>) -> (Lookup, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&count);
    let lookup = Lookup::new(move |_name| {
        let turn = asked.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
        let addresses = answers[turn].clone();
        Box::pin(async move { Ok(addresses) })
    });
    (lookup, count)
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[tokio::test]
async fn one_denied_address_denies_the_name() {
    for addresses in [["10.0.0.1", "127.0.0.1"], ["127.0.0.1", "10.0.0.1"]] {
        let (lookup, _) = resolver(vec![addresses.map(ip).to_vec()]);
        let connector = Connector::with_lookup(EgressRules::default(), 1 << 20, lookup).unwrap();
        let got = send(&connector, request(Method::Get, "http://two.example/")).await;
        assert_eq!(got, Err(Failure::Denied(DenyRule::Loopback)));
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_connection_and_a_second_answer_is_not_used() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}"), Act::Close]).await.unwrap();
    let (lookup, count) = resolver(vec![vec![ip("127.0.0.1")], vec![ip("169.254.169.254")]]);
    let connector = Connector::with_lookup(local(), 1 << 20, lookup).unwrap();
    let url = format!("http://rebind.example:{}/", peer.address().port());
    assert_eq!(send(&connector, request(Method::Get, &url)).await.map(|answer| answer.status), Ok(200));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(peer.seen()[0].header("host"), Some(format!("rebind.example:{}", peer.address().port()).as_str()));
    // The next connection asks again, and is judged again.
    assert_eq!(send(&connector, request(Method::Get, &url)).await, Err(Failure::Denied(DenyRule::Metadata)));
}

#[tokio::test]
async fn an_absolute_name_is_looked_up_with_a_dot_and_sent_without() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
    let names = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = Arc::clone(&names);
    let lookup = Lookup::new(move |name| {
        heard.lock().unwrap().push(name);
        Box::pin(async { Ok(vec![ip("127.0.0.1")]) })
    });
    let connector = Connector::with_lookup(local(), 1 << 20, lookup).unwrap();
    for absolute_name in [true, false] {
        let url = format!("http://api.example:{}/", peer.address().port());
        send(&connector, HttpRequest { absolute_name, ..request(Method::Get, &url) }).await.unwrap();
    }
    assert_eq!(*names.lock().unwrap(), ["api.example.", "api.example"]);
    assert!(peer.seen().iter().all(|seen| seen.header("host").unwrap().starts_with("api.example:")));
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_does_not_answer_takes_two_seconds() {
    let lookup = Lookup::new(|_| Box::pin(std::future::pending()));
    let connector = Connector::with_lookup(local(), 1 << 20, lookup).unwrap();
    let started = Instant::now();
    let got = send(&connector, request(Method::Get, "http://slow.example/")).await;
    assert!(matches!(&got, Err(Failure::Unreachable(text)) if text.contains("not resolved in time")), "{got:?}");
    assert_eq!(started.elapsed(), Duration::from_secs(2));
}

#[tokio::test]
async fn what_this_machine_lacks_is_not_the_peers_fault() {
    for number in [24, 23, 12, 99] {
        let lookup = Lookup::new(move |_| Box::pin(async move { Err(io::Error::from_raw_os_error(number)) }));
        let connector = Connector::with_lookup(local(), 1 << 20, lookup).unwrap();
        let got = send(&connector, request(Method::Get, "http://a.example/")).await;
        assert!(matches!(got, Err(Failure::Host(_))), "{number}: {got:?}");
    }
}

/// Answers the first request of a connection and drops the connection at the second.
fn forgetful(seen: &suite::peer::Seen, connection: &AtomicUsize) -> Vec<Act> {
    let first = connection.swap(seen.connection, Ordering::SeqCst) != seen.connection;
    if first { vec![answer("200 OK", "", b"{}")] } else { vec![Act::Close] }
}

#[tokio::test]
async fn a_get_whose_kept_connection_died_is_sent_once_more_and_a_post_is_not() {
    for (method, want, requests) in [(Method::Get, Ok(200), 3), (Method::Post, Err(()), 2)] {
        let connection = AtomicUsize::new(usize::MAX);
        let peer = Peer::start(move |seen| forgetful(seen, &connection)).await.unwrap();
        let connector = network();
        send(&*connector, request(Method::Get, &peer.url())).await.unwrap();
        let got = send(&*connector, request(method, &peer.url())).await;
        assert_eq!(got.map(|answer| answer.status).map_err(drop), want, "{method}");
        assert_eq!(peer.seen().len(), requests, "{method}");
    }
}

#[tokio::test]
async fn a_get_whose_new_connection_died_is_not_sent_again() {
    let peer = Peer::start(|_| vec![Act::Close]).await.unwrap();
    let got = send(&*network(), request(Method::Get, &peer.url())).await;
    assert!(matches!(got, Err(Failure::Unreachable(_))), "{got:?}");
    assert_eq!(peer.seen().len(), 1);
}

#[tokio::test]
async fn a_connection_is_kept_within_a_pass_and_not_beyond_it() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
    let connector = network();
    for _ in 0..2 {
        let pass = Pass::new(Arc::clone(&connector));
        for path in ["a", "b", "c"] {
            send(&pass, request(Method::Get, &format!("{}/{path}", peer.url()))).await.unwrap();
        }
    }
    let connections: Vec<_> = peer.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0, 0, 1, 1, 1]);
}

#[tokio::test]
async fn a_bundle_that_cannot_be_used_never_falls_back_to_the_systems_roots() {
    for bundle in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let trust = Trust::Only(Arc::from(bundle));
        let got = send(&*network(), HttpRequest { trust, ..request(Method::Get, "https://127.0.0.1:9/") }).await;
        assert!(
            matches!(&got, Err(Failure::Unreachable(text)) if text.contains("the CA bundle cannot be used")),
            "{got:?}"
        );
        assert!(kourier_sandbox::connector::check_certificates(bundle).is_err());
    }
}

/// Asks `https://api.example` there, which is what the resolver says of any name.
async fn over_tls(shown: &Identity, trust: Trust) -> Result<u16, Failure> {
    let peer = Peer::start_tls(shown.server().unwrap(), |_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
    let (lookup, _) = resolver(vec![vec![ip("127.0.0.1")]]);
    let connector = Connector::with_lookup(local(), 1 << 20, lookup).unwrap();
    let url = format!("https://api.example:{}/", peer.address().port());
    // Looked up with a dot at its end; the certificate has none, so the name in the handshake must not have one either.
    let request = HttpRequest { trust, absolute_name: true, ..request(Method::Get, &url) };
    send(&connector, request).await.map(|answer| answer.status)
}

/// A certificate for this name, which signs itself and ends in this year.
fn identity(name: &str, last_year: i32) -> Identity {
    let mut params = server_params(&[name]).unwrap();
    params.not_after = rcgen::date_time_ymd(last_year, 1, 1);
    Identity::own(&params).unwrap()
}

#[tokio::test]
async fn only_a_certificate_of_the_bundle_is_trusted_and_the_log_says_why_not() {
    let good = identity("api.example", 2100);
    let own = |identity: &Identity| Trust::Only(Arc::from(identity.pem.as_str()));
    assert_eq!(over_tls(&good, own(&good)).await, Ok(200));
    let other = identity("api.example", 2100);
    let elsewhere = identity("other.example", 2100);
    let expired = identity("api.example", 2020);
    let cases = [
        ("the system's roots", &good, Trust::System, "UnknownIssuer"),
        ("another bundle", &good, own(&other), "BadSignature"),
        ("another name", &elsewhere, own(&elsewhere), "not valid for name"),
        ("an expired one", &expired, own(&expired), "expired"),
    ];
    for (case, shown, trust, words) in cases {
        let got = over_tls(shown, trust).await;
        assert!(matches!(&got, Err(Failure::Unreachable(text)) if text.contains(words)), "{case}: {got:?}");
    }
}

#[tokio::test]
async fn a_peer_that_does_not_greet_takes_three_seconds() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let started = std::time::Instant::now();
    let got = send(&*network(), request(Method::Get, &url)).await;
    assert!(matches!(&got, Err(Failure::Unreachable(_))), "{got:?}");
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(3) && took < Duration::from_secs(5), "{took:?}");
}
