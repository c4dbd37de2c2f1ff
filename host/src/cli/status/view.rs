//! Bindings as kubectl prints them.

use std::collections::BTreeMap;

use kourier_core::reason::{ConditionType, Status};
use kourier_core::time::Timestamp;
use serde_json::Value;

use crate::cli::age::age_of;
use kourier_kube::api::{Binding, ConditionStatus};

/// Which columns are printed beside the page's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// NAMESPACE, first: when more than one may be shown.
    pub(super) namespace: bool,
    /// MESSAGE, last: that of Ready.
    pub(super) message: bool,
}

impl Columns {
    /// The names of the columns.
    pub(super) const fn header(self) -> &'static [&'static str] {
        match (self.namespace, self.message) {
            (true, false) => &["NAMESPACE", "NAME", "READY", "REASON", "CHANNEL", "AGE"],
            (true, true) => &["NAMESPACE", "NAME", "READY", "REASON", "CHANNEL", "AGE", "MESSAGE"],
            (false, false) => &["NAME", "READY", "REASON", "CHANNEL", "AGE"],
            (false, true) => &["NAME", "READY", "REASON", "CHANNEL", "AGE", "MESSAGE"],
        }
    }

    /// The line of one Binding.
    pub(super) fn cells(self, binding: &Binding, now: Timestamp) -> Vec<String> {
        let ready = ready(binding);
        let of_ready = |field: fn(&ConditionStatus) -> &String| ready.map(field).cloned().unwrap_or_default();
        let channel = binding.spec.pointer("/chat/channel").and_then(Value::as_str).unwrap_or_default();
        let mut cells = Vec::new();
        if self.namespace {
            cells.push(binding.metadata.namespace.clone());
        }
        cells.extend([
            binding.metadata.name.clone(),
            of_ready(|ready| &ready.status),
            of_ready(|ready| &ready.reason),
            channel.to_owned(),
            age_of(&binding.metadata.creation_timestamp, now),
        ]);
        if self.message {
            cells.push(of_ready(|ready| &ready.message));
        }
        cells
    }
}

/// Whether the Binding is Ready at its newest generation.
pub(super) fn is_ready(binding: &Binding) -> bool {
    ready(binding).is_some_and(|ready| {
        ready.status == Status::True.as_str() && ready.observed_generation == binding.metadata.generation
    })
}

/// The Bindings that are not Ready, in words.
pub(super) fn names_of_unready(found: &[Binding]) -> String {
    if found.is_empty() {
        return "there is no such Binding".to_owned();
    }
    let unready = found.iter().filter(|binding| !is_ready(binding)).map(|binding| {
        let reason = ready(binding).map_or("no status", |ready| ready.reason.as_str());
        format!("{}/{} ({reason})", binding.metadata.namespace, binding.metadata.name)
    });
    unready.collect::<Vec<_>>().join(", ")
}

/// What has to be printed again: Bindings that are new, that changed, and, as they last were, those that are gone.
pub(super) fn changes(shown: &mut BTreeMap<(String, String), Binding>, found: Vec<Binding>) -> Vec<Binding> {
    let key = |binding: &Binding| (binding.metadata.namespace.clone(), binding.metadata.name.clone());
    let now: BTreeMap<_, _> = found.into_iter().map(|binding| (key(&binding), binding)).collect();
    let gone = shown.iter().filter(|(key, _)| !now.contains_key(*key)).map(|(_, binding)| binding.clone());
    let changed =
        now.iter().filter(|(key, binding)| shown.get(*key) != Some(*binding)).map(|(_, binding)| binding.clone());
    let changes = gone.chain(changed).collect();
    *shown = now;
    changes
}

fn ready(binding: &Binding) -> Option<&ConditionStatus> {
    let conditions = &binding.status.as_ref()?.conditions;
    conditions.iter().find(|condition| condition.kind == ConditionType::Ready.as_str())
}

#[cfg(test)]
mod tests;
