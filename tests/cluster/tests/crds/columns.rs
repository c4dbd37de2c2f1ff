//! What `kubectl get` shows.

use serde_json::{Value, json};

use crate::{place, ready};

#[test]
fn a_table_of_all_namespaces_is_the_one_of_the_page_and_a_binding_without_a_status_is_empty_there() {
    let Some(place) = place("columns") else { return };
    place.bind("team-a-chat", "C2", &Value::Null);
    place.bind("late", "C1", &Value::Null);
    place.bind("new", "C3", &Value::Null);
    place.write_status("team-a-chat", &ready("True", "OK", 1));
    place.write_status("late", &ready("False", "Accepted:ChannelConflict", 1));

    let table = place.kubectl().ok(&["get", "akbinding", "-A"]).unwrap();
    let mut lines = table.lines();
    let header = lines.next().unwrap();
    assert_eq!(words(header), ["NAMESPACE", "NAME", "READY", "REASON", "CHANNEL", "AGE"]);
    // Other tests use the same server.
    let rows: Vec<&str> = lines.filter(|line| words(line)[0] == place.namespace).collect();
    let row = |name: &str| *rows.iter().find(|line| words(line)[1] == name).unwrap();
    assert_eq!(words(row("team-a-chat"))[2..5], ["True", "OK", "C2"]);
    assert_eq!(words(row("late"))[2..5], ["False", "Accepted:ChannelConflict", "C1"]);
    let cell = |line: &str, column: &str, next: &str| {
        let (from, to) = (header.find(column).unwrap(), header.find(next).unwrap());
        line[from..to].trim().to_owned()
    };
    assert_eq!(cell(row("new"), "READY", "REASON"), "");
    assert_eq!(cell(row("new"), "REASON", "CHANNEL"), "");
    assert_eq!(cell(row("new"), "CHANNEL", "AGE"), "C3");
}

#[test]
fn the_other_kinds_show_where_they_lead() {
    let Some(place) = place("other columns") else { return };
    let meta = json!({"name": "a", "namespace": place.namespace});
    let backend = json!({"url": "https://agents.example"});
    let connection = json!({"platform": "slack", "broker": "main", "secretRef": {"name": "s", "key": "k"}});
    for (kind, spec) in [("AgentBackend", backend), ("ChatConnection", connection)] {
        let object = json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": kind, "metadata": meta, "spec": spec});
        place.kubectl().apply(&object.to_string()).unwrap();
    }
    let table = |kind: &str| place.ok(&["get", kind]).lines().map(|line| words(line).join(" ")).collect::<Vec<_>>();
    let backends = table("akbackend");
    assert_eq!(backends[0], "NAME URL AGE");
    assert!(backends[1].starts_with("a https://agents.example "), "{backends:?}");
    let connections = table("akconnection");
    assert_eq!(connections[0], "NAME PLATFORM BROKER AGE");
    assert!(connections[1].starts_with("a slack main "), "{connections:?}");
}

#[test]
fn the_category_names_objects_of_all_three_kinds_and_long_names_work_too() {
    let Some(place) = place("names") else { return };
    place.bind("b", "C1", &Value::Null);
    let meta = json!({"name": "a", "namespace": place.namespace});
    let spec = json!({"url": "https://agents.example"});
    let backend =
        json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": "AgentBackend", "metadata": meta, "spec": spec});
    place.kubectl().apply(&backend.to_string()).unwrap();
    let named = place.ok(&["get", "agentkourier", "--output=name"]);
    assert_eq!(words(&named), ["agentbackend.agentkourier.io/a", "binding.agentkourier.io/b"]);
    let resources = place.ok(&["api-resources", "--categories=agentkourier", "--output=name"]);
    let all = ["agentbackends.agentkourier.io", "bindings.agentkourier.io", "chatconnections.agentkourier.io"];
    assert_eq!(words(&resources), all);
    for name in ["akbinding", "bindings.agentkourier.io", "binding.agentkourier.io"] {
        assert_eq!(place.ok(&["get", name, "--output=name"]).trim(), "binding.agentkourier.io/b", "{name}");
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}
