//! Where the objects come from: anything that yields whole snapshots, of which the latest one counts.

pub mod files;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::snapshot::Snapshot;
use serde_json::Value;

/// One look at a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// All objects. One whose document was refused is here with its problems instead of a spec.
    pub snapshot: Snapshot,
    /// `spec` of each Binding as written, valid or not, for people who look at it.
    pub written: BTreeMap<ObjectKey, Value>,
    /// Everything that is wrong with the source and its documents, by file and line.
    pub problems: Vec<FileProblem>,
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

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some((kind, key)) = &self.object {
            write!(f, ": {kind} {key}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.what)
    }
}
