//! The files of deploy/samples, in a folder of the demo's own, with the ports that the peers have here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::peers::{Peers, REVOKED, TOKEN};
use crate::pigeon;

/// The folder of one run.
pub(crate) struct Files {
    folder: PathBuf,
    admin: String,
}

impl Files {
    /// Writes settings, objects, Secrets and the component.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written.
    pub(crate) fn write(folder: &Path, peers: &Peers, component: &Path) -> anyhow::Result<Self> {
        let files = Self { folder: folder.to_owned(), admin: free_port()? };
        files.write_objects(peers)?;
        for (name, key, value) in
            [("slack-bot", "token", TOKEN), ("slack-revoked", "token", REVOKED), ("pigeon-ring", "ring", pigeon::RING)]
        {
            files.put(&format!("secrets/team-a/{name}/{key}"), value)?;
        }
        fs::create_dir_all(folder.join("components"))?;
        fs::copy(component, folder.join("components/pigeon-post.wasm"))?;
        let own = |text: &str| {
            text.replace("/tmp/agent-kourier", &files.path(""))
                .replace("deploy/samples/objects", &files.path("objects"))
                .replace("127.0.0.1:9090", &files.admin)
        };
        files.put("settings.yaml", &own(&sample("settings.yaml")?))?;
        Ok(files)
    }

    /// The settings' file.
    pub(crate) fn settings(&self) -> String {
        self.path("settings.yaml")
    }

    /// The folder of components.
    pub(crate) fn components(&self) -> String {
        self.path("components")
    }

    /// Where the broker's log goes.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("broker.log")
    }

    /// The broker's admin address.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    /// Edits edited.yaml, as an editor does: the whole file at once.
    ///
    /// # Errors
    ///
    /// When `from` does not stand there exactly once.
    pub(crate) fn edit(&self, from: &str, to: &str) -> anyhow::Result<()> {
        let file = self.folder.join("objects/edited.yaml");
        let text = fs::read_to_string(&file)?;
        ensure!(text.matches(from).count() == 1, "{from:?} is not once in {}", file.display());
        let new = self.folder.join("edited.yaml");
        fs::write(&new, text.replace(from, to))?;
        Ok(fs::rename(new, file)?)
    }

    fn write_objects(&self, peers: &Peers) -> anyhow::Result<()> {
        for name in ["agents", "chat", "working", "refused", "failing", "edited"] {
            let name = format!("objects/{name}.yaml");
            let text = sample(&name)?;
            let text = peers.places().iter().fold(text, |text, (there, here)| text.replace(there, here));
            self.put(&name, &text)?;
        }
        Ok(())
    }

    fn put(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let file = self.folder.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string().trim_end_matches('/').to_owned()
    }
}

fn sample(name: &str) -> anyhow::Result<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/samples").join(name);
    fs::read_to_string(&file).with_context(|| file.display().to_string())
}

fn free_port() -> anyhow::Result<String> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.to_string())
}
