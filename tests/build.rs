//! Builds the guests that misbehave.

use std::path::Path;

/// What [`kourier_component_build::build`] takes instead of compiling, when the variable is set.
const READY: &str = "KOURIER_TEST_GUESTS_DIR";

const GUESTS: [&str; 6] = ["liar", "loud", "rogue", "spins-in-describe", "two-worlds", "wasi-hello"];

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| anyhow::anyhow!("cargo gives OUT_DIR"))?;
    kourier_component_build::build(&here.join("guests"), &GUESTS, Some(READY), Path::new(&out))?;
    if std::env::var_os("CARGO_FEATURE_BENCH").is_some() {
        agent_card(&here.join("../probes/agent-card/src"), Path::new(&out))?;
    }
    Ok(())
}

/// The modules of the agent probe, for the measurements: without their tests, and on the plain types of `bench/sdk.rs`.
/// The SDK itself would bring its generator, which changes the features of what wasmtime shares with it, so that
/// everything would be compiled twice.
fn agent_card(source: &Path, out: &Path) -> anyhow::Result<()> {
    let mut root = String::new();
    for name in ["card", "fetch", "json", "json/escape", "protocol", "url"] {
        let from = source.join(name).with_extension("rs");
        // A part of a module whose file is named by a path is looked for beside that file.
        let part = name.split_once('/').map(|(_, part)| part);
        let to = out.join(part.unwrap_or(name)).with_extension("rs");
        println!("cargo::rerun-if-changed={}", from.display());
        let text = std::fs::read_to_string(&from)?;
        let text = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        std::fs::write(&to, text.replace("kourier_probe_sdk::", "crate::sdk::"))?;
        if part.is_some() {
            continue;
        }
        root += &format!("#[path = {to:?}]\n#[allow(dead_code, reason = \"the probe uses the rest\")]\nmod {name};\n");
    }
    Ok(std::fs::write(out.join("agent_card.rs"), root)?)
}
