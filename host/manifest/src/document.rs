//! From a text to the documents of the three kinds in it, and everything that is wrong with them.
//!
//! What is absent: what a text field may hold, references and conflicts. Those are acceptance's, which sees every
//! document here, refused or not.

mod walk;

use std::collections::BTreeMap;

use kourier_core::id::{Kind, ObjectId, ObjectKey};
use kourier_core::object::{API_VERSION, GROUP};
use kourier_core::rule::{LABEL, NAME, TextRule};
use kourier_core::snapshot::Problem;
use serde::de::{Deserialize as _, DeserializeOwned};
use serde_json::{Value, json};

use crate::document::walk::{Way, duplicates, duplicates_here, lines_of};
use crate::fault::{Fault, Faults, brief, join};
use crate::schema::spec_schema;
use crate::shape;
use crate::yaml::{self, Entry, Node, Tree};

/// How often lists may nest in lists. A list of lists is what `kubectl` takes too; more is nobody's.
const MAX_LISTS: usize = 4;

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// The documents that name an object, in order.
    pub documents: Vec<Document>,
    /// What is wrong with documents that name none.
    pub nameless: Vec<Fault>,
    /// Whether a part of it could not be read at all, so that it is not known what it holds.
    pub broken: bool,
}

/// A document that names an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The object.
    pub id: ObjectId,
    /// The line where it begins; 0 when it comes from the store.
    pub line: u64,
    /// `spec` as written.
    pub written: Value,
    /// The line of each field.
    pub lines: BTreeMap<String, u64>,
    /// What is wrong with it beside the shape of its spec.
    pub around: Vec<Fault>,
    /// What is wrong with the shape of its spec.
    pub shape: Vec<Fault>,
}

/// What is said of a document that had problems when it was stored, when it is not known any more which.
const UNREADABLE: &str = "was stored with problems that cannot be read: it is refused until its file is read again";

/// How many documents of one text are read: a file of 1 MiB that means something has fewer.
const MAX_DOCUMENTS: usize = 10_000;
/// How many faults of documents that name no object are told of one text.
const MAX_NAMELESS: usize = 1_000;

/// Reads a text.
pub fn read(text: &str) -> Content {
    let mut content = Content::default();
    for (index, document) in yaml::documents(text).enumerate() {
        if index == MAX_DOCUMENTS {
            content.broken = true;
            let what = format!("has more than {MAX_DOCUMENTS} documents: split it");
            content.tell([Fault { line: 0, problem: Problem::new("", what) }]);
            break;
        }
        match document {
            Ok(node) => content.take(&node, "", 0),
            Err(error) => {
                content.broken = true;
                let problem = Problem::new("", format!("is not YAML that can be read: {}", error.what));
                content.tell([Fault { line: error.line, problem }]);
            }
        }
    }
    content
}

impl Content {
    /// The content of a text that could not be read at all, for this reason.
    #[must_use]
    pub fn unreadable(what: String) -> Self {
        let fault = Fault { line: 0, problem: Problem::new("", what) };
        Self { nameless: vec![fault], broken: true, ..Self::default() }
    }

    /// Adds what is wrong with documents that name no object: as much as a person may want to read.
    fn tell(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.nameless.extend(faults);
        self.nameless.truncate(MAX_NAMELESS);
    }

    fn take(&mut self, node: &Node, path: &str, depth: usize) {
        let mut faults = Faults::default();
        let field = |name: &str| node.get(name).and_then(Node::text);
        match (field("apiVersion"), field("kind")) {
            (Some("v1"), Some("List")) => return self.take_list(node, path, depth),
            (Some(version), Some(kind)) if is_our_list(version, kind) => return self.take_list(node, path, depth),
            (Some(version), Some("List")) if is_ours(version) => return self.tell([no_such_list(node, path)]),
            _ => {}
        }
        duplicates(node, Way::Root(path), &mut faults);
        let kind = what_it_is(node, path, &mut faults);
        let foreign = field("apiVersion").is_some_and(|version| !is_ours(version));
        let key = if foreign { None } else { metadata(node, path, &mut faults) };
        if let (Some(kind), Some(key)) = (kind, key) {
            self.documents.push(Document::new((kind, key), node, path, faults));
        } else {
            self.tell(faults.0);
        }
    }

