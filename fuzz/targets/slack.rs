//! What is read of Slack's answers is what is in them; a check ends, asks only what it may, and finds nothing that no
//! answer said.
//!
//! An input is one answer after another, each after a line `--- STATUS`, `--- STATUS RETRY-AFTER` or `--- FAILURE`. The last
//! one is the answer to every further request.
#![no_main]

extern crate alloc;

#[rustfmt::skip]
#[path = "../../probes/slack/src/codes.rs"]
mod codes;
#[rustfmt::skip]
#[path = "../../probes/slack/src/decision.rs"]
mod decision;
#[rustfmt::skip]
#[path = "../../probes/slack/src/reading.rs"]
mod reading;

use fuzz::{assert_is_line, bounded};
use kourier_core::request::check_path;
use kourier_probe_sdk::chat::Verdict;
use kourier_probe_sdk::endpoint::{Failure, Header, Response};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::decision::{Check, Finding, MAX_PAGES, Step};
use crate::reading::{Answer, Conversation, Cursor};

const CHANNEL: &str = "C0000000001";
const TEAM: &str = "T0000000001";

/// Bytes of a text that is read.
const TEXT: usize = 1024;

fuzz_target!(|input: &[u8]| {
    let answers = answers(input);
    let said: Option<Vec<Answer>> = answers.iter().flatten().map(|answer| reads_what_is_there(&answer.body)).collect();
    let finding = bounded(|| run(&answers));
    for words in finding.cause.iter().chain(&finding.advice) {
        assert_is_line(words, 512);
        assert!(words.is_ascii(), "{words}");
    }
    if let Some(said) = said {
        was_said(&finding.verdict, &said);
    }
});

fn answers(input: &[u8]) -> Vec<Result<Response, Failure>> {
    const MARK: &[u8] = b"--- ";
    let mut parts = vec![Vec::new()];
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(MARK) {
            parts.push(Vec::new());
        }
        parts.last_mut().expect("there is one").extend_from_slice(line);
    }
    parts.retain(|part| !part.is_empty());
    parts.iter().map(|part| answer(part)).collect()
}

fn answer(part: &[u8]) -> Result<Response, Failure> {
    let end = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
    let head = part.strip_prefix(b"--- ").map(|_| String::from_utf8_lossy(&part[4..end]).into_owned());
    let Some(head) = head else {
        return Ok(Response { status: 200, headers: Vec::new(), body: part.to_vec() });
    };
    let (status, wait) = head.split_once(' ').unwrap_or((&head, ""));
    let failure = match status {
        "unreachable" => Failure::Unreachable,
        "timed-out" => Failure::TimedOut,
        "too-large" => Failure::TooLarge,
        "spent" => Failure::Spent,
        "invalid-request" => Failure::InvalidRequest,
        status => {
            let headers = vec![Header { name: "retry-after".into(), value: wait.into() }];
            let body = part.get(end + 1..).unwrap_or_default().to_vec();
            return Ok(Response { status: status.parse().unwrap_or(200), headers, body });
        }
    };
    Err(failure)
}

fn run(answers: &[Result<Response, Failure>]) -> Finding {
    let silence = Err(Failure::Unreachable);
    let (mut check, mut path) = Check::begin(CHANNEL, Some(TEAM));
    // The pages, the second walk's first one, and the channel.
    for number in 0..MAX_PAGES + 2 {
        assert_eq!(check_path(&path), Ok(()), "{path}");
        let answer = answers.get(number).or(answers.last()).unwrap_or(&silence);
        match check.next(answer.clone()) {
            Step::Get(next) => path = next,
            Step::Done(finding) => return finding,
        }
    }
    panic!("the check asks on");
}

/// Compares what was read with what a tree of the whole body has; none when there is no such tree.
fn reads_what_is_there(body: &[u8]) -> Option<Answer> {
    let answer = bounded(|| reading::read(body, CHANNEL));
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => {
            assert_eq!(answer, modelled(&value));
            Some(answer)
        }
        // Half a surrogate pair, bytes that are no UTF-8, a number that is too large: the tree has no room for them, and the
        // reader takes them.
        Err(_) => {
            let is_json = serde_json::from_slice::<IgnoredAny>(body).is_ok();
            assert!(is_json || !answer.whole, "is whole");
            None
        }
    }
}

fn modelled(value: &Value) -> Answer {
    let none = Map::new();
    let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
    let body = value.as_object().unwrap_or(&none);
    let entries = body.get("channels").and_then(Value::as_array);
    let entries = entries.into_iter().flatten().filter_map(Value::as_object).map(conversation);
    let metadata = object(body.get("response_metadata")).unwrap_or_default();
    Answer {
        ok: body.get("ok").and_then(Value::as_bool),
        error: text(body.get("error")),
        needed: text(body.get("needed")),
        channel: body.get("channel").and_then(Value::as_object).map(conversation),
        listed: entries.into_iter().find(|entry| entry.id.as_deref() == Some(CHANNEL)),
        has_list: body.get("channels").is_some_and(Value::is_array),
        cursor: match metadata.get("next_cursor") {
            None | Some(Value::Null) => Cursor::End,
            Some(Value::String(cursor)) if cursor.is_empty() => Cursor::End,
            Some(cursor) => text(Some(cursor)).map_or(Cursor::Unusable, Cursor::Next),
        },
        whole: true,
    }
}

fn conversation(object: &Map<String, Value>) -> Conversation {
    let flag = |name| object.get(name).and_then(Value::as_bool);
    Conversation {
        id: text(object.get("id")),
        is_archived: flag("is_archived"),
        is_member: flag("is_member"),
        is_im: flag("is_im"),
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| text.len() <= TEXT).map(str::to_owned)
}

/// A verdict that says something of the channel rests on an answer about the channel.
fn was_said(verdict: &Verdict, said: &[Answer]) {
    let listed = |archived| said.iter().any(|one| one.listed.as_ref().is_some_and(|c| c.is_archived == Some(archived)));
    let is_it = |channel: &&Conversation| channel.id.as_deref() == Some(CHANNEL);
    let shown: Vec<_> = said.iter().filter_map(|one| one.channel.as_ref()).filter(is_it).collect();
    let has = |archived, member| {
        shown.iter().any(|c| c.is_archived == Some(archived) && (member == c.is_member || c.is_archived == Some(true)))
    };
    let refused = said.iter().any(|one| one.ok == Some(false) && one.error.is_some());
    let is_said = match verdict {
        Verdict::Ok => listed(false) || has(false, Some(true)),
        Verdict::ChannelArchived => listed(true) || has(true, None),
        Verdict::NotInChannel => has(false, Some(false)) || has(false, None),
        Verdict::InvalidChannel => refused || shown.iter().any(|c| c.is_im == Some(true)),
        Verdict::CredentialsRejected | Verdict::MissingScope | Verdict::AccessRestricted | Verdict::ChannelNotFound => {
            refused
        }
        // Nothing of the channel.
        Verdict::RateLimited(_)
        | Verdict::PlatformTimeout
        | Verdict::PlatformUnavailable
        | Verdict::UnexpectedAnswer => true,
    };
    assert!(is_said, "no answer says {verdict:?}: {said:?}");
}
