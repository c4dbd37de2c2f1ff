//! A manifest of any text is read in bounded time; every problem has its line; no document hides another; JSON means what
//! it means elsewhere.
#![no_main]

use fuzz::{assert_is_line, bounded};
use kourier_core::id::{Kind, ObjectKey};
use kourier_core::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec};
use kourier_core::rule::{LABEL, NAME};
use kourier_core::snapshot::Problem;
use kourier_manifest::document::{self, Content, Document};
use kourier_manifest::fault::Fault;
use kourier_manifest::yaml;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// A document that names an object and is well.
const GOOD: &str = "\
apiVersion: agentkourier.io/v1alpha1
kind: Binding
metadata: {namespace: fuzz-good, name: fuzz-good}
spec:
  agent: {backendRef: {name: agents}}
  chat: {connectionRef: {name: slack}, channel: C1}
";

/// How deep values may nest: the reader's own limit, said a second time.
const DEPTH: usize = 32;
/// How many characters a key may have, as it is spelt: YAML's own limit.
const KEY: usize = 1024;

fuzz_target!(|text: &str| {
    let content = bounded(|| document::read(text));
    content.nameless.iter().for_each(|fault| is_told_well(text, fault));
    for document in &content.documents {
        document.faults().for_each(|fault| is_told_well(text, fault));
        names_an_object(text, document);
        comes_back_from_the_store(document);
        is_a_spec_or_has_problems(document);
    }
    hides_no_other(text, &content);
    moves_with_its_lines(text, &content);
    means_what_json_means(text);
});

fn is_told_well(text: &str, fault: &Fault) {
    let lines = lines(text);
    let whole = fault.line == 0 && fault.problem.to_string().contains("more than 10000 documents");
    assert!(whole || (1..=lines).contains(&fault.line), "line {} of {lines}: {}", fault.line, fault.problem);
    assert_is_line(&fault.problem.path, 8 << 10);
    assert!(!fault.problem.what.is_empty());
    assert!(fault.problem.what.len() < 2 << 10, "{}", fault.problem);
}

/// How many lines a text has, each ended by a line feed, a carriage return, or both.
fn lines(text: &str) -> u64 {
    text.replace("\r\n", "\n").split(['\n', '\r']).count() as u64
}

fn names_an_object(text: &str, document: &Document) {
    let (_, ObjectKey { namespace, name }) = &document.id;
    assert_eq!((LABEL.fault(namespace), NAME.fault(name)), (None, None));
    assert!((1..=lines(text)).contains(&document.line));
    assert!(document.lines.values().all(|line| *line >= document.line), "{:?}", document.lines);
}

/// What has no fault is the spec of its kind, and what has one is none.
fn is_a_spec_or_has_problems(document: &Document) {
    let (is_spec, problems) = match document.id.0 {
        Kind::Binding => told(document.spec::<BindingSpec>()),
        Kind::AgentBackend => told(document.spec::<AgentBackendSpec>()),
        Kind::ChatConnection => told(document.spec::<ChatConnectionSpec>()),
    };
    assert_eq!(
        (is_spec, problems.len()),
        (document.faults().next().is_none(), document.faults().count()),
        "{problems:?}"
    );
}

fn told<S>(spec: Result<S, Vec<Problem>>) -> (bool, Vec<Problem>) {
    (spec.is_ok(), spec.err().unwrap_or_default())
}

fn comes_back_from_the_store(document: &Document) {
    for twice in [false, true] {
        let stored = document.stored(twice);
        let written = stored.to_string();
        let read: Value = serde_json::from_str(&written).expect("what is stored is JSON");
        assert_eq!(Document::remembered(document.id.clone(), &read).stored(false), stored, "{written}");
    }
}

