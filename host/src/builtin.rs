//! The probe components that are embedded in this program.

/// A component of this program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name, for example `agent-card`.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
}

/// Every built-in component, by name.
pub const ALL: &[BuiltIn] = &[];
