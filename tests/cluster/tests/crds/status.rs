//! `Binding.status`, as the API server keeps it.

use kourier_test_cluster::{Cluster, or_skip};
use serde_json::{Value, json};

use crate::{Place, binding, place, ready};

#[test]
fn a_new_binding_says_that_nothing_was_observed() {
    let Some(place) = place("default") else { return };
    place.bind("b", "C1", &Value::Null);
    assert_eq!(place.read("b", ".status"), r#"{"observedGeneration":-1}"#);
}

#[test]
fn a_status_in_an_applied_manifest_is_ignored() {
    let Some(place) = place("status in a manifest") else { return };
    let claimed = json!({"status": ready("True", "OK", 1)});
    place.bind("b", "C1", &claimed);
    assert_eq!(place.read("b", ".status"), r#"{"observedGeneration":-1}"#, "when it is made");
    place.write_status("b", &ready("False", "BackendReachable:AgentNotFound", 1));
    place.bind("b", "C2", &claimed);
    assert_eq!(place.read("b", ".spec.chat.channel"), "C2");
    assert_eq!(place.read("b", ".status.conditions[0].status"), "False", "when it is edited");
}

#[test]
fn a_write_of_the_status_moves_no_generation_and_an_edit_of_the_spec_does() {
    let Some(place) = place("generation") else { return };
    place.bind("b", "C1", &Value::Null);
    place.write_status("b", &ready("True", "OK", 1));
    assert_eq!(place.read("b", ".metadata.generation"), "1");
    place.bind("b", "C2", &Value::Null);
    assert_eq!(place.read("b", ".metadata.generation"), "2");
    assert_eq!(place.read("b", ".status.observedGeneration"), "1");
}

#[test]
fn a_binding_that_is_made_again_is_a_new_object_of_generation_1_without_a_status() {
    let Some(place) = place("made again") else { return };
    place.bind("b", "C1", &Value::Null);
    place.bind("b", "C2", &Value::Null);
    place.write_status("b", &ready("True", "OK", 2));
    let old = place.read("b", ".metadata.uid");
    place.ok(&["delete", "akbinding", "b"]);
    place.bind("b", "C2", &Value::Null);
    assert_ne!(place.read("b", ".metadata.uid"), old);
    assert_eq!(place.read("b", ".metadata.generation"), "1");
    assert_eq!(place.read("b", ".status"), r#"{"observedGeneration":-1}"#);
}

#[test]
fn a_condition_is_bounded_but_leaves_room_for_those_of_others() {
    let Some(place) = place("conditions") else { return };
    place.bind("b", "C1", &Value::Null);
    let taken = [
        ("type", json!("example.org/Reviewed")),
        ("status", json!("Unknown")),
        ("reason", json!("BackendReachable:AgentNotFound")),
        ("message", text(32768)),
        ("observedGeneration", json!(0)),
    ];
    for (name, value) in taken {
        assert_eq!(refusal(&place, name, &value), None, "{name}");
    }
    let refused = [
        ("type", json!("")),
        ("type", json!("two words")),
        ("type", text(317)),
        ("status", json!("true")),
        ("reason", json!("")),
        ("reason", json!("two words")),
        ("reason", json!("OK:")),
        ("reason", text(1025)),
        ("message", text(32769)),
        ("observedGeneration", json!(-1)),
        ("lastTransitionTime", json!("yesterday")),
        ("status", Value::Null),
        ("message", Value::Null),
    ];
    for (name, value) in refused {
        let said = refusal(&place, name, &value).unwrap_or_default();
        assert!(said.contains(&format!("status.conditions[0].{name}: ")), "{name}: {said}");
    }
}

#[test]
fn no_two_conditions_have_one_type_and_a_list_has_an_end() {
    let Some(place) = place("list of conditions") else { return };
    place.bind("b", "C1", &Value::Null);
    let one = ready("True", "OK", 1)["conditions"][0].clone();
    let said = write(&place, &json!({"conditions": [one, one]})).unwrap_or_default();
    assert!(said.contains("Duplicate value"), "{said}");
    let many = |count: usize| -> Value {
        let named =
            |n| [one.as_object().unwrap().clone(), [("type".to_owned(), json!(format!("T{n}")))].into_iter().collect()];
        (0..count).map(|n| named(n).into_iter().flatten().collect::<Value>()).collect()
    };
    assert_eq!(write(&place, &json!({"conditions": many(32)})), None);
    let said = write(&place, &json!({"conditions": many(33)})).unwrap_or_default();
    assert!(said.contains("Too many"), "{said}");
}

#[test]
fn a_stored_binding_takes_a_status_when_a_newer_schema_would_refuse_its_spec() {
    let Some(cluster) = or_skip("tightened", Cluster::start()) else { return };
    cluster.crds().unwrap();
    let namespace = cluster.namespace().unwrap();
    let kubectl = cluster.kubectl();
    kubectl.apply(&binding(&namespace, "b", "C123").to_string()).unwrap();
    let at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/chat/properties/channel/maxLength";
    let tighter = json!([{"op": "replace", "path": at, "value": 1}]).to_string();
    kubectl.ok(&["patch", "crd", "bindings.agentkourier.io", "--type=json", "--patch", &tighter]).unwrap();
    // The new schema counts as soon as a new object is refused by it.
    let new = binding(&namespace, "c", "C124").to_string();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while kubectl.run_with(&["create", "--dry-run=server", "--filename=-"], &new).unwrap().status.success() {
        assert!(std::time::Instant::now() < deadline, "the tighter schema never counted");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }

    let status = json!({"status": ready("False", "Accepted:InvalidSpec", 1)}).to_string();
    let namespaced = ["--namespace", &namespace];
    let patch = ["patch", "akbinding", "b", "--subresource=status", "--type=merge", "--patch", &status];
    kubectl.ok(&[&patch[..], &namespaced].concat()).expect("a status");
    let reason = ["get", "akbinding", "b", "--output=jsonpath={.status.conditions[0].reason}"];
    assert_eq!(kubectl.ok(&[&reason[..], &namespaced].concat()).unwrap(), "Accepted:InvalidSpec");
    let edited = kubectl.apply(&binding(&namespace, "b", "C125").to_string()).unwrap_err();
    assert!(format!("{edited:#}").contains("spec.chat.channel"), "{edited:#}");
}

/// What the API server says to a status whose one condition has this value there; none when it takes it.
fn refusal(place: &Place, name: &str, value: &Value) -> Option<String> {
    let mut status = ready("True", "OK", 1);
    let condition = status["conditions"][0].as_object_mut().unwrap();
    match value {
        Value::Null => drop(condition.remove(name)),
        value => drop(condition.insert(name.to_owned(), value.clone())),
    }
    write(place, &status)
}

fn write(place: &Place, status: &Value) -> Option<String> {
    let patch = json!({"status": status}).to_string();
    let args = ["patch", "akbinding", "b", "--subresource=status", "--type=merge", "--patch", &patch];
    let output = place.kubectl().run(&[&args[..], &["--namespace", &place.namespace]].concat()).unwrap();
    (!output.status.success()).then(|| String::from_utf8(output.stderr).unwrap())
}

fn text(length: usize) -> Value {
    "a".repeat(length).into()
}
