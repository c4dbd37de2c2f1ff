//! Walks over all values of a document. A hostile one has half a million: nothing is made of a value that nobody is told of.

use std::collections::BTreeMap;

use crate::fault::{Faults, join};
use crate::yaml::{Node, Tree};

/// Of how many fields of one document the lines are known: all of a real one.
const MAX_LINES: usize = 2_000;
/// How deep the fields are of which the lines are known: the deepest that a kind has is the fourth.
const MAX_LINE_DEPTH: usize = 6;

/// Where a value stands. It is put into words only when somebody is told of it: a document may have very many values.
#[derive(Clone, Copy)]
pub(super) enum Way<'w> {
    Root(&'w str),
    Key(&'w Self, &'w str),
    Index(&'w Self, usize),
}

impl Way<'_> {
    fn path(self) -> String {
        match self {
            Self::Root(path) => path.to_owned(),
            Self::Key(above, key) => join(&above.path(), key),
            Self::Index(above, index) => format!("{}[{index}]", above.path()),
        }
    }
}

/// Keys that stand twice, anywhere in a document.
pub(super) fn duplicates(node: &Node, way: Way<'_>, faults: &mut Faults) {
    duplicates_here(node, way, faults);
    match &node.tree {
        Tree::Map(entries) => {
            entries.iter().for_each(|entry| duplicates(&entry.node, Way::Key(&way, &entry.key), faults));
        }
        Tree::List(nodes) => {
            nodes.iter().enumerate().for_each(|(index, node)| duplicates(node, Way::Index(&way, index), faults));
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {}
    }
}

/// Keys that stand twice in this mapping.
pub(super) fn duplicates_here(node: &Node, way: Way<'_>, faults: &mut Faults) {
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in node.entries() {
        if faults.is_full() {
            return;
        }
        if let Some(line) = first.get(entry.key.as_str()) {
            let path = Way::Key(&way, &entry.key).path();
            faults.add(entry.line, &path, format!("stands twice, first in line {line}: keep one"));
        } else {
            first.insert(&entry.key, entry.line);
        }
    }
}

/// The line of each field, by its path.
pub(super) fn lines_of(node: &Node) -> BTreeMap<String, u64> {
    let mut lines = BTreeMap::new();
    collect_lines(node, "", MAX_LINE_DEPTH, &mut lines);
    lines
}

fn collect_lines(node: &Node, path: &str, depth: usize, lines: &mut BTreeMap<String, u64>) {
    let mut field = |path: String, line: u64, node: &Node| {
        let has_room = depth > 0 && lines.len() < MAX_LINES;
        if has_room {
            lines.insert(path.clone(), line);
            collect_lines(node, &path, depth - 1, lines);
        }
        has_room
    };
    match &node.tree {
        Tree::Map(entries) => {
            entries.iter().all(|entry| field(join(path, &entry.key), entry.line, &entry.node));
        }
        Tree::List(nodes) => {
            nodes.iter().enumerate().all(|(index, node)| field(format!("{path}[{index}]"), node.line, node));
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {}
    }
}
