//! The broker's checks against the schemas'.

use schemars::{JsonSchema, schema_for};

use super::*;

/// Whether a schema takes a value, as far as our schemas go: types, lengths, patterns, enumerations and items.
fn takes(root: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        return takes(root, root.pointer(reference.trim_start_matches('#')).unwrap(), value);
    }
    if let Some(any) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return any.iter().any(|one| takes(root, one, value));
    }
    let within = |length: usize, min: &str, max: &str| {
        let bound = |name: &str| schema[name].as_u64().map(|bound| usize::try_from(bound).unwrap());
        bound(min).is_none_or(|min| length >= min) && bound(max).is_none_or(|max| length <= max)
    };
    match value {
        Value::String(text) => {
            let matches = |pattern| Regex::new(pattern).unwrap().is_match(text);
            within(text.chars().count(), "minLength", "maxLength") && schema["pattern"].as_str().is_none_or(matches)
        }
        Value::Array(items) => {
            within(items.len(), "minItems", "maxItems") && items.iter().all(|item| takes(root, &schema["items"], item))
        }
        Value::Object(members) => members.iter().all(|(name, member)| takes(root, &schema["properties"][name], member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The paths of all texts in a value.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                texts(item, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                texts(member, &format!("{path}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts each of some texts in the place of each text of a whole spec.
fn check<S: DeserializeOwned + JsonSchema>(whole: &Value, problems: impl Fn(&S) -> Vec<Problem>) {
    let schema = Value::from(schema_for!(S));
    assert!(takes(&schema, &schema, whole) && problems(&read(whole.clone())).is_empty(), "{whole}");
    let mut places = Vec::new();
    texts(whole, "", &mut places);
    let long = "a".repeat(3000);
    let mut refused = 0;
    for place in &places {
        for text in ["", " ", "a b", "A", "-", "*", "a/", "/a/", "http://", "http://u@h.example", "ä", "a\u{b}", &long]
        {
            let mut changed = whole.clone();
            *changed.pointer_mut(place).unwrap() = json!(text);
            let Ok(spec) = serde_json::from_value::<S>(changed.clone()) else { continue };
            if !takes(&schema, &schema, &changed) {
                refused += 1;
                assert!(!problems(&spec).is_empty(), "{place} may not be {text:?}");
            }
        }
    }
    assert!(refused > places.len(), "the schema has lost its rules");
}

#[test]
fn what_the_schemas_refuse_is_refused() {
    let reference = json!({"name": "a", "namespace": "b"});
    check::<BindingSpec>(
        &json!({"agent": {"backendRef": reference, "path": "/a"}, "chat": {"connectionRef": reference, "channel": "C1"}}),
        binding,
    );
    let secret = json!({"name": "a", "key": "b"});
    let tls = json!({"caSecretRef": secret});
    check::<AgentBackendSpec>(
        &json!({
            "url": "http://h.example", "cardPath": "/a", "tls": tls, "allowedNamespaces": ["a", "b"],
            "auth": {"scheme": "header", "header": "x-key", "secretRef": secret},
        }),
        |spec| backend(spec, &rules()),
    );
    check::<ChatConnectionSpec>(
        &json!({
            "platform": "slack", "broker": "b", "url": "http://h.example", "secretRef": secret, "tls": tls,
            "allowedNamespaces": ["a", "b"],
        }),
        |spec| connection(spec, &rules()),
    );
}
