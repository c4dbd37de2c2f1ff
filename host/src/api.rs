//! The three kinds as Kubernetes spells them: manifests, status, and times as text.

use kourier_core::condition::Condition;
use kourier_core::object::API_VERSION;
use kourier_core::snapshot::Meta;
use kourier_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What `kubectl get akbinding -o json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingList {
    /// `v1`.
    pub api_version: String,
    /// `List`.
    pub kind: String,
    /// The Bindings, by namespace and name.
    pub items: Vec<Binding>,
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
    pub spec: Value,
    /// What became of it; none when nothing was said yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<BindingStatus>,
}

/// `metadata`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The object's namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// Which object it is.
    pub uid: String,
    /// Counts the changes of the spec.
    pub generation: i64,
    /// When it was made, RFC 3339.
    pub creation_timestamp: String,
}

/// `Binding.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingStatus {
    /// The generation of the Ready condition; -1 before there is one.
    pub observed_generation: i64,
    /// The conditions, in their fixed order.
    pub conditions: Vec<ConditionStatus>,
}

/// One entry of `Binding.status.conditions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionStatus {
    /// `Accepted`, `BackendReachable`, `ChannelJoined` or `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, in one word.
    pub reason: String,
    /// Why, in one line; empty when the status is True.
    pub message: String,
    /// When `status` last changed, RFC 3339.
    pub last_transition_time: String,
    /// The generation that this describes.
    pub observed_generation: i64,
}

impl BindingList {
    /// The list of these Bindings.
    #[must_use]
    pub fn new(items: Vec<Binding>) -> Self {
        Self { api_version: "v1".to_owned(), kind: "List".to_owned(), items }
    }
}

impl Binding {
    /// The Binding of this identity, with its spec as written and the conditions that it has.
    #[must_use]
    pub fn new(_meta: &Meta, _spec: Value, _conditions: &[Condition]) -> Self {
        let _ = API_VERSION;
        unimplemented!()
    }
}

/// A time as Kubernetes writes it: RFC 3339 in UTC, whole seconds.
#[must_use]
pub fn rfc3339(_time: Timestamp) -> String {
    unimplemented!()
}

/// The time that an RFC 3339 text names.
#[must_use]
pub fn parse_rfc3339(_text: &str) -> Option<Timestamp> {
    unimplemented!()
}
