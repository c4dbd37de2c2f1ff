//! Builds a workspace of WebAssembly guests from a build script.
//!
//! Guests are not in the host's workspace: they have their own profile, features and lock file. So a build script starts
//! a second cargo, and this crate is about what goes wrong then: a target directory that the outer cargo has locked or
//! that every profile has anew, linker arguments meant for the host, wrappers of the outer build, and paths of this
//! machine in the result, which would make its digest differ on the next one.
//!
//! What is absent: a download, a tool other than cargo and rustc, and any decision about what is in a guest but the size of its stack.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What guests are compiled for.
pub const TARGET: &str = "wasm32-wasip2";

/// Bytes of the stack that a guest has in its memory, below everything else. All of it is overwritten after each run. With the
/// linker's own choice, 1 MiB, that is eight times as much, and a large answer lies beyond what the host keeps for the next
/// run. A reader of JSON that follows 128 levels of nesting needs less than half of this.
const STACK: usize = 128 << 10;

/// The environment variable that names another target directory than `target` in the workspace of the guests.
pub const TARGET_DIR_VAR: &str = "KOURIER_GUEST_TARGET_DIR";

/// Variables of the outer build that are not the inner one's business. What begins with one of [`DROPPED_PREFIXES`] goes
/// as well.
const DROPPED: [&str; 6] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
];

const DROPPED_PREFIXES: [&str; 4] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_WASM32_", "CARGO_UNSTABLE_"];

/// Why there are no guests.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The toolchain cannot compile for [`TARGET`].
    #[error("the toolchain lacks the target {TARGET}: run `rustup target add {TARGET}`")]
    NoTarget,
    /// A program could not be started.
    #[error("cannot run {program}: {source}")]
    Start {
        /// Which one.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// The inner cargo failed. What it said is in the output of the build script.
    #[error("the guests in {} do not compile: see the output of cargo above", .0.display())]
    Compile(PathBuf),
    /// A component could not be put where the build script wants it.
    #[error("cannot copy {} to {}: {source}", .from.display(), .to.display())]
    Copy {
        /// The component.
        from: PathBuf,
        /// The place in the output directory.
        to: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Builds these packages of the workspace in release mode and puts each as `PACKAGE.wasm` into `out`.
///
/// `ready` names an environment variable. When it is set, nothing is compiled: the files are taken from the directory
/// that it names, under the same names. That is for packagers, who build guests once, and for machines without the
/// target.
///
/// It prints the `cargo::rerun-if-...` lines, so the build script runs again exactly when a source, a manifest or the
/// lock file of a guest changes.
///
/// # Errors
///
/// See [`BuildError`].
pub fn build(workspace: &Path, packages: &[&str], ready: Option<&str>, out: &Path) -> Result<(), BuildError> {
    println!("cargo::rerun-if-env-changed={TARGET_DIR_VAR}");
    if let Some(variable) = ready {
        println!("cargo::rerun-if-env-changed={variable}");
        if let Some(dir) = env::var_os(variable).filter(|dir| !dir.is_empty()) {
            return take_ready(Path::new(&dir), packages, out);
        }
    }
    require_target()?;
    let target_dir = env::var_os(TARGET_DIR_VAR).map_or_else(|| workspace.join("target"), PathBuf::from);
    compile(workspace, packages, &target_dir)?;
    let release = target_dir.join(TARGET).join("release");
    let mut inputs = BTreeSet::from([workspace.join("Cargo.toml"), workspace.join("Cargo.lock")]);
    for package in packages {
        let artifact = release.join(package.replace('-', "_"));
        inputs.extend(sources(&artifact.with_extension("d")));
        copy(&artifact.with_extension("wasm"), &place(out, package))?;
    }
    for input in with_manifests(&inputs) {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    Ok(())
}

fn take_ready(dir: &Path, packages: &[&str], out: &Path) -> Result<(), BuildError> {
    for package in packages {
        let file = place(dir, package);
        println!("cargo::rerun-if-changed={}", file.display());
        copy(&file, &place(out, package))?;
    }
    Ok(())
}

fn place(dir: &Path, package: &str) -> PathBuf {
    dir.join(format!("{package}.wasm"))
}

fn copy(from: &Path, to: &Path) -> Result<(), BuildError> {
    match fs::copy(from, to) {
        Ok(_) => Ok(()),
        Err(source) => Err(BuildError::Copy { from: from.into(), to: to.into(), source }),
    }
}

/// Cargo's own message for a missing target is a page about a missing crate `core`.
fn require_target() -> Result<(), BuildError> {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let printed = run(rustc.args(["--print", "target-libdir", "--target", TARGET]))?;
    let dir = String::from_utf8_lossy(&printed.stdout);
    if printed.status.success() && Path::new(dir.trim()).is_dir() { Ok(()) } else { Err(BuildError::NoTarget) }
}

fn compile(workspace: &Path, packages: &[&str], target_dir: &Path) -> Result<(), BuildError> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace).args(["build", "--locked", "--release", "--target", TARGET]);
    cargo.arg("--target-dir").arg(target_dir);
    cargo.args(packages.iter().flat_map(|package| ["--package", package]));
    for (name, _) in env::vars_os().filter(|(name, _)| is_dropped(name)) {
        cargo.env_remove(name);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags(workspace));
    let built = run(&mut cargo)?;
    // Through `eprintln!`, so that it stands before the error of the build script.
    eprintln!("{}", String::from_utf8_lossy(&built.stderr));
    if built.status.success() { Ok(()) } else { Err(BuildError::Compile(workspace.into())) }
}

fn run(command: &mut Command) -> Result<std::process::Output, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().map_err(|source| BuildError::Start { program, source })
}

fn is_dropped(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    DROPPED.contains(&name) || DROPPED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Rustc's flags: a small stack, and nothing of this machine's directories in the text of panics.
fn flags(workspace: &Path) -> OsString {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let mut flags = OsString::from(format!("-Clink-arg=-zstack-size={STACK}"));
    for (dir, name) in home.iter().map(|dir| (dir.as_path(), "/cargo")).chain([(workspace, "/guests")]) {
        flags.push("\u{1f}--remap-path-prefix=");
        flags.push(dir);
        flags.push("=");
        flags.push(name);
    }
    flags
}

/// The files that cargo wrote into the artifact's dependency file: `ARTIFACT: FILE FILE...`, with `\ ` for a space.
fn sources(dependency_file: &Path) -> Vec<PathBuf> {
    // Without the file there is nothing to watch but the manifests: a build that is too rare, never a wrong one.
    let text = fs::read_to_string(dependency_file).unwrap_or_default();
    let files = text.lines().filter_map(|line| line.split_once(": ")).map(|(_, files)| files);
    files.flat_map(split_escaped).map(PathBuf::from).collect()
}

fn split_escaped(files: &str) -> Vec<String> {
    let marked = files.replace("\\ ", "\0");
    marked.split_ascii_whitespace().map(|file| file.replace('\0', " ")).collect()
}

/// These files, and the manifests of the packages that have the Rust ones among them.
fn with_manifests(files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let rust = files.iter().filter(|file| file.extension() == Some(OsStr::new("rs")));
    let manifests = rust.filter_map(|file| {
        file.ancestors().skip(1).map(|dir| dir.join("Cargo.toml")).find(|manifest| manifest.is_file())
    });
    files.iter().cloned().chain(manifests).collect()
}

#[cfg(test)]
mod tests;
