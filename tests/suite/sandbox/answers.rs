//! What a guest is told of an answer. The peers that mean harm are in `hostile`.

use std::time::Duration;

use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Limits, Sandbox};
use suite::guests;
use suite::peer::{Act, Peer, answer, send};

use super::{endpoint, fetch, network, target};

#[tokio::test]
async fn a_compressed_answer_is_not_decoded_and_was_not_asked_for() {
    let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 4, 0, 0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0];
    for encoding in ["gzip", "br", "zstd", "gzip, gzip"] {
        let fields = format!("content-encoding: {encoding}\r\n");
        let peer = Peer::start(move |_| vec![answer("200 OK", &fields, &bomb)]).await.unwrap();
        let run = fetch(&peer.url(), "/").await;
        let words = format!("status 200 size {} content-encoding={encoding}", bomb.len());
        assert!(run.causes[0].starts_with(&words), "{run:?}");
        assert_eq!(peer.seen()[0].header("accept-encoding"), Some("identity"));
    }
}

#[tokio::test]
async fn interim_answers_and_odd_fields_do_not_stand_in_the_way_of_an_answer() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(20);
    let head = "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nX-Odd: \u{e9}\r\nX-Plain: yes\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    let bytes = [interim.as_bytes(), head.as_bytes()].concat();
    let peer = Peer::start(move |_| vec![send(&bytes), Act::Close]).await.unwrap();
    let run = fetch(&peer.url(), "/").await;
    assert_eq!(run.outcome.reason, ChannelReason::Ok, "{run:?}");
    assert_eq!(run.causes, ["status 200 size 2 x-plain=yes content-length=2"]);
}

#[tokio::test]
async fn a_peer_that_dribbles_does_not_hold_a_run() {
    let limits = Limits { request: Duration::from_millis(300), ..Limits::default() };
    let hasty = Sandbox::new(limits).unwrap();
    let rogue = hasty.load(guests::ROGUE).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n";
    let slow = Duration::from_millis(40);
    let scripts = [
        ("says nothing", vec![Act::Hang]),
        ("head", vec![Act::Drip(head.into(), slow)]),
        ("body", vec![send(head), Act::Drip(vec![b'x'; 100].into(), slow)]),
    ];
    for (case, acts) in scripts {
        let peer = Peer::start(move |_| acts.clone()).await.unwrap();
        let run = hasty.check_chat(&rogue, target("fetch", []), endpoint(&peer.url(), None, network())).await;
        assert_eq!(run.outcome.reason, ChannelReason::PlatformTimeout, "{case}: {run:?}");
        assert!(run.wall < Duration::from_secs(2), "{case}: {:?}", run.wall);
    }
}
