use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::reason::Status;

use super::*;

#[test]
fn a_list_is_what_kubectl_prints() {
    let meta = Meta {
        key: ObjectKey::new("team-a", "late"),
        uid: Uid("0b6c".to_owned()),
        generation: Generation(2),
        created: Timestamp(1_700_000_000),
    };
    let condition = |kind, status, reason: &str, generation| Condition {
        kind,
        status,
        reason: reason.to_owned(),
        message: String::new(),
        last_transition_time: Timestamp(1_700_000_060),
        observed_generation: Generation(generation),
    };
    let conditions = [
        condition(ConditionType::Accepted, Status::True, "OK", 2),
        condition(ConditionType::Ready, Status::Unknown, "Pending", 1),
    ];
    let binding = Binding::new(&meta, serde_json::json!({"chat": {"channel": "C1"}}), &conditions);
    let list = BindingList::new(vec![binding.clone(), Binding::new(&meta, Value::Null, &[])]);
    let text = serde_json::to_string_pretty(&list).unwrap();
    assert_eq!(text, include_str!("tests/list.json").trim_end());
    assert_eq!(serde_json::from_str::<BindingList>(&text).unwrap(), list);
    assert_eq!(binding.channel(), "C1");
    assert_eq!(binding.condition(ConditionType::Ready).unwrap().reason, "Pending");
    assert_eq!(binding.condition(ConditionType::ChannelJoined), None);
}

#[test]
fn times_are_rfc_3339_in_whole_seconds() {
    for (seconds, text) in
        [(0, "1970-01-01T00:00:00Z"), (1_700_000_000, "2023-11-14T22:13:20Z"), (-1, "1969-12-31T23:59:59Z")]
    {
        assert_eq!(rfc3339(Timestamp(seconds)), text);
        assert_eq!(parse_rfc3339(text), Some(Timestamp(seconds)));
    }
    assert_eq!(parse_rfc3339("2023-11-14T23:13:20.9+01:00"), Some(Timestamp(1_700_000_000)));
    assert_eq!(parse_rfc3339("yesterday"), None);
    assert_eq!(rfc3339(Timestamp(i64::MAX)), "9999-12-30T22:00:00Z");
}
