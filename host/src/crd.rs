//! The CustomResourceDefinitions of the three kinds, generated from the types in core.
//!
//! Their schemas are structural: no references, no nullable fields. What one object alone can be judged by is in them:
//! lengths, patterns, and CEL where two fields depend on each other.

use kourier_core::id::Kind;
use kourier_core::object::{GROUP, VERSION};
use kourier_core::rule::SETTING_VALUE;
use kourier_kube::api::NOTHING_OBSERVED;
use kourier_manifest::schema::spec_schema;
use serde_json::{Value, json};

/// Settings of a ChatConnection: a component declares a handful.
const MAX_SETTINGS: usize = 64;

/// The definition of one kind, as an API server takes it.
#[must_use]
pub fn definition(kind: Kind) -> Value {
    let names = Names::of(kind);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{GROUP}", kind.plural())},
        "spec": {
            "group": GROUP,
            "names": {
                "categories": ["agentkourier"],
                "kind": kind.as_str(),
                "listKind": format!("{kind}List"),
                "plural": kind.plural(),
                "shortNames": [names.short],
                "singular": names.singular,
            },
            "scope": "Namespaced",
            "versions": [version(kind)],
        },
    })
}

/// The definition of one kind as YAML, as it stands in deploy/crds.
#[must_use]
pub fn yaml(kind: Kind) -> String {
    let options = serde_saphyr::ser_options! { min_fold_chars: usize::MAX, prefer_block_scalars: false };
    // A value of JSON always has a spelling in YAML.
    serde_saphyr::to_string_with_options(&definition(kind), options).unwrap_or_default()
}

/// The file in deploy/crds that holds the definition of one kind.
#[must_use]
pub fn file_name(kind: Kind) -> String {
    format!("{GROUP}_{}.yaml", kind.plural())
}

struct Names {
    singular: &'static str,
    short: &'static str,
}

impl Names {
    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Binding => Self { singular: "binding", short: "akbinding" },
            Kind::AgentBackend => Self { singular: "agentbackend", short: "akbackend" },
            Kind::ChatConnection => Self { singular: "chatconnection", short: "akconnection" },
        }
    }
}

fn version(kind: Kind) -> Value {
    let mut version = json!({
        "name": VERSION,
        "served": true,
        "storage": true,
        "additionalPrinterColumns": columns(kind),
        "schema": {"openAPIV3Schema": object_schema(kind)},
    });
    if kind == Kind::Binding {
        version["subresources"] = json!({"status": {}});
    }
    version
}

fn columns(kind: Kind) -> Value {
    let of_ready = |field: &str| format!(".status.conditions[?(@.type==\"Ready\")].{field}");
    let column = |name: &str, path: &str| json!({"name": name, "type": "string", "jsonPath": path});
    let mut columns = match kind {
        Kind::Binding => vec![
            column("Ready", &of_ready("status")),
            column("Reason", &of_ready("reason")),
            column("Channel", ".spec.chat.channel"),
        ],
        Kind::AgentBackend => vec![column("URL", ".spec.url")],
        Kind::ChatConnection => vec![column("Platform", ".spec.platform"), column("Broker", ".spec.broker")],
    };
    columns.push(json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}));
    columns.into()
}

fn object_schema(kind: Kind) -> Value {
    let mut spec = spec_schema(kind).clone();
    within_one_object(&mut spec);
    let mut schema = json!({
        "description": description(kind),
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
        },
    });
    if kind == Kind::Binding {
        schema["properties"]["status"] = status_schema();
    }
    schema
}

const fn description(kind: Kind) -> &'static str {
    match kind {
        Kind::Binding => "Joins a channel of a ChatConnection to an agent of an AgentBackend.",
        Kind::AgentBackend => "The server of one or more A2A agents.",
        Kind::ChatConnection => "A bot's account on a chat platform.",
    }
}

/// Adds the rules that need two fields, or more than a schema has words for.
fn within_one_object(spec: &mut Value) {
    if let Some(auth) = spec.pointer_mut("/properties/auth") {
        auth["x-kubernetes-validations"] = json!([{
            "rule": "has(self.header) == (self.scheme == 'header')",
            "message": "header is required with scheme header, and only then",
        }]);
    }
    if let Some(names) = spec.pointer_mut("/properties/allowedNamespaces") {
        names["x-kubernetes-list-type"] = json!("set");
        names["x-kubernetes-validations"] = json!([{
            "rule": "self.size() == 1 || !('*' in self)",
            "message": "* stands alone: remove it, or all other entries",
        }]);
    }
    if let Some(settings) = spec.pointer_mut("/properties/settings") {
        settings["maxProperties"] = json!(MAX_SETTINGS);
        settings["additionalProperties"] = json!({
            "type": "string",
            "minLength": SETTING_VALUE.min,
            "maxLength": SETTING_VALUE.max,
            "pattern": SETTING_VALUE.pattern,
        });
    }
}

/// `Binding.status`. The bounds are those of upstream's conditions and not our own, because another writer's condition
/// that broke them would make ours impossible to write.
fn status_schema() -> Value {
    json!({
        "description": "What the broker found, written by its leader.",
        "type": "object",
        "default": {"observedGeneration": NOTHING_OBSERVED},
        "properties": {
            "observedGeneration": {
                "description": "The generation of the Ready condition; -1 before there is one.",
                "type": "integer",
                "format": "int64",
                "minimum": NOTHING_OBSERVED,
            },
            "conditions": {
                "description": "Accepted, BackendReachable, ChannelJoined and Ready; only the first and the last of a Binding that is not served.",
                "type": "array",
                "maxItems": 32,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": condition_schema(),
            },
        },
    })
}

fn condition_schema() -> Value {
    json!({
        "type": "object",
        "required": ["lastTransitionTime", "message", "reason", "status", "type"],
        "properties": {
            "type": {
                "type": "string",
                "minLength": 1,
                "maxLength": 316,
                "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            },
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": {
                "description": "Why, in one word.",
                "type": "string",
                "minLength": 1,
                "maxLength": 1024,
                "pattern": r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            },
            "message": {
                "description": "Why, in one line; empty when the status is True.",
                "type": "string",
                "maxLength": 32768,
            },
            "lastTransitionTime": {
                "description": "When the status last changed.",
                "type": "string",
                "format": "date-time",
            },
            "observedGeneration": {
                "description": "The generation of the Binding that this describes.",
                "type": "integer",
                "format": "int64",
                "minimum": 0,
            },
        },
    })
}

#[cfg(test)]
mod tests;
