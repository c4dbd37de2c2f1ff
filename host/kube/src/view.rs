//! All objects of the three kinds as last seen: a value, of which the latest one counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::plan::{Standing, Version};
use kourier_core::snapshot::Meta;
use serde_json::Value;

/// All objects of the three kinds as last seen. Objects are shared between one view and the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// By kind and place.
    pub objects: BTreeMap<(Kind, ObjectKey), Arc<Stored>>,
    /// A text that changes when the CRDs do: what an older one did not keep of a status is tried again with another.
    pub schema: String,
}

/// One object as it stands in the API server, without what nobody here reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Who it is.
    pub meta: Meta,
    /// `metadata.resourceVersion`.
    pub version: Version,
    /// `spec` as stored; null when there is none.
    pub spec: Value,
    /// What stands in the status of a Binding, as far as it is ours; empty for the other kinds.
    pub standing: Standing,
    /// The field managers other than ours that own a part of what is ours in the status of a Binding: for the operator's
    /// log.
    pub managers: BTreeSet<String>,
}
