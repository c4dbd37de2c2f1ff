//! How single values are read and shown: durations, sizes, counts, texts, lists.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use kourier_manifest::yaml::{Node, Tree};

use crate::duration;

/// A duration between two others, written as `250ms`, `15s`, `5m`, `1h`.
pub(super) fn duration(node: &Node, least: Duration, most: Duration) -> Result<Duration, String> {
    let right = || format!("write a duration from {} to {}, such as 15s", duration::show(least), duration::show(most));
    let read = node.text().and_then(duration::parse).ok_or_else(|| format!("is no duration: {}", right()))?;
    if read < least || read > most { Err(format!("is out of range: {}", right())) } else { Ok(read) }
}

/// A number of bytes between two others, written as `1048576`, `512Ki`, `1Mi`.
pub(super) fn bytes(node: &Node, least: usize, most: usize) -> Result<usize, String> {
    let right = || format!("write a number of bytes from {} to {}, such as 512Ki", show_bytes(least), show_bytes(most));
    let read = match &node.tree {
        Tree::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        Tree::Text(text) => parse_bytes(text),
        Tree::Null | Tree::Bool(_) | Tree::List(_) | Tree::Map(_) => None,
    };
    let read = read.ok_or_else(|| format!("is no size: {}", right()))?;
    if read < least || read > most { Err(format!("is out of range: {}", right())) } else { Ok(read) }
}

fn parse_bytes(text: &str) -> Option<usize> {
    let (number, factor) = match (text.strip_suffix("Ki"), text.strip_suffix("Mi")) {
        (Some(number), _) => (number, 1 << 10),
        (_, Some(number)) => (number, 1 << 20),
        (None, None) => (text, 1),
    };
    number.parse::<usize>().ok()?.checked_mul(factor)
}

pub(super) fn show_bytes(bytes: usize) -> String {
    match (bytes % (1 << 20), bytes % (1 << 10)) {
        (0, _) if bytes > 0 => format!("{}Mi", bytes >> 20),
        (_, 0) if bytes > 0 => format!("{}Ki", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// A whole number between two others.
pub(super) fn count<N: TryFrom<u64> + PartialOrd + Copy + ToString>(
    node: &Node,
    least: N,
    most: N,
) -> Result<N, String> {
    let right = || format!("write a whole number from {} to {}", least.to_string(), most.to_string());
    let number = match &node.tree {
        Tree::Number(number) => number.as_u64(),
        Tree::Null | Tree::Bool(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_) => None,
    };
    let read = number.and_then(|number| N::try_from(number).ok());
    read.filter(|read| *read >= least && *read <= most)
        .ok_or_else(|| format!("is {}: {}", if number.is_some() { "out of range" } else { node.article() }, right()))
}

/// `true` or `false`.
pub(super) fn boolean(node: &Node) -> Result<bool, String> {
    match node.tree {
        Tree::Bool(value) => Ok(value),
        Tree::Null | Tree::Number(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_) => {
            Err(format!("is {}: write true or false", node.article()))
        }
    }
}

/// A string.
pub(super) fn text(node: &Node) -> Result<&str, String> {
    node.text().ok_or_else(|| format!("is {}: write a string, in quotes if need be", node.article()))
}

/// A path, which may not be empty.
pub(super) fn path(node: &Node) -> Result<PathBuf, String> {
    match text(node)? {
        "" => Err("is empty: write a path".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
}

/// One of a few words.
pub(super) fn word<T: Copy>(node: &Node, known: &[(&str, T)]) -> Result<T, String> {
    let found = node.text().and_then(|text| known.iter().find(|(word, _)| *word == text));
    let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
    found.map(|(_, value)| *value).ok_or_else(|| format!("is not known: write {}", words.join(" or ")))
}

/// Anything that a string can be parsed as; `right` ends the sentence that begins with `write`.
pub(super) fn parsed<T: FromStr>(node: &Node, right: &str) -> Result<T, String> {
    text(node)?.parse().map_err(|_| format!("cannot be read: write {right}"))
}

/// A list, each entry read by `entry`; the first entry that is wrong is named by its place.
pub(super) fn list<T>(node: &Node, entry: impl Fn(&Node) -> Result<T, String>) -> Result<Vec<T>, String> {
    let Tree::List(nodes) = &node.tree else {
        return Err(format!("is {}: write a list, such as []", node.article()));
    };
    let mut values = Vec::new();
    let mut faults = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        match entry(node) {
            Ok(value) => values.push(value),
            Err(what) => faults.push(format!("entry {} {what}", index + 1)),
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(faults.join("; ")) }
}

/// A list of what is read from strings.
pub(super) fn show_list<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(|value| show_text(&value.to_string())).collect();
    format!("[{}]", values.join(", "))
}

/// A text as a YAML scalar: in quotes unless it is plainly a string.
pub(super) fn show_text(text: &str) -> String {
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || "/.".contains(c));
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let word = ["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_ascii_lowercase().as_str());
    let number = text.parse::<f64>().is_ok() || text.trim_start_matches('.').is_empty();
    if starts_plain && plain && !word && !number { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
