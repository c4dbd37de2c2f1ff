//! What `agent-kourier components` and the admin port show of the components.

use serde::Serialize;

use super::{Components, Loaded};

/// The components of a broker, for people and programs.
#[derive(Clone, Debug, Serialize)]
pub struct Listing {
    /// Those that run.
    pub loaded: Vec<LoadedEntry>,
    /// Those that do not.
    pub refused: Vec<RefusedEntry>,
}

/// A component that runs.
#[derive(Clone, Debug, Serialize)]
pub struct LoadedEntry {
    /// Its name.
    pub name: String,
    /// The platform whose channels it probes; none for agents.
    pub platform: Option<String>,
    /// The world that it implements.
    pub world: String,
    /// SHA-256 of the file, in hex.
    pub digest: String,
    /// Where it came from.
    pub origin: String,
    /// The built-in component whose place it has taken.
    pub replaces: Option<String>,
    /// The file's size in bytes.
    pub size: usize,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
}

/// A component that does not run.
#[derive(Clone, Debug, Serialize)]
pub struct RefusedEntry {
    /// Its name.
    pub name: String,
    /// Where it came from.
    pub origin: String,
    /// Why, and what would be right.
    pub reason: String,
}

impl Listing {
    /// Lists these components.
    #[must_use]
    pub fn of(components: &Components) -> Self {
        let refused = components.refused().iter().map(|refused| RefusedEntry {
            name: refused.name.clone(),
            origin: refused.origin.to_string(),
            reason: refused.reason.clone(),
        });
        Self { loaded: components.loaded().iter().map(LoadedEntry::of).collect(), refused: refused.collect() }
    }
}

impl LoadedEntry {
    fn of(loaded: &Loaded) -> Self {
        Self {
            name: loaded.name.clone(),
            platform: loaded.platform().map(str::to_owned),
            world: loaded.world().to_owned(),
            digest: loaded.component.digest().to_owned(),
            origin: loaded.origin.to_string(),
            replaces: loaded.replaces.clone(),
            size: loaded.size,
            imports: loaded.component.imports().to_vec(),
        }
    }
}
