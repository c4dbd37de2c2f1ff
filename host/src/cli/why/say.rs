//! The answer, as text.

use std::fmt::Write;

use kourier_core::line::escaped;
use kourier_core::reason::ConditionType;
use kourier_core::time::Timestamp;
use kourier_kube::api::{Binding, ConditionStatus};
use kourier_kube::inquiry::{Held, Inquiry, Told};

use crate::cli::age::{age, age_of};
use crate::cli::explain;
use crate::cli::table;

/// What is said of a Binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    /// Whether it is Ready at its newest generation.
    pub(super) ready: bool,
}

/// Says what holds a Binding back at this time.
pub(super) fn say(found: &Inquiry, now: Timestamp) -> Said {
    let binding = &found.binding;
    let ready = binding.condition(ConditionType::Ready);
    let newest = binding.metadata.generation;
    let is_ready = ready.is_some_and(|ready| ready.status == "True" && ready.observed_generation == newest);
    let mut text = headline(binding, ready, now);
    if let Some(status) = &binding.status {
        let rows = status.conditions.iter().map(|condition| cells(condition, newest, now));
        let _ = write!(text, "\n{}", table::render(&["TYPE", "STATUS", "REASON", "GENERATION", "SINCE"], rows));
    }
    let mut paragraph = |words: &str| {
        if !words.is_empty() {
            let _ = write!(text, "\n{words}\n");
        }
    };
    if let Some(ready) = ready.filter(|ready| ready.status != "True") {
        paragraph(&escaped(&ready.message));
        paragraph(&advice(&ready.reason, &ready.message));
    }
    paragraph(&behind(binding));
    paragraph(&leader(found, now));
    Said { text, ready: is_ready }
}

fn headline(binding: &Binding, ready: Option<&ConditionStatus>, now: Timestamp) -> String {
    let name = format!("{}/{}", binding.metadata.namespace, binding.metadata.name);
    match ready {
        None => format!("{name} has no status yet\n"),
        Some(ready) => {
            let since = age_of(&ready.last_transition_time, now);
            let (status, reason) = (escaped(&ready.status), escaped(&ready.reason));
            format!("{name}: Ready is {status} ({reason}), since {since}\n")
        }
    }
}

fn cells(condition: &ConditionStatus, newest: i64, now: Timestamp) -> Vec<String> {
    let generation = format!("{} of {newest}", condition.observed_generation);
    let since = age_of(&condition.last_transition_time, now);
    vec![condition.kind.clone(), condition.status.clone(), condition.reason.clone(), generation, since]
}

/// What the reader can do; empty when the message said it already.
fn advice(reason: &str, message: &str) -> String {
    let found = explain::all().into_iter().find(|entry| reason == entry.reason || reason == entry.name());
    found
        .filter(|entry| !entry.advice.is_empty() && !message.contains(entry.advice))
        .map_or_else(String::new, |entry| format!("What to do: {}", entry.advice))
}

/// What the conditions say of an older spec.
fn behind(binding: &Binding) -> String {
    let newest = binding.metadata.generation;
    let conditions = binding.status.iter().flat_map(|status| &status.conditions);
    let old: Vec<&str> =
        conditions.filter(|condition| condition.observed_generation < newest).map(|it| it.kind.as_str()).collect();
    match old.as_slice() {
        [] => String::new(),
        old => format!("Still about an older spec: {}. The newest is generation {newest}.", old.join(", ")),
    }
}

/// What is to be known of who writes the status.
fn leader(found: &Inquiry, now: Timestamp) -> String {
    let broker = match &found.broker {
        Told::Is(broker) => broker,
        Told::Nothing => return String::new(),
        Told::Forbidden => return "You may not read its ChatConnection, so its broker is not known here.".to_owned(),
    };
    match &found.lease {
        Told::Forbidden => format!("You may not read Leases, so it is not known whether broker {broker:?} runs."),
        Told::Nothing if found.written.is_none() => format!(
            "No broker called {broker:?} has ever run in this cluster: start one, or mend spec.broker of the \
             ChatConnection."
        ),
        Told::Nothing => format!("Broker {broker:?} has no Lease: it is a single replica, or gone."),
        Told::Is(held) => holder(broker, held, found.written, now),
    }
}

fn holder(broker: &str, held: &Held, written: Option<Timestamp>, now: Timestamp) -> String {
    let over = held.renewed.is_none_or(|renewed| now.0 - renewed.0 > held.seconds);
    if held.holder.is_empty() || over {
        let last = held.renewed.map_or_else(|| "never".to_owned(), |renewed| format!("{} ago", age(renewed, now)));
        return format!(
            "Broker {broker:?} has no leader (its Lease in namespace {} was last renewed: {last}): this status is as old \
             as that.",
            held.namespace
        );
    }
    match (written, held.acquired) {
        (Some(written), Some(acquired)) if written < acquired => format!(
            "Broker {broker:?} has been led by {} for {}. The status was written by a former leader, {} ago: the \
             present one has found nothing else, or not looked yet.",
            escaped(&held.holder),
            age(acquired, now),
            age(written, now)
        ),
        _ => format!("Broker {broker:?} is led by {}.", escaped(&held.holder)),
    }
}

#[cfg(test)]
mod tests;
