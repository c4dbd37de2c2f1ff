//! What is generated from `wit/probe.wit`.
//!
//! Only the imports of both worlds are linked into every probe, and they are the same two interfaces. A world's exports
//! are described by its export macro, where that is called, so a probe of one world never owes the exports of the other.

/// World `agent-probe`, and the interfaces that both worlds import.
#[allow(missing_docs, unreachable_pub, unused_qualifications, reason = "generated")]
pub mod agent_world {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "agent-probe",
        additional_derives: [PartialEq, Eq],
        pub_export_macro: true,
        export_macro_name: "export_agent_world",
        default_bindings_module: "kourier_probe_sdk::export::agent_world",
    });
}

/// World `chat-probe`.
#[allow(missing_docs, unreachable_pub, unused_qualifications, reason = "generated")]
pub mod chat_world {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "chat-probe",
        with: {
            "agentkourier:probe/endpoint@0.1.0": super::agent_world::agentkourier::probe::endpoint,
            "agentkourier:probe/journal@0.1.0": super::agent_world::agentkourier::probe::journal,
        },
        additional_derives: [PartialEq, Eq],
        pub_export_macro: true,
        export_macro_name: "export_chat_world",
        default_bindings_module: "kourier_probe_sdk::export::chat_world",
    });
}
