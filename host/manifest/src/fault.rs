//! What is wrong with a text, where it is wrong, and how much of it is told.

use kourier_core::snapshot::Problem;

/// How many faults of one document are told.
const MAX_FAULTS: usize = 100;
/// How much of a word that somebody wrote is repeated, in characters.
const MAX_WORD: usize = 64;

/// A problem and its line; 0 when it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong, and what would be right.
    pub problem: Problem,
}

/// The faults found so far: as many as a person may want to read.
#[derive(Debug, Default)]
pub(crate) struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, line: u64, path: &str, what: String) {
        if self.0.len() < MAX_FAULTS {
            self.0.push(Fault { line, problem: Problem::new(path, what) });
        } else if self.0.len() == MAX_FAULTS {
            self.0.push(Fault { line, problem: Problem::new("", "has more problems than can be told") });
        }
    }

    /// Whether no more are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() > MAX_FAULTS
    }
}

/// The path of the field `key` of what is at `path`; that of a document is empty. A key that is not a plain word stands in quotes, so that a path is one line and reads one way.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c));
    let key = brief(key);
    match (path.is_empty(), plain) {
        (true, true) => key,
        (false, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{key:?}]"),
    }
}

/// A word that somebody wrote, no longer than a message can bear.
pub(crate) fn brief(word: &str) -> String {
    match word.char_indices().nth(MAX_WORD) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or_default()),
        None => word.to_owned(),
    }
}
