//! The schemas of the three kinds' specs, generated from the types in core.
//!
//! They are structural, as an API server wants them: no references, no nullable fields.

use std::sync::LazyLock;

use kourier_core::id::Kind;
use kourier_core::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The structural schema of `spec`.
#[must_use]
pub fn spec_schema(kind: Kind) -> &'static Value {
    static BINDING: LazyLock<Value> = LazyLock::new(generate::<BindingSpec>);
    static BACKEND: LazyLock<Value> = LazyLock::new(generate::<AgentBackendSpec>);
    static CONNECTION: LazyLock<Value> = LazyLock::new(generate::<ChatConnectionSpec>);
    match kind {
        Kind::Binding => &BINDING,
        Kind::AgentBackend => &BACKEND,
        Kind::ChatConnection => &CONNECTION,
    }
}

fn generate<S: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<S>().to_value();
    make_structural(&mut schema);
    schema
}

/// Rewrites what JSON Schema can say and a structural schema cannot, from the leaves up.
fn make_structural(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(make_structural);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(key) {
            make_structural(inner);
        }
    }
    for key in ["title", "default"] {
        fields.remove(key);
    }
    drop_null(fields);
    join_constants(fields);
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = description.replace('\n', " ").replace('`', "");
    }
}

/// A field that may be left out is not also one that may be null.
fn drop_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(mut choices)) = fields.remove("anyOf") else { return };
    choices.retain(|choice| choice["type"] != "null");
    if let [Value::Object(only)] = choices.as_mut_slice() {
        make_structural_choice(fields, std::mem::take(only));
    }
}

fn make_structural_choice(fields: &mut Map<String, Value>, only: Map<String, Value>) {
    let mut inner = Value::Object(only);
    make_structural(&mut inner);
    if let Value::Object(inner) = inner {
        for (key, value) in inner {
            fields.entry(key).or_insert(value);
        }
    }
}

/// An enumeration of words, each with its documentation, is an `enum` with one description.
fn join_constants(fields: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = fields.remove("oneOf") else { return };
    let words: Vec<Value> = choices.iter().filter_map(|choice| choice.get("const").cloned()).collect();
    fields.insert("type".to_owned(), json!("string"));
    fields.insert("enum".to_owned(), words.into());
}
