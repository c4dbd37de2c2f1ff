//! Which broker answers for a Binding.

use super::*;

#[test]
fn a_binding_belongs_to_the_broker_that_its_connection_names() {
    let mut world = World::new();
    world.connection("team-a/chat", with(connection_spec(), json!({"broker": "other"}))).binds("team-a/b", "C1");
    assert!(world.accept().bindings.is_empty());
    let other = Rules { broker: "other".into(), ..rules() };
    let judged = world.accept_as(&other).bindings.remove(&key("team-a/b")).unwrap();
    assert!(judged.owned && judged.served.is_some());
}

#[test]
fn a_binding_that_cannot_be_read_stays_with_the_broker_of_its_last_good_spec() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.binding("team-a/b", json!({})).connection("team-a/chat", with(connection_spec(), json!({"broker": "other"})));
    for look in ["first", "second"] {
        assert!(world.accept().bindings.is_empty(), "at the {look} look");
    }
}

#[test]
fn a_binding_that_went_to_another_broker_and_came_back_is_not_served_by_an_old_spec() {
    let mut world = World::new();
    world.connection("team-a/theirs", with(connection_spec(), json!({"broker": "other"})));
    world.binds("team-a/b", "C1").accept();
    world.binding("team-a/b", binding_spec("agents", "theirs", "C2")).accept();
    world.binds("team-a/b", "general");
    assert!(world.judge("team-a/b").served.is_none());
}

#[test]
fn a_last_good_spec_on_a_connection_that_went_to_another_broker_does_not_stand() {
    let mut world = World::new();
    world.connection("team-a/other", connection_spec()).binds("team-a/b", "C1").accept();
    world.binding("team-a/b", binding_spec("nowhere", "other", "C1"));
    assert!(told(&world.judge("team-a/b")).ends_with("serves 1 on 1/1"));
    world.connection("team-a/chat", with(connection_spec(), json!({"broker": "other"})));
    assert!(told(&world.judge("team-a/b")).ends_with("not served"));
}

#[test]
fn every_broker_answers_for_a_binding_without_a_connection_with_the_same_words() {
    let mut world = World::new();
    world.binds("team-a/old", "C1").accept();
    world.backend("team-a/agents", bad_backend());
    world.binding("team-a/b", binding_spec("agents", "nowhere", "C1"));
    let here = world.judge("team-a/b");
    // The other broker has seen nothing before and remembers no good generation.
    world.last_good = LastGood::default();
    let other = Rules { broker: "other".into(), ..rules() };
    let there = world.accept_as(&other).bindings.remove(&key("team-a/b")).unwrap();
    assert_eq!(here, there);
    assert!(!here.owned);
    assert!(told(&here).contains("; spec.chat.connectionRef: there is no ChatConnection team-a/nowhere"));
}

#[test]
fn a_rejected_connection_that_cannot_be_read_stays_with_the_broker_that_it_had() {
    let other = Rules { broker: "other".into(), ..rules() };
    for unreadable in [json!({}), with(connection_spec(), json!({"broker": "NO NAME"}))] {
        let mut world = World::new();
        world.connection("team-a/chat", with(connection_spec(), json!({"broker": "other"}))).binds("team-a/b", "C1");
        world.accept_as(&other);
        world.connection("team-a/chat", unreadable);
        let judged = world.accept_as(&other).bindings.remove(&key("team-a/b")).unwrap();
        assert!(told(&judged).ends_with("serves 1 on 1/2"), "{}", told(&judged));
        assert!(world.accept().bindings.is_empty());
    }
}

#[test]
fn a_rejected_connection_that_was_never_good_and_cannot_be_read_belongs_to_the_default_broker() {
    let mut world = World::default();
    world.backend("team-a/agents", backend_spec()).connection("team-a/chat", json!({})).binds("team-a/b", "C1");
    check(&mut world, "ConnectionRejected: its ChatConnection is invalid (spec: cannot be read); not served");
    let other = Rules { broker: "other".into(), ..rules() };
    assert!(world.accept_as(&other).bindings.is_empty());
}
