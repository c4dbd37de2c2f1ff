//! What becomes of a status when the spec, or the object, is another one.

use kourier_kube::api::parse_rfc3339;
use serde_json::{Value, json};
use suite::cluster::{QUICK, World, condition_of};

fn generations(binding: &Value) -> Vec<i64> {
    let conditions = binding["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().map(|condition| condition["observedGeneration"].as_i64().unwrap()).collect()
}

/// Seconds since 1970.
fn seconds(time: &Value) -> i64 {
    parse_rfc3339(time.as_str().unwrap()).unwrap().0
}

#[test]
fn after_an_edit_accepted_moves_first_and_ready_says_nothing_newer_than_its_evidence() {
    let test = "after_an_edit_accepted_moves_first_and_ready_says_nothing_newer_than_its_evidence";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    // After the first pass no other begins while the test looks.
    let replica = world.replica(&world.admin(), &QUICK.replace("passGap: 500ms", "passGap: 10m, interval: 20m"));
    let _broker = replica.start();
    world.wait_for_reason("chat", "OK");
    world.binding("chat", "agents", "C10");
    let edited = world.wait("Accepted is of the edit", || {
        let binding = world.get("chat");
        (condition_of(&binding, "Accepted")["observedGeneration"] == 2).then_some(binding)
    });
    assert_eq!(generations(&edited), [2, 1, 1, 1]);
    assert_eq!(condition_of(&edited, "Ready")["status"], "True", "the READY column still says True");
    assert_eq!(edited["status"]["observedGeneration"], 1);
}

#[test]
fn kubectl_wait_waits_for_the_edit_to_be_probed() {
    let Some(world) = World::or_skip("kubectl_wait_waits_for_the_edit_to_be_probed") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    world.wait_for_reason("chat", "OK");
    world.binding("chat", "agents", "C2");
    let _ = world.kubectl(&["wait", "--for=condition=Ready", "akbinding/chat", "--timeout=60s"]);
    assert_eq!(generations(&world.get("chat")), [2, 2, 2, 2]);
}

#[test]
fn an_edit_into_what_cannot_work_shows_false() {
    let Some(world) = World::or_skip("an_edit_into_what_cannot_work_shows_false") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    let good = world.wait_for_reason("chat", "OK");
    world.binding("chat", "agents", "C10");
    let bad = world.wait_for_reason("chat", "ChannelJoined:NotInChannel");
    assert_eq!(bad["status"], "False");
    assert!(bad["lastTransitionTime"].as_str() >= good["lastTransitionTime"].as_str());
}

#[test]
fn the_probes_generation_moves_though_the_result_is_the_same_and_the_transition_time_does_not() {
    let test = "the_probes_generation_moves_though_the_result_is_the_same_and_the_transition_time_does_not";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    world.wait_for_reason("chat", "OK");
    let before = world.get("chat");
    // Kubernetes keeps whole seconds: a time that moved would be another one from the next second on.
    let last = ["Accepted", "BackendReachable", "ChannelJoined", "Ready"]
        .map(|kind| seconds(&condition_of(&before, kind)["lastTransitionTime"]));
    let now = || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    world.wait("another second begins", || last.iter().all(|last| now() > *last).then_some(()));
    world.binding("chat", "agents", "C2");
    world.wait_for_reason("chat", "OK");
    let after = world.get("chat");
    assert_eq!(generations(&after), [2, 2, 2, 2]);
    for kind in ["Accepted", "BackendReachable", "ChannelJoined", "Ready"] {
        let time = |binding: &Value| condition_of(binding, kind)["lastTransitionTime"].clone();
        assert_eq!(time(&before), time(&after), "{kind}");
    }
}

#[test]
fn a_refused_edit_leaves_the_last_good_generation_running_also_over_a_restart() {
    let test = "a_refused_edit_leaves_the_last_good_generation_running_also_over_a_restart";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let broker = replica.start();
    world.wait_for_reason("chat", "OK");
    // The revision that holds the spec is made beside it.
    world.wait("the last good spec is kept", || {
        let kept = world.kubectl(&["get", "controllerrevisions", "--output=name"]);
        (!kept.is_empty()).then_some(())
    });
    world.binding("chat", "agents", "#general");
    let refused = |world: &World| {
        let binding = world.get("chat");
        let accepted = condition_of(&binding, "Accepted");
        let says = accepted["message"].as_str().unwrap_or_default().to_owned();
        (says.contains("generation 2 is invalid, serving generation 1")).then_some(binding)
    };
    let binding = world.wait("the edit is refused", || refused(&world));
    assert_eq!(generations(&binding), [2, 1, 1, 2]);
    assert_eq!(condition_of(&binding, "Ready")["reason"], "Accepted:InvalidSpec");
    assert!(broker.terminate().success());
    // What the next replica says it says of its own knowledge: the status that stands is spoilt first.
    let spoilt = json!({"status": {"conditions": [], "observedGeneration": 0}}).to_string();
    let _ = world.kubectl(&["patch", "akbinding", "chat", "--subresource=status", "--type=merge", "--patch", &spoilt]);
    let _again = replica.start();
    let binding = world.wait("the next replica serves the last good generation", || refused(&world));
    assert_eq!(generations(&binding)[..2], [2, 1]);
}

#[test]
fn a_binding_made_again_starts_anew() {
    let Some(world) = World::or_skip("a_binding_made_again_starts_anew") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), &QUICK.replace("passGap: 500ms", "passGap: 10m, interval: 20m"));
    let _broker = replica.start();
    world.wait_for_reason("chat", "OK");
    let _ = world.kubectl(&["delete", "akbinding", "chat"]);
    world.binding("chat", "agents", "C1");
    let ready = world.wait_for_reason("chat", "BackendReachable:Pending");
    // By the object's own times: how long the test took to look is another matter.
    let took = seconds(&ready["lastTransitionTime"]) - seconds(&world.get("chat")["metadata"]["creationTimestamp"]);
    assert!(took < 10, "it was seen after {took} s");
    assert_eq!((&ready["status"], &ready["observedGeneration"]), (&json!("Unknown"), &json!(1)));
}