/// A good document before or after any other text is found, with its own lines and without a problem.
fn hides_no_other(text: &str, content: &Content) {
    // Comments and directives belong to the document that follows them.
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').split(['\n', '\r']).collect();
    let is_end =
        |line: &&str| line.strip_prefix("...").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    let mut last = lines.rsplit(is_end).next().into_iter().flatten();
    let is_prologue = last.all(|line| line.trim_matches([' ', '\t']).is_empty() || line.starts_with(['#', '%']));
    if is_prologue {
        return;
    }
    let before = document::read(&format!("{GOOD}---\n{text}"));
    let after = document::read(&format!("{text}\n---\n{GOOD}"));
    for found in [&before, &after] {
        let good: Vec<_> = found.documents.iter().filter(|document| document.id.1.name == "fuzz-good").collect();
        assert!(good.iter().any(|document| document.faults().next().is_none()), "{found:?}");
    }
    // What YAML forbids is seen in a comment that belongs to a document, and not in one that belongs to none. A directive or
    // a byte order mark may stand before a document, and not within one.
    if lines.iter().any(|line| line.starts_with('%'))
        || text.contains(|c: char| c == '\u{feff}' || (c.is_control() && !matches!(c, '\t' | '\n' | '\r')))
    {
        return;
    }
    let lines = GOOD.lines().count() as u64 + 1;
    let moved: Vec<_> = before.documents.iter().skip(1).map(|document| (&document.id, document.line - lines)).collect();
    assert_eq!(moved, content.documents.iter().map(|document| (&document.id, document.line)).collect::<Vec<_>>());
    assert_eq!(before.broken, content.broken);
}

/// With lines of comment before it, a text means the same, that many lines further down.
fn moves_with_its_lines(text: &str, content: &Content) {
    const LINES: u64 = 3;
    if text.contains('\u{feff}') {
        return;
    }
    let moved = document::read(&format!("{}{text}", "# A comment.\n".repeat(3)));
    let told = |content: &Content, by: u64| -> Vec<_> {
        let faults = content.nameless.iter().chain(content.documents.iter().flat_map(Document::faults));
        faults.map(|fault| (fault.line.max(1) + by, fault.problem.path.clone())).collect()
    };
    assert_eq!(told(&moved, 0), told(content, LINES), "{moved:?}");
}

/// JSON is YAML: what a reader of JSON takes means the same here, but for what is refused here.
fn means_what_json_means(text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let mut documents = yaml::documents(text);
    let read = documents.next();
    assert!(documents.next().is_none(), "one value of JSON is several documents");
    match read {
        None => assert!(value.is_null(), "{value} is nothing"),
        Some(Ok(node)) => assert!(is_same(&node.json(), &value), "{value} is read as {}", node.json()),
        Some(Err(error)) => {
            assert!(depth(&value) > DEPTH || has_odd_text(text, &value), "{value} is refused: {error:?}");
        }
    }
}

/// Whether a value is the other, fields that are null left out, numbers by what they are worth.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let theirs: Vec<_> = theirs.iter().filter(|(_, value)| !value.is_null()).collect();
            ours.len() == theirs.len()
                && theirs.iter().all(|(key, theirs)| ours.get(*key).is_some_and(|ours| is_same(ours, theirs)))
        }
        _ => ours == theirs,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// What YAML forbids and JSON does not: a tab that indents, a character that is not to be printed, a long key, a merge key.
fn has_odd_text(text: &str, value: &Value) -> bool {
    text.contains(|c: char| c.is_control() && !"\r\n".contains(c) || "\u{fffe}\u{ffff}\u{feff}".contains(c))
        || longest_key(text) > KEY
        || has_key(value, "<<")
}

/// Characters from the quote before a key to its colon, of the longest.
fn longest_key(json: &str) -> usize {
    let (mut longest, mut start, mut is_within, mut is_escaped) = (0, 0, false, false);
    for (at, c) in json.chars().enumerate() {
        match c {
            '"' if !is_within => (start, is_within) = (at, true),
            '"' if !is_escaped => is_within = false,
            ':' if !is_within => longest = longest.max(at - start),
            _ => {}
        }
        is_escaped = is_within && c == '\\' && !is_escaped;
    }
    longest
}

fn has_key(value: &Value, name: &str) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| has_key(value, name)),
        Value::Object(fields) => fields.iter().any(|(key, value)| key == name || has_key(value, name)),
        _ => false,
    }
}
