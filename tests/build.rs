//! Builds the guests that misbehave.

use std::path::Path;

/// What [`kourier_component_build::build`] takes instead of compiling, when the variable is set.
const READY: &str = "KOURIER_TEST_GUESTS_DIR";

const GUESTS: [&str; 6] = ["liar", "loud", "rogue", "spins-in-describe", "two-worlds", "wasi-hello"];

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| anyhow::anyhow!("cargo gives OUT_DIR"))?;
    kourier_component_build::build(&here.join("guests"), &GUESTS, Some(READY), Path::new(&out))?;
    Ok(())
}
