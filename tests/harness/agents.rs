//! Agents made with the official A2A SDKs, on loopback.
//!
//! `tests/agents/setup` installs the SDKs outside the clone; this starts a server of one of them and kills it when its
//! guard is dropped.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

/// The longest that a server may take to open its port: an interpreter with cold caches on a busy machine.
const START: Duration = Duration::from_secs(120);

/// An SDK, and how its server is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sdk {
    /// PyPI `a2a-sdk` 1.3: a card of A2A 1.x.
    Python1,
    /// PyPI `a2a-sdk` 0.3: a card of A2A 0.3, at both well-known paths.
    Python03,
    /// npm `@a2a-js/sdk` 1.3: a card of A2A 1.x.
    Js,
    /// The same with its layer for older clients: a card of both versions.
    JsLegacy,
}

impl Sdk {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Python1, Self::Python03, Self::Js, Self::JsLegacy];

    const fn package(self) -> &'static str {
        match self {
            Self::Python1 => "python-1",
            Self::Python03 => "python-0.3",
            Self::Js | Self::JsLegacy => "js",
        }
    }
}

/// The SDKs as they are installed.
pub struct Installed {
    folders: Vec<(String, PathBuf)>,
}

/// A running agent. Dropping it kills it.
pub struct Agent {
    child: Child,
    url: String,
}

/// Installs what is missing and says where everything is. Shows progress on standard error.
///
/// # Errors
///
/// When an SDK is neither installed nor can be.
pub fn install() -> anyhow::Result<Installed> {
    let setup = scripts().join("setup");
    let output = Command::new(&setup).stderr(Stdio::inherit()).output().context("tests/agents/setup")?;
    if !output.status.success() {
        bail!("tests/agents/setup ended with {}", output.status);
    }
    let folder = |line: &str| line.split_once(' ').map(|(name, dir)| (name.to_owned(), PathBuf::from(dir)));
    Ok(Installed { folders: String::from_utf8(output.stdout)?.lines().filter_map(folder).collect() })
}

/// [`install`] for a test: none, and a loud line, on a machine where the SDKs cannot be installed.
///
/// # Panics
///
/// Under `CI=true`, where nothing may be left out.
#[must_use]
pub fn install_or_skip(test: &str) -> Option<Installed> {
    match install() {
        Ok(installed) => Some(installed),
        Err(error) => {
            let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(!ci, "{test}: {error:#}");
            // Not `eprintln!`, which the test runner keeps to itself when a test passes.
            let _ = writeln!(io::stderr(), "SKIPPED: {test}: the A2A SDKs cannot be installed: {error:#}");
            None
        }
    }
}

impl Installed {
    /// Starts an agent below `base` (empty, or like `/a/b`) on a free port and waits until it is open.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or does not say that it is ready.
    pub fn start(&self, sdk: Sdk, base: &str) -> anyhow::Result<Agent> {
        let mut child = self.command(sdk)?.args(["0", base]).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().context("the server has no output")?;
        // From here on the guard kills the child, whatever happens.
        let mut agent = Agent { child, url: String::new() };
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out).read_line(&mut line).map(|_| line);
            let _ = send.send(read);
        });
        let line = receive.recv_timeout(START).with_context(|| format!("{sdk:?} did not start in {START:?}"))??;
        let port = line.trim().strip_prefix("ready ").with_context(|| format!("{sdk:?} said {line:?}"))?;
        agent.url = format!("http://127.0.0.1:{port}{base}");
        Ok(agent)
    }

    fn command(&self, sdk: Sdk) -> anyhow::Result<Command> {
        let package = sdk.package();
        let (_, dir) = self.folders.iter().find(|(name, _)| name == package).context("not installed")?;
        let python = |script: &str| {
            let mut command = Command::new(dir.join("bin/python"));
            // -B: writes nothing into the clone.
            command.arg("-B").arg(scripts().join("python").join(script));
            command
        };
        Ok(match sdk {
            Sdk::Python1 => python("v1.py"),
            Sdk::Python03 => python("v0_3.py"),
            Sdk::Js | Sdk::JsLegacy => {
                let mut command = Command::new("node");
                command.arg(dir.join("server.js")).args((sdk == Sdk::JsLegacy).then_some("--legacy"));
                command
            }
        })
    }
}

impl Agent {
    /// The agent's own URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Kills it and waits until its port is closed.
    ///
    /// # Errors
    ///
    /// When it cannot be killed.
    pub fn stop(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended by itself, and nobody is left to be told.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agents")
}
