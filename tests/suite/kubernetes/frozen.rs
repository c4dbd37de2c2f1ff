//! A leader whose API server stands still, and what it wrote before it knew.
//!
//! Two replicas, each with an API server of its own on the same data. The leader's server is stopped while the leader has
//! something to write: what it sends then lies in the server's sockets, and the server reads it when it goes on, after
//! another has taken the lead. The audit logs of both servers say what became of it. What was written in which order is
//! told by the resourceVersions, which all objects of a cluster share, and by no clock.

use std::collections::BTreeMap;

use kourier_test_cluster::{Call, Cluster, Server, or_skip};
use serde_json::Value;
use suite::broker::{Broker, Setup};
use suite::cluster::{BOT, World, condition_of};

use super::leaders::leads;

/// How often the leader's server is stopped.
const ROUNDS: usize = 20;

/// Leaders follow each other within seconds, and write as soon as they know something.
const SETTINGS: &str = "prober: {startDelay: 0s, lookInterval: 100ms, passGap: 100ms, interval: 1s}\n\
    writer: {lookInterval: 100ms, gap: 100ms, cap: 1s, spacing: 1ms}\n\
    lease: {duration: 2s, renewDeadline: 1200ms, retryPeriod: 200ms, call: 500ms}\n";

/// Of these Bindings the successor finds what the stopped leader found, and writes it.
const TOLD: [(&str, &str); 3] = [("told-1", "C1"), ("told-2", "C2"), ("told-3", "C3")];
/// Of these it finds that what stands is so, and writes nothing: nothing that it does gets in the way of a late write.
const QUIET: [(&str, &str); 3] = [("quiet-1", "C4"), ("quiet-2", "C5"), ("quiet-3", "C6")];

/// A replica and its API server.
struct Side<'c> {
    server: &'c Server,
    broker: Broker,
    _setup: Setup,
}

impl<'c> Side<'c> {
    fn start(world: &World, server: &'c Server) -> Self {
        let setup = world.replica(server.kubeconfig(), SETTINGS);
        Self { server, broker: setup.start(), _setup: setup }
    }

    /// The reasons of Ready of all Bindings, by name.
    fn reasons(&self, world: &World) -> BTreeMap<String, String> {
        let args = ["--namespace", &world.namespace, "get", "akbinding", "--output=json"];
        let list: Value = serde_json::from_str(&self.server.kubectl().ok(&args).unwrap()).unwrap();
        let reason = |item: &Value| {
            let ready = condition_of(item, "Ready");
            (item["metadata"]["name"].as_str().unwrap().to_owned(), ready["reason"].as_str().unwrap_or("").to_owned())
        };
        list["items"].as_array().unwrap().iter().map(reason).collect()
    }

    fn until_passed(&mut self, before: usize) {
        self.broker.wait("a pass ends", |broker| (broker.passes() > before).then_some(()));
    }

