//! Components that misbehave, from `tests/guests`.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

/// Every one of them, by the name of its folder.
pub const ALL: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// A chat probe whose channel names its misbehaviour.
pub const ROGUE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rogue.wasm"));

const MISDESCRIBES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/misdescribes.wasm"));

/// The names of the misbehaviours of [`ROGUE`].
#[must_use]
pub fn behaviours() -> Vec<&'static str> {
    names(include_str!("../guests/rogue/src/lib.rs"), "const BEHAVIOURS: ")
}

/// The names of the ways of [`misdescribing`].
#[must_use]
pub fn ways() -> Vec<&'static str> {
    names(include_str!("../guests/misdescribes/src/lib.rs"), "const WAYS: ")
}

/// A chat probe that describes itself in this way.
///
/// # Panics
///
/// When its file has no place for the name.
#[must_use]
pub fn misdescribing(way: &str) -> Vec<u8> {
    with_text(MISDESCRIBES, "describe in this way:", way)
}

/// The component with this text written over the blanks behind `mark`.
///
/// # Panics
///
/// When there are no blanks behind it, or too few.
fn with_text(component: &[u8], mark: &str, text: &str) -> Vec<u8> {
    let mut bytes = component.to_vec();
    let mark = mark.as_bytes();
    let at = bytes.windows(mark.len()).position(|part| part == mark).expect("the mark is there") + mark.len();
    let place = bytes.get_mut(at..at + text.len()).expect("there is room");
    assert!(place.iter().all(|byte| *byte == b' '), "{text} does not fit behind the mark");
    place.copy_from_slice(text.as_bytes());
    bytes
}

/// The first members of the tuples of a table, as its source spells it.
fn names(source: &'static str, table: &str) -> Vec<&'static str> {
    let rows = source.split(table).nth(1).and_then(|rest| rest.split("\n];").next()).expect("there is such a table");
    rows.split("\n    (\"").skip(1).filter_map(|row| row.split('"').next()).collect()
}
