//! `agent-kourier components`: what is loaded, and what is refused and why.

use std::path::PathBuf;
use std::process::ExitCode;

use kourier_sandbox::Sandbox;

use crate::cli::{self, Failure, Format, Outcome, table};
use crate::components::{Components, Listing, LoadedEntry};

/// Lists the probe components that are loaded, and those that are refused and why.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of settings (YAML); an option below takes the place of what it says.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A folder of `*.wasm` files beside the built-in components: `components.dir`.
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
/// When the settings cannot be read, or the sandbox cannot be started.
pub fn run(args: &Args) -> Outcome {
    let settings = cli::settings(args.config.as_deref())?;
    let sandbox = Sandbox::new(settings.probe).map_err(Failure::internal)?;
    let dir = args.components.as_ref().or(settings.components_dir.as_ref());
    let listing = Listing::of(&Components::load(&sandbox, dir.map(PathBuf::as_path)));
    match args.output {
        Format::Json => cli::print_json(&listing)?,
        Format::Table => cli::print(&render(&listing))?,
    }
    Ok(if listing.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn render(listing: &Listing) -> String {
    let rows = listing.loaded.iter().map(|entry| {
        vec![
            entry.name.clone(),
            entry.platform.clone().unwrap_or_else(|| "-".to_owned()),
            entry.world.clone(),
            entry.digest.chars().take(12).collect(),
            entry.size.to_string(),
            origin(entry),
            entry.imports.join(","),
        ]
    });
    let header = ["NAME", "PLATFORM", "WORLD", "DIGEST", "BYTES", "ORIGIN", "IMPORTS"];
    let mut text = table::render(&header, rows);
    if !listing.refused.is_empty() {
        let rows =
            listing.refused.iter().map(|entry| vec![entry.name.clone(), entry.origin.clone(), entry.reason.clone()]);
        text.push('\n');
        text.push_str(&table::render(&["REFUSED", "ORIGIN", "WHY"], rows));
    }
    text
}

fn origin(entry: &LoadedEntry) -> String {
    let replaces = entry.replaces.as_ref().map(|name| format!(" (replaces the built-in {name})"));
    format!("{}{}", entry.origin, replaces.unwrap_or_default())
}
