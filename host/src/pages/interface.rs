//! What a probe may say and be told, from the interface.

use std::fmt::Write;
use std::fs;

use kourier_core::reason::ChannelReason;

use crate::committed::{check_parts, root};

#[test]
fn the_page_for_authors_has_every_verdict_and_failure_of_the_interface() {
    let wit = fs::read_to_string(root().join("wit/probe.wit")).unwrap();
    let (_, chat) = wit.split_once("interface chat {").unwrap();
    let mut verdicts = String::from("| Verdict | When | Status |\n|---|---|---|\n");
    for (name, when) in cases(chat, "variant verdict {") {
        let reason = reason(&name);
        let status = ChannelReason::ALL.iter().find(|known| known.as_str() == reason).unwrap().status();
        let _ = writeln!(verdicts, "| `{name}` | {when} | {status} |");
    }
    let mut failures = String::from("| `send` fails with | Because |\n|---|---|\n");
    for (name, why) in cases(&wit, "enum failure {") {
        let _ = writeln!(failures, "| `{name}` | {why} |");
    }
    check_parts("docs/write-a-probe.md", &[("verdicts", verdicts), ("failures", failures)]);
}

/// The cases of a type in the interface: the name of each, without what rides on it, and its documentation.
fn cases(wit: &str, begin: &str) -> Vec<(String, String)> {
    let (_, rest) = wit.split_once(begin).unwrap();
    let (body, _) = rest.split_once("\n    }").unwrap();
    let (mut cases, mut words) = (Vec::new(), Vec::new());
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix("///") {
            Some(doc) => words.push(doc.trim()),
            None => {
                let name = line.split(['(', ',']).next().unwrap_or_default();
                cases.push((name.to_owned(), std::mem::take(&mut words).join(" ")));
            }
        }
    }
    assert!(cases.len() > 4, "{begin}");
    cases
}

/// `not-in-channel` is the reason `NotInChannel`.
fn reason(name: &str) -> String {
    if name == "ok" {
        return ChannelReason::Ok.as_str().to_owned();
    }
    let words = name.split('-').map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..]));
    words.collect()
}
