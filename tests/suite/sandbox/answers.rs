//! Answers of peers that mean harm, or do not know HTTP.

use std::time::Duration;

use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Limits, Sandbox};
use suite::guests;
use suite::peer::{Act, Peer, answer};

use super::{endpoint, fetch, network, target};

pub(super) const LIMIT: usize = 1 << 20;

/// A 200 with a body of so many blanks: with its length, in chunks, or until the connection ends.
fn sized(way: &str, size: usize) -> Vec<Act> {
    padded(way, b"", size)
}

/// The same with these bytes first.
pub(super) fn padded(way: &str, first: &'static [u8], size: usize) -> Vec<Act> {
    let body = Act::Flood(b' ', Some((size - first.len()) as u64));
    let first = Act::Send(first.to_vec());
    let head = |fields: &str| Act::Send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes());
    match way {
        "length" => vec![head(&format!("content-length: {size}\r\n")), first, body],
        "chunks" => {
            let chunk = Act::Send(format!("{size:x}\r\n").into_bytes());
            vec![head("transfer-encoding: chunked\r\n"), chunk, first, body, Act::Send(b"\r\n0\r\n\r\n".to_vec())]
        }
        _ => vec![head("connection: close\r\n"), first, body, Act::Close],
    }
}

#[tokio::test]
async fn a_body_of_one_mebibyte_is_read_and_one_byte_more_is_too_large() {
    for way in ["length", "chunks", "until the end"] {
        for (size, want) in [(LIMIT, ChannelReason::Ok), (LIMIT + 1, ChannelReason::UnexpectedAnswer)] {
            let peer = Peer::start(move |_| sized(way, size)).await.unwrap();
            let run = fetch(&peer.url(), "/").await;
            assert_eq!(run.outcome.reason, want, "{way}, {size}: {run:?}");
        }
    }
}

#[tokio::test]
async fn of_an_endless_answer_no_more_than_the_limit_and_what_lies_in_buffers_is_taken() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let peer = Peer::start(move |_| vec![Act::Send(head.clone()), Act::Flood(b' ', None)]).await.unwrap();
    let run = fetch(&peer.url(), "/").await;
    assert_eq!(run.outcome.reason, ChannelReason::UnexpectedAnswer, "{run:?}");
    // The connection was closed: the peer got an error, so its count stands still.
    let sent = settled(&peer).await;
    let bound = (LIMIT + (512 << 10)) as u64 + largest("tcp_rmem") + largest("tcp_wmem");
    assert!(sent <= bound, "the peer got rid of {sent} bytes, {bound} are explained");
}

/// The peer's count when it no longer moves.
async fn settled(peer: &Peer) -> u64 {
    loop {
        let before = peer.sent();
        tokio::time::sleep(Duration::from_millis(50)).await;
        if peer.sent() == before {
            return before;
        }
    }
}

/// The kernel's largest buffer of a socket.
fn largest(name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    text.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or(8 << 20)
}

#[tokio::test]
async fn an_announced_length_over_the_limit_is_enough() {
    for length in ["1048577", "268435456", "4611686018427387904"] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        let peer = Peer::start(move |_| vec![Act::Send(head.clone().into_bytes()), Act::Hang]).await.unwrap();
        let run = fetch(&peer.url(), "/").await;
        assert_eq!(run.outcome.reason, ChannelReason::UnexpectedAnswer, "{length}: {run:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let elsewhere = Peer::start(|_| vec![answer("200 OK", "", b"secret")]).await.unwrap();
    for status in ["301 M", "302 F", "303 S", "307 T", "308 P"] {
        let location = format!("location: {}/\r\n", elsewhere.url());
        let peer = Peer::start(move |_| vec![answer(status, &location, b"")]).await.unwrap();
        let run = fetch(&peer.url(), "/").await;
        assert_eq!(run.outcome.reason, ChannelReason::NotInChannel, "{status}");
        assert!(run.causes[0].starts_with(&format!("status {}", &status[..3])), "{run:?}");
        assert_eq!((peer.seen().len(), elsewhere.connections()), (1, 0), "{status}");
    }
}

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
async fn what_is_no_answer_is_unreachable_and_its_connection_is_not_used_again() {
    let many: String = (0..101).map(|number| format!("x-{number}: 1\r\n")).collect();
    let cases = [
        ("nothing", String::new()),
        ("HTTP/0.9", "{\"name\": \"card\"}\n".to_owned()),
        ("noise", "\0\u{1}\u{2}\r\n\r\n".to_owned()),
        ("another protocol", "SSH-2.0-OpenSSH_9.9\r\n".to_owned()),
        ("HTTP/3 in words", "HTTP/3 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned()),
        ("cut in the head", "HTTP/1.1 200 OK\r\ncontent-le".to_owned()),
        ("cut in the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}".to_owned()),
        ("cut in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n{}".to_owned()),
        (
            "a chunk without a size",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n".to_owned(),
        ),
        ("two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}".to_owned()),
        ("a length of minus one", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}".to_owned()),
        ("101 fields", format!("HTTP/1.1 200 OK\r\n{many}content-length: 0\r\n\r\n")),
        ("a field of 100 KiB", format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n", "y".repeat(100 << 10))),
        ("a field of 1 MiB", format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n", "y".repeat(1 << 20))),
        ("status 999", "HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n".to_owned()),
        (
            "101 without being asked",
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n".to_owned(),
        ),
        ("interim answers only", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000)),
    ];
    for (case, bytes) in cases {
        let peer = Peer::start(move |_| vec![Act::Send(bytes.clone().into_bytes()), Act::Close]).await.unwrap();
        let run = fetch(&peer.url(), "/").await;
        assert_eq!(run.outcome.reason, ChannelReason::PlatformUnavailable, "{case}: {run:?}");
        assert_eq!((peer.connections(), peer.seen().len()), (1, 1), "{case}");
    }
}

#[tokio::test]
async fn interim_answers_and_odd_fields_do_not_stand_in_the_way_of_an_answer() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(20);
    let head = "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nX-Odd: \u{e9}\r\nX-Plain: yes\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    let bytes = [interim.as_bytes(), head.as_bytes()].concat();
    let peer = Peer::start(move |_| vec![Act::Send(bytes.clone()), Act::Close]).await.unwrap();
    let run = fetch(&peer.url(), "/").await;
    assert_eq!(run.outcome.reason, ChannelReason::Ok, "{run:?}");
    assert_eq!(run.causes, ["status 200 size 2 x-plain=yes content-length=2"]);
}

#[tokio::test]
async fn a_peer_that_dribbles_does_not_hold_a_run() {
    let limits = Limits { request: Duration::from_millis(300), ..Limits::default() };
    let hasty = Sandbox::new(limits).unwrap();
    let rogue = hasty.load(guests::ROGUE).unwrap();
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n".to_vec();
    let slow = Duration::from_millis(40);
    let scripts = [
        ("says nothing", vec![Act::Hang]),
        ("head", vec![Act::Drip(head.clone(), slow)]),
        ("body", vec![Act::Send(head), Act::Drip(vec![b'x'; 100], slow)]),
    ];
    for (case, acts) in scripts {
        let peer = Peer::start(move |_| acts.clone()).await.unwrap();
        let run = hasty.check_chat(&rogue, target("fetch", []), endpoint(&peer.url(), None, network())).await;
        assert_eq!(run.outcome.reason, ChannelReason::PlatformTimeout, "{case}: {run:?}");
        assert!(run.wall < Duration::from_secs(2), "{case}: {:?}", run.wall);
    }
}
