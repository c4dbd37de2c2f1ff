//! Names of objects, as values that cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the three kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Joins a channel of a ChatConnection to an agent.
    Binding,
    /// An A2A agent's server.
    AgentBackend,
    /// A bot's account on a chat platform.
    ChatConnection,
}

impl Kind {
    /// The three kinds, in the order in which people meet them.
    pub const ALL: [Self; 3] = [Self::Binding, Self::AgentBackend, Self::ChatConnection];

    /// The kind's name, as in a manifest's `kind`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Binding => "Binding",
            Self::AgentBackend => "AgentBackend",
            Self::ChatConnection => "ChatConnection",
        }
    }

    /// The kind's plural, as in the API's paths.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Binding => "bindings",
            Self::AgentBackend => "agentbackends",
            Self::ChatConnection => "chatconnections",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One of the three kinds, and where the object is.
pub type ObjectId = (Kind, ObjectKey);

/// Where an object is: unique among the living objects of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// The object's namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

impl ObjectKey {
    /// The key of this name in this namespace.
    #[must_use]
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Which object it is: an object made again under the same name has another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Uid(pub String);

/// `metadata.generation`: counts the changes of a spec, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub i64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