    fn take_list(&mut self, node: &Node, path: &str, depth: usize) {
        let mut faults = Faults::default();
        duplicates_here(node, Way::Root(path), &mut faults);
        for entry in node.entries() {
            let at = join(path, &entry.key);
            match (entry.key.as_str(), &entry.node.tree) {
                ("apiVersion" | "kind" | "metadata", _) => {}
                ("items", Tree::Null) => {}
                ("items", Tree::List(_)) if depth == MAX_LISTS => {
                    faults.add(entry.line, &at, format!("nests more than {MAX_LISTS} lists"));
                }
                ("items", Tree::List(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.take(item, &format!("{at}[{index}]"), depth + 1);
                    }
                }
                ("items", _) => faults.add(entry.line, &at, format!("is {}: write a list", entry.node.article())),
                _ => faults.add(entry.line, &at, "is no field of a List: known are items and metadata".to_owned()),
            }
        }
        self.tell(faults.0);
    }
}

impl Document {
    fn new(id: ObjectId, node: &Node, path: &str, mut faults: Faults) -> Self {
        for entry in node.entries() {
            match entry.key.as_str() {
                "apiVersion" | "kind" | "metadata" | "spec" => {}
                "status" => faults.add(entry.line, "status", "a file may not set it, remove it".to_owned()),
                other => {
                    faults.add(entry.line, &join("", other), "is no field: known are metadata and spec".to_owned());
                }
            }
        }
        // Paths are within the document, also of one in a List.
        for fault in &mut faults.0 {
            if let Some(rest) = fault.problem.path.strip_prefix(path) {
                fault.problem.path = rest.trim_start_matches('.').to_owned();
            }
        }
        let lines = lines_of(node);
        let spec = node.get("spec").filter(|spec| !spec.is_null());
        let spec_line = lines.get("spec").copied().unwrap_or(node.line);
        let shape = shape_of(id.0, spec, spec_line, node.line);
        let written = spec.map_or(Value::Null, Node::json);
        Self { id, line: node.line, written, lines, around: faults.0, shape }
    }

    /// A document as the store remembers it, without lines.
    pub fn remembered(id: ObjectId, stored: &Value) -> Self {
        let written = stored["spec"].clone();
        let around: Vec<Problem> = match stored.get("around").map(Vec::deserialize) {
            None => Vec::new(),
            Some(Ok(problems)) => problems,
            Some(Err(_)) => vec![Problem::new("", UNREADABLE)],
        };
        let around = around.into_iter().map(|problem| Fault { line: 0, problem }).collect();
        let node = Node::of_json(&written, 0);
        let shape = shape_of(id.0, (!written.is_null()).then_some(&node), 0, 0);
        Self { id, line: 0, written, lines: BTreeMap::new(), around, shape }
    }

    /// A document as a cluster has it. Its schema pruned what it does not know, and may be older than this program.
    pub fn stored_in_cluster(id: ObjectId, spec: &Value) -> Self {
        Self::remembered(id, &json!({"spec": spec}))
    }

    /// What the store remembers: a change of it is a new generation, a change of comments or order is not. `twice` says
    /// whether the object stands more than once.
    pub fn stored(&self, twice: bool) -> Value {
        let mut around: Vec<Problem> = self.around.iter().map(|fault| fault.problem.clone()).collect();
        if twice {
            around.push(Problem::new("", "stood more than once in the folder"));
        }
        if around.is_empty() { json!({"spec": self.written}) } else { json!({"spec": self.written, "around": around}) }
    }

    /// Everything that is wrong with it.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.around.iter().chain(&self.shape)
    }

    /// The spec.
    ///
    /// # Errors
    ///
    /// What is wrong with the document.
    pub fn spec<S: DeserializeOwned>(&self) -> Result<S, Vec<Problem>> {
        let problems: Vec<Problem> = self.faults().map(|fault| fault.problem.clone()).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let unreadable = |_| vec![Problem::new("spec", format!("cannot be read as the spec of {}", self.id.0))];
        serde_json::from_value(self.written.clone()).map_err(unreadable)
    }
}

fn shape_of(kind: Kind, spec: Option<&Node>, spec_line: u64, line: u64) -> Vec<Fault> {
    let mut faults = Faults::default();
    match spec {
        Some(spec) => shape::check(spec_schema(kind), spec, "spec", spec_line, &mut faults),
        None => faults.add(line, "spec", "is missing".to_owned()),
    }
    faults.0
}

fn is_our_list(version: &str, kind: &str) -> bool {
    version == API_VERSION && Kind::ALL.iter().any(|known| kind.strip_suffix("List") == Some(known.as_str()))
}

