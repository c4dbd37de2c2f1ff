//! Builds the probes that the program brings with it, for `src/builtin.rs` to embed.

use std::path::{Path, PathBuf};
use std::{env, process};

/// The packages in `probes/` that are built in. `src/builtin.rs` names each once more.
const PACKAGES: [&str; 2] = ["agent-card", "slack"];

/// Names a directory with ready components, instead of building them.
const READY: &str = "AGENT_KOURIER_PROBES_DIR";

fn main() {
    let variable = |name| PathBuf::from(env::var_os(name).unwrap_or_default());
    let probes = variable("CARGO_MANIFEST_DIR").parent().unwrap_or_else(|| Path::new("")).join("probes");
    if let Err(error) = kourier_component_build::build(&probes, &PACKAGES, Some(READY), &variable("OUT_DIR")) {
        eprintln!("{error}");
        process::exit(1);
    }
}
