//! The files of deploy/samples, in a folder of the demo's own, with the ports that the peers have here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::peers::{Peers, REVOKED, TOKEN};
use crate::pigeon;

/// The files of objects. Of two Bindings on one channel the older one holds it: they are made in this order.
pub(crate) const OBJECTS: [&str; 6] = ["agents", "chat", "working", "refused", "failing", "edited"];

/// The Secrets of team-a: name, key and value.
pub(crate) const SECRETS: [(&str, &str, &str); 3] =
    [("slack-bot", "token", TOKEN), ("slack-revoked", "token", REVOKED), ("pigeon-ring", "ring", pigeon::RING)];

/// The folder of one run.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Writes the objects and the component.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written.
    pub(crate) fn write(path: &Path, peers: &Peers, component: &Path) -> anyhow::Result<Self> {
        let folder = Self(path.to_owned());
        for name in OBJECTS {
            let name = format!("objects/{name}.yaml");
            let text = sample(&name)?;
            let text = peers.places().iter().fold(text, |text, (there, here)| text.replace(there, here));
            folder.put(&name, &text)?;
        }
        fs::create_dir_all(path.join("components"))?;
        fs::copy(component, path.join("components/pigeon-post.wasm"))?;
        Ok(folder)
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it; with an empty name its own.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string().trim_end_matches('/').to_owned()
    }

    /// Writes a file, and the folders it is in.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(crate) fn put(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let file = self.0.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    /// Edits edited.yaml, as an editor does: the whole file at once.
    ///
    /// # Errors
    ///
    /// When `from` does not stand there exactly once.
    pub(crate) fn edit(&self, from: &str, to: &str) -> anyhow::Result<()> {
        let file = self.0.join("objects/edited.yaml");
        let text = fs::read_to_string(&file)?;
        ensure!(text.matches(from).count() == 1, "{from:?} is not once in {}", file.display());
        let new = self.0.join("edited.yaml");
        fs::write(&new, text.replace(from, to))?;
        Ok(fs::rename(new, file)?)
    }
}

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The text of a file of deploy/samples.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn sample(name: &str) -> anyhow::Result<String> {
    let file = repository("deploy/samples").join(name);
    fs::read_to_string(&file).with_context(|| file.display().to_string())
}

/// An address of this machine that nobody listens at.
///
/// # Errors
///
/// When there is no free port.
pub(crate) fn free_port() -> anyhow::Result<String> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.to_string())
}
