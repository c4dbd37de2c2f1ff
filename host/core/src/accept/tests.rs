use serde_json::json;

use super::*;
use crate::fixture::{World, backend_spec, binding_spec, connection_spec, key, rules, told, with};
use crate::snapshot::Problem;

mod ownership;
mod properties;
mod refused_edits;
mod secrecy;

/// What is told of `team-a/b` in a world, exactly.
fn check(world: &mut World, want: &str) {
    assert_eq!(told(&world.judge("team-a/b")), want);
}

fn bad_backend() -> serde_json::Value {
    json!({"url": "https://agents.example/?q"})
}

fn bad_connection() -> serde_json::Value {
    with(connection_spec(), json!({"platform": "irc"}))
}

#[test]
fn a_binding_as_it_should_be_is_accepted_with_ok() {
    let mut world = World::new();
    world.binds("team-a/b", "C1");
    check(&mut world, "OK; serves 1 on 1/1");
}

#[test]
fn what_is_served_is_made_of_the_three_specs() {
    let mut world = World::new();
    world.backend("team-a/agents", json!({"url": "https://agents.example/a/", "cardPath": "/c.json"}));
    let mut spec = binding_spec("agents", "chat", "C1");
    spec["agent"]["path"] = json!("/x");
    let served = world.binding("team-a/b", spec).judge("team-a/b").served.unwrap();
    assert_eq!(served.agent.url.as_str(), "https://agents.example/a/x");
    assert_eq!(served.agent.card_path.as_deref(), Some("/c.json"));
    assert_eq!(served.agent.backend.key, key("team-a/agents"));
    assert_eq!(served.chat.url.as_str(), "https://slack.com/api");
    assert!(served.chat.default_url);
    assert_eq!((served.chat.platform.as_str(), served.chat.channel.as_str()), ("slack", "C1"));
    assert_eq!(served.chat.credential, CredentialPlace::Bearer);
    assert_eq!(served.chat.secret_ref.name, "bot");
}

#[test]
fn a_connections_own_url_takes_the_place_of_the_platforms() {
    let mut world = World::new();
    world.connection("team-a/chat", with(connection_spec(), json!({"url": "http://fake.example/api/"})));
    let chat = world.binds("team-a/b", "C1").judge("team-a/b").served.unwrap().chat;
    assert_eq!((chat.url.as_str(), chat.default_url), ("http://fake.example/api", false));
}

#[test]
fn an_invalid_spec_is_told_with_each_field_and_what_is_wrong_with_it() {
    let mut world = World::new();
    let mut spec = binding_spec("agents", "chat", "C1");
    spec["agent"]["path"] = json!("a/");
    spec["chat"]["channel"] = json!("");
    let judged = world.binding("team-a/b", spec).judge("team-a/b");
    let refusal = judged.refusal.unwrap();
    assert_eq!(refusal.reason, AcceptedReason::InvalidSpec);
    let message = refusal.message.as_str();
    assert!(message.starts_with("spec.agent.path: has to be"), "{message}");
    assert!(message.contains("; spec.chat.channel: is empty: write the channel's own id"), "{message}");
}

#[test]
fn a_spec_that_cannot_be_read_is_invalid_with_the_problems_of_its_source() {
    let mut world = World::new();
    world.binding("team-a/b", json!({"agent": {}}));
    check(&mut world, "InvalidSpec: spec: cannot be read; not served");
    assert_eq!(world.judge("team-a/b").channel, None);
}

#[test]
fn a_channel_that_does_not_match_its_platforms_pattern_is_a_problem_of_the_binding() {
    let mut world = World::new();
    world.binds("team-a/b", "general");
    check(
        &mut world,
        "InvalidSpec: spec.chat.channel: is not the id of a channel on this platform: \
         write one that matches ^(?:[CDG][A-Z0-9]+)$; not served",
    );
    assert_eq!(world.judge("team-a/b").channel.as_deref(), Some("general"));
}

