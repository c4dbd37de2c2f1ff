//! The components that are part of this program: the probe of agents, and the probe of Slack channels.
//!
//! `build.rs` makes them from `probes/` and they are loaded like any file of the components' directory: nothing about
//! them is known here but their names.

/// A component that is part of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name on the command line and in `probe.yaml`.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
}

/// Every built-in component, by name.
pub const ALL: &[BuiltIn] = &[
    BuiltIn { name: "agent-card", wasm: include_bytes!(concat!(env!("OUT_DIR"), "/agent-card.wasm")) },
    BuiltIn { name: "slack", wasm: include_bytes!(concat!(env!("OUT_DIR"), "/slack.wasm")) },
];
