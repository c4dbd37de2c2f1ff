//! Where the objects come from: anything that yields whole snapshots, of which the latest one counts.

pub mod crds;
pub mod files;
mod merge;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::line::escaped;
use kourier_core::snapshot::Snapshot;
use serde_json::Value;

use crate::shown::Shown;

/// One look at a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Why nothing could be read so far, not even what was there before this process; none once something was read.
    pub unread: Option<String>,
    /// All objects. One whose document was refused is here with its problems instead of a spec.
    pub snapshot: Snapshot,
    /// `spec` of each Binding as written, valid or not, for people who look at it.
    pub written: BTreeMap<ObjectKey, Value>,
    /// Everything that is wrong with the source and its documents, by file and line.
    pub problems: Vec<FileProblem>,
    /// Where each object stands.
    pub origins: BTreeMap<(Kind, ObjectKey), Origin>,
}

/// Where an object stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The line where its document begins; none when the file could not be read since the program started.
    pub line: Option<u64>,
    /// The line of each field, by its path.
    pub lines: BTreeMap<String, u64>,
}

impl Origin {
    /// The line of a field, or of the nearest one around it that is written, or of the document.
    #[must_use]
    pub fn line_of(&self, path: &str) -> Option<u64> {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return Some(*line);
            }
            let Some(end) = path.rfind(['.', '[']) else { return self.line };
            path = path.get(..end).unwrap_or_default();
        }
    }
}

/// One thing that is wrong with a file, a document in it, or the folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileProblem {
    /// The file, or the folder.
    pub file: PathBuf,
    /// The line, from 1; none when the file as a whole is meant.
    pub line: Option<u64>,
    /// The object, if the document names one.
    pub object: Option<(Kind, ObjectKey)>,
    /// The field, as in `spec.chat.channel`; empty when the document or file as a whole is meant.
    pub path: String,
    /// What is wrong and what would be right.
    pub what: String,
}

/// Whether the reading is another one than the last, which it then replaces.
fn replace(last: &mut Arc<Reading>, reading: Reading) -> bool {
    let changed = **last != reading;
    if changed {
        *last = Arc::new(reading);
    }
    changed
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some((kind, key)) = &self.object {
            write!(f, ": {kind} {key}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", escaped(&self.what))
    }
}
