use std::sync::Arc;

use kourier_core::id::Generation;
use kourier_core::time::Timestamp;
use serde_json::Value;

use super::*;
use crate::script::{Play, Server};

/// Accepted and Ready with these statuses; Ready with this reason.
fn conditions(accepted: Status, ready: Status, reason: &str) -> Vec<Condition> {
    let condition = |kind, status| Condition {
        kind,
        status,
        reason: reason.to_owned(),
        message: format!("{reason} is so"),
        last_transition_time: Timestamp(0),
        observed_generation: Generation(1),
    };
    vec![condition(ConditionType::Accepted, accepted), condition(ConditionType::Ready, ready)]
}

#[test]
fn people_hear_of_transitions_alone() {
    use Status::{False, True, Unknown};
    // Accepted and Ready before and after, and what is told.
    let cases = [
        (None, (True, Unknown), ""),
        (None, (True, True), "Normal"),
        (None, (False, False), "Warning"),
        (Some((True, Unknown)), (True, True), "Normal"),
        (Some((True, Unknown)), (True, False), "Warning"),
        (Some((True, True)), (True, True), ""),
        (Some((True, True)), (True, False), "Warning"),
        (Some((True, True)), (True, Unknown), "Warning"),
        (Some((True, True)), (False, False), "Warning"),
        (Some((True, False)), (True, False), ""),
        (Some((True, False)), (True, Unknown), ""),
        (Some((True, False)), (True, True), "Normal"),
        (Some((True, False)), (False, False), "Warning"),
        (Some((False, False)), (False, False), ""),
        (Some((False, False)), (True, Unknown), ""),
    ];
    for (before, after, expected) in cases {
        let before = before.map(|(accepted, ready)| conditions(accepted, ready, "Before")).unwrap_or_default();
        let told = transition(&before, &conditions(after.0, after.1, "After"));
        let told = told.as_ref().map_or("", |told| if told.is_warning { "Warning" } else { "Normal" });
        assert_eq!(told, expected, "{before:?} {after:?}");
    }
}

/// Tells of one Binding after the other.
async fn tell(events: &Events, name: &str) {
    let told = transition(&[], &conditions(Status::True, Status::False, "BackendReachable:Unreachable")).unwrap();
    events.tell(ObjectKey::new("team-a", name), Uid("uid".to_owned()), told).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_regards_the_binding_in_its_namespace_and_says_what_the_status_says() {
    let server = Server::new();
    let events = Events::new(server.client(), &"p".repeat(300), Arc::new(|_| panic!("lost")));
    tell(&events, "one").await;
    let calls = server.calls();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].uri.starts_with("/apis/events.k8s.io/v1/namespaces/team-a/events"), "{}", calls[0].uri);
    let event = &calls[0].body;
    let says = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    assert_eq!(says("/regarding/name"), "one");
    assert_eq!(says("/regarding/kind"), "Binding");
    assert_eq!(says("/regarding/uid"), "uid");
    assert_eq!(says("/reason"), "BackendReachable:Unreachable");
    assert_eq!(says("/note"), "BackendReachable:Unreachable is so");
    assert_eq!(says("/type"), "Warning");
    assert_eq!(says("/reportingInstance").len(), INSTANCE);
}

#[tokio::test(start_paused = true)]
async fn without_the_right_none_is_tried_for_a_while() {
    let server = Server::new();
    server.play(Play::refuse(403, "events.events.k8s.io is forbidden"));
    let events = Events::new(server.client(), "pod", Arc::new(|_| ()));
    tell(&events, "one").await;
    tell(&events, "two").await;
    assert_eq!(server.calls().len(), 1);
    server.play(Play::Well(Duration::ZERO));
    tokio::time::sleep(PAUSE).await;
    tell(&events, "three").await;
    tell(&events, "four").await;
    assert_eq!(server.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_being_deleted_says_nothing_of_the_others() {
    let server = Server::new();
    let causes = serde_json::json!({ "causes": [{ "reason": "NamespaceTerminating" }] });
    let body = serde_json::json!({ "code": 403, "details": causes });
    server.play(Play::Answer(403, None, body.to_string()));
    let events = Events::new(server.client(), "pod", Arc::new(|_| ()));
    tell(&events, "one").await;
    tell(&events, "two").await;
    assert_eq!(server.calls().len(), 2);
}
