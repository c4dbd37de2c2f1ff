//! What survives a restart: who each file document's object is, what it last said, and the last good specs.
//!
//! Memory is what counts while the program runs; the file is brought up to it after each change, in one transaction. So
//! a disk that is full or read-only costs nothing but the memory of it after a restart, and each later change tries
//! again.

mod last_good;
mod sqlite;

pub use last_good::{LastGoodStore, Saved};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kourier_core::accept::{Good, LastGood};
use kourier_core::id::{Generation, Kind, ObjectId, ObjectKey, Uid};
use kourier_core::snapshot::Meta;
use kourier_core::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::shown::Shown;
use crate::store::sqlite::{Opened, Trouble};

/// The store of one broker: a SQLite file, or memory alone.
#[derive(Debug)]
pub struct Store {
    state: Mutex<State>,
}

/// Why a store stops the start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It is not a store, or its content is broken.
    #[error(
        "the store {} is damaged ({cause}): restore a copy, or move it away to begin with an empty one",
        Shown(file)
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What was found.
        cause: String,
    },
    /// Another process has it.
    #[error("the store {} is in use by another broker: each broker needs a `storePath` of its own", Shown(file))]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// A newer program wrote it.
    #[error(
        "the store {} has the schema {found}, this program knows up to {known}: use the newer program",
        Shown(file)
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
}

/// A document as it stands in a folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// The object.
    pub(crate) id: ObjectId,
    /// The name of its file in the folder.
    pub(crate) file: String,
    /// What it says: a change of it is a new generation.
    pub(crate) document: Value,
}

/// Who a document's object is.
#[derive(Clone, Debug, PartialEq)]
struct Identity {
    uid: String,
    generation: i64,
    created: i64,
    file: String,
    document: Value,
}

/// A good spec as a row.
#[derive(Clone, Debug, PartialEq)]
struct GoodRow {
    uid: String,
    generation: i64,
    spec: Value,
}

/// Everything that is remembered.
#[derive(Clone, Debug, Default, PartialEq)]
struct Content {
    identities: BTreeMap<ObjectId, Identity>,
    good: BTreeMap<ObjectId, GoodRow>,
}

#[derive(Debug, Default)]
struct State {
    wanted: Content,
    disk: Option<Disk>,
}

#[derive(Debug)]
struct Disk {
    file: PathBuf,
    /// None after a failure: the next attempt opens it anew.
    opened: Option<Opened>,
    /// What is in the file, as far as is known.
    stored: Content,
    /// Why it could not be written the last time.
    trouble: Option<String>,
}

