//! The secret is on the wire, and nowhere else.

use kourier_core::outcome::Fault;
use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Credential, Secret};
use suite::leak::{Forbidden, spellings};
use suite::peer::{Peer, answer};

use super::{ROGUE, SANDBOX, endpoint, network, target};

const SECRET: &str = "xoxb-HEAD7f3a9c-TAIL51d2e8";

fn secret() -> Secret {
    Secret::new(SECRET.to_owned())
}

fn bearer() -> Credential {
    Credential::Header { name: "authorization".to_owned(), prefix: "Bearer ".to_owned(), secret: secret() }
}

#[tokio::test]
async fn the_host_puts_the_credential_where_it_belongs() {
    let bot = Credential::Header { name: "X-Token".to_owned(), prefix: String::new(), secret: secret() };
    let basic = Credential::Basic { user: "bot@example.org".to_owned(), secret: secret() };
    let path = Credential::PathPrefix { prefix: "bot".to_owned(), secret: secret() };
    let cases = [
        (bearer(), "authorization", Some(format!("Bearer {SECRET}")), "/base/getChat?a=b".to_owned()),
        (bot, "x-token", Some(SECRET.to_owned()), "/base/getChat?a=b".to_owned()),
        (
            basic,
            "authorization",
            Some("Basic Ym90QGV4YW1wbGUub3JnOnhveGItSEVBRDdmM2E5Yy1UQUlMNTFkMmU4".to_owned()),
            "/base/getChat?a=b".to_owned(),
        ),
        (path, "authorization", None, format!("/base/bot{SECRET}/getChat?a=b")),
    ];
    for (credential, field, value, path) in cases {
        let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
        let to = endpoint(&format!("{}/base/", peer.url()), Some(credential), network());
        let run = SANDBOX.check_chat(&ROGUE, target("fetch", [("path", "/getChat?a=b")]), to).await;
        assert_eq!(run.outcome.reason, ChannelReason::Ok, "{run:?}");
        let seen = &peer.seen()[0];
        assert_eq!((seen.header(field).map(str::to_owned), seen.path().to_owned()), (value, path));
        assert!(seen.header("user-agent").unwrap().starts_with("agent-kourier/"));
        assert!(!format!("{run:?}").contains(SECRET));
    }
}

#[tokio::test]
async fn a_secret_that_a_peer_repeats_is_masked_in_the_log() {
    let spelt = format!(
        "raw {SECRET} percent {} base64 {} basic Ym90OnhveGItSEVBRDdmM2E5Yy1UQUlMNTFkMmU4 end",
        SECRET.replace('-', "%2D"),
        "eG94Yi1IRUFEN2YzYTljLVRBSUw1MWQyZTg="
    );
    let peer = Peer::start(move |_| vec![answer("200 OK", "", spelt.as_bytes())]).await.unwrap();
    let credential = Credential::Basic { user: "bot".to_owned(), secret: secret() };
    let run = SANDBOX
        .check_chat(&ROGUE, target("repeat-what-the-peer-says", []), endpoint(&peer.url(), Some(credential), network()))
        .await;
    let want = "raw [masked] percent [masked] base64 [masked] basic Ym90On[masked] end";
    for line in run.causes.iter().chain(&run.advice) {
        assert_eq!(line, want);
    }
    assert_eq!((run.causes.len(), run.advice.len()), (1, 1));
}

#[tokio::test]
async fn a_secret_is_masked_in_the_log_in_whatever_form_a_peer_repeats_it() {
    let forbidden = Forbidden::new().secret(SECRET);
    for (form, spelt) in spellings(SECRET) {
        let said = format!("the token {spelt} is not good");
        let peer = Peer::start(move |_| vec![answer("200 OK", "", said.as_bytes())]).await.unwrap();
        let to = endpoint(&peer.url(), Some(bearer()), network());
        let run = SANDBOX.check_chat(&ROGUE, target("repeat-what-the-peer-says", []), to).await;
        assert!(run.causes[0].contains("[masked]"), "{form:?} {spelt}: {run:?}");
        let leaks: Vec<_> = run.causes.iter().chain(&run.advice).flat_map(|it| forbidden.in_log("it", it)).collect();
        assert_eq!(leaks, [], "{form:?} {spelt}");
    }
}

#[tokio::test]
async fn a_failed_request_does_not_tell_the_log_a_credential_in_the_path() {
    let credential = Credential::PathPrefix { prefix: "bot".to_owned(), secret: secret() };
    let run = SANDBOX
        .check_chat(&ROGUE, target("fetch", []), endpoint("http://127.0.0.1:9", Some(credential), network()))
        .await;
    assert_eq!(run.outcome.reason, ChannelReason::PlatformUnavailable);
    assert!(!format!("{run:?}").contains(SECRET), "{run:?}");
    assert!(run.causes.iter().any(|cause| cause.contains("refused")), "{run:?}");
}

#[tokio::test]
async fn a_guest_does_not_find_the_secret_in_its_memory() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
    let look_for = |needle: [&'static str; 2]| {
        let to = endpoint(&peer.url(), Some(bearer()), network());
        SANDBOX.check_chat(&ROGUE, target("search-memory", [("head", needle[0]), ("tail", needle[1])]), to)
    };
    assert_eq!(look_for(["HEAD7f3a9c-", "TAIL51d2e8"]).await.outcome.reason, ChannelReason::Ok);
    // The search itself works: it finds what is there.
    assert_eq!(look_for(["this probe ", "gives up"]).await.outcome.reason, ChannelReason::AccessRestricted);
}

#[tokio::test]
async fn a_credential_that_cannot_stand_in_its_place_is_unavailable_and_nothing_is_sent() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
    let path =
        |secret: &str| Credential::PathPrefix { prefix: "bot".to_owned(), secret: Secret::new(secret.to_owned()) };
    let header = |name: &str, secret: &str| Credential::Header {
        name: name.to_owned(),
        prefix: String::new(),
        secret: Secret::new(secret.to_owned()),
    };
    let cases = [
        path("a/../../b"),
        path("a?b"),
        path("a#b"),
        path("a%2e"),
        path("a b"),
        header("authorization", "a\r\nhost: b"),
        header("authorization", "a\nb"),
        header("host", "a"),
        header("transfer-encoding", "chunked"),
        Credential::Basic { user: "a:b".to_owned(), secret: secret() },
    ];
    for credential in cases {
        let run =
            SANDBOX.check_chat(&ROGUE, target("fetch", []), endpoint(&peer.url(), Some(credential), network())).await;
        assert_eq!((run.fault, run.outcome.reason), (Some(Fault::Credential), ChannelReason::CredentialUnavailable));
    }
    assert_eq!(peer.connections(), 0);
}
