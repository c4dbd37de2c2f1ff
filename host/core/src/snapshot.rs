//! All objects as last read, whatever they were read from.

use serde::{Deserialize, Serialize};

use crate::id::{Generation, ObjectKey, Uid};
use crate::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec};
use crate::time::Timestamp;

/// The objects of the three kinds at one point in time. The order within a list has no meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// All Bindings.
    pub bindings: Vec<Object<BindingSpec>>,
    /// All AgentBackends.
    pub backends: Vec<Object<AgentBackendSpec>>,
    /// All ChatConnections.
    pub connections: Vec<Object<ChatConnectionSpec>>,
}

/// One object: who it is, and its spec or why that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<S> {
    /// Who it is.
    pub meta: Meta,
    /// What was written, or the problems that kept it from being read as this kind's spec (never empty).
    pub spec: Result<S, Vec<Problem>>,
}

/// Who an object is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Meta {
    /// Where it is.
    pub key: ObjectKey,
    /// Which object it is.
    pub uid: Uid,
    /// The newest generation of its spec.
    pub generation: Generation,
    /// When it was made.
    pub created: Timestamp,
}

/// One thing that is wrong with a field of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// The field, as in a manifest: `spec.chat.channel`; empty when the object as a whole is meant.
    pub path: String,
    /// What is wrong and what would be right, without the value of a URL, header or Secret.
    pub what: String,
}

impl Problem {
    /// The problem of this field.
    #[must_use]
    pub fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}
