//! A folder of manifests, as a mounted ConfigMap gives it.
//!
//! The folder is looked at again and again, by content: a mounted ConfigMap changes by a swap of one symbolic link, which
//! watchers of files see badly and network disks not at all. What cannot be read is not taken for empty: a file, or a
//! part of it, keeps what it last held, and so does the folder, also over a restart.

mod disk;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kourier_core::id::ObjectId;
use kourier_core::time::Timestamp;
use kourier_manifest::document::{self, Content, Document};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock;
use crate::file::Unread;
use crate::source::merge::{Held, merge};
use crate::source::{self, FileProblem, Origin, Reading};
use crate::store::Store;

/// A folder that is read again and again.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    store: Arc<Store>,
    /// By name: what each file held at the last look.
    files: BTreeMap<String, Known>,
    /// Whether it is known what the folder holds, if only from before this process.
    is_known: bool,
}

#[derive(Debug)]
struct Known {
    /// Of the content that was read; none when it could not be read.
    digest: Option<disk::Digest>,
    held: Held,
}

impl Folder {
    /// The folder at `dir`, whose objects get their identity from `store`.
    #[must_use]
    pub fn new(dir: PathBuf, store: Arc<Store>) -> Self {
        let mut files: BTreeMap<String, Known> = BTreeMap::new();
        for seen in store.remembered() {
            let empty = || Held::empty(&dir, &seen.file);
            let known = files.entry(seen.file.clone()).or_insert_with(|| Known { digest: None, held: empty() });
            known.held.kept.push(Arc::new(Document::remembered(seen.id, &seen.document)));
        }
        Self { dir, store, is_known: !files.is_empty(), files }
    }

    /// Looks at the folder once. It blocks on the disk.
    #[must_use]
    pub fn read(&mut self, now: Timestamp) -> Reading {
        let trouble = match disk::look(&self.dir) {
            Ok(found) => {
                self.take(found);
                self.is_known = true;
                None
            }
            Err(error) => Some(unreadable(&self.dir, &error, self.is_known)),
        };
        let files: Vec<Held> = self.files.values().map(|known| known.held.clone()).collect();
        let mut reading = merge(&files, &self.store, now);
        reading.unread = trouble.as_ref().filter(|_| !self.is_known).map(ToString::to_string);
        reading.problems.extend(trouble);
        reading
    }

    /// Looks at the folder now, and then again after each `interval`, until nobody listens any more. The first reading
    /// is there when this returns; a reading that equals the last one is not announced.
    pub async fn follow(self, interval: Duration) -> (watch::Receiver<Arc<Reading>>, JoinHandle<()>) {
        let (mut folder, first) = self.look().await;
        let (sender, receiver) = watch::channel(Arc::new(first));
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sender.closed() => break,
                    () = tokio::time::sleep(interval) => {}
                }
                let reading;
                (folder, reading) = folder.look().await;
                sender.send_if_modified(|last| source::replace(last, reading));
            }
        });
        (receiver, task)
    }

    async fn look(mut self) -> (Self, Reading) {
        clock::blocking(move || {
            let reading = self.read(clock::now());
            (self, reading)
        })
        .await
    }

    /// Takes what was found in place of what was known.
    fn take(&mut self, found: Vec<disk::Found>) {
        let mut before = std::mem::take(&mut self.files);
        for found in found {
            let known = before.remove(&found.name);
            let file = self.dir.join(&found.name);
            self.files.insert(found.name.clone(), Known::next(known, file, found));
        }
    }
}

impl Known {
    fn next(before: Option<Self>, file: PathBuf, found: disk::Found) -> Self {
        let (digest, content) = match found.content {
            Ok((digest, text)) => match before {
                Some(before) if before.digest == Some(digest) => return before,
                _ => (Some(digest), document::read(&text)),
            },
            Err(what) => (None, Content::unreadable(what)),
        };
        let kept = before.map(|before| before.held.kept_beside(&content)).unwrap_or_default();
        Self { digest, held: Held { name: found.name, file, content: Arc::new(content), kept } }
    }
}

