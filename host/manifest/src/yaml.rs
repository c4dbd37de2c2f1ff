//! YAML (and JSON, which is YAML) as a tree that knows its lines.
//!
//! It is as strict as an API server: YAML 1.2 booleans, bounded aliases and depth, no tags of other programs. Keys that
//! stand twice are kept, so that whoever judges the tree can name them all. Documents of one text are read apart from
//! each other: an error in one does not hide the rest.

mod pieces;
mod words;

use std::fmt;

use kourier_core::line::escaped;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, Options};

use pieces::{BREAKS, Piece, lines, pieces};

/// How deep values may nest: manifests need fewer than ten levels, and readers of a tree are recursive.
const MAX_DEPTH: usize = 32;
/// How many values a document may have, aliases replayed: a file of 1 MiB that repeats none has fewer.
const MAX_NODES: usize = 600_000;
/// How many values of a document may have an anchor: the parser's work grows with its square.
const MAX_ANCHORS: usize = 500;
/// How many events all aliases of a document may stand for: enough for shared labels, too few for a bomb.
const MAX_REPLAYED: usize = 10_000;

/// A value, and the line where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// From 1.
    pub line: u64,
    /// The value.
    pub tree: Tree,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// A string.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order written, with the keys that stand twice.
    Map(Vec<Entry>),
}

/// An entry of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The key's line, from 1.
    pub line: u64,
    /// The value.
    pub node: Node,
}

/// Why a document is not YAML that we read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong: one line, control characters escaped.
    pub what: String,
}

/// Reads the documents of a text, in order. Empty ones are left out.
pub fn documents(text: &str) -> impl Iterator<Item = Result<Node, SyntaxError>> {
    pieces(text).filter(|piece| !piece.is_blank()).filter_map(|piece| read(&piece).transpose())
}

impl Node {
    /// The value of this key, if this is a mapping that has it: the last one of several.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The entries, if this is a mapping; otherwise none.
    pub fn entries(&self) -> &[Entry] {
        match &self.tree {
            Tree::Map(entries) => entries,
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) | Tree::List(_) => &[],
        }
    }

    /// The text, if this is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.tree {
            Tree::Text(text) => Some(text),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// Whether it is null, which an API server reads as a field that was left out.
    pub fn is_null(&self) -> bool {
        self.tree == Tree::Null
    }

    /// What it is, with its article, for messages.
    pub fn article(&self) -> &'static str {
        match self.tree {
            Tree::Null => "nothing",
            Tree::Bool(_) => "a boolean",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a string",
            Tree::List(_) => "a list",
            Tree::Map(_) => "an object",
        }
    }

    /// The value without lines. Fields that are null are left out; of a key that stands twice the last one counts.
    pub fn json(&self) -> Value {
        match &self.tree {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Number(value) => Value::Number(value.clone()),
            Tree::Text(value) => Value::String(value.clone()),
            Tree::List(values) => Value::Array(values.iter().map(Self::json).collect()),
            Tree::Map(entries) => Value::Object(object(entries)),
        }
    }

    /// The tree of a value that has no lines: all are `line`.
    pub fn of_json(value: &Value, line: u64) -> Self {
        let tree = match value {
            Value::Null => Tree::Null,
            Value::Bool(value) => Tree::Bool(*value),
            Value::Number(value) => Tree::Number(value.clone()),
            Value::String(value) => Tree::Text(value.clone()),
            Value::Array(values) => Tree::List(values.iter().map(|value| Self::of_json(value, line)).collect()),
            Value::Object(fields) => Tree::Map(
                fields
                    .iter()
                    .map(|(key, value)| Entry { key: key.clone(), line, node: Self::of_json(value, line) })
                    .collect(),
            ),
        };
        Self { line, tree }
    }

    fn shift(&mut self, lines: u64) {
        self.line += lines;
        match &mut self.tree {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {}
            Tree::List(values) => values.iter_mut().for_each(|value| value.shift(lines)),
            Tree::Map(entries) => entries.iter_mut().for_each(|entry| {
                entry.line += lines;
                entry.node.shift(lines);
            }),
        }
    }
}

fn object(entries: &[Entry]) -> Map<String, Value> {
    let mut fields = Map::new();
    for entry in entries {
        if entry.node.is_null() {
            fields.remove(&entry.key);
        } else {
            fields.insert(entry.key.clone(), entry.node.json());
        }
    }
    fields
}

fn read(piece: &Piece<'_>) -> Result<Option<Node>, SyntaxError> {
    if let Some((at, character)) = forbidden(piece.text) {
        let before = piece.text.get(..at).unwrap_or_default();
        let lines = lines(before).filter(|line| line.ends_with(BREAKS)).count();
        return Err(SyntaxError { line: piece.lines_before + lines as u64 + 1, what: forbidden_words(character) });
    }
    let nodes: Vec<Node> = serde_saphyr::from_multiple_with_options(piece.text, options())
        .map_err(|error| syntax_error(&error, piece.lines_before))?;
    let mut nodes = nodes.into_iter();
    let Some(mut node) = nodes.next() else { return Ok(None) };
    if nodes.next().is_some() {
        let what = "a second document begins without a line `---`".to_owned();
        return Err(SyntaxError { line: piece.lines_before + 1, what });
    }
    node.shift(piece.lines_before);
    Ok((!node.is_null()).then_some(node))
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_anchors: MAX_ANCHORS,
            flow_nesting_limit: MAX_DEPTH,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPLAYED },
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

fn syntax_error(error: &serde_saphyr::Error, lines_before: u64) -> SyntaxError {
    let line = error.location().map_or(1, |location| location.line()).max(1);
    SyntaxError { line: line + lines_before, what: escaped(&words::of(error)) }
}

/// The first character that YAML forbids. Its parsers end a text at some, pass over others, and call others a beginning.
fn forbidden(text: &str) -> Option<(usize, char)> {
    let is_allowed = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    text.char_indices().find(|(_, c)| !is_allowed(*c))
}

fn forbidden_words(character: char) -> String {
    let code = u32::from(character);
    let kind = if character.is_control() { "control character" } else { "character" };
    let escape = if code > 0xff { format!("\\u{code:04x}") } else { format!("\\x{code:02x}") };
    format!("the {kind} U+{code:04X} stands in it: remove it, or write it as `{escape}` in double quotes")
}

// === From events to a tree ===

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Tree>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), tree: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Number::from_f64(value).map(Tree::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Tree::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let node: Node = map.next_value()?;
            entries.push(Entry { line: key.referenced.line(), key: key.value, node });
        }
        Ok(Tree::Map(entries))
    }
}

#[cfg(test)]
mod tests;
