use serde_json::json;

use super::*;
use crate::cli::table;

/// 2026-11-29T20:00:00Z.
const NOW: Timestamp = Timestamp(1_795_982_400);

/// A Binding of this key with a Ready of this status and reason, at its generation; without one when they are empty.
fn binding((namespace, name): (&str, &str), (status, reason): (&str, &str), channel: &str, created: &str) -> Binding {
    let ready = json!({
        "type": "Ready", "status": status, "reason": reason, "message": "", "observedGeneration": 1,
        "lastTransitionTime": "2026-11-29T19:00:00Z",
    });
    let mut object = json!({
        "apiVersion": "agentkourier.io/v1alpha1",
        "kind": "Binding",
        "metadata": {
            "namespace": namespace, "name": name, "uid": "u", "generation": 1, "creationTimestamp": created,
        },
        "spec": {"chat": {"channel": channel}},
    });
    if !status.is_empty() {
        object["status"] = json!({"observedGeneration": 1, "conditions": [ready]});
    }
    serde_json::from_value(object).unwrap()
}

fn rendered(columns: Columns, bindings: &[Binding]) -> String {
    table::render(columns.header(), bindings.iter().map(|binding| columns.cells(binding, NOW)))
}

#[test]
fn the_table_is_the_one_of_the_page() {
    let bindings = [
        binding(("team-a", "team-a-chat"), ("True", "OK"), "C2", "2026-11-29T19:56:00Z"),
        binding(("team-a", "late"), ("False", "Accepted:ChannelConflict"), "C1", "2026-11-29T19:59:00Z"),
    ];
    // The page's own AGE of one minute is that of an object that is a little older: kubectl says 60s until two minutes.
    assert_eq!(
        rendered(Columns { namespace: true, message: false }, &bindings),
        "\
NAMESPACE   NAME          READY   REASON                     CHANNEL   AGE
team-a      team-a-chat   True    OK                         C2        4m
team-a      late          False   Accepted:ChannelConflict   C1        60s
"
    );
}

#[test]
fn a_binding_without_a_status_shows_empty_ready_and_reason() {
    let bindings = [binding(("team-a", "new"), ("", ""), "C1", "2026-11-29T20:00:00Z")];
    assert_eq!(
        rendered(Columns { namespace: false, message: false }, &bindings),
        "NAME   READY   REASON   CHANNEL   AGE\nnew                     C1        0s\n"
    );
}

#[test]
fn an_edited_binding_is_not_ready_before_its_status_is_about_the_edit() {
    let mut edited = binding(("a", "b"), ("True", "OK"), "C1", "2026-11-29T20:00:00Z");
    assert!(is_ready(&edited));
    edited.metadata.generation = 2;
    assert!(!is_ready(&edited));
    assert_eq!(names_of_unready(&[edited]), "a/b (OK)");
}

#[test]
fn a_watch_prints_what_is_new_changed_or_gone_and_nothing_else() {
    let created = "2026-11-29T20:00:00Z";
    let first = binding(("a", "first"), ("True", "OK"), "C1", created);
    let second = binding(("a", "second"), ("True", "OK"), "C2", created);
    let failed = binding(("a", "second"), ("False", "BackendReachable:AgentNotFound"), "C2", created);
    let mut shown = BTreeMap::new();
    let steps = [
        (vec![first.clone(), second.clone()], vec![first.clone(), second.clone()]),
        (vec![first.clone(), second], vec![]),
        (vec![first.clone(), failed.clone()], vec![failed.clone()]),
        (vec![failed.clone()], vec![first]),
    ];
    for (found, expected) in steps {
        assert_eq!(changes(&mut shown, found), expected);
    }
    assert_eq!(shown.into_values().collect::<Vec<_>>(), [failed]);
}