#[test]
fn a_backend_that_is_not_there_is_not_found() {
    let mut world = World::new();
    world.binding("team-a/b", binding_spec("nowhere", "chat", "C1"));
    check(
        &mut world,
        "BackendNotFound: spec.agent.backendRef: there is no AgentBackend team-a/nowhere, \
         create it or mend the reference; not served",
    );
}

#[test]
fn a_connection_that_is_not_there_is_not_found() {
    let mut world = World::new();
    world.binding("team-a/b", binding_spec("agents", "team-b/chat", "C1"));
    check(
        &mut world,
        "ConnectionNotFound: spec.chat.connectionRef: there is no ChatConnection team-b/chat, \
         create it or mend the reference; not served",
    );
}

#[test]
fn a_reference_that_cannot_be_a_name_is_not_repeated() {
    let mut world = World::new();
    world.binding("team-a/b", binding_spec("NO NAME", "chat", "C1"));
    let refusal = world.judge("team-a/b").refusal.unwrap();
    assert_eq!(refusal.reason, AcceptedReason::InvalidSpec);
    assert!(refusal.message.as_str().ends_with("spec.agent.backendRef: names no AgentBackend"));
    assert!(!refusal.message.as_str().contains("NO NAME"));
}

#[test]
fn an_invalid_backend_or_connection_in_the_same_namespace_is_told_with_its_problems() {
    let mut world = World::default();
    world.backend("team-a/agents", bad_backend()).connection("team-a/chat", connection_spec()).binds("team-a/b", "C1");
    check(&mut world, "BackendRejected: its AgentBackend is invalid (spec.url: has a query: remove it); not served");
    let mut world = World::default();
    world.backend("team-a/agents", backend_spec()).connection("team-a/chat", bad_connection()).binds("team-a/b", "C1");
    check(
        &mut world,
        "ConnectionRejected: its ChatConnection is invalid (spec.platform: no probe component is loaded for it: \
         write one of slack, zulip, or ask the operator to add it); not served",
    );
}

#[test]
fn of_very_many_problems_of_a_backend_the_first_are_told_to_each_binding_with_the_field_that_names_it() {
    let names: Vec<String> = (0..30).map(|number| format!("Bad{number}")).collect();
    let mut world = World::new();
    world.backend("team-a/agents", json!({"url": "https://agents.example", "allowedNamespaces": names}));
    let refusal = world.binds("team-a/b", "C1").judge("team-a/b").refusal.unwrap();
    let [(AcceptedReason::BackendRejected, problem)] = refusal.problems.as_slice() else { panic!("{refusal:?}") };
    assert_eq!(problem.path, "spec.agent.backendRef");
    assert!(problem.what.contains("allowedNamespaces[9]: "), "{problem}");
    assert!(!problem.what.contains("allowedNamespaces[10]"), "{problem}");
    assert!(problem.what.ends_with("; and 20 more)"), "{problem}");
}

#[test]
fn the_good_generation_of_an_invalid_backend_is_what_runs_and_is_told() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.backend("team-a/agents", backend_spec()).accept();
    world.backend("team-a/agents", bad_backend());
    check(
        &mut world,
        "BackendRejected: generation 3 of its AgentBackend is invalid, running generation 2 \
         (spec.url: has a query: remove it); serves 1 on 2/1",
    );
}

#[test]
fn the_good_generation_of_an_invalid_connection_is_what_runs_and_is_told() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.connection("team-a/chat", with(connection_spec(), json!({"settings": {"x": "y"}})));
    check(
        &mut world,
        "ConnectionRejected: generation 2 of its ChatConnection is invalid, running generation 1 \
         (spec.settings.x: is no setting of this platform: it knows teamId); serves 1 on 1/1",
    );
}

#[test]
fn the_newest_spec_of_a_binding_runs_with_the_good_generations_of_what_it_names() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.backend("team-a/agents", bad_backend()).connection("team-a/chat", bad_connection());
    let judged = world.binds("team-a/b", "C2").judge("team-a/b");
    assert!(told(&judged).starts_with("BackendRejected: generation 2 of its AgentBackend is invalid"));
    assert!(told(&judged).contains("; generation 2 of its ChatConnection is invalid, running generation 1"));
    assert!(told(&judged).ends_with("serves 2 on 1/1"));
    assert_eq!(judged.served.unwrap().chat.channel, "C2");
}

