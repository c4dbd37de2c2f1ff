//! Answers that point elsewhere. None is followed.

use kourier_core::reason::{BackendReason, ChannelReason};
use suite::peer::{Seen, answer};

use super::{ELSEWHERE, Script, Want, both};

/// Statuses that are redirects to a probe of agents.
const REDIRECTS: [(&str, Want); 5] = [
    ("301 Moved Permanently", REDIRECTED),
    ("302 Found", REDIRECTED),
    ("303 See Other", REDIRECTED),
    ("307 Temporary Redirect", REDIRECTED),
    ("308 Permanent Redirect", REDIRECTED),
];
/// The rest of the 3xx: no place to go to, but no card either.
const OTHERS: [(&str, Want); 6] = [
    ("300 Multiple Choices", OTHER),
    ("304 Not Modified", OTHER),
    ("305 Use Proxy", OTHER),
    ("306 Switch Proxy", OTHER),
    ("309 Unassigned", OTHER),
    ("399 Unassigned", OTHER),
];
const REDIRECTED: Want = both(BackendReason::AgentRedirected, ChannelReason::UnexpectedAnswer);
const OTHER: Want = both(BackendReason::AgentError, ChannelReason::UnexpectedAnswer);

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = Vec::new();
    for (status, want) in REDIRECTS.into_iter().chain(OTHERS) {
        let number = &status[..3];
        scripts.push(Script::by_request(format!("{number}-to-itself"), want, move |seen: &Seen| {
            vec![answer(status, &format!("location: {}\r\n", seen.path()), b"")]
        }));
        scripts.push(Script::by_request(format!("{number}-elsewhere"), want, move |seen: &Seen| {
            vec![answer(status, &format!("location: {}{}\r\n", ELSEWHERE.url(), seen.path()), b"moved")]
        }));
        let metadata = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
        scripts.push(pointing(&format!("{number}-to-metadata"), want, status, metadata));
    }
    let places = [
        ("nowhere", ""),
        ("another-scheme", "file:///etc/passwd"),
        ("a-script", "javascript:alert(1)"),
        ("a-port", "//127.0.0.1:2379/v2/keys"),
        ("user-info", "http://user:password@127.0.0.1/"),
        ("a-nul", "/a%00b"),
        ("a-split-header", "/%0d%0aset-cookie:%20a=b"),
    ];
    for (name, place) in places {
        scripts.push(pointing(&format!("302-to-{name}"), REDIRECTED, "302 Found", place));
    }
    scripts.push(Script::new("302-without-a-place", REDIRECTED, || vec![answer("302 Found", "", b"")]));
    scripts.push(Script::by_request("302-to-three-places", REDIRECTED, |_: &Seen| {
        let fields = format!("location: {0}/a\r\nlocation: {0}/b\r\nlocation: /c\r\n", ELSEWHERE.url());
        vec![answer("302 Found", &fields, b"")]
    }));
    scripts.push(Script::by_request("refresh-and-links-elsewhere", super::GOOD, |_: &Seen| {
        let url = ELSEWHERE.url();
        let fields = format!(
            "refresh: 0; url={url}\r\nlink: <{url}>; rel=preload\r\ncontent-location: {url}\r\nlocation: {url}\r\n"
        );
        vec![answer("200 OK", &fields, super::honest_document("").as_bytes())]
    }));
    scripts
}

fn pointing(name: &str, want: Want, status: &'static str, place: &'static str) -> Script {
    Script::new(name, want, move || vec![answer(status, &format!("location: {place}\r\n"), b"")])
}
