//! Components that misbehave, from `tests/guests`.

/// A descriptor that is not UTF-8.
pub const LIAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/liar.wasm"));
/// A descriptor of a megabyte.
pub const LOUD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/loud.wasm"));
/// A chat probe whose channel names its misbehaviour.
pub const ROGUE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rogue.wasm"));
/// The table of the misbehaviours of [`ROGUE`], as its source spells it.
pub const ROGUE_SOURCE: &str = include_str!("../guests/rogue/src/lib.rs");
/// A `describe` that never ends.
pub const SPINS_IN_DESCRIBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/spins-in-describe.wasm"));
/// A probe of both kinds.
pub const TWO_WORLDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/two-worlds.wasm"));
/// Imports WASI.
pub const WASI_HELLO: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wasi-hello.wasm"));
