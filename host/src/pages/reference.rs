//! The Binding reference: every field of the three kinds, from the schemas.

use std::fmt::Write;

use kourier_core::id::Kind;
use serde_json::{Map, Value};

use crate::crd;

#[test]
fn the_reference_has_every_field_of_the_three_kinds() {
    let mut parts = Kind::ALL.map(|kind| (kind.as_str(), table(kind))).to_vec();
    parts.push(("platforms", platforms()));
    crate::committed::check_parts("docs/binding-reference.md", &parts);
}

/// What the built-in probes say of their platforms.
fn platforms() -> String {
    let mut table = String::from(
        "| Platform | `spec.url` when it is not given | `spec.chat.channel` | `spec.settings` |\n|---|---|---|---|\n",
    );
    for (name, platform) in super::rules().platforms {
        let url = platform.default_url.as_ref().map_or_else(|| "required".to_owned(), |url| code(url.as_str()));
        let settings = platform.settings.iter().map(|(key, setting)| {
            let needed = if setting.required { "required" } else { "optional" };
            let pattern = setting.pattern.as_ref().map(|pattern| format!(", {}", code(pattern.as_str())));
            format!("`{key}`, {needed}{}: {}", pattern.unwrap_or_default(), cell(&setting.summary))
        });
        let settings: Vec<String> = settings.collect();
        let channel = code(platform.channel_pattern.as_str());
        let _ = writeln!(table, "| `{name}` | {url} | {channel} | {} |", settings.join("; "));
    }
    table
}

fn table(kind: Kind) -> String {
    let definition = crd::definition(kind);
    let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema/properties").unwrap();
    let mut table = String::from("| Field | Type | Default | Rule | Meaning |\n|---|---|---|---|---|\n");
    row(&mut table, "spec", &schema["spec"], true);
    if let Some(status) = schema.get("status") {
        row(&mut table, "status", status, false);
    }
    table
}

/// The row of a field, and of the fields in it.
fn row(table: &mut String, path: &str, schema: &Value, required: bool) {
    let (meaning, default) = meaning_and_default(path, schema);
    let default = if required { "required".to_owned() } else { default };
    if !meaning.is_empty() && path != "spec" {
        let (kind, rule) = (kind(schema), rule(schema));
        let _ = writeln!(table, "| `{path}` | {kind} | {default} | {rule} | {meaning} |");
    }
    let needed: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let empty = Map::new();
    for (name, inner) in schema["properties"].as_object().unwrap_or(&empty) {
        row(table, &format!("{path}.{name}"), inner, needed.contains(&name.as_str()));
    }
    if let Some(items) = schema.get("items").filter(|items| items.get("properties").is_some()) {
        row(table, &format!("{path}[]"), items, false);
    }
}

/// What a field means, and what counts when it is not given: the clause of the description that says so.
fn meaning_and_default(path: &str, schema: &Value) -> (String, String) {
    const WHEN: &str = " when it is not given";
    let text = schema["description"].as_str().map_or_else(|| undescribed(path), ToOwned::to_owned);
    let default = schema.get("default").map(|value| code(&value.to_string()));
    let found = text.split_once("; ").and_then(|(before, after)| Some((before, after.split_once(WHEN)?)));
    let Some((before, (clause, after))) = found else {
        return (cell(&text), default.unwrap_or_else(|| "none".to_owned()));
    };
    // What follows belongs to the default after a comma, and to the meaning after a dot.
    let (of_default, of_meaning) = match after.strip_prefix(", ") {
        Some(more) => (format!(", {}", more.trim_end_matches('.')), ""),
        None => (String::new(), after.trim_start_matches('.')),
    };
    let default = format!("{clause}{of_default}");
    let default = if default.contains(' ') { cell(&default) } else { code(&default) };
    (cell(&format!("{before}.{of_meaning}")), default)
}

/// Of what the CRD leaves without a word.
fn undescribed(path: &str) -> String {
    match path {
        "status.conditions[].type" => "Which condition it is.".to_owned(),
        "status.conditions[].status" => "Whether it is so; Unknown where that could not be told.".to_owned(),
        // It says nothing of its own: what is in it does.
        "status.conditions[]" => String::new(),
        path => panic!("{path} has no description"),
    }
}

fn kind(schema: &Value) -> String {
    match schema["type"].as_str().unwrap() {
        "array" => format!("list of {}", kind(&schema["items"])),
        "object" if schema.get("additionalProperties").is_some() => "map of strings".to_owned(),
        "string" if schema["format"] == "date-time" => "time".to_owned(),
        kind => kind.to_owned(),
    }
}

/// What a value has to be like, in one cell.
fn rule(schema: &Value) -> String {
    let mut rules = Vec::new();
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(code).collect();
        rules.push(format!("one of {}", words.join(", ")));
    }
    let number = |name: &str| schema[name].as_u64();
    match (number("minLength"), number("maxLength")) {
        (Some(least), Some(most)) => rules.push(format!("{least} to {most} characters")),
        (None, Some(most)) => rules.push(format!("at most {most} characters")),
        (_, None) => {}
    }
    rules.extend(number("maxItems").map(|most| format!("at most {most} entries")));
    rules.extend(number("maxProperties").map(|most| format!("at most {most} keys")));
    rules.extend(schema["minimum"].as_i64().map(|least| format!("at least {least}")));
    rules.extend(schema["pattern"].as_str().map(code));
    if schema["x-kubernetes-list-type"] == "set" {
        rules.push("no two the same".to_owned());
    }
    let within = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    rules.extend(within.filter_map(|rule| rule["message"].as_str()).map(cell));
    for (what, inner) in [("each entry", "items"), ("each value", "additionalProperties")] {
        let inner = schema.get(inner).map(rule).filter(|rule| !rule.is_empty());
        rules.extend(inner.map(|rule| format!("{what}: {rule}")));
    }
    rules.join("; ")
}

fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*")
}
