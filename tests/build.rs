//! Builds the guests that misbehave.

use std::fs;
use std::path::Path;

/// What [`kourier_component_build::build`] takes instead of compiling, when the variable is set.
const READY: &str = "KOURIER_TEST_GUESTS_DIR";

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| anyhow::anyhow!("cargo gives OUT_DIR"))?;
    let guests = folders(&here.join("guests"))?;
    let names: Vec<&str> = guests.iter().map(String::as_str).collect();
    kourier_component_build::build(&here.join("guests"), &names, Some(READY), Path::new(&out))?;
    fs::write(Path::new(&out).join("guests.rs"), table(&names))?;
    if std::env::var_os("CARGO_FEATURE_BENCH").is_some() {
        agent_card(&here.join("../probes"), Path::new(&out))?;
    }
    Ok(())
}

/// The folders with a crate, each of which is a guest: one that the workspace does not know fails the build.
fn folders(workspace: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace)? {
        let folder = entry?.path();
        if folder.join("Cargo.toml").is_file() {
            names.extend(folder.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

/// The components as a table of Rust: name and bytes.
fn table(names: &[&str]) -> String {
    let row = |name: &&str| format!("({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.wasm\"))),");
    format!("[{}]", names.iter().map(row).collect::<String>())
}

/// The modules of the agent probe, for the measurements: without their tests, and on the plain types of `bench/sdk.rs`.
/// The SDK itself would bring its generator, which changes the features of what wasmtime shares with it, so that
/// everything would be compiled twice.
fn agent_card(probes: &Path, out: &Path) -> anyhow::Result<()> {
    const MODULES: [&str; 5] = [
        "agent-card/src/card",
        "agent-card/src/fetch",
        "agent-card/src/protocol",
        "agent-card/src/url",
        "sdk/src/json",
    ];
    /// Modules of `json`.
    const INNER: [&str; 2] = ["sdk/src/json/cursor", "sdk/src/json/escape"];
    let mut root = String::new();
    for module in MODULES.into_iter().chain(INNER) {
        let from = probes.join(module).with_extension("rs");
        let to = out.join(from.file_name().unwrap_or_default());
        println!("cargo::rerun-if-changed={}", from.display());
        let text = fs::read_to_string(&from)?;
        let text = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        fs::write(&to, text.replace("kourier_probe_sdk::", "crate::sdk::"))?;
        if !INNER.contains(&module) {
            let name = to.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            root += "#[allow(dead_code, unreachable_pub, reason = \"the probe uses the rest, and others what is public\")]\n";
            root += &format!("#[path = {to:?}]\nmod {name};\n");
        }
    }
    Ok(fs::write(out.join("agent_card.rs"), root)?)
}
