//! The third party's work: its component, and its platform.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use axum::Router;
use axum::extract::Path as Segment;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;

use crate::tell;

/// What a pigeon wears: the credential.
pub(crate) const RING: &str = "demo-ring";

/// Builds the component as its author would, and yields the file.
///
/// # Errors
///
/// When it does not compile.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    let probes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../probes");
    let target = std::env::var_os("KOURIER_GUEST_TARGET_DIR").map_or_else(|| probes.join("target"), PathBuf::from);
    let arguments = ["build", "--release", "--locked", "--target", "wasm32-wasip2", "--package", "pigeon-post"];
    tell::text(&format!("\n$ cd probes && cargo {}", arguments.join(" ")));
    let built = Command::new("cargo").args(arguments).env("CARGO_TARGET_DIR", &target).current_dir(&probes).status()?;
    ensure!(built.success(), "the component of Pigeon Post does not compile");
    let file = target.join("wasm32-wasip2/release/pigeon_post.wasm");
    std::fs::metadata(&file).with_context(|| format!("cargo made no {}", file.display()))?;
    Ok(file)
}

/// The platform: a loft called home, and an attic from which no pigeon ever comes back.
pub(crate) fn platform() -> Router {
    Router::new().route("/lofts/{loft}", get(loft))
}

async fn loft(Segment(loft): Segment<String>, headers: HeaderMap) -> StatusCode {
    if headers.get("x-ring").is_none_or(|ring| ring != RING) {
        return StatusCode::UNAUTHORIZED;
    }
    match loft.as_str() {
        "home" => StatusCode::OK,
        "attic" => std::future::pending().await,
        _ => StatusCode::NOT_FOUND,
    }
}
