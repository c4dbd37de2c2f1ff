//! Whether a spec has the shape of its kind: the fields that the schema knows, the required ones, each of its type.
//!
//! Every problem is told, not the first alone. What a text may hold is not looked at here: that is
//! [`kourier_core::check`]'s, which judges every spec, whatever it was read from.

use serde_json::Value;

use crate::fault::{Faults, join};
use crate::yaml::{Node, Tree};

/// Judges `node`, which stands at `path` in line `line`, by a structural schema.
pub(super) fn check(schema: &Value, node: &Node, path: &str, line: u64, faults: &mut Faults) {
    match (schema["type"].as_str().unwrap_or_default(), &node.tree) {
        ("object", Tree::Map(_)) => object(schema, node, path, line, faults),
        ("array", Tree::List(nodes)) => {
            for (index, node) in nodes.iter().enumerate() {
                if faults.is_full() {
                    return;
                }
                check(&schema["items"], node, &format!("{path}[{index}]"), node.line, faults);
            }
        }
        ("string", Tree::Text(text)) => word(schema, text, path, line, faults),
        ("string", Tree::Bool(_) | Tree::Number(_)) => {
            faults.add(line, path, format!("is {}: write a string, in quotes", node.article()));
        }
        ("string", _) => faults.add(line, path, format!("is {}: write a string", node.article())),
        ("array", _) => faults.add(line, path, format!("is {}: write a list", node.article())),
        _ => faults.add(line, path, format!("is {}: write fields and values", node.article())),
    }
}

fn object(schema: &Value, node: &Node, path: &str, line: u64, faults: &mut Faults) {
    let known = schema.get("properties").and_then(Value::as_object);
    for entry in node.entries().iter().filter(|entry| !entry.node.is_null()) {
        if faults.is_full() {
            return;
        }
        let path = join(path, &entry.key);
        match known.and_then(|known| known.get(&entry.key)).or_else(|| schema.get("additionalProperties")) {
            Some(schema) => check(schema, &entry.node, &path, entry.line, faults),
            None => {
                let known: Vec<&str> = known.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                faults.add(entry.line, &path, format!("is no field of this kind: known here are {}", known.join(", ")));
            }
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if node.get(name).is_none_or(Node::is_null) {
            faults.add(line, &join(path, name), "is missing".to_owned());
        }
    }
}

fn word(schema: &Value, text: &str, path: &str, line: u64, faults: &mut Faults) {
    let Some(words) = schema.get("enum").and_then(Value::as_array) else { return };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    if !words.contains(&text) {
        faults.add(line, path, format!("is not known: write {}", words.join(" or ")));
    }
}
