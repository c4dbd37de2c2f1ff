use kourier_core::id::Generation;
use kourier_core::reason::{ConditionType, Status};
use kourier_core::time::Timestamp;
use serde_json::{Value, json};

use super::read;

fn entry(kind: &str) -> Value {
    json!({
        "type": kind, "status": "True", "reason": "OK", "message": "", "observedGeneration": 2,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    })
}

fn with(kind: &str, field: &str, value: Value) -> Value {
    let mut entry = entry(kind);
    entry[field] = value;
    entry
}

#[test]
fn a_status_of_ours_is_read_whole() {
    let status = json!({ "conditions": [entry("Accepted"), entry("Ready")], "observedGeneration": 2 });
    let standing = read(&status);
    assert_eq!(standing.observed_generation, Some(Generation(2)));
    let kinds: Vec<_> = standing.conditions.iter().map(|condition| condition.kind).collect();
    assert_eq!(kinds, [ConditionType::Accepted, ConditionType::Ready]);
    let ready = &standing.conditions[1];
    assert_eq!((ready.status, ready.reason.as_str(), ready.message.as_str()), (Status::True, "OK", ""));
    assert_eq!(ready.last_transition_time, Timestamp(1_767_323_045));
    assert_eq!(ready.observed_generation, Generation(2));
}

#[test]
fn a_binding_without_a_status_has_nothing_standing() {
    for status in [Value::Null, json!({}), json!({ "conditions": null })] {
        assert_eq!(read(&status), kourier_core::plan::Standing::default(), "{status}");
    }
    assert_eq!(read(&json!({ "observedGeneration": -1 })).observed_generation, Some(Generation(-1)));
}

#[test]
fn conditions_of_other_types_are_nobody_s_business_here() {
    let odd = json!({ "type": "Synced", "status": 7 });
    let status = json!({ "conditions": [odd, "text", entry("Ready")], "observedGeneration": 2 });
    let standing = read(&status);
    assert_eq!(standing.conditions.len(), 1);
    assert_eq!(standing.observed_generation, Some(Generation(2)));
}

#[test]
fn a_condition_of_ours_that_cannot_be_read_makes_the_status_one_that_is_never_meant() {
    let odd = [
        with("Accepted", "status", json!("Maybe")),
        with("Accepted", "status", json!(true)),
        with("Accepted", "lastTransitionTime", json!("yesterday")),
        with("Accepted", "lastTransitionTime", Value::Null),
        with("Accepted", "observedGeneration", json!("2")),
        json!({ "type": "Accepted" }),
    ];
    for odd in odd {
        let standing = read(&json!({ "conditions": [odd, entry("Ready")], "observedGeneration": 2 }));
        assert_eq!(standing.observed_generation, None, "{odd}");
        let kinds: Vec<_> = standing.conditions.iter().map(|condition| condition.kind).collect();
        assert_eq!(kinds, [ConditionType::Ready], "{odd}");
    }
    assert_eq!(read(&json!({ "conditions": "none", "observedGeneration": 2 })).observed_generation, None);
}

#[test]
fn a_type_that_stands_twice_is_seen_twice() {
    let standing = read(&json!({ "conditions": [entry("Ready"), entry("Ready")], "observedGeneration": 2 }));
    assert_eq!(standing.conditions.len(), 2);
}