/// The fault of a `kind: List` of our own group: only the core API has one, of objects of any kinds.
fn no_such_list(node: &Node, path: &str) -> Fault {
    let entry = node.entries().iter().rev().find(|entry| entry.key == "apiVersion");
    let what = "has no kind List: write v1, or each object as a document of its own, with a line `---` between them";
    Fault { line: entry.map_or(node.line, |entry| entry.line), problem: Problem::new(join(path, "apiVersion"), what) }
}

fn is_ours(version: &str) -> bool {
    version.split_once('/').is_some_and(|(group, _)| group == GROUP)
}

/// The kind of a document. One of our group in another version still names its object.
fn what_it_is(node: &Node, path: &str, faults: &mut Faults) -> Option<Kind> {
    if !matches!(node.tree, Tree::Map(_)) {
        let what = format!("is {}: write an object with apiVersion, kind, metadata and spec", node.article());
        faults.add(node.line, path, what);
        return None;
    }
    let version = required_text(node, path, "apiVersion", &format!("write {API_VERSION}"), faults);
    let right = || format!("write {}", Kind::ALL.map(Kind::as_str).join(" or "));
    let kind = required_text(node, path, "kind", &right(), faults);
    let (version, version_line) = version?;
    if !is_ours(version) {
        let what = format!("{:?} is not read here: known is {API_VERSION}", brief(version));
        faults.add(version_line, &join(path, "apiVersion"), what);
        return None;
    }
    if version != API_VERSION {
        let what = format!("{:?} is another version: write {API_VERSION}", brief(version));
        faults.add(version_line, &join(path, "apiVersion"), what);
    }
    let (kind, kind_line) = kind?;
    let known = Kind::ALL.into_iter().find(|known| kind == known.as_str());
    if known.is_none() {
        faults.add(kind_line, &join(path, "kind"), format!("{:?} is not read here: {}", brief(kind), right()));
    }
    known
}

/// The text of a required field, and its line.
fn required_text<'n>(
    node: &'n Node,
    path: &str,
    name: &str,
    right: &str,
    faults: &mut Faults,
) -> Option<(&'n str, u64)> {
    let entry = node.entries().iter().rev().find(|entry| entry.key == name && !entry.node.is_null());
    match entry {
        None => faults.add(node.line, &join(path, name), format!("is missing: {right}")),
        Some(Entry { node: Node { tree: Tree::Text(text), .. }, line, .. }) => return Some((text, *line)),
        Some(entry) => faults.add(entry.line, &join(path, name), format!("is {}: {right}", entry.node.article())),
    }
    None
}

/// The fields of `metadata` that a file may have and that mean nothing here: identity is the store's to say.
const IGNORED: [&str; 9] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

fn metadata(node: &Node, path: &str, faults: &mut Faults) -> Option<ObjectKey> {
    if !matches!(node.tree, Tree::Map(_)) {
        return None;
    }
    let at = join(path, "metadata");
    let entry = node.entries().iter().rev().find(|entry| entry.key == "metadata");
    let Some(Entry { node: metadata, .. }) = entry.filter(|entry| matches!(entry.node.tree, Tree::Map(_))) else {
        let line = entry.map_or(node.line, |entry| entry.line);
        faults.add(line, &at, "has to be an object with a name and a namespace".to_owned());
        return None;
    };
    for entry in metadata.entries() {
        match entry.key.as_str() {
            "name" | "namespace" => {}
            "labels" | "annotations" => strings(entry, &at, faults),
            known if IGNORED.contains(&known) => {}
            other => {
                let what = "is no field of metadata: write name, namespace, labels or annotations".to_owned();
                faults.add(entry.line, &join(&at, other), what);
            }
        }
    }
    let mut part = |name: &str, rule: &TextRule| {
        let (text, line) = required_text(metadata, &at, name, &format!("write the object's {name}"), faults)?;
        match rule.fault(text) {
            Some(what) => faults.add(line, &join(&at, name), what),
            None => return Some(text),
        }
        None
    };
    let name = part("name", &NAME);
    let namespace = part("namespace", &LABEL);
    Some(ObjectKey::new(namespace?, name?))
}

/// `labels` and `annotations`: nothing is made of them, but an API server would refuse what is not a string.
fn strings(entry: &Entry, path: &str, faults: &mut Faults) {
    let at = join(path, &entry.key);
    let schema = json!({"type": "object", "additionalProperties": {"type": "string"}});
    if !entry.node.is_null() {
        shape::check(&schema, &entry.node, &at, entry.line, faults);
    }
}

#[cfg(test)]
mod tests;
