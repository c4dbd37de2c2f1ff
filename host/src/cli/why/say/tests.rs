use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_600);

fn binding(status: &serde_json::Value) -> Binding {
    serde_json::from_value(json!({
        "apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding",
        "metadata": {"namespace": "team-a", "name": "chat", "uid": "1", "generation": 2,
            "creationTimestamp": "2023-11-14T22:00:00Z"},
        "spec": {}, "status": status,
    }))
    .unwrap()
}

fn condition(kind: &str, status: &str, reason: &str, generation: i64) -> serde_json::Value {
    json!({"type": kind, "status": status, "reason": reason, "observedGeneration": generation,
        "message": if status == "True" { "" } else { "What is so." }, "lastTransitionTime": "2023-11-14T22:20:00Z"})
}

fn held(renewed: i64) -> Held {
    let (acquired, renewed) = (Some(Timestamp(1_700_000_000)), Some(Timestamp(renewed)));
    Held { namespace: "kourier".to_owned(), holder: "pod-0_x".to_owned(), acquired, renewed, seconds: 15 }
}

fn inquiry(status: &serde_json::Value, lease: Told<Held>) -> Inquiry {
    let written = Some(Timestamp(1_700_000_100));
    Inquiry { binding: binding(status), written, broker: Told::Is("default".to_owned()), lease }
}

fn check(found: &Inquiry, ready: bool, says: &[&str]) {
    let said = say(found, NOW);
    assert_eq!(said.ready, ready, "{}", said.text);
    for part in says {
        assert!(said.text.contains(part), "{part:?} is not in\n{}", said.text);
    }
}

#[test]
fn what_holds_a_binding_back_is_told_with_what_to_do() {
    let status = json!({"observedGeneration": 2, "conditions": [
        condition("Accepted", "True", "OK", 2),
        condition("Ready", "False", "BackendReachable:AgentNotFound", 2),
    ]});
    let advice = kourier_core::reason::BackendReason::AgentNotFound.advice();
    let says = ["team-a/chat: Ready is False (BackendReachable:AgentNotFound), since 3m20s", "What is so.", advice];
    check(&inquiry(&status, Told::Is(held(NOW.0 - 1))), false, &says);
}

#[test]
fn a_ready_of_an_older_spec_is_not_taken_for_ready() {
    let status = json!({"observedGeneration": 1, "conditions": [
        condition("Accepted", "True", "OK", 2),
        condition("Ready", "True", "OK", 1),
    ]});
    let says = ["Still about an older spec: Ready. The newest is generation 2"];
    check(&inquiry(&status, Told::Is(held(NOW.0 - 1))), false, &says);
}

#[test]
fn a_binding_without_a_status_and_a_broker_that_never_ran_is_told() {
    let mut found = inquiry(&json!(null), Told::Nothing);
    found.written = None;
    check(
        &found,
        false,
        &["team-a/chat has no status yet", "No broker called \"default\" has ever run in this cluster"],
    );
}

#[test]
fn a_status_that_is_older_than_its_leader_is_told() {
    let status = json!({"observedGeneration": 2, "conditions": [condition("Ready", "True", "OK", 2)]});
    let mut found = inquiry(&status, Told::Is(held(NOW.0 - 1)));
    check(&found, true, &["is led by pod-0_x"]);
    found.written = Some(Timestamp(1_699_999_000));
    check(&found, true, &["The status was written by a former leader, 26m ago"]);
}

#[test]
fn a_broker_without_a_leader_is_told() {
    let status = json!({"observedGeneration": 2, "conditions": [condition("Ready", "True", "OK", 2)]});
    check(&inquiry(&status, Told::Is(held(NOW.0 - 300))), true, &["has no leader", "was last renewed: 5m ago"]);
}

#[test]
fn what_others_wrote_cannot_steer_a_terminal() {
    let mut ready = condition("Ready", "False", "\u{1b}[31m", 2);
    ready["message"] = json!("one\u{7}\ntwo");
    let held = Held { holder: "pod\u{1b}]0;x".to_owned(), ..held(NOW.0 - 1) };
    let said = say(&inquiry(&json!({"observedGeneration": 2, "conditions": [ready]}), Told::Is(held)), NOW);
    assert!(said.text.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", said.text);
}

#[test]
fn what_one_may_not_read_is_told_and_not_guessed() {
    let status = json!({"observedGeneration": 2, "conditions": [condition("Ready", "True", "OK", 2)]});
    check(&inquiry(&status, Told::Forbidden), true, &["You may not read Leases"]);
}
