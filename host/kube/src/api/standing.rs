//! What stands in a status, as far as it is ours.
//!
//! Whoever may write a status may write anything that the CRD's schema lets through, so nothing here is trusted to have
//! a shape. What is not of our types is not looked at. What is of our types and cannot be read is left out, and the
//! status then counts as one that says for no generation what it says: no status that is meant looks like that, so the
//! writer puts it right.

use kourier_core::condition::Condition;
use kourier_core::id::Generation;
use kourier_core::plan::Standing;
use kourier_core::reason::{ConditionType, Status};
use serde::Deserialize;
use serde_json::Value;

use super::{ConditionStatus, parse_rfc3339};

/// What stands in this `status` of a Binding; null when it has none.
#[must_use]
pub fn read(status: &Value) -> Standing {
    let (conditions, whole) = match status.get("conditions") {
        None | Some(Value::Null) => (Vec::new(), true),
        Some(Value::Array(entries)) => conditions(entries),
        Some(_) => (Vec::new(), false),
    };
    let observed = status.get("observedGeneration").and_then(Value::as_i64).filter(|_| whole);
    Standing { conditions, observed_generation: observed.map(Generation) }
}

/// The conditions of our types, and whether each of them could be read.
fn conditions(entries: &[Value]) -> (Vec<Condition>, bool) {
    let ours: Vec<_> = entries.iter().filter_map(|entry| Some((condition_type(entry)?, entry))).collect();
    let read: Vec<_> = ours.iter().filter_map(|(kind, entry)| condition(*kind, entry)).collect();
    let whole = read.len() == ours.len();
    (read, whole)
}

fn condition_type(entry: &Value) -> Option<ConditionType> {
    let text = entry.get("type")?.as_str()?;
    ConditionType::ALL.into_iter().find(|kind| kind.as_str() == text)
}

fn condition(kind: ConditionType, entry: &Value) -> Option<Condition> {
    let written = ConditionStatus::deserialize(entry).ok()?;
    let statuses = [Status::True, Status::False, Status::Unknown];
    Some(Condition {
        kind,
        status: statuses.into_iter().find(|status| status.as_str() == written.status)?,
        reason: written.reason,
        message: written.message,
        last_transition_time: parse_rfc3339(&written.last_transition_time)?,
        observed_generation: Generation(written.observed_generation),
    })
}

#[cfg(test)]
mod tests;
