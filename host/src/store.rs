//! What survives a restart: who each file document's object is, and the last good specs.

use std::path::{Path, PathBuf};

use kourier_core::accept::LastGood;

/// The store of one broker: a SQLite file, or memory alone.
#[derive(Debug)]
pub struct Store {}

/// Why a store stops the start.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is not a store, or its content is broken.
    #[error("the store {} is damaged ({cause}): restore a copy, or move it away to begin with an empty one", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What was found.
        cause: String,
    },
    /// Another process has it.
    #[error("the store {} is in use by another broker: each broker needs a `storePath` of its own", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// A newer program wrote it.
    #[error("the store {} has the schema {found}, this program knows up to {known}: use the newer program", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
}

impl Store {
    /// A store that forgets: for `check` and tests.
    #[must_use]
    pub fn in_memory() -> Self {
        Self {}
    }

    /// Opens the store in `file`, or makes it. A file that cannot be written now is a warning in the log: the broker
    /// serves on from memory, and every [`Store::save_last_good`] and reading of the folder tries again.
    ///
    /// # Errors
    ///
    /// What stops the start.
    pub fn open(_file: &Path) -> Result<Self, StoreError> {
        unimplemented!()
    }

    /// The last good specs.
    #[must_use]
    pub fn last_good(&self) -> LastGood {
        unimplemented!()
    }

    /// Remembers these last good specs in place of the former ones. It blocks on the disk; a failure is logged once and
    /// tried again. Returns whether everything is on the disk now.
    pub fn save_last_good(&self, _last_good: &LastGood) -> bool {
        unimplemented!()
    }
}
