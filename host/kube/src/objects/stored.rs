//! Reads one object, as an API server sends it, into what is kept of it.
//!
//! What is absent: labels, annotations and `managedFields`, which are most of an object and which nobody here reads. Of
//! the last the names of those who wrote into a status of ours are kept.

use std::collections::BTreeSet;

use kourier_core::id::{Generation, Kind, ObjectKey, Uid};
use kourier_core::plan::{Standing, Version};
use kourier_core::reason::ConditionType;
use kourier_core::snapshot::Meta;
use serde_json::Value;

use crate::api::standing;
use crate::api::{FIELD_MANAGER, parse_rfc3339};
use crate::view::Stored;

/// An object that cannot be read: without these fields nobody can tell which object it is, or which came first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Odd {
    /// Where it is, if at least that can be told.
    pub(super) key: Option<ObjectKey>,
    /// The field that is missing or of another type.
    pub(super) field: &'static str,
}

/// Reads an object of this kind.
pub(super) fn read(kind: Kind, mut object: Value) -> Result<Stored, Odd> {
    let meta = meta(&object)?;
    let version = version(&object).ok_or_else(|| Odd { key: Some(meta.key.clone()), field: "resourceVersion" })?;
    let (standing, managers) = match kind {
        Kind::Binding => (object.get("status").map(standing::read).unwrap_or_default(), managers(&object)),
        Kind::AgentBackend | Kind::ChatConnection => (Standing::default(), BTreeSet::new()),
    };
    let spec = object.get_mut("spec").map(Value::take).unwrap_or_default();
    Ok(Stored { meta, version, spec, standing, managers })
}

/// Where an object is.
pub(super) fn key(object: &Value) -> Option<ObjectKey> {
    Some(ObjectKey::new(text(object, "namespace")?, text(object, "name")?))
}

/// Which object it is.
pub(super) fn uid(object: &Value) -> Option<Uid> {
    text(object, "uid").map(|uid| Uid(uid.to_owned()))
}

/// The version of an object.
pub(super) fn version(object: &Value) -> Option<Version> {
    text(object, "resourceVersion").map(|version| Version(version.to_owned()))
}

fn meta(object: &Value) -> Result<Meta, Odd> {
    let key = key(object).ok_or(Odd { key: None, field: "namespace or name" })?;
    let odd = |field| Odd { key: Some(key.clone()), field };
    let uid = uid(object).ok_or_else(|| odd("uid"))?;
    let generation = metadata(object, "generation").and_then(Value::as_i64).ok_or_else(|| odd("generation"))?;
    let created = text(object, "creationTimestamp").and_then(parse_rfc3339).ok_or_else(|| odd("creationTimestamp"))?;
    Ok(Meta { key, uid, generation: Generation(generation), created })
}

fn metadata<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(field)
}

/// A text of the metadata that is not empty.
fn text<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    metadata(object, field)?.as_str().filter(|text| !text.is_empty())
}

/// The field managers, other than ours, that own a part of what is ours in the status.
fn managers(object: &Value) -> BTreeSet<String> {
    let entries = metadata(object, "managedFields").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let owners = entries.iter().filter(|entry| owns_ours(entry));
    let names = owners.filter_map(|entry| entry.get("manager")?.as_str());
    names.filter(|name| *name != FIELD_MANAGER).map(str::to_owned).collect()
}

fn owns_ours(entry: &Value) -> bool {
    let Some(status) = entry.pointer("/fieldsV1/f:status") else { return false };
    let conditions = status.get("f:conditions");
    let ours = |kind: ConditionType| format!("k:{{\"type\":\"{kind}\"}}");
    let owns_a_condition =
        conditions.is_some_and(|owned| ConditionType::ALL.iter().any(|k| owned.get(ours(*k)).is_some()));
    // A list that is owned as a whole has no entries: its CRD does not say that it is keyed.
    let owns_the_list = conditions.and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
    owns_a_condition || owns_the_list || status.get("f:observedGeneration").is_some()
}

#[cfg(test)]
mod tests;
