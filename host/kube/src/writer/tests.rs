//! The writer against a scripted server, on a paused clock.

use serde_json::json;

use super::*;
use crate::script::Play;

mod desk;
mod terms;

use desk::{Desk, ok, unreachable};

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_write_is_one_forced_apply_of_our_own_fields_at_a_version() {
    let desk = Desk::new(&["one"]);
    let _at_work = desk.start(Pace::default());
    pass(60).await;
    let calls = desk.server.calls();
    let writes: Vec<_> = calls.iter().filter(|call| call.method == "PATCH").collect();
    assert_eq!(writes.len(), 1, "{calls:?}");
    let path = "/apis/agentkourier.io/v1alpha1/namespaces/team-a/bindings/one/status";
    // Half of the time of a call is the server's, from when it begins.
    assert_eq!(writes[0].uri, format!("{path}?&force=true&fieldManager=agent-kourier&timeout=2500ms"));
    assert_eq!(writes[0].content_type, "application/apply-patch+yaml");
    let since = writes[0].body.pointer("/status/conditions/0/lastTransitionTime").unwrap();
    let condition = |kind: &str| json!({ "type": kind, "status": "True", "reason": "OK", "message": "", "observedGeneration": 1, "lastTransitionTime": since });
    let conditions = ["Accepted", "BackendReachable", "ChannelJoined", "Ready"].map(condition);
    let expected = json!({
        "apiVersion": "agentkourier.io/v1alpha1",
        "kind": "Binding",
        "metadata": { "name": "one", "namespace": "team-a", "resourceVersion": "101" },
        "status": { "conditions": conditions, "observedGeneration": 1 },
    });
    assert_eq!(writes[0].body, expected);
    assert_eq!(desk.results(), [WriteResult::Changed]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_ends_a_write_after_5_s_and_is_tried_again_a_gap_later() {
    let desk = Desk::new(&["one"]);
    desk.server.play(Play::Hang);
    let _at_work = desk.start(Pace::default());
    pass(16).await;
    // The first ends at 5 s; the second begins 10 s after that.
    assert_eq!(desk.server.times("one"), [0, 15_000]);
    assert_eq!(desk.results(), [WriteResult::Timeout]);
    desk.server.play(Play::Well(Duration::ZERO));
    pass(60).await;
    assert_eq!(desk.results(), [WriteResult::Timeout, WriteResult::Timeout, WriteResult::Changed]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_how_long_it_is_busy_is_left_alone_for_as_long() {
    let desk = Desk::new(&["one"]);
    // As priority and fairness answers: no Status, and the wait in a header.
    desk.server.play(Play::Answer(429, Some("60"), "Too many requests, please try again later.".to_owned()));
    let _at_work = desk.start(Pace::default());
    pass(59).await;
    desk.server.play(Play::Well(Duration::ZERO));
    pass(60).await;
    assert_eq!(desk.server.times("one"), [0, 60_000]);
    assert_eq!(desk.results(), [WriteResult::Error, WriteResult::Changed]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_unavailable_is_asked_at_waits_that_double() {
    let desk = Desk::new(&["one"]);
    desk.server.play(Play::refuse(503, "the server is currently unable to handle the request"));
    let _at_work = desk.start(Pace::default());
    pass(200).await;
    assert_eq!(desk.server.times("one"), [0, 10_000, 30_000, 70_000, 150_000]);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_made_before_the_connection_broke_is_not_made_again() {
    for play in [Play::Cut, Play::CutWithin] {
        let desk = Desk::new(&["one"]);
        desk.server.play(play);
        let _at_work = desk.start(Pace::default());
        pass(600).await;
        assert_eq!(desk.server.times("one"), [0]);
        assert_eq!(desk.results(), [WriteResult::Error]);
        // It counts as ours: what somebody else does to it is put back.
        desk.server.play(Play::Well(Duration::ZERO));
        desk.server.edit("one", |object| object["status"]["conditions"][3]["reason"] = "Odd".into());
        pass(5).await;
        assert_eq!(desk.count(Observation::PutBack), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_binding_that_cannot_be_written_delays_no_other() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let desk = Desk::new(&names);
    let refusals = [("a", 403), ("b", 422), ("c", 500), ("d", 400)];
    for (name, code) in refusals {
        desk.server.records().plays.insert(name.to_owned(), Play::refuse(code, "no"));
    }
    desk.server.records().plays.insert("e".to_owned(), Play::Hang);
    let _at_work = desk.start(Pace::default());
    pass(1).await;
    assert_eq!(desk.server.times("f"), [250]);
    pass(3600).await;
    // The cap is 5 minutes.
    for (name, _) in refusals {
        let times = desk.server.times(name);
        let last = times[times.len() - 1] - times[times.len() - 2];
        assert!((300_000..302_000).contains(&last), "{name}: {times:?}");
    }
    assert_eq!(desk.server.times("f").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pruned_status_is_not_sent_again() {
    let desk = Desk::new(&["one"]);
    desk.server.play(Play::Prune);
    let _at_work = desk.start(Pace::default());
    pass(3600).await;
    assert_eq!(desk.server.times("one"), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_crd_without_a_field_gets_the_rest_and_the_field_is_not_sent_again() {
    let desk = Desk::new(&["one"]);
    desk.server.play(Play::OldSchema);
    let _at_work = desk.start(Pace::default());
    pass(3600).await;
    assert_eq!(desk.server.times("one"), [0, 0], "once with the field, once without");
    assert_eq!(desk.results(), [WriteResult::Changed]);
    let status = desk.server.records().objects["one"]["status"].clone();
    assert_eq!((status["conditions"].as_array().unwrap().len(), status.get("observedGeneration")), (4, None));
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_put_back_once_and_one_each_moment_is_a_fight_at_the_cap_s_pace() {
    let desk = Desk::new(&["one"]);
    let _at_work = desk.start(Pace::default());
    pass(5).await;
    let meant = desk.server.records().objects["one"]["status"].clone();
    for _ in 0..3600 {
        desk.server.edit("one", |object| object["status"]["conditions"] = json!([]));
        pass(1).await;
    }
    pass(600).await;
    assert_eq!(desk.server.records().objects["one"]["status"], meant, "the times are those that were");
    assert_eq!(desk.count(Observation::Fight), 1);
    let times = desk.server.times("one");
    let waits: Vec<_> = times.iter().zip(times.iter().skip(1)).map(|(one, next)| (next - one) / 1000).collect();
    assert!(waits.iter().skip(3).all(|wait| (300..303).contains(wait)), "{waits:?}");
    assert_eq!(desk.count(Observation::PutBack), times.len() - 1);
    assert!((13..=16).contains(&times.len()), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_watch_does_not_show_makes_the_binding_suspect() {
    let desk = Desk::new(&["one"]);
    desk.freeze();
    let _at_work = desk.start(Pace::default());
    pass(25).await;
    assert_eq!(*desk.suspects.lock().unwrap(), [""; 0]);
    pass(10).await;
    assert_eq!(*desk.suspects.lock().unwrap(), ["one"]);
    assert_eq!(desk.results(), [WriteResult::Changed]);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_of_versions_waits_for_the_watch_and_one_of_owners_is_a_failure() {
    let desk = Desk::new(&["one", "two"]);
    let conflict = json!({ "code": 409, "details": { "causes": [{ "reason": "FieldManagerConflict" }] } });
    desk.server.records().plays.insert("one".into(), Play::Answer(409, None, conflict.to_string()));
    desk.server.records().plays.insert("two".into(), Play::refuse(409, "the object has been modified"));
    let _at_work = desk.start(Pace::default());
    pass(29).await;
    assert_eq!((desk.server.times("one").len(), desk.server.times("two").len()), (2, 1));
    assert_eq!(desk.results(), [WriteResult::Error, WriteResult::Stale, WriteResult::Error]);
}

#[tokio::test(start_paused = true)]
async fn no_two_writes_of_one_binding_are_within_the_gap_of_the_end_of_the_first() {
    let desk = Desk::new(&["one"]);
    desk.server.play(Play::Well(Duration::from_secs(3)));
    let _at_work = desk.start(Pace::default());
    for second in 0..60 {
        desk.say("one", if second % 2 == 0 { ok(second) } else { unreachable(second) });
        pass(1).await;
    }
    let times = desk.server.times("one");
    let waits: Vec<_> = times.iter().zip(times.iter().skip(1)).map(|(one, next)| next - one).collect();
    assert!(waits.len() >= 3 && waits.iter().all(|wait| (13_000..14_100).contains(wait)), "{waits:?}");
}