    fn until_reasons(&mut self, world: &World, told: &str) {
        let server = self.server;
        let names = |bindings: [(&'static str, &str); 3], reason: &str| {
            bindings.map(|(name, _)| (name.to_owned(), reason.to_owned()))
        };
        let wanted: BTreeMap<_, _> = names(TOLD, told).into_iter().chain(names(QUIET, "OK")).collect();
        let what = format!("its server {} shows {wanted:?}", server.name());
        let side = &*self;
        world.wait(&what, || (side.reasons(world) == wanted).then_some(()));
    }
}

#[test]
fn a_leader_whose_api_server_is_frozen_never_writes_beside_its_successor_and_no_good_status_becomes_pending() {
    let test = "a_leader_whose_api_server_is_frozen_never_writes_beside_its_successor";
    let Some(cluster) = or_skip(test, Cluster::start()) else { return };
    let second = cluster.second_server().unwrap();
    let world = World::on(&cluster);
    for (name, channel) in TOLD.into_iter().chain(QUIET) {
        world.binding(name, "agents", channel);
    }
    let mut leader = Side::start(&world, cluster.server().unwrap());
    leader.broker.wait("the first leads", |broker| leads(broker).then_some(()));
    let mut standby = Side::start(&world, &second);
    for round in 0..ROUNDS {
        leader.until_reasons(&world, "OK");
        pass_the_lead(&world, (&mut leader, &mut standby), round % 2 == 0);
        (leader, standby) = (standby, leader);
    }
    leader.until_reasons(&world, "OK");
    check(&cluster.audit().unwrap(), &world);
}

/// The leader's server is stopped when the leader has just looked at channels that are not what they were, and has not
/// written yet, or just begins to.
fn pass_the_lead(world: &World, (leader, standby): (&mut Side<'_>, &mut Side<'_>), as_it_writes: bool) {
    let passes = leader.broker.passes();
    for (_, channel) in TOLD.into_iter().chain(QUIET) {
        world.slack.kick(channel, BOT);
    }
    let looks = || world.slack.requests("users.conversations");
    let before = looks();
    leader.broker.wait("it looks at the channels", |_| (looks() > before).then_some(()));
    if as_it_writes {
        leader.until_passed(passes);
        leader.server.freeze().unwrap();
    } else {
        leader.server.freeze().unwrap();
        leader.until_passed(passes);
    }
    // What the leader found it says while it holds its claim. Its successor finds another world.
    for (_, channel) in QUIET {
        world.slack.invite(channel, BOT);
    }
    standby.broker.wait("the standby leads", |broker| leads(broker).then_some(()));
    standby.until_reasons(world, "ChannelJoined:NotInChannel");
    for (_, channel) in TOLD {
        world.slack.invite(channel, BOT);
    }
    leader.server.thaw().unwrap();
}

/// What the audit logs of both servers have to say.
fn check(calls: &[Call], world: &World) {
    let made_in = |resource: &str, subresource: &str| -> BTreeMap<u64, &Call> {
        let calls = calls.iter().filter(|call| call.namespace == world.namespace);
        let writes = calls.filter(|call| call.resource == resource && call.subresource == subresource && changed(call));
        writes.map(|call| (version(&call.answered), call)).collect()
    };
    let (holders, statuses) = (made_in("leases", ""), made_in("bindings", "status"));
    let takeovers = holders.values().zip(holders.values().skip(1)).filter(|(one, next)| one.server != next.server);
    assert!(takeovers.count() >= ROUNDS, "the servers were stopped, and nobody took over");
    for (at, write) in &statuses {
        let (since, holder) = holders.range(..at).next_back().expect("nobody writes before somebody leads");
        assert_eq!(write.server, holder.server, "{} was written at {at}, and another led since {since}", write.name);
    }
    // That there was something to refuse: of what the leaders sent into their stopped servers each round had some.
    let refused = calls.iter().filter(|call| call.subresource == "status" && call.code >= 400).count();
    assert!(refused >= ROUNDS / 2, "only {refused} writes lay in the servers that were stopped");
    for (name, _) in TOLD.into_iter().chain(QUIET) {
        let own: Vec<_> = statuses.values().filter(|call| call.name == name).collect();
        for (one, next) in own.iter().zip(own.iter().skip(1)) {
            no_good_condition_becomes_pending(left_by(one, next, calls), &next.answered);
        }
    }
}

/// The status on which `next` was made: what `one`, the last write before it that was answered, left, or what came between
/// without an answer, because the server stopped when it had made the write. That one required the version that `one` left.
fn left_by<'a>(one: &'a Call, next: &Call, calls: &'a [Call]) -> &'a Value {
    if version(&next.sent) == version(&one.answered) {
        return &one.answered;
    }
    let unanswered = |call: &&Call| !(200..300).contains(&call.code) && call.subresource == "status";
    let mut between = calls.iter().filter(unanswered).filter(|call| {
        (&call.namespace, &call.name) == (&next.namespace, &next.name) && version(&call.sent) == version(&one.answered)
    });
    let Some(hidden) = between.next() else {
        panic!("{} was written on a version that nobody left: {one:?}\nthen {next:?}", next.name)
    };
    &hidden.sent
}

fn no_good_condition_becomes_pending(before: &Value, after: &Value) {
    for kind in ["BackendReachable", "ChannelJoined", "Ready"] {
        let (was, is) = (condition_of(before, kind), condition_of(after, kind));
        let pending = is["reason"].as_str().is_some_and(|reason| reason.ends_with("Pending"));
        assert!(was["status"] != "True" || !pending, "{was}\nbecame {is}");
    }
}

/// Whether a write was made, and changed something.
fn changed(call: &Call) -> bool {
    (200..300).contains(&call.code) && version(&call.sent) != version(&call.answered)
}

/// The resourceVersion of an object; 0 of one that has none.
fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}
