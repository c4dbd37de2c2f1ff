//! The two worlds of `wit/probe.wit`, which share their imports. Nothing outside this crate sees these types.

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
