//! Peers that make a probe wait. They run at the same time, each for up to the page's 10 seconds.

use std::time::Duration;

use kourier_core::reason::{BackendReason, ChannelReason};
use suite::peer::{Act, Seen, answer, send};

use super::pieces::{LAST, chunk, endless, head, honest_document, honest_with};
use super::{GOOD, LATE, Script, both};

const SECOND: Duration = Duration::from_secs(1);

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = silent();
    scripts.extend(slow());
    scripts.extend(more_than_one());
    let mut scripts: Vec<_> = scripts.into_iter().map(Script::slow).collect();
    scripts.extend(floods().into_iter().map(Script::flooding));
    scripts
}

fn silent() -> Vec<Script> {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n";
    let after =
        |name: &str, bytes: String| Script::new(format!("silence-{name}"), LATE, move || vec![send(&bytes), Act::Hang]);
    vec![
        Script::new("silence", LATE, || vec![Act::Hang]),
        after("in-the-status-line", "HTTP/1.1 2".to_owned()),
        after("in-the-head", head.to_owned()),
        after("after-the-head", format!("{head}\r\n")),
        after("in-the-body", format!("{head}\r\n{{\"ok\":")),
        after("after-an-honest-body-that-is-too-short", {
            let document = honest_document("");
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{document}", document.len() + 1)
        }),
        after("after-an-honest-body-until-close", format!("HTTP/1.1 200 OK\r\n\r\n{}", honest_document(""))),
        after("in-a-chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{".to_owned()),
        after(
            "before-the-last-chunk",
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}", chunk(&honest_document(""))),
        ),
        after(
            "in-the-trailers",
            format!(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\nx: y\r\n",
                chunk(&honest_document(""))
            ),
        ),
        after("after-an-interim-answer", "HTTP/1.1 100 Continue\r\n\r\n".to_owned()),
        after("after-an-empty-line", "\r\n".to_owned()),
        Script::speaking("silence-before-the-request", LATE, || vec![Act::Hang, Act::Hang, Act::Wait(SECOND * 20)]),
    ]
}

fn slow() -> Vec<Script> {
    let document = honest_document("");
    let whole = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{document}", document.len());
    let (all, body) = (whole.clone(), document.clone());
    vec![
        Script::new("one-byte-a-second", LATE, move || vec![Act::Drip(all.clone().into(), SECOND)]),
        Script::new("one-byte-a-second-of-the-body", LATE, move || {
            let fields = format!("content-length: {}\r\n", body.len());
            vec![head(&fields), Act::Drip(body.clone().into(), SECOND)]
        }),
        Script::new("one-byte-of-endless-blanks-each-tenth-of-a-second", LATE, || {
            vec![head(""), Act::Drip(vec![b' '; 1000].into(), SECOND / 10)]
        }),
        Script::new("one-interim-answer-after-the-other", LATE, || {
            (0..200).flat_map(|_| [send("HTTP/1.1 102 Processing\r\n\r\n"), Act::Wait(SECOND / 20)]).collect()
        }),
        Script::new("one-chunk-of-one-byte-after-the-other", LATE, || {
            let mut acts = vec![head("transfer-encoding: chunked\r\n")];
            acts.extend((0..200).flat_map(|_| [send(chunk(" ")), Act::Wait(SECOND / 20)]));
            acts
        }),
        Script::new("seven-seconds-of-silence-and-then-an-answer", GOOD, || {
            [vec![Act::Wait(SECOND * 7)], honest_with("")].concat()
        }),
        // The second question of Slack's probe has no time left.
        Script::new("half-an-answer-and-seven-seconds-later-a-reset", LATE, || {
            vec![head("content-length: 9\r\n"), send("{\"ok\""), Act::Wait(SECOND * 7), Act::Reset]
        }),
    ]
}

/// What has no end and is no part of a head or body, so that nothing but the deadline ends it.
fn floods() -> Vec<Script> {
    vec![
        Script::new("an-interim-storm-without-end", LATE, || {
            vec![endless(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")]
        }),
        Script::new("a-chunk-size-of-zeros-without-end", LATE, || {
            vec![head("transfer-encoding: chunked\r\n"), endless(b"0")]
        }),
        Script::new("blanks-after-a-chunk-size-without-end", LATE, || {
            vec![head("transfer-encoding: chunked\r\n"), send("5"), endless(b" ")]
        }),
    ]
}

/// Each answer alone is in time.
fn more_than_one() -> Vec<Script> {
    let late = both(BackendReason::Unreachable, ChannelReason::PlatformTimeout);
    vec![
        Script::by_request("seven-seconds-for-no-and-as-many-for-the-next", late, |seen: &Seen| {
            let no = if seen.path().starts_with("/users.conversations") {
                answer("200 OK", "", br#"{"ok":true,"channels":[]}"#)
            } else {
                answer("404 Not Found", "", b"")
            };
            vec![Act::Wait(SECOND * 7), no]
        }),
        Script::by_request("a-slow-page-after-the-other", super::chat(ChannelReason::PlatformTimeout), {
            let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
            move |_: &Seen| {
                let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let page = format!(r#"{{"ok":true,"channels":[],"response_metadata":{{"next_cursor":"{number}"}}}}"#);
                vec![Act::Wait(SECOND), answer("200 OK", "", page.as_bytes())]
            }
        }),
        Script::by_request("the-last-chunk-never-comes-the-second-time", late, |seen: &Seen| {
            if seen.path() == "/.well-known/agent-card.json" {
                return vec![answer("404 Not Found", "", b"")];
            }
            let size = LAST.len();
            vec![head("transfer-encoding: chunked\r\n"), send(&chunk("{}  ")[..size]), Act::Hang]
        }),
    ]
}
