//! `agent-kourier explain`: what a reason means and what to do about it, from the same words as the statuses.

use std::fmt::Write;
use std::process::ExitCode;

use kourier_core::reason::{AcceptedReason, BackendReason, ChannelReason, ConditionType, ReadyReason};
use serde::Serialize;

use crate::cli::{self, Failure, Format, Outcome};

/// Says what a reason in a status means and what to do about it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The reason, as a status has it: `AgentNotFound`, or `BackendReachable:AgentNotFound`. Without one, all are listed.
    reason: Option<String>,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// One reason of one condition, as it is documented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The condition's type.
    #[serde(rename = "type")]
    pub condition: &'static str,
    /// The reason.
    pub reason: String,
    /// The status of a condition with this reason.
    pub status: &'static str,
    /// What is so.
    pub meaning: &'static str,
    /// What the reader can do; empty when there is nothing to do.
    pub advice: &'static str,
}

impl Entry {
    /// As Ready spells it when the condition holds it back.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}", self.condition, self.reason)
    }
}

/// Prints what was asked for.
///
/// # Errors
///
/// When there is no such reason: the nearest names are told.
pub fn run(args: &Args) -> Outcome {
    let entries = match &args.reason {
        Some(text) => find(text).map_err(|text| Failure::Input(anyhow::Error::msg(text)))?,
        None => all(),
    };
    match args.output {
        Format::Json => cli::print_json(&entries)?,
        Format::Table if args.reason.is_none() => cli::print(&list(&entries))?,
        Format::Table => cli::print(&paragraphs(&entries))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every reason of every condition, in the order of the pages.
#[must_use]
pub fn all() -> Vec<Entry> {
    macro_rules! entries {
        ($set:expr, $kind:ident) => {
            $set.iter().map(|reason| Entry {
                condition: ConditionType::$kind.as_str(),
                reason: reason.to_string(),
                status: reason.status().as_str(),
                meaning: reason.meaning(),
                advice: reason.advice(),
            })
        };
    }
    entries!(AcceptedReason::ALL, Accepted)
        .chain(entries!(BackendReason::ALL, BackendReachable))
        .chain(entries!(ChannelReason::ALL, ChannelJoined))
        .chain(entries!([ReadyReason::Ok, ReadyReason::Pending], Ready))
        .collect()
}

/// The entries that `text` means: a bare reason may be of several conditions.
fn find(text: &str) -> Result<Vec<Entry>, String> {
    let (condition, reason) = match text.rsplit_once(':') {
        Some((condition, reason)) => (Some(condition), reason),
        None => (None, text),
    };
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let found: Vec<Entry> = all()
        .into_iter()
        .filter(|entry| same(&entry.reason, reason) && condition.is_none_or(|kind| same(entry.condition, kind)))
        .collect();
    if found.is_empty() { Err(unknown(text)) } else { Ok(found) }
}

fn unknown(text: &str) -> String {
    let near = nearest(text);
    let hint = match near.as_slice() {
        [] => String::new(),
        names => format!(" Did you mean {}?", names.join(" or ")),
    };
    format!("no reason is called {text:?}.{hint} `agent-kourier explain` lists all")
}

/// Up to three spellings that are close to `text`.
fn nearest(text: &str) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    let mut near: Vec<(usize, String)> = Vec::new();
    for entry in all() {
        for name in [entry.reason.clone(), entry.name()] {
            let away = distance(&text, &name.to_ascii_lowercase());
            if away <= text.len().div_ceil(3) && !near.iter().any(|(_, known)| *known == name) {
                near.push((away, name));
            }
        }
    }
    near.sort();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// How many letters have to be added, dropped or replaced to make one text the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut next = vec![line + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = row[column] + usize::from(letter != *other);
            next.push(replaced.min(row[column + 1] + 1).min(next[column] + 1));
        }
        row = next;
    }
    row[to.len()]
}

fn list(entries: &[Entry]) -> String {
    let rows = entries
        .iter()
        .map(|entry| [entry.condition, &entry.reason, entry.status, entry.meaning].map(str::to_owned).to_vec());
    cli::table::render(&["TYPE", "REASON", "STATUS", "MEANING"], rows)
}

fn paragraphs(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if !text.is_empty() {
            text.push('\n');
        }
        let Entry { condition, reason, status, meaning, advice } = entry;
        let _ = writeln!(text, "{condition}:{reason}  (the condition {condition} is {status})");
        let _ = writeln!(text, "  {meaning}");
        if !advice.is_empty() {
            let _ = writeln!(text, "  {advice}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_several_conditions_is_explained_for_each() {
        let text = paragraphs(&find("ProbeTimeout").unwrap());
        assert_eq!(
            text,
            "\
BackendReachable:ProbeTimeout  (the condition BackendReachable is Unknown)
  The probe ran past its deadline, so nothing can be told.
  The broker tries again; the operator's log has the cause.

ChannelJoined:ProbeTimeout  (the condition ChannelJoined is Unknown)
  The probe ran past its deadline, so nothing can be told.
  The broker tries again; the operator's log has the cause.
"
        );
    }

    #[test]
    fn the_page_of_the_reasons_is_what_explain_says() {
        let parts = ConditionType::ALL.map(|kind| (kind.as_str(), table(kind.as_str())));
        crate::committed::check_parts("docs/binding-not-ready.md", &parts);
    }

    fn table(kind: &str) -> String {
        let mut table = String::from("| Reason | Status | What it means | What to do |\n|---|---|---|---|\n");
        for entry in all().iter().filter(|entry| entry.condition == kind) {
            let Entry { reason, status, meaning, advice, .. } = entry;
            let _ = writeln!(table, "| `{reason}` | {status} | {meaning} | {advice} |");
        }
        table
    }

    #[test]
    fn a_reason_is_found_as_ready_spells_it_and_in_any_case() {
        let cases = [
            ("Accepted:ChannelConflict", vec!["Accepted:ChannelConflict"]),
            ("channelconflict", vec!["Accepted:ChannelConflict"]),
            ("ChannelJoined:Pending", vec!["ChannelJoined:Pending"]),
            ("Pending", vec!["BackendReachable:Pending", "ChannelJoined:Pending", "Ready:Pending"]),
            ("Ready:BackendReachable:AgentBusy", vec![]),
            ("Accepted:AgentBusy", vec![]),
        ];
        for (text, expected) in cases {
            let found: Vec<String> = find(text).unwrap_or_default().iter().map(Entry::name).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_reason_is_answered_with_the_nearest_names() {
        let cases = [
            ("AgentNotFind", "Did you mean AgentNotFound?"),
            ("ChanelConflict", "Did you mean ChannelConflict?"),
            ("Accepted:ChanelConflict", "Did you mean Accepted:ChannelConflict?"),
        ];
        for (text, hint) in cases {
            let error = find(text).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
        let error = find("xyzzy").unwrap_err();
        assert_eq!(error, "no reason is called \"xyzzy\". `agent-kourier explain` lists all");
    }

    #[test]
    fn the_list_has_every_reason_of_every_condition_once() {
        let mut names: Vec<String> = all().iter().map(Entry::name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let reasons = AcceptedReason::ALL.len() + BackendReason::ALL.len() + ChannelReason::ALL.len();
        assert_eq!(count, reasons + 2);
    }
}
