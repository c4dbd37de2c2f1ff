use kourier_core::id::{Generation, Kind, ObjectKey, Uid};
use kourier_core::plan::{Standing, Version};
use kourier_core::time::Timestamp;
use serde_json::{Value, json};

use super::{Odd, read};

fn binding() -> Value {
    json!({
        "apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding",
        "metadata": {
            "name": "chat", "namespace": "team-a", "uid": "u1", "resourceVersion": "7", "generation": 3,
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "annotations": { "kubectl.kubernetes.io/last-applied-configuration": "{}" },
            "managedFields": [
                { "manager": "agent-kourier", "fieldsV1": { "f:status": { "f:conditions": { "k:{\"type\":\"Ready\"}": {} } } } },
                { "manager": "kubectl-edit", "fieldsV1": { "f:status": { "f:conditions": { "k:{\"type\":\"Ready\"}": { "f:reason": {} } } } } },
                { "manager": "helm", "fieldsV1": { "f:spec": { "f:chat": {} } } },
                { "manager": "syncer", "fieldsV1": { "f:status": { "f:conditions": { "k:{\"type\":\"Synced\"}": {} } } } },
                { "manager": "counter", "fieldsV1": { "f:status": { "f:observedGeneration": {} } } },
                { "manager": "owner-of-all", "fieldsV1": { "f:status": { "f:conditions": {} } } },
            ],
        },
        "spec": { "chat": { "channel": "C1" } },
        "status": { "observedGeneration": -1 },
    })
}

#[test]
fn an_object_is_read_into_what_is_kept_of_it() {
    let stored = read(Kind::Binding, binding()).unwrap();
    assert_eq!(stored.meta.key, ObjectKey::new("team-a", "chat"));
    assert_eq!(stored.meta.uid, Uid("u1".to_owned()));
    assert_eq!(stored.meta.generation, Generation(3));
    assert_eq!(stored.meta.created, Timestamp(1_767_323_045));
    assert_eq!(stored.version, Version("7".to_owned()));
    assert_eq!(stored.spec, json!({ "chat": { "channel": "C1" } }));
    assert_eq!(stored.standing.observed_generation, Some(Generation(-1)));
}

#[test]
fn only_those_who_own_a_part_of_our_conditions_are_named() {
    let stored = read(Kind::Binding, binding()).unwrap();
    assert_eq!(Vec::from_iter(stored.managers), ["counter", "kubectl-edit", "owner-of-all"]);
}

#[test]
fn a_status_of_another_kind_is_not_looked_at() {
    let stored = read(Kind::AgentBackend, binding()).unwrap();
    assert_eq!(stored.standing, Standing::default());
    assert!(stored.managers.is_empty());
}

#[test]
fn an_object_without_spec_and_status_is_an_object() {
    let mut object = binding();
    object.as_object_mut().unwrap().retain(|field, _| field == "metadata");
    let stored = read(Kind::Binding, object).unwrap();
    assert_eq!(stored.spec, Value::Null);
    assert_eq!(stored.standing, Standing::default());
}

#[test]
fn an_object_of_which_it_cannot_be_told_which_it_is_is_odd() {
    let cases = [
        ("uid", Value::Null, "uid"),
        ("uid", json!(""), "uid"),
        ("resourceVersion", json!(7), "resourceVersion"),
        ("generation", json!("3"), "generation"),
        ("creationTimestamp", json!("yesterday"), "creationTimestamp"),
    ];
    for (field, value, named) in cases {
        let mut object = binding();
        object["metadata"][field] = value;
        let odd = Odd { key: Some(ObjectKey::new("team-a", "chat")), field: named };
        assert_eq!(read(Kind::Binding, object), Err(odd));
    }
}

#[test]
fn what_is_no_object_at_all_is_odd() {
    let nameless = Odd { key: None, field: "namespace or name" };
    for value in [Value::Null, json!([]), json!("x"), json!({ "metadata": 3 }), json!({ "metadata": { "name": "x" } })]
    {
        assert_eq!(read(Kind::Binding, value), Err(nameless.clone()));
    }
}

#[test]
fn odd_managed_fields_name_nobody() {
    for fields in
        [json!(3), json!([1, null, {}, { "manager": 3, "fieldsV1": { "f:status": { "f:observedGeneration": {} } } }])]
    {
        let mut object = binding();
        object["metadata"]["managedFields"] = fields;
        assert!(read(Kind::Binding, object).unwrap().managers.is_empty());
    }
}
