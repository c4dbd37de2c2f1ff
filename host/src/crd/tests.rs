use super::*;

#[test]
fn the_committed_definitions_are_those_of_the_types() {
    for kind in Kind::ALL {
        crate::committed::check(&format!("deploy/crds/{}", file_name(kind)), &yaml(kind));
    }
}

#[test]
fn the_yaml_is_the_definition() {
    for kind in Kind::ALL {
        assert_eq!(serde_saphyr::from_str::<Value>(&yaml(kind)).unwrap(), definition(kind));
    }
}

/// Walks every schema of a definition: what an API server refuses in a structural schema is not there, and every text
/// and list has a bound, without which CEL rules and storage cost too much.
#[test]
fn schemas_are_structural_and_bounded() {
    for kind in Kind::ALL {
        let definition = definition(kind);
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        walk("", schema);
    }
}

fn walk(path: &str, schema: &Value) {
    const KNOWN: [&str; 19] = [
        "additionalProperties",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-validations",
        "",
    ];
    for key in schema.as_object().unwrap().keys() {
        assert!(KNOWN.contains(&key.as_str()), "{path} has {key}");
    }
    let bounded = |key: &str| schema[key].is_u64();
    match schema["type"].as_str().unwrap() {
        "object" => {
            let map = schema.get("additionalProperties");
            assert!(map.is_none() || bounded("maxProperties"), "{path}");
            map.iter().for_each(|inner| walk(&format!("{path}.*"), inner));
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, inner) in properties.into_iter().flatten() {
                walk(&format!("{path}.{name}"), inner);
            }
        }
        "array" => {
            assert!(bounded("maxItems"), "{path}");
            walk(&format!("{path}[]"), &schema["items"]);
        }
        "string" => {
            let closed = schema.get("enum").is_some() || schema.get("format").is_some();
            assert!(closed || bounded("maxLength") || [".apiVersion", ".kind"].contains(&path), "{path}");
        }
        "integer" => {}
        other => panic!("{path} is {other}"),
    }
}

#[test]
fn columns_are_those_of_the_page_in_its_order() {
    let columns = columns(Kind::Binding);
    let columns: Vec<(&str, &str)> = columns
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["name"].as_str().unwrap(), column["jsonPath"].as_str().unwrap()))
        .collect();
    assert_eq!(
        columns,
        [
            ("Ready", ".status.conditions[?(@.type==\"Ready\")].status"),
            ("Reason", ".status.conditions[?(@.type==\"Ready\")].reason"),
            ("Channel", ".spec.chat.channel"),
            ("Age", ".metadata.creationTimestamp"),
        ]
    );
}
