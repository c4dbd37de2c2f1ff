use std::collections::BTreeMap;
use std::time::Duration;

use kourier_sandbox::Trust;

use super::*;

fn asked(path: &str) -> Asked {
    Asked { method: Method::Get, path: path.to_owned(), headers: BTreeMap::new(), body: None }
}

fn answer(delay: u64, size: usize) -> Reply {
    let body = vec![b' '; size].into();
    Reply::Answer { status: 200, headers: Vec::new(), body, delay: Duration::from_secs(delay) }
}

fn request(path: &str, headers: &[(&str, &str)]) -> HttpRequest {
    HttpRequest {
        method: Method::Get,
        url: Url::parse(&format!("{BASE}{path}")).unwrap(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: None,
        trust: Trust::System,
        absolute_name: false,
    }
}

async fn send(reply: Reply) -> Result<usize, Failure> {
    let peer = Recorded::new(vec![Exchange { request: asked("/a"), reply }], None);
    let deadline = Instant::now() + Duration::from_secs(8);
    peer.send(request("/a", &[]), deadline).await.map(|answer| answer.body.len())
}

#[tokio::test(start_paused = true)]
async fn a_peer_answers_as_recorded_and_never_after_the_deadline() {
    assert_eq!(send(answer(0, 3)).await, Ok(3));
    assert_eq!(send(answer(8, 3)).await, Ok(3));
    assert_eq!(send(answer(9, 3)).await, Err(Failure::TimedOut));
    assert_eq!(send(answer(0, 1 << 20)).await, Ok(1 << 20));
    assert_eq!(send(answer(0, (1 << 20) + 1)).await, Err(Failure::TooLarge));
    assert_eq!(send(Reply::TooLarge).await, Err(Failure::TooLarge));
    assert_eq!(send(Reply::TimedOut).await, Err(Failure::TimedOut));
    assert!(matches!(send(Reply::Unreachable).await, Err(Failure::Unreachable(_))));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_recorded_ends_the_run_and_is_kept() {
    let peer = Recorded::new(vec![Exchange { request: asked("/a"), reply: answer(0, 0) }], None);
    let deadline = Instant::now() + Duration::from_secs(8);
    assert!(peer.send(request("/a", &[]), deadline).await.is_ok());
    assert!(matches!(peer.send(request("/a", &[]), deadline).await, Err(Failure::Host(_))));
    let kept: Vec<_> = peer.made().into_iter().map(|made| made.mismatch).collect();
    assert_eq!(kept, [None, Some(Mismatch::NotRecorded)]);
}

#[test]
fn the_credential_is_taken_out_again() {
    let check = |place: CredentialPlace, path: &str, headers: &[(&str, &str)]| {
        let made = Recorded::new(Vec::new(), Some(place)).strip(request(path, headers));
        assert_eq!((made.path.as_str(), made.headers.len()), ("/getChat?x=1", 1));
    };
    let accept = ("accept", "a");
    let path = "/getChat?x=1";
    check(CredentialPlace::Bearer, path, &[accept, ("authorization", "Bearer x")]);
    check(CredentialPlace::Basic { setting: "bot".to_owned() }, path, &[("authorization", "Basic x"), accept]);
    let header = CredentialPlace::Header { name: "x-key".to_owned(), prefix: String::new() };
    check(header, path, &[accept, ("x-key", "x")]);
    let prefix = CredentialPlace::PathPrefix("bot".to_owned());
    check(prefix, &format!("/bot{SECRET}{path}"), &[accept]);
}

#[test]
fn the_first_thing_that_is_not_as_recorded_is_named() {
    let check = |recorded: &Asked, made: HttpRequest, expected: Option<Mismatch>| {
        let made = Recorded::new(Vec::new(), None).strip(made);
        assert_eq!(mismatch(recorded, &made), expected, "{recorded}");
    };
    let accept = Asked { headers: [("accept".to_owned(), "a".to_owned())].into(), ..asked("/a") };
    check(&asked("/a"), request("/a", &[("accept", "a")]), None);
    check(&asked("/a?b='c'"), request("/a?b='c'", &[]), None);
    check(&asked("/a"), request("/b", &[]), Some(Mismatch::Line));
    check(&accept, request("/a", &[]), Some(Mismatch::Header("accept".to_owned())));
    check(&accept, request("/a", &[("accept", "b")]), Some(Mismatch::Header("accept".to_owned())));
    check(&accept, request("/a", &[("accept", "a")]), None);
    let post = |text: &str| Asked { method: Method::Post, body: Some(text.to_owned()), ..asked("/a") };
    let made = HttpRequest { method: Method::Post, body: Some("one".into()), ..request("/a", &[]) };
    check(&asked("/a"), made.clone(), Some(Mismatch::Line));
    check(&post("one"), made.clone(), None);
    check(&post("two"), made, Some(Mismatch::Body));
}