#[test]
fn a_good_generation_that_no_longer_stands_does_not_run() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.connection("team-a/chat", bad_connection());
    let without_slack =
        Rules { platforms: rules().platforms.into_iter().filter(|(p, _)| p == "zulip").collect(), ..rules() };
    let judged = world.accept_as(&without_slack).bindings.remove(&key("team-a/b")).unwrap();
    assert!(told(&judged).starts_with("ConnectionRejected: its ChatConnection is invalid (spec.platform"));
    assert!(told(&judged).ends_with("not served"));
    // It is remembered all the same: the platform may come back.
    assert!(told(&world.judge("team-a/b")).ends_with("serves 1 on 1/1"));
}

#[test]
fn a_generation_that_was_good_once_and_cannot_be_read_any_more_does_not_run() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    let mut unreadable = world.clone();
    unreadable.snapshot.backends[0].spec = Err(vec![Problem::new("spec", "cannot be read")]);
    check(&mut unreadable, "BackendRejected: its AgentBackend is invalid (spec: cannot be read); not served");
    world.snapshot.bindings[0].spec = Err(vec![Problem::new("spec", "cannot be read")]);
    check(&mut world, "InvalidSpec: spec: cannot be read; not served");
}

#[test]
fn another_namespaces_objects_may_be_used_when_they_allow_it() {
    for (allowed, is_allowed) in [
        (json!(["team-a"]), true),
        (json!(["*"]), true),
        (json!(["x", "team-a"]), true),
        (json!(["x"]), false),
        (json!([]), false),
    ] {
        let mut world = World::default();
        world.backend("team-b/agents", with(backend_spec(), json!({"allowedNamespaces": allowed})));
        world.connection("team-b/chat", with(connection_spec(), json!({"allowedNamespaces": allowed})));
        let judged = world.binding("team-a/b", binding_spec("team-b/agents", "team-b/chat", "C1")).judge("team-a/b");
        assert_eq!(judged.served.is_some(), is_allowed, "{allowed}");
        let reason = judged.refusal.map(|refusal| refusal.reason);
        assert_eq!(reason, (!is_allowed).then_some(AcceptedReason::NamespaceNotAllowed), "{allowed}");
    }
}

#[test]
fn the_own_namespace_always_may() {
    let mut world = World::default();
    world.backend("team-a/agents", with(backend_spec(), json!({"allowedNamespaces": ["team-b"]})));
    world.connection("team-a/chat", connection_spec());
    world.binding("team-a/b", binding_spec("team-a/agents", "chat", "C1"));
    check(&mut world, "OK; serves 1 on 1/1");
}

#[test]
fn a_channel_belongs_to_the_older_binding() {
    let mut world = World::new();
    world.binds("team-a/z-older", "C1").binds("team-a/b", "C1");
    check(&mut world, "ChannelConflict: spec.chat.channel: already bound by Binding z-older; not served");
    assert!(world.judge("team-a/z-older").refusal.is_none());
}

#[test]
fn of_bindings_of_one_age_namespace_and_then_name_decide() {
    for (first, second) in [("team-a/x", "team-a/y"), ("team-a/y", "team-b/x"), ("team-a/z", "team-b/a")] {
        let mut world = World::default();
        world.backend("team-a/agents", with(backend_spec(), json!({"allowedNamespaces": ["*"]})));
        world.connection("team-a/chat", with(connection_spec(), json!({"allowedNamespaces": ["*"]})));
        for at in [second, first] {
            world.binding(at, binding_spec("team-a/agents", "team-a/chat", "C1"));
        }
        for object in &mut world.snapshot.bindings {
            object.meta.created.0 = 7;
        }
        assert!(world.judge(first).served.is_some(), "{first}");
        assert!(world.judge(second).served.is_none(), "{second}");
    }
}

