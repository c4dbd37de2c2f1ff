//! The schemas, rule by rule, each on the API server itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::rows::{self, Row};
use crate::{Place, place};

/// The kinds, by what one calls their CRDs.
const CRDS: [(&str, &str); 3] = [
    ("Binding", "bindings.agentkourier.io"),
    ("AgentBackend", "agentbackends.agentkourier.io"),
    ("ChatConnection", "chatconnections.agentkourier.io"),
];

/// Keywords that refuse a value.
const KEYWORDS: [&str; 8] = [
    "enum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minLength",
    "pattern",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
];

#[test]
fn the_api_server_establishes_the_three_definitions_and_finds_nothing_wrong_with_them() {
    let Some(place) = place("established") else { return };
    for (_, name) in CRDS {
        let conditions: Value = serde_json::from_str(&place.ok(&["get", "crd", name, "--output=json"])).unwrap();
        let mut said: Vec<String> = Vec::new();
        for condition in conditions.pointer("/status/conditions").and_then(Value::as_array).unwrap() {
            said.push(format!("{}={}", condition["type"], condition["status"]).replace('"', ""));
        }
        said.sort();
        // NonStructuralSchema would be here, had it one.
        assert_eq!(said, ["Established=True", "NamesAccepted=True"], "{name}");
    }
}

#[test]
fn each_rule_takes_what_is_right_and_refuses_what_is_wrong_with_its_own_words() {
    let Some(place) = place("rules") else { return };
    let rows = rows::all();
    let (said, refusals) = create(&place, "--validate=ignore", rows.iter().enumerate().map(object));
    let mut wrong = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let taken = said.lines().any(|line| line.contains(&format!("/row-{number} created")));
        let refusal = refusals.lines().find(|line| line.contains(&format!("\"row-{number}\""))).unwrap_or_default();
        let right = match row.refused_by {
            None => taken,
            Some(keyword) => !taken && refusal.contains(&field(row)) && refusal.contains(words(keyword)),
        };
        if !right {
            wrong.push(format!("{} {} {:?} {}: {refusal}", row.kind, row.at, row.refused_by, shorten(&row.value)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn no_rule_of_a_schema_goes_untried() {
    let Some(place) = place("untried") else { return };
    let rows = rows::all();
    let tried: BTreeSet<_> =
        rows.iter().filter_map(|row| Some((row.kind, row.at.clone(), row.refused_by?.to_owned()))).collect();
    for (kind, name) in CRDS {
        let crd: Value = serde_json::from_str(&place.ok(&["get", "crd", name, "--output=json"])).unwrap();
        let spec = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").unwrap();
        let mut rules = BTreeSet::new();
        collect(spec, "", &mut |at, keyword| {
            rules.insert((kind, at, keyword));
        });
        assert!(rules.len() > 10, "{kind}: the schema could not be read: {rules:?}");
        let untried: Vec<_> = rules.difference(&tried).collect();
        assert!(untried.is_empty(), "{untried:?}");
    }
}

#[test]
fn a_field_that_does_not_exist_is_refused_by_kubectl_as_it_is_by_default() {
    let Some(place) = place("unknown fields") else { return };
    let mut spec = rows::full("Binding");
    spec["chat"]["chanel"] = json!("C1");
    let (said, refusals) = create(&place, "--validate=true", [whole("Binding", "row", &spec)]);
    assert_eq!(said, "");
    assert!(refusals.contains("unknown field \"chanel\""), "{refusals}");
}

/// What kubectl says and complains of when all objects are created, without keeping any. `validate` is for kubectl's own
/// look at the fields, which comes before the API server's.
fn create(place: &Place, validate: &str, objects: impl IntoIterator<Item = Value>) -> (String, String) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects.into_iter().collect::<Vec<_>>()});
    let args = ["create", validate, "--dry-run=server", "--namespace", &place.namespace, "--filename=-"];
    let output = place.kubectl().run_with(&args, &list.to_string()).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// The object of a row: the full one of its kind, with the row's value put in.
fn object((number, row): (usize, &Row)) -> Value {
    let mut spec = rows::full(row.kind);
    let (at, value) = match row.at.strip_suffix("/*") {
        Some("/settings") => ("/settings", json!({"key": row.value})),
        Some(list) => (list, json!([row.value])),
        None => (row.at.as_str(), row.value.clone()),
    };
    let (parent, name) = at.rsplit_once('/').unwrap();
    let parent = spec.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Value::Null => drop(parent.remove(name)),
        value => drop(parent.insert(name.to_owned(), value)),
    }
    whole(row.kind, &format!("row-{number}"), &spec)
}

fn whole(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// The place of a row as the API server spells it.
fn field(row: &Row) -> String {
    let at = row.at.replace("/settings/*", "/settings/key").replace("/*", "[0]");
    format!("spec{}", at.replace('/', "."))
}

/// How a refusal by a keyword is worded.
fn words(keyword: &str) -> &'static str {
    match keyword {
        "enum" => "Unsupported value",
        "maxItems" | "maxProperties" => "Too many",
        "maxLength" => "Too long",
        "minLength" => "at least 1 chars long",
        "pattern" => "should match",
        "required" => "Required value",
        "type" => "must be of type",
        "x-kubernetes-list-type" => "Duplicate value",
        _ => "Invalid value",
    }
}

fn collect(schema: &Value, at: &str, found: &mut impl FnMut(String, String)) {
    for keyword in KEYWORDS {
        let is_rule = match keyword {
            "minLength" => schema[keyword].as_u64().is_some_and(|length| length > 0),
            _ => !schema[keyword].is_null(),
        };
        if is_rule {
            found(at.to_owned(), keyword.to_owned());
        }
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        found(format!("{at}/{}", required.as_str().unwrap()), "required".to_owned());
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        collect(inner, &format!("{at}/{name}"), found);
    }
    for entry in ["items", "additionalProperties"] {
        if !schema[entry].is_null() {
            collect(&schema[entry], &format!("{at}/*"), found);
        }
    }
}

fn shorten(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
