//! Values of a file of cases, read one by one: each that is wrong is told, and the rest is read on.

use std::collections::BTreeMap;
use std::path::Path;

use kourier_manifest::fault::join;
use kourier_manifest::yaml::{self, Node, Tree};
use serde_json::Value;

use crate::cases::{Place, Problem};

/// How many problems of one file are told: as many as a person may want to read at once. One more says that there are more.
const MAX_PROBLEMS: usize = 100;

/// A file that is being read, and what is wrong with it so far. A value that cannot be read is `None`, and told.
pub(super) struct Reader<'f> {
    file: &'f Path,
    problems: Vec<Problem>,
}

/// A value, and where it stands.
pub(super) struct At<'n> {
    pub(super) node: &'n Node,
    /// The line, from 1: its key's, if it has one.
    pub(super) line: u64,
    /// The field within the document; empty for the document itself.
    path: String,
}

/// The fields of an object, by their keys.
pub(super) type Fields<'n> = BTreeMap<&'n str, At<'n>>;

impl<'n> At<'n> {
    /// A document.
    pub(super) fn document(node: &'n Node) -> Self {
        Self { node, line: node.line, path: String::new() }
    }

    /// The entry of a list.
    pub(super) fn entry(&self, index: usize, node: &'n Node) -> Self {
        Self { node, line: node.line, path: format!("{}[{index}]", self.path) }
    }
}

impl<'f> Reader<'f> {
    pub(super) fn new(file: &'f Path) -> Self {
        Self { file, problems: Vec::new() }
    }

    /// What was read, if nothing was wrong.
    ///
    /// # Errors
    ///
    /// Everything that was.
    pub(super) fn end<T>(self, read: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(read) } else { Err(self.problems) }
    }

    /// A line of the file.
    pub(super) fn place(&self, line: u64) -> Place {
        Place { file: self.file.to_owned(), line }
    }

    /// The documents of a text. One that is not YAML is told.
    pub(super) fn documents(&mut self, text: &str) -> Vec<Node> {
        let read = |document: Result<Node, yaml::SyntaxError>| {
            document
                .map_err(|error| self.tell(error.line, format!("is not YAML that can be read: {}", error.what)))
                .ok()
        };
        yaml::documents(text).filter_map(read).collect()
    }

    /// Tells what is wrong with a value.
    pub(super) fn refuse<T>(&mut self, at: &At<'_>, what: &str) -> Option<T> {
        let path = if at.path.is_empty() { String::new() } else { format!("{}: ", at.path) };
        self.tell(at.line, format!("{path}{what}"));
        None
    }

    /// Tells what is wrong in a line.
    pub(super) fn tell(&mut self, line: u64, what: String) {
        let what = match self.problems.len() {
            0..MAX_PROBLEMS => what,
            MAX_PROBLEMS => "has more problems than can be told".to_owned(),
            _ => return,
        };
        self.problems.push(Problem { place: self.place(line), what });
    }

    /// Whether something is wrong so far.
    pub(super) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The fields of an object, which are among `known`. A field that is null is left out, except `json`: a body may be null.
    pub(super) fn fields<'n>(&mut self, at: &At<'n>, known: &[&str]) -> Option<Fields<'n>> {
        let mut fields = self.entries(at)?;
        fields.retain(|key, field| {
            let is_known = known.contains(key);
            if !is_known {
                self.refuse::<()>(field, &format!("is no field here: known are {}", known.join(", ")));
            }
            is_known && (*key == "json" || !field.node.is_null())
        });
        Some(fields)
    }

    /// The field of an object that has to have it; `right` says what to write.
    pub(super) fn required<'r, 'n>(
        &mut self,
        (at, fields): (&At<'_>, &'r Fields<'n>),
        key: &str,
        right: &str,
    ) -> Option<&'r At<'n>> {
        let found = fields.get(key);
        if found.is_none() {
            self.tell(at.line, format!("{}: is missing: write {right}", join(&at.path, key)));
        }
        found
    }

    /// The entries of an object, each key once.
    pub(super) fn entries<'n>(&mut self, at: &At<'n>) -> Option<Fields<'n>> {
        let Tree::Map(entries) = &at.node.tree else {
            return self.refuse(at, &format!("is {}: write keys and values", at.node.article()));
        };
        let mut fields = Fields::new();
        for entry in entries {
            let field = At { node: &entry.node, line: entry.line, path: join(&at.path, &entry.key) };
            if let Some(first) = fields.get(entry.key.as_str()) {
                self.refuse::<()>(&field, &format!("stands twice, first in line {}: keep one", first.line));
            } else {
                fields.insert(&entry.key, field);
            }
        }
        Some(fields)
    }

    /// An object of strings.
    pub(super) fn strings(&mut self, at: &At<'_>) -> Option<BTreeMap<String, String>> {
        let entries = self.entries(at)?;
        Some(self.strings_of(entries))
    }

    /// The strings among these entries; the others are told.
    pub(super) fn strings_of(&mut self, entries: Fields<'_>) -> BTreeMap<String, String> {
        let text = |(key, at): (&str, At<'_>)| Some((key.to_owned(), self.text(&at)?.to_owned()));
        entries.into_iter().filter_map(text).collect()
    }

    /// A string.
    pub(super) fn text<'n>(&mut self, at: &At<'n>) -> Option<&'n str> {
        match &at.node.tree {
            Tree::Text(text) => Some(text),
            Tree::Bool(_) | Tree::Number(_) => {
                self.refuse(at, &format!("is {}: write a string, in quotes", at.node.article()))
            }
            Tree::Null | Tree::List(_) | Tree::Map(_) => {
                self.refuse(at, &format!("is {}: write a string", at.node.article()))
            }
        }
    }

    /// A whole number that is not negative and fits.
    pub(super) fn count<N: TryFrom<u64>>(&mut self, at: &At<'_>, right: &str) -> Option<N> {
        let number = match &at.node.tree {
            Tree::Number(number) => number.as_u64().and_then(|number| N::try_from(number).ok()),
            Tree::Null | Tree::Bool(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_) => None,
        };
        number.or_else(|| self.refuse(at, &format!("is {}: write {right}", at.node.article())))
    }

    /// The entries of a list.
    pub(super) fn list<'n>(&mut self, at: &At<'n>) -> Option<&'n [Node]> {
        match &at.node.tree {
            Tree::List(nodes) => Some(nodes),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) | Tree::Map(_) => {
                self.refuse(at, &format!("is {}: write a list", at.node.article()))
            }
        }
    }

    /// Any value, with what is null in it: an answer may hold that.
    pub(super) fn json(&mut self, at: &At<'_>) -> Option<Value> {
        match &at.node.tree {
            Tree::Map(_) => {
                let fields = self.entries(at)?;
                let field = |(key, at): (&str, At<'_>)| Some((key.to_owned(), self.json(&at)?));
                Some(Value::Object(fields.into_iter().filter_map(field).collect()))
            }
            Tree::List(nodes) => {
                let entry = |(index, node)| self.json(&at.entry(index, node));
                Some(Value::Array(nodes.iter().enumerate().filter_map(entry).collect()))
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => Some(at.node.json()),
        }
    }
}
