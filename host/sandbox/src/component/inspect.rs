//! What a component imports and exports, read before anything is compiled.

use wasmparser::{Parser, Payload};

use super::{LoadError, outline};
use crate::bindings::{ENDPOINT, JOURNAL};
use crate::journal::one_line;

/// All that a probe may import.
const IMPORTS: [&str; 2] = [ENDPOINT, JOURNAL];
/// What it exports: one of these.
pub(super) const EXPORTS: [&str; 2] = ["agentkourier:probe/agent@0.1.0", "agentkourier:probe/chat@0.1.0"];

/// Bytes of what a file makes the engine say.
pub(super) const WORDS: usize = 512;
/// Names of a file that are shown, and bytes of each.
const NAMES: usize = 16;
const NAME: usize = 64;

const WASI_HINT: &str = "no WASI is linked: build Rust probes with the SDK (no_std), JavaScript with `jco componentize --disable all`, \
                         Python with `componentize-py --stub-wasi`";
const VERSION_HINT: &str =
    "this broker has agentkourier:probe@0.1.0: build the probe against the wit file of that version";
const OTHER_HINT: &str =
    "a probe may import agentkourier:probe/endpoint@0.1.0 and agentkourier:probe/journal@0.1.0 only";

/// The world that a component was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum World {
    Agent,
    Chat,
}

/// What a component may do and is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Interfaces {
    /// Sorted.
    pub(super) imports: Vec<String>,
    pub(super) world: World,
}

/// Reads the outermost imports and exports, and judges them.
pub(super) fn interfaces(bytes: &[u8]) -> Result<Interfaces, LoadError> {
    if Parser::is_core_wasm(bytes) {
        return Err(LoadError::CoreModule);
    }
    if !Parser::is_component(bytes) {
        return Err(LoadError::NotAComponent("it does not begin like one".to_owned()));
    }
    outline::check(bytes)?;
    let (mut imports, exports) = names(bytes).map_err(|error| no_component(&error))?;
    imports.sort_unstable();
    imports.dedup();
    let foreign: Vec<String> = imports.iter().filter(|name| !IMPORTS.contains(&name.as_str())).cloned().collect();
    if !foreign.is_empty() {
        let hint = hint(&foreign);
        return Err(LoadError::ForeignImports { imports: foreign, hint });
    }
    Ok(Interfaces { imports, world: world(&exports)? })
}

/// The refusal of what cannot be read.
pub(super) fn no_component(error: &wasmparser::BinaryReaderError) -> LoadError {
    LoadError::NotAComponent(one_line(&error.to_string(), WORDS))
}

/// Imports and exports of the outermost component. Does not look into what is nested, and does not recurse.
fn names(bytes: &[u8]) -> wasmparser::Result<(Vec<String>, Vec<String>)> {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

fn hint(foreign: &[String]) -> &'static str {
    if foreign.iter().any(|name| name.starts_with("agentkourier:probe/")) {
        VERSION_HINT
    } else if foreign.iter().any(|name| name.starts_with("wasi:")) {
        WASI_HINT
    } else {
        OTHER_HINT
    }
}

fn world(exports: &[String]) -> Result<World, LoadError> {
    match EXPORTS.map(|name| exports.iter().any(|export| export == name)) {
        [true, false] => Ok(World::Agent),
        [false, true] => Ok(World::Chat),
        [true, true] => Err(LoadError::Exports { found: "both".to_owned() }),
        [false, false] if exports.is_empty() => Err(LoadError::Exports { found: "nothing".to_owned() }),
        [false, false] => Err(LoadError::Exports { found: shown(exports) }),
    }
}

/// The first names of a file's own, in a text that a terminal and a log can stand.
pub(super) fn shown(names: &[String]) -> String {
    let mut shown: Vec<_> = names.iter().take(NAMES).map(|name| one_line(name, NAME)).collect();
    if names.len() > NAMES {
        shown.push(format!("and {} more", names.len() - NAMES));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests;