impl Store {
    /// A store that forgets: for `check` and tests.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { state: Mutex::default() }
    }

    /// Opens the store in `file`, or makes it. A file that cannot be written now is a warning in the log: the broker
    /// serves on from memory, and every [`Store::save_last_good`] and reading of the folder tries again.
    ///
    /// # Errors
    ///
    /// What stops the start.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let mut disk = Disk { file: file.to_owned(), opened: None, stored: Content::default(), trouble: None };
        match sqlite::open(file) {
            Ok((opened, stored)) => (disk.opened, disk.stored) = (Some(opened), stored),
            Err(Trouble::Stop(error)) => return Err(error),
            Err(Trouble::Wait(cause)) => {
                disk.stored = sqlite::read_only(file)?;
                disk.failed(cause);
            }
        }
        let wanted = disk.stored.clone();
        Ok(Self { state: Mutex::new(State { wanted, disk: Some(disk) }) })
    }

    /// The last good specs.
    #[must_use]
    pub fn last_good(&self) -> LastGood {
        let state = self.lock();
        LastGood {
            bindings: good_of(&state.wanted.good, Kind::Binding),
            backends: good_of(&state.wanted.good, Kind::AgentBackend),
            connections: good_of(&state.wanted.good, Kind::ChatConnection),
        }
    }

    /// Remembers these last good specs in place of the former ones. It blocks on the disk; a failure is logged once and
    /// tried again. Returns whether everything is on the disk now; always true of a store in memory.
    pub fn save_last_good(&self, last_good: &LastGood) -> bool {
        let mut good = BTreeMap::new();
        good.extend(rows_of(&last_good.bindings, Kind::Binding));
        good.extend(rows_of(&last_good.backends, Kind::AgentBackend));
        good.extend(rows_of(&last_good.connections, Kind::ChatConnection));
        let mut state = self.lock();
        state.wanted.good = good;
        state.flush()
    }

    /// Says who the objects of these documents are, which are all that there are: others are forgotten, so that one
    /// that returns is a new object. It blocks on the disk.
    pub(crate) fn identify(&self, seen: Vec<Seen>, now: Timestamp) -> BTreeMap<ObjectId, Meta> {
        let mut state = self.lock();
        let mut known = std::mem::take(&mut state.wanted.identities);
        for seen in seen {
            let identity = Identity::next(known.remove(&seen.id), &seen, now);
            state.wanted.identities.insert(seen.id, identity);
        }
        state.flush();
        state.wanted.identities.iter().map(|(id, identity)| (id.clone(), identity.meta(&id.1))).collect()
    }

    /// The documents as they were last seen.
    pub(crate) fn remembered(&self) -> Vec<Seen> {
        let state = self.lock();
        let seen = |(id, identity): (&ObjectId, &Identity)| Seen {
            id: id.clone(),
            file: identity.file.clone(),
            document: identity.document.clone(),
        };
        state.wanted.identities.iter().map(seen).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Identity {
    fn next(known: Option<Self>, seen: &Seen, now: Timestamp) -> Self {
        let (uid, generation, created) = match known {
            Some(known) if known.document == seen.document => (known.uid, known.generation, known.created),
            Some(known) => (known.uid, known.generation + 1, known.created),
            None => (Uuid::new_v4().to_string(), 1, now.0),
        };
        Self { uid, generation, created, file: seen.file.clone(), document: seen.document.clone() }
    }

    fn meta(&self, key: &ObjectKey) -> Meta {
        Meta {
            key: key.clone(),
            uid: Uid(self.uid.clone()),
            generation: Generation(self.generation),
            created: Timestamp(self.created),
        }
    }
}

impl State {
    /// Brings the disk up to memory. Returns whether it is.
    fn flush(&mut self) -> bool {
        self.disk.as_mut().is_none_or(|disk| disk.flush(&self.wanted))
    }
}

impl Disk {
    fn flush(&mut self, wanted: &Content) -> bool {
        self.let_go();
        if self.opened.is_some() && self.stored == *wanted {
            return true;
        }
        match self.write(wanted) {
            Ok(()) => {
                self.stored = wanted.clone();
                if self.trouble.take().is_some() {
                    tracing::info!(file = %Shown(&self.file), "the store is written again");
                }
                true
            }
            Err(cause) => {
                self.opened = None;
                self.failed(cause);
                false
            }
        }
    }

    /// Lets go of a file that is not at its path any more, so that all is written to the one that is.
    fn let_go(&mut self) {
        if self.opened.as_ref().is_some_and(|opened| !opened.is_at(&self.file)) {
            self.opened = None;
            tracing::warn!(file = %Shown(&self.file), "the store's file was removed or replaced: writing it anew");
        }
    }

    fn write(&mut self, wanted: &Content) -> Result<(), String> {
        let opened = match &mut self.opened {
            Some(opened) => opened,
            none => {
                let (opened, stored) = sqlite::open(&self.file).map_err(Trouble::into_cause)?;
                self.stored = stored;
                none.insert(opened)
            }
        };
        sqlite::write(&mut opened.connection, &self.stored, wanted).map_err(|error| error.to_string())
    }

    fn failed(&mut self, cause: String) {
        if self.trouble.as_ref() != Some(&cause) {
            tracing::warn!(file = %Shown(&self.file), cause, "the store cannot be written: serving on from memory");
            self.trouble = Some(cause);
        }
    }
}

fn rows_of<S: Serialize>(good: &BTreeMap<ObjectKey, Good<S>>, kind: Kind) -> impl Iterator<Item = (ObjectId, GoodRow)> {
    good.iter().map(move |(key, good)| {
        // A spec is strings, lists and maps of strings: it always has a spelling in JSON.
        let spec = serde_json::to_value(&good.spec).unwrap_or_default();
        ((kind, key.clone()), GoodRow { uid: good.uid.0.clone(), generation: good.generation.0, spec })
    })
}

/// The rows of one kind. One that this program cannot read, because another version wrote it, is forgotten.
fn good_of<S: DeserializeOwned>(rows: &BTreeMap<ObjectId, GoodRow>, kind: Kind) -> BTreeMap<ObjectKey, Good<S>> {
    let of_kind = rows.iter().filter(|((of, _), _)| *of == kind);
    of_kind
        .filter_map(|((_, key), row)| match serde_json::from_value(row.spec.clone()) {
            Ok(spec) => {
                Some((key.clone(), Good { uid: Uid(row.uid.clone()), generation: Generation(row.generation), spec }))
            }
            Err(_) => {
                tracing::warn!(object = %format!("{kind} {key}"), "its last good spec cannot be read and is forgotten");
                None
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
