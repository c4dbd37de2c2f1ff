//! Loading: from bytes to a component that can be run, or the reason why not.

use kourier_core::platform::Platform;

/// A component that is compiled, checked and ready to run. Cheap to clone.
#[derive(Clone)]
pub struct Component {}

/// What a component checks.
#[derive(Clone, Debug)]
pub enum ProbeKind {
    /// World `agent-probe`.
    Agent,
    /// World `chat-probe`, for this platform.
    Chat {
        /// `spec.platform` that selects it.
        platform: String,
        /// What it said of the platform.
        descriptor: Platform,
    },
}

/// Why a component is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not a component at all.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
}

impl Component {
    /// SHA-256 of the file, in hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        unimplemented!()
    }

    /// What it checks.
    #[must_use]
    pub fn kind(&self) -> &ProbeKind {
        unimplemented!()
    }

    /// The interfaces that it imports, sorted, for example `agentkourier:probe/endpoint@0.1.0`.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        unimplemented!()
    }
}
