//! What stands when a story has been told. It is ended in good order, or stays for whoever wants to try more.

use std::path::Path;

use anyhow::Context as _;

use crate::process::{interrupted, program};
use crate::tell;

/// What stands when a story has been told. Dropping it kills what runs.
pub(crate) struct Scene {
    /// What to try, as lines for a shell.
    tries: Vec<String>,
    end: End,
}

/// Ends what stands, in good order.
type End = Box<dyn FnOnce() -> anyhow::Result<()>>;

impl Scene {
    /// A scene in which a shell finds programs in the folders of `path`, is in `folder`, and tries these lines.
    pub(crate) fn new((path, folder): (&str, &Path), tries: &[&str], end: End) -> Self {
        let enter = [format!("export PATH={path}:$PATH"), format!("cd {}", folder.display())];
        Self { tries: enter.into_iter().chain(tries.iter().map(|&line| line.to_owned())).collect(), end }
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// When something does not end well.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        (self.end)()
    }

    /// Says what to try, and lets it stand until it is interrupted. What runs then is killed.
    ///
    /// # Errors
    ///
    /// When no signal can be waited for.
    pub(crate) async fn stay(self) -> anyhow::Result<()> {
        tell::text("");
        self.tries.iter().for_each(|line| tell::text(&format!("  {line}")));
        interrupted().await?;
        tell::text("\nIt is over.");
        Ok(())
    }
}

/// The folder of the program.
///
/// # Errors
///
/// When the program was not built.
pub(crate) fn programs() -> anyhow::Result<String> {
    Ok(program()?.parent().context("a program is in a folder")?.display().to_string())
}
