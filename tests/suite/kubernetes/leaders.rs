//! Who of several replicas writes, and what a change of the leader does to a status: nothing.

use std::time::{Duration, SystemTime};

use kourier_core::time::Timestamp;
use kourier_kube::api::parse_rfc3339;
use serde_json::Value;
use suite::broker::Broker;
use suite::cluster::{QUICK, SHORT_LEASE, World};

pub(super) fn leads(broker: &Broker) -> bool {
    broker.metric("agentkourier_leader") == Some(1)
}

/// Two replicas, the one that leads first.
fn pair(world: &World) -> (suite::broker::Setup, suite::broker::Setup, Broker, Broker) {
    let (first, second) = (world.replica(&world.admin(), SHORT_LEASE), world.replica(&world.admin(), SHORT_LEASE));
    let mut leader = first.start();
    leader.wait("the first leads", |broker| leads(broker).then_some(()));
    let mut standby = second.start();
    standby
        .wait("the standby has read the objects", |broker| broker.get("/ready").filter(|(status, _)| *status == 200));
    (first, second, leader, standby)
}

/// How long after this moment the Lease got the holder that it has: by the Lease, which its holder writes, and by no
/// look of the test's, which comes late on a busy machine.
fn taken_after(world: &World, moment: SystemTime) -> Duration {
    let text = world.kubectl(&["get", "lease", &format!("agent-kourier-{}", world.broker), "--output=json"]);
    let lease: Value = serde_json::from_str(&text).unwrap();
    let acquired = lease["spec"]["acquireTime"].as_str().unwrap();
    let Timestamp(seconds) = parse_rfc3339(acquired).unwrap();
    let micros: u64 = acquired.rsplit_once('.').unwrap().1.trim_end_matches('Z').parse().unwrap();
    let acquired = Duration::from_secs(seconds.unsigned_abs()) + Duration::from_micros(micros);
    acquired.saturating_sub(moment.duration_since(SystemTime::UNIX_EPOCH).unwrap())
}

#[test]
fn only_the_leader_writes_and_a_killed_one_is_followed_within_the_lease_and_two_seconds() {
    let test = "only_the_leader_writes_and_a_killed_one_is_followed_within_the_lease_and_two_seconds";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    let (_first, _second, leader, mut standby) = pair(&world);
    world.wait_for_reason("chat", "OK");
    assert!(!leads(&standby));
    let before = world.get("chat");
    drop(leader); // SIGKILL.
    let killed = SystemTime::now();
    standby.wait("the standby leads", |broker| leads(broker).then_some(()));
    // The lease is 4 s here.
    let took = taken_after(&world, killed);
    assert!(took < Duration::from_secs(4 + 2), "it took {took:?}");
    world.binding("more", "agents", "C2");
    world.wait_for_reason("more", "OK");
    assert_eq!(world.get("chat")["status"], before["status"], "no good status was replaced");
    assert_eq!(world.get("chat")["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
}

#[test]
fn a_leader_that_is_told_to_stop_is_followed_within_a_second() {
    let Some(world) = World::or_skip("a_leader_that_is_told_to_stop_is_followed_within_a_second") else { return };
    world.binding("chat", "agents", "C1");
    let (_first, _second, leader, mut standby) = pair(&world);
    world.wait_for_reason("chat", "OK");
    assert!(leader.terminate().success());
    let ended = SystemTime::now();
    standby.wait("the standby leads", |broker| leads(broker).then_some(()));
    let took = taken_after(&world, ended);
    assert!(took < Duration::from_secs(1), "it took {took:?}");
}

#[test]
fn a_new_leader_knows_the_last_good_generation_that_a_former_one_served() {
    let test = "a_new_leader_knows_the_last_good_generation_that_a_former_one_served";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    let (_first, second, leader, standby) = pair(&world);
    world.wait_for_reason("chat", "OK");
    world.wait("the last good spec is kept", || {
        (!world.kubectl(&["get", "controllerrevisions", "--output=name"]).is_empty()).then_some(())
    });
    drop(standby);
    world.binding("chat", "agents", "#general");
    world.wait_for_reason("chat", "Accepted:InvalidSpec");
    drop(leader);
    world.slack.kick("C1", suite::cluster::BOT);
    // It has never seen generation 1 itself.
    let mut successor = second.start();
    successor.wait("it leads", |broker| leads(broker).then_some(()));
    let channel = world.wait("it probes what generation 1 says", || {
        let channel = world.condition("chat", "ChannelJoined");
        (channel["reason"] == "NotInChannel").then_some(channel)
    });
    assert_eq!(channel["observedGeneration"], 1);
}

#[test]
fn with_sqlite_there_is_no_election_and_the_one_replica_writes() {
    let Some(world) = World::or_skip("with_sqlite_there_is_no_election_and_the_one_replica_writes") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let settings = std::fs::read_to_string(replica.path("settings.yaml")).unwrap();
    let file = replica.path("store.db").display().to_string();
    let sqlite = settings.replace("store: kubernetes", &format!("store: sqlite\nstorePath: {file}"));
    std::fs::write(replica.path("settings.yaml"), sqlite).unwrap();
    let _broker = replica.start();
    world.wait_for_reason("chat", "OK");
    assert_eq!(world.kubectl(&["get", "leases", "--output=name"]), "");
}

#[test]
fn without_a_leader_a_status_stays_as_it_was() {
    let Some(world) = World::or_skip("without_a_leader_a_status_stays_as_it_was") else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let broker = replica.start();
    world.wait_for_reason("chat", "OK");
    let before = world.get("chat")["status"].clone();
    assert!(broker.terminate().success());
    // Somebody holds the Lease who does nothing with it.
    let held = format!("agent-kourier-{}", world.broker);
    let patch = r#"{"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 300}}"#;
    let _ = world.kubectl(&["patch", "lease", &held, "--type=merge", "--patch", patch]);
    let mut standby = replica.start();
    world.binding("chat", "nowhere", "C1");
    // It has read the edit, as its own board shows, and does not lead.
    standby.wait("the standby has seen the edit", |broker| {
        let (_, list) = broker.get("/bindings")?;
        list.contains("\"nowhere\"").then_some(())
    });
    assert!(!leads(&standby));
    assert_eq!(world.get("chat")["status"], before);
    assert_eq!(world.get("chat")["metadata"]["generation"], 2);
}