#[test]
fn a_channel_is_held_on_one_connection_only() {
    let mut world = World::new();
    world.connection("team-a/other", connection_spec()).binding("team-a/first", binding_spec("agents", "other", "C1"));
    world.binds("team-a/b", "C1");
    check(&mut world, "OK; serves 1 on 1/1");
}

#[test]
fn a_refused_binding_holds_no_channel() {
    let mut world = World::new();
    world.binding("team-a/first", binding_spec("nowhere", "chat", "C1")).binds("team-a/b", "C1");
    check(&mut world, "OK; serves 1 on 1/1");
}

#[test]
fn a_binding_takes_the_channel_that_became_free() {
    let mut world = World::new();
    world.binds("team-a/first", "C1").binds("team-a/b", "C1").accept();
    world.remove("team-a/first");
    check(&mut world, "OK; serves 1 on 1/1");
}

#[test]
fn the_message_holds_the_problems_of_every_reason_in_the_pages_order() {
    let mut world = World::new();
    world.backend("team-b/agents", backend_spec());
    world.binds("team-a/first", "C1");
    let mut spec = binding_spec("team-b/agents", "chat", "C1");
    spec["agent"]["path"] = json!("x");
    world.binding("team-a/b", spec).accept();
    world.connection("team-a/chat", bad_connection());
    let refusal = world.judge("team-a/b").refusal.unwrap();
    assert_eq!(refusal.reason, AcceptedReason::InvalidSpec);
    let message = refusal.message.as_str();
    let place = |text: &str| message.find(text).unwrap_or_else(|| panic!("{text} is not in {message}"));
    let places = [
        place("spec.agent.path: has to be"),
        place("generation 2 of its ChatConnection is invalid, running generation 1"),
        place("spec.agent.backendRef: the AgentBackend is in another namespace and does not allow team-a"),
        place("spec.chat.channel: already bound by Binding first"),
    ];
    assert!(places.is_sorted(), "{message}");
}

#[test]
fn the_first_reason_of_the_page_is_the_reason() {
    let mut world = World::new();
    world.connection("team-b/chat", connection_spec());
    let both = binding_spec("nowhere", "nowhere", "C1");
    assert_eq!(
        world.binding("team-a/b", both).judge("team-a/b").refusal.unwrap().reason,
        AcceptedReason::BackendNotFound
    );
    let forbidden = binding_spec("nowhere", "team-b/chat", "C1");
    let judged = world.binding("team-a/b", forbidden).judge("team-a/b");
    assert_eq!(judged.refusal.unwrap().reason, AcceptedReason::BackendNotFound);
    assert!(AcceptedReason::ALL.is_sorted(), "the order of the enumeration is the page's");
}

#[test]
fn a_binding_refused_for_one_reason_is_still_told_that_its_channel_is_held() {
    let mut world = World::new();
    world.binds("team-a/first", "C1").binding("team-a/b", binding_spec("nowhere", "chat", "C1"));
    let refusal = world.judge("team-a/b").refusal.unwrap();
    assert_eq!(refusal.reason, AcceptedReason::BackendNotFound);
    assert!(refusal.message.as_str().ends_with("; spec.chat.channel: already bound by Binding first"));
}

#[test]
fn objects_that_stand_twice_do_not_disturb() {
    let mut world = World::new();
    world.binds("team-a/b", "C1");
    let mut later = world.snapshot.bindings[0].clone();
    later.meta.uid = Uid("uid-later".into());
    later.meta.created.0 += 100;
    let mut twin = later.clone();
    twin.spec = Err(vec![Problem::new("spec", "differs")]);
    world.snapshot.bindings.extend([later.clone(), twin, later]);
    world.snapshot.backends.extend(world.snapshot.backends.clone());
    let judged = world.judge("team-a/b");
    assert_eq!(judged.uid, Uid("uid-later".into()));
    world.snapshot.bindings.reverse();
    assert_eq!(world.judge("team-a/b"), judged);
}
