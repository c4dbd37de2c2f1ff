//! The three kinds as Kubernetes spells them: status as `kubectl` prints it, and times as text.

use jiff::Timestamp as Instant;
use kourier_core::condition::Condition;
use kourier_core::id::Kind;
use kourier_core::object::API_VERSION;
use kourier_core::reason::ConditionType;
use kourier_core::snapshot::Meta;
use kourier_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub mod standing;

/// The field manager under which this program writes a status.
pub const FIELD_MANAGER: &str = "agent-kourier";

/// What `kubectl get akbinding -o json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingList {
    /// `v1`.
    pub api_version: String,
    /// `List`.
    pub kind: String,
    /// Of the list as a whole.
    pub metadata: ListMetadata,
    /// The Bindings, by namespace and name.
    pub items: Vec<Binding>,
}

/// `metadata` of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListMetadata {
    /// Empty, as `kubectl` prints it.
    pub resource_version: String,
}

/// A Binding as an API server would give it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    /// `agentkourier.io/v1alpha1`.
    pub api_version: String,
    /// `Binding`.
    pub kind: String,
    /// Who it is.
    pub metadata: Metadata,
    /// The spec as written, which need not be valid; null when none was written.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub spec: Value,
    /// What became of it; none when nothing was said yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<BindingStatus>,
}

/// `metadata`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// When it was made, RFC 3339.
    pub creation_timestamp: String,
    /// Counts the changes of the spec.
    pub generation: i64,
    /// The object's name.
    pub name: String,
    /// The object's namespace.
    pub namespace: String,
    /// Which object it is.
    pub uid: String,
}

/// `Binding.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingStatus {
    /// The conditions, in their fixed order.
    #[serde(default)]
    pub conditions: Vec<ConditionStatus>,
    /// The generation of the Ready condition; -1 before there is one.
    #[serde(default = "nothing_observed")]
    pub observed_generation: i64,
}

/// One entry of `Binding.status.conditions`. What somebody left out reads as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConditionStatus {
    /// When `status` last changed, RFC 3339.
    pub last_transition_time: String,
    /// Why, in one line; empty when the status is True.
    pub message: String,
    /// The generation that this describes; 0 of a condition that somebody else wrote without one.
    pub observed_generation: i64,
    /// Why, in one word.
    pub reason: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// `Accepted`, `BackendReachable`, `ChannelJoined` or `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// `status.observedGeneration` before anything was observed, as the CRD defaults it: tools built on kstatus then wait.
pub const NOTHING_OBSERVED: i64 = -1;

const fn nothing_observed() -> i64 {
    NOTHING_OBSERVED
}

impl BindingList {
    /// The list of these Bindings.
    #[must_use]
    pub fn new(items: Vec<Binding>) -> Self {
        let (api_version, kind) = ("v1".to_owned(), "List".to_owned());
        Self { api_version, kind, metadata: ListMetadata::default(), items }
    }
}

impl Binding {
    /// The Binding of this identity, with its spec as written and the conditions that it has.
    #[must_use]
    pub fn new(meta: &Meta, spec: Value, conditions: &[Condition]) -> Self {
        Self {
            api_version: API_VERSION.to_owned(),
            kind: Kind::Binding.as_str().to_owned(),
            metadata: Metadata::new(meta),
            spec,
            status: (!conditions.is_empty()).then(|| BindingStatus::new(conditions)),
        }
    }

    /// The condition of this type, if it has one.
    #[must_use]
    pub fn condition(&self, kind: ConditionType) -> Option<&ConditionStatus> {
        self.status.as_ref()?.conditions.iter().find(|condition| condition.kind == kind.as_str())
    }

    /// `spec.chat.channel`, for tables; empty when none could be read.
    #[must_use]
    pub fn channel(&self) -> &str {
        self.spec.pointer("/chat/channel").and_then(Value::as_str).unwrap_or_default()
    }
}

impl Metadata {
    fn new(meta: &Meta) -> Self {
        Self {
            creation_timestamp: rfc3339(meta.created),
            generation: meta.generation.0,
            name: meta.key.name.clone(),
            namespace: meta.key.namespace.clone(),
            uid: meta.uid.0.clone(),
        }
    }
}

impl BindingStatus {
    /// The status that these conditions make.
    #[must_use]
    pub fn new(conditions: &[Condition]) -> Self {
        let ready = conditions.iter().find(|condition| condition.kind == ConditionType::Ready);
        Self {
            conditions: conditions.iter().map(ConditionStatus::new).collect(),
            observed_generation: ready.map_or(NOTHING_OBSERVED, |ready| ready.observed_generation.0),
        }
    }
}

impl ConditionStatus {
    fn new(condition: &Condition) -> Self {
        Self {
            last_transition_time: rfc3339(condition.last_transition_time),
            message: condition.message.clone(),
            observed_generation: condition.observed_generation.0,
            reason: condition.reason.clone(),
            status: condition.status.as_str().to_owned(),
            kind: condition.kind.as_str().to_owned(),
        }
    }
}

/// A time as Kubernetes writes it: RFC 3339 in UTC, whole seconds. A time past the year 9999 is the end of that year.
#[must_use]
pub fn rfc3339(time: Timestamp) -> String {
    let end = if time.0 < 0 { Instant::MIN } else { Instant::MAX };
    format!("{:.0}", Instant::from_second(time.0).unwrap_or(end))
}

/// The time that an RFC 3339 text names, in whole seconds; none when it is no such text.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    text.parse::<Instant>().ok().map(|time| Timestamp(time.as_second()))
}

#[cfg(test)]
mod tests;
