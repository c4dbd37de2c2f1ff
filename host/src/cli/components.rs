//! `agent-kourier components`: what is loaded, and what is refused and why.

use std::path::PathBuf;
use std::process::ExitCode;

use kourier_sandbox::{Limits, Sandbox};
use serde::Serialize;

use crate::cli::{self, Failure, Format, Outcome, table};
use crate::components::{Components, Loaded};

/// Lists the probe components that are loaded, and those that are refused and why.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of `*.wasm` files beside the built-in components.
    #[arg(long, value_name = "DIR")]
    components: Option<PathBuf>,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// Prints every component. Refused ones make it `ExitCode::FAILURE`.
///
/// # Errors
///
/// When the sandbox cannot be started.
pub fn run(args: &Args) -> Outcome {
    let sandbox = Sandbox::new(Limits::default()).map_err(Failure::internal)?;
    let listing = Listing::of(&Components::load(&sandbox, args.components.as_deref()));
    match args.output {
        Format::Json => cli::print_json(&listing)?,
        Format::Table => cli::print(&listing.render())?,
    }
    Ok(if listing.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

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

    fn render(&self) -> String {
        let rows = self.loaded.iter().map(|entry| {
            vec![
                entry.name.clone(),
                entry.platform.clone().unwrap_or_else(|| "-".to_owned()),
                entry.world.clone(),
                entry.digest.chars().take(12).collect(),
                entry.size.to_string(),
                entry.origin.clone(),
                entry.imports.join(","),
            ]
        });
        let header = ["NAME", "PLATFORM", "WORLD", "DIGEST", "BYTES", "ORIGIN", "IMPORTS"];
        let mut text = table::render(&header, rows);
        if !self.refused.is_empty() {
            let rows =
                self.refused.iter().map(|entry| vec![entry.name.clone(), entry.origin.clone(), entry.reason.clone()]);
            text.push('\n');
            text.push_str(&table::render(&["REFUSED", "ORIGIN", "WHY"], rows));
        }
        text
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
            size: loaded.size,
            imports: loaded.component.imports().to_vec(),
        }
    }
}
