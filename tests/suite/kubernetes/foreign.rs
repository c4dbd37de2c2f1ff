//! Others who write a status: one who does it once, one who does it again and again, and other brokers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use suite::cluster::{QUICK, World, condition_of};

/// Somebody changes the status.
fn interfere(world: &World, name: &str, reason: &str) {
    let mut conditions = world.get(name)["status"]["conditions"].clone();
    for condition in conditions.as_array_mut().into_iter().flatten().filter(|condition| condition["type"] == "Ready") {
        condition["reason"] = json!(reason);
        condition["status"] = json!("False");
    }
    let patch = json!({"status": {"conditions": conditions}}).to_string();
    let _ = world.kubectl(&[
        "patch",
        "akbinding",
        name,
        "--subresource=status",
        "--type=merge",
        "--field-manager=meddler",
        "--patch",
        &patch,
    ]);
}

#[test]
fn one_edit_of_a_status_is_put_back_once_with_the_times_it_had() {
    let Some(world) = World::or_skip("one_edit_of_a_status_is_put_back_once_with_the_times_it_had") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let mut broker = replica.start();
    world.wait_for_reason("chat", "OK");
    let before = world.get("chat")["status"].clone();
    interfere(&world, "chat", "Meddled");
    world.wait_for_reason("chat", "OK");
    assert_eq!(world.get("chat")["status"], before);
    broker.wait("the put-back is counted", |broker| {
        (broker.metric("agentkourier_status_put_backs_total") == Some(1)).then_some(())
    });
    assert_eq!(broker.metric("agentkourier_status_fights_total"), Some(0));
}

#[test]
fn a_status_that_is_changed_again_and_again_is_a_fight_that_is_named_and_met_rarely() {
    let test = "a_status_that_is_changed_again_and_again_is_a_fight_that_is_named_and_met_rarely";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), &QUICK.replace("cap: 5s", "cap: 10m"));
    let mut broker = replica.start();
    world.wait_for_reason("chat", "OK");
    for _ in 0..3 {
        interfere(&world, "chat", "Meddled");
        world.wait_for_reason("chat", "OK");
    }
    let line = broker.wait("the fight is named", |broker| {
        broker.lines().into_iter().find(|line| line["managers"].as_str().is_some_and(|names| names.contains("meddler")))
    });
    assert_eq!(line["level"], "WARN");
    assert_eq!(broker.metric("agentkourier_status_fights_total"), Some(1));
    interfere(&world, "chat", "Meddled");
    // It stands now: the next put-back is the cap away. Three gaps show that it does not come with the usual pace.
    let until = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < until {
        assert_eq!(world.condition("chat", "Ready")["reason"], "Meddled");
    }
    assert_eq!(broker.metric("agentkourier_status_put_backs_total"), Some(3));
}

#[test]
fn a_condition_of_somebody_elses_type_is_left_alone() {
    let Some(world) = World::or_skip("a_condition_of_somebody_elses_type_is_left_alone") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let broker = replica.start();
    world.wait_for_reason("chat", "OK");
    let theirs = json!({
        "apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding",
        "metadata": {"namespace": world.namespace, "name": "chat"},
        "status": {"conditions": [{"type": "Audited", "status": "True", "reason": "Seen", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}]},
    });
    let args = ["apply", "--server-side", "--subresource=status", "--field-manager=auditor", "--filename=-"];
    let applied = world.cluster.kubectl().run_with(&args, &theirs.to_string()).unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    world.binding("chat", "agents", "C10");
    world.wait_for_reason("chat", "ChannelJoined:NotInChannel");
    assert_eq!(condition_of(&world.get("chat"), "Audited")["reason"], "Seen");
    assert_eq!(broker.metric("agentkourier_status_put_backs_total"), Some(0));
}

#[test]
fn two_brokers_say_the_same_of_a_binding_without_a_connection_and_do_not_fight() {
    let test = "two_brokers_say_the_same_of_a_binding_without_a_connection_and_do_not_fight";
    let (Some(one), Some(other)) = (World::or_skip(test), World::or_skip(test)) else { return };
    let chat = json!({"connectionRef": {"name": "nowhere"}, "channel": "C1"});
    one.apply("Binding", "lost", &json!({"agent": {"backendRef": {"name": "agents"}}, "chat": chat}));
    one.binding("mine", "agents", "C1");
    other.binding("mine", "agents", "C1");
    let (first, second) = (one.replica(&one.admin(), QUICK), other.replica(&other.admin(), QUICK));
    let brokers = [first.start(), second.start()];
    one.wait_for_reason("lost", "Accepted:ConnectionNotFound");
    one.wait_for_reason("mine", "OK");
    other.wait_for_reason("mine", "OK");
    let version = |world: &World| world.get("lost")["metadata"]["resourceVersion"].clone();
    let before = version(&one);
    // Each broker's next look would write, if it wanted to: both look many times while a further Binding is judged.
    for world in [&one, &other] {
        world.binding("more", "agents", "C2");
        world.wait_for_reason("more", "OK");
    }
    assert_eq!(version(&one), before);
    for broker in &brokers {
        assert_eq!(broker.metric("agentkourier_status_fights_total"), Some(0));
        assert_eq!(broker.metric("agentkourier_status_put_backs_total"), Some(0));
    }
}

#[test]
fn a_broker_name_that_is_installed_twice_shows_as_a_fight() {
    let Some(world) = World::or_skip("a_broker_name_that_is_installed_twice_shows_as_a_fight") else { return };
    world.binding("chat", "agents", "C1");
    let elsewhere = world.cluster.namespace().unwrap();
    let first = world.replica(&world.admin(), QUICK);
    // The second install may not reach the agent: its words are others.
    let second = suite::broker::Setup::new();
    second.cluster_settings(&world.broker, &elsewhere, &world.admin(), QUICK);
    let settings = std::fs::read_to_string(second.path("settings.yaml")).unwrap();
    let deaf = settings.replace("allowLoopback: true", "allowLoopback: false");
    assert_ne!(settings, deaf);
    std::fs::write(second.path("settings.yaml"), deaf).unwrap();
    let mut brokers = [first.start(), second.start()];
    let named = |line: &Value| line.to_string().contains("second broker of the same name");
    let found = brokers[0].wait("the first names the fight", |broker| broker.lines().into_iter().find(named));
    assert_eq!(found["level"], "WARN");
    assert!(brokers.iter().any(|broker| broker.metric("agentkourier_status_fights_total") > Some(0)));
}
