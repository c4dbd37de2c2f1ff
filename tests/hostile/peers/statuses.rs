//! Statuses, and times to wait.

use kourier_core::reason::{BackendReason, ChannelReason};
use suite::peer::{answer, send};

use super::pieces::honest_document;
use super::{GOOD, NONE, Script, both};

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = statuses();
    scripts.extend(waits());
    scripts.extend(unusual());
    scripts
}

/// Each with a page that means harm, in HTML.
fn statuses() -> Vec<Script> {
    use BackendReason as Agent;
    use ChannelReason as Chat;
    let unexpected = |reason| both(reason, Chat::UnexpectedAnswer);
    let down = both(Agent::AgentError, Chat::PlatformUnavailable);
    let cases = [
        (400, unexpected(Agent::AgentError)),
        (401, unexpected(Agent::AgentUnauthorized)),
        (402, unexpected(Agent::AgentError)),
        (403, unexpected(Agent::AgentUnauthorized)),
        (404, unexpected(Agent::AgentNotFound)),
        (405, unexpected(Agent::AgentNotFound)),
        (406, unexpected(Agent::AgentError)),
        (407, unexpected(Agent::AgentUnauthorized)),
        (409, unexpected(Agent::AgentError)),
        (410, unexpected(Agent::AgentNotFound)),
        (411, unexpected(Agent::AgentError)),
        (413, unexpected(Agent::AgentError)),
        (414, unexpected(Agent::AgentError)),
        (418, unexpected(Agent::AgentError)),
        (421, unexpected(Agent::AgentError)),
        (426, unexpected(Agent::AgentError)),
        (431, unexpected(Agent::AgentError)),
        (451, unexpected(Agent::AgentError)),
        (499, unexpected(Agent::AgentError)),
        (500, down),
        (501, down),
        (502, down),
        (503, down),
        (504, down),
        (505, down),
        (511, down),
        (599, down),
    ];
    let page = "<html><script>alert(1)</script>\u{202e}\x1b[31m xoxb-not-yours kubectl delete ns --all";
    let fields =
        "www-authenticate: Basic realm=\"intern.example\"\r\nproxy-authenticate: Negotiate\r\nlocation: /x\r\n";
    cases
        .into_iter()
        .map(|(status, want)| {
            let line = format!("{status} <b>\"10.0.0.1\"</b>");
            Script::new(format!("status-{status}"), want, move || vec![answer(&line, fields, page.as_bytes())])
        })
        .collect()
}

/// What `Retry-After` says, and for how many seconds the peer is left alone.
fn waits() -> Vec<Script> {
    let cases = [
        ("nothing", "", 30),
        ("zero", "retry-after: 0\r\n", 1),
        ("a-minute", "retry-after: 60\r\n", 60),
        ("a-billion-seconds", "retry-after: 1000000000\r\n", 3600),
        ("more-than-64-bits", "retry-after: 99999999999999999999999999\r\n", 3600),
        ("minus-one", "retry-after: -1\r\n", 30),
        ("a-plus", "retry-after: +60\r\n", 30),
        ("a-fraction", "retry-after: 0.5\r\n", 30),
        ("an-exponent", "retry-after: 1e9\r\n", 30),
        ("a-date-that-is-over", "retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n", 30),
        ("a-date-far-away", "retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n", 30),
        ("a-word", "retry-after: soon\r\n", 30),
        ("an-empty-text", "retry-after:\r\n", 30),
        ("a-text-outside-ascii", "retry-after: \u{661}\u{662}\r\n", 30),
        ("two-times", "retry-after: 5\r\nretry-after: 3600\r\n", 5),
        ("a-list", "retry-after: 5, 3600\r\n", 30),
    ];
    let want = both(BackendReason::AgentBusy, ChannelReason::RateLimited);
    let mut scripts: Vec<_> = cases
        .into_iter()
        .map(|(name, fields, seconds)| {
            let acts = move || vec![answer("429 Too Many Requests", fields, b"<html>")];
            Script::new(format!("wait-for-{name}"), want, acts).gate(seconds)
        })
        .collect();
    for status in [408, 425] {
        let want = both(BackendReason::AgentBusy, ChannelReason::UnexpectedAnswer);
        let acts = move || vec![answer(&format!("{status} X"), "retry-after: 7\r\n", b"")];
        // The platform of chat has its own words for that, so only the agent is left alone.
        let script = Script::new(format!("status-{status}"), want, acts);
        for (one, gate) in
            [(super::agent(BackendReason::AgentBusy), Some(7)), (super::chat(ChannelReason::UnexpectedAnswer), None)]
        {
            let gate = gate.map(std::time::Duration::from_secs);
            let (name, start) = (script.name.clone(), std::sync::Arc::clone(&script.start));
            scripts.push(Script { name, want: one, gate, start, ..script });
        }
    }
    scripts
}

/// An honest document with a status that is none, or none of ours.
fn unusual() -> Vec<Script> {
    let cases = [(201, GOOD), (203, GOOD), (226, GOOD), (299, GOOD), (600, NONE), (999, NONE), (99, NONE), (0, NONE)];
    cases
        .into_iter()
        .map(|(status, want)| {
            Script::new(format!("status-{status:03}-with-an-honest-document"), want, move || {
                let document = honest_document("");
                vec![send(format!("HTTP/1.1 {status:03} X\r\ncontent-length: {}\r\n\r\n{document}", document.len()))]
            })
        })
        .collect()
}
