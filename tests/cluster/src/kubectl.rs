//! kubectl, the real one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, bail};

/// kubectl as one user of one server.
#[derive(Clone, Debug)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    cache: Option<PathBuf>,
}

impl Kubectl {
    /// The cache is of what a server at an address offers: test servers take over each other's addresses.
    pub(crate) fn new(program: &Path, kubeconfig: PathBuf, cache: Option<PathBuf>) -> Self {
        Self { program: program.to_owned(), kubeconfig, cache }
    }

    /// The same as another user: the one of this kubeconfig.
    #[must_use]
    pub fn with(&self, kubeconfig: &Path) -> Self {
        Self { kubeconfig: kubeconfig.to_owned(), ..self.clone() }
    }

    /// The kubeconfig it uses.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where it keeps what a server offers; none: at its usual place.
    pub(crate) fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// A kubectl that is not started yet, for a test that watches it run.
    #[must_use]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(args);
        if let Some(cache) = &self.cache {
            command.env("KUBECACHEDIR", cache);
        }
        // Nobody's own preferences.
        command.env("KUBERC", "off").env_remove("KUBECONFIG").stdin(Stdio::null());
        command
    }

    /// Runs it to its end, however that is.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn run(&self, args: &[&str]) -> anyhow::Result<Output> {
        self.command(args).output().context("kubectl")
    }

    /// Runs it with a standard input to its end, however that is.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or does not read its input.
    pub fn run_with(&self, args: &[&str], input: &str) -> anyhow::Result<Output> {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("kubectl")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        child.wait_with_output().context("kubectl")
    }

    /// What it prints.
    ///
    /// # Errors
    ///
    /// When it fails: with what it says then.
    pub fn ok(&self, args: &[&str]) -> anyhow::Result<String> {
        printed(args, self.run(args)?)
    }

    /// Applies a manifest, and says what it prints.
    ///
    /// # Errors
    ///
    /// When the manifest is refused: with the words of the API server.
    pub fn apply(&self, yaml: &str) -> anyhow::Result<String> {
        let args = ["apply", "--filename=-"];
        printed(&args, self.run_with(&args, yaml)?)
    }

    /// Makes an object of which the API server makes the name (`metadata.generateName`), and says that name.
    pub(crate) fn generate(&self, yaml: &str) -> anyhow::Result<String> {
        let args = ["create", "--filename=-", "--output=jsonpath={.metadata.name}"];
        printed(&args, self.run_with(&args, yaml)?)
    }
}

fn printed(args: &[&str], output: Output) -> anyhow::Result<String> {
    if !output.status.success() {
        bail!("kubectl {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}
