//! The two worlds of `wit/probe.wit`, which share their imports. Nothing outside this crate sees these types.

use bytes::Bytes;
use wasmtime::component::{ComponentType, Lower};

/// World `agent-probe`, and the imports of both worlds.
pub(crate) mod agent {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "agent-probe",
        imports: { default: async | trappable },
        exports: { default: async },
    });
}

/// World `chat-probe`.
pub(crate) mod chat {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "chat-probe",
        imports: { default: async | trappable },
        exports: { default: async },
        with: {
            "agentkourier:probe/endpoint": super::agent::agentkourier::probe::endpoint,
            "agentkourier:probe/journal": super::agent::agentkourier::probe::journal,
        },
    });
}

pub(crate) use agent::agentkourier::probe::{endpoint, journal};
pub(crate) use agent::exports::agentkourier::probe::agent as agent_export;
pub(crate) use chat::exports::agentkourier::probe::chat as chat_export;

/// The interface of requests.
pub(crate) const ENDPOINT: &str = "agentkourier:probe/endpoint@0.1.0";
/// The interface of lines for the log.
pub(crate) const JOURNAL: &str = "agentkourier:probe/journal@0.1.0";

/// `endpoint.response`, whose body a pass may share: the macro's type would need a copy.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<endpoint::Header>,
    pub(crate) body: Bytes,
}

/// What `endpoint.send` yields.
pub(crate) type Answer = Result<Response, endpoint::Failure>;