impl Held {
    fn empty(dir: &Path, name: &str) -> Self {
        Self { name: name.to_owned(), file: dir.join(name), content: Arc::default(), kept: Vec::new() }
    }

    /// What a file that holds `content` now keeps of what it held: nothing, unless a part of it cannot be read.
    fn kept_beside(self, content: &Content) -> Vec<Arc<Document>> {
        if !content.broken {
            return Vec::new();
        }
        let held = self.content.documents.iter().cloned().map(Arc::new).chain(self.kept);
        let mut kept: BTreeMap<_, Arc<Document>> = BTreeMap::new();
        for document in held {
            kept.entry(document.id.clone()).or_insert(document);
        }
        content.documents.iter().for_each(|document| drop(kept.remove(&document.id)));
        kept.into_values().collect()
    }
}

fn unreadable(dir: &Path, error: &io::Error, is_known: bool) -> FileProblem {
    let stays = if is_known { "; what it last held stays as it was" } else { "" };
    let what = format!("the folder cannot be read: {error}{stays}");
    FileProblem { file: dir.to_owned(), line: None, object: None, path: String::new(), what }
}

/// Files that people name, for [`check`](crate::cli::check): read once, with identities that nobody keeps.
#[derive(Debug, Default)]
pub(crate) struct Named {
    files: Vec<Held>,
    /// The real folder and the name of each: one that is named twice is read once, while two links to one file stand
    /// beside each other, as they do for the broker.
    places: BTreeSet<PathBuf>,
}

/// The real folder of a file, and its name in it.
fn place(file: &Path) -> io::Result<PathBuf> {
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => Ok(Path::new(".").canonicalize()?.join(name)),
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => file.canonicalize(),
    }
}

/// A document that names an object, as it is written.
pub(crate) struct Written<'a> {
    /// The object.
    pub(crate) id: &'a ObjectId,
    /// Its spec.
    pub(crate) spec: &'a Value,
    /// Where it stands.
    pub(crate) origin: Origin,
    /// The paths of what has not the shape of such a spec.
    pub(crate) misshapen: Vec<&'a str>,
}

impl Named {
    /// Takes the files of a folder, as the broker would.
    pub(crate) fn add_folder(&mut self, dir: &Path) -> io::Result<()> {
        let found = disk::look(dir)?;
        let real = dir.canonicalize()?;
        for found in found.into_iter().filter(|found| self.places.insert(real.join(&found.name))).collect::<Vec<_>>() {
            let content = found.content.map(|(_, text)| text);
            self.add(dir.join(&found.name), content);
        }
        Ok(())
    }

    /// Takes one file, whatever its name.
    pub(crate) fn add_file(&mut self, file: &Path) -> io::Result<()> {
        let text = match disk::read_file(file) {
            Err(Unread::Io(error)) => return Err(error),
            text => text.map_err(|unread| disk::told(&unread)),
        };
        if self.places.insert(place(file)?) {
            self.add(file.to_owned(), text);
        }
        Ok(())
    }

    /// Takes a text, or what is wrong with it.
    pub(crate) fn add(&mut self, file: PathBuf, text: Result<String, String>) {
        let content = text.map_or_else(Content::unreadable, |text| document::read(&text));
        let name = file.display().to_string();
        self.files.push(Held { name, file, content: Arc::new(content), kept: Vec::new() });
    }

    /// Each document that names an object, whatever is wrong with it.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Written<'_>> {
        let of = |held: &Held, document: &Document| {
            let line = Some(document.line);
            Origin { file: held.file.clone(), line, lines: document.lines.clone() }
        };
        self.files.iter().flat_map(move |held| {
            held.content.documents.iter().map(move |document| Written {
                id: &document.id,
                spec: &document.written,
                origin: of(held, document),
                misshapen: document.shape.iter().map(|fault| fault.problem.path.as_str()).collect(),
            })
        })
    }

    /// The reading that these files make.
    pub(crate) fn read(&self) -> Reading {
        merge(&self.files, &Store::in_memory(), Timestamp::default())
    }
}

#[cfg(test)]
mod tests;
