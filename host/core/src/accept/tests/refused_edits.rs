//! An edit that is refused, a permission that is revoked, an object that is made again.

use super::*;

#[test]
fn a_refused_edit_keeps_serving_the_last_good_generation() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.binds("team-a/b", "general");
    check(
        &mut world,
        "InvalidSpec: generation 2 is invalid, serving generation 1: spec.chat.channel: is not the id of a channel \
         on this platform: write one that matches ^(?:[CDG][A-Z0-9]+)$; serves 1 on 1/1",
    );
    assert_eq!(world.judge("team-a/b").served.unwrap().chat.channel, "C1");
    assert_eq!(world.judge("team-a/b").generation, Generation(2));
}

#[test]
fn an_edit_refused_for_any_reason_keeps_serving_the_last_good_generation() {
    let bad = |world: &mut World, reason: AcceptedReason| {
        let spec = match reason {
            AcceptedReason::InvalidSpec => json!({"agent": {}}),
            AcceptedReason::BackendNotFound => binding_spec("nowhere", "chat", "C1"),
            AcceptedReason::BackendRejected => {
                world.backend("team-a/bad", bad_backend());
                binding_spec("bad", "chat", "C1")
            }
            AcceptedReason::ConnectionNotFound => binding_spec("agents", "nowhere", "C1"),
            AcceptedReason::ConnectionRejected => {
                world.connection("team-a/bad", bad_connection());
                binding_spec("agents", "bad", "C1")
            }
            AcceptedReason::NamespaceNotAllowed => {
                world.backend("team-b/agents", backend_spec());
                binding_spec("team-b/agents", "chat", "C1")
            }
            AcceptedReason::ChannelConflict => binding_spec("agents", "chat", "C9"),
            AcceptedReason::Ok => panic!("no refusal"),
        };
        world.binding("team-a/b", spec);
    };
    for reason in AcceptedReason::ALL.iter().skip(1) {
        let mut world = World::new();
        world.binds("team-a/first", "C9").binds("team-a/b", "C1").accept();
        bad(&mut world, *reason);
        let judged = world.judge("team-a/b");
        assert!(
            told(&judged).starts_with(&format!("{reason}: generation 2 is invalid, serving generation 1: ")),
            "{}",
            told(&judged)
        );
        assert!(told(&judged).ends_with("; serves 1 on 1/1"), "{}", told(&judged));
        assert!(judged.owned);
    }
}

#[test]
fn the_last_good_generation_is_judged_against_the_present_world() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.binding("team-a/b", json!({})).remove("team-a/agents");
    check(&mut world, "InvalidSpec: spec: cannot be read; not served");
    // It is remembered all the same: the backend may come back.
    world.backend("team-a/agents", backend_spec());
    check(
        &mut world,
        "InvalidSpec: generation 2 is invalid, serving generation 1: spec: cannot be read; serves 1 on 1/1",
    );
}

#[test]
fn a_binding_without_a_good_generation_is_not_served() {
    let mut world = World::new();
    world.binding("team-a/b", json!({})).accept();
    world.binds("team-a/b", "general");
    assert!(world.judge("team-a/b").served.is_none());
}

#[test]
fn a_mended_edit_is_served_at_its_own_generation() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.binding("team-a/b", json!({})).accept();
    world.binds("team-a/b", "C2");
    check(&mut world, "OK; serves 3 on 1/1");
    assert_eq!(world.last_good.bindings[&key("team-a/b")].generation, Generation(3));
}

#[test]
fn a_refused_edit_that_still_serves_holds_its_old_channel_and_not_the_new_one() {
    let mut world = World::new();
    world.binds("team-a/a", "C1").accept();
    world.binding("team-a/a", binding_spec("nowhere", "chat", "C2")).binds("team-a/b", "C1").binds("team-a/c", "C2");
    check(&mut world, "ChannelConflict: spec.chat.channel: already bound by Binding a; not served");
    assert!(world.judge("team-a/c").refusal.is_none());
}

#[test]
fn an_older_binding_that_is_edited_onto_a_channel_takes_it() {
    let mut world = World::new();
    world.binds("team-a/a", "C1").binds("team-a/b", "C2").accept();
    world.binds("team-a/a", "C2");
    check(&mut world, "ChannelConflict: spec.chat.channel: already bound by Binding a; not served");
}

#[test]
fn a_last_good_generation_whose_channel_an_older_binding_took_does_not_stand() {
    let mut world = World::new();
    world.binds("team-a/a", "C1").binds("team-a/b", "C2").accept();
    world.binds("team-a/a", "C2").binding("team-a/b", json!({}));
    check(&mut world, "InvalidSpec: spec: cannot be read; not served");
}

#[test]
fn a_last_good_generation_may_run_on_an_older_backend() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.backend("team-a/agents", bad_backend()).binding("team-a/b", json!({}));
    check(
        &mut world,
        "InvalidSpec: generation 2 is invalid, serving generation 1: spec: cannot be read; serves 1 on 1/1",
    );
}

#[test]
fn a_revoked_permission_stops_service_at_once() {
    let shared = |change| with(with(backend_spec(), json!({"allowedNamespaces": ["team-a"]})), change);
    for (change, is_served) in [
        (json!({}), true),
        (json!({"allowedNamespaces": []}), false),
        (json!({"url": "no"}), true),
        // Rejected, but it can be read that the permission is gone.
        (json!({"url": "no", "allowedNamespaces": []}), false),
        (json!({"url": "no", "allowedNamespaces": ["*", "team-b"]}), false),
    ] {
        let mut world = World::new();
        world.backend("team-b/agents", shared(json!({})));
        world.binding("team-a/b", binding_spec("team-b/agents", "chat", "C1"));
        assert!(world.judge("team-a/b").served.is_some());
        let judged = world.backend("team-b/agents", shared(change.clone())).judge("team-a/b");
        assert_eq!(judged.served.is_some(), is_served, "{change}: {}", told(&judged));
        let is_forbidden = judged.refusal.is_some_and(|r| r.reason == AcceptedReason::NamespaceNotAllowed);
        assert_eq!(is_forbidden, !is_served, "{change}");
    }
}

#[test]
fn a_permission_that_only_a_rejected_spec_gives_is_none() {
    let mut world = World::new();
    world
        .backend("team-b/agents", backend_spec())
        .binding("team-a/b", binding_spec("team-b/agents", "chat", "C1"))
        .accept();
    world.backend("team-b/agents", json!({"url": "no", "allowedNamespaces": ["team-a"]}));
    assert_eq!(world.judge("team-a/b").refusal.unwrap().reason, AcceptedReason::NamespaceNotAllowed);
}

#[test]
fn a_binding_that_was_made_again_has_no_last_good_generation() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.remove("team-a/b").binding("team-a/b", json!({}));
    check(&mut world, "InvalidSpec: spec: cannot be read; not served");
}

#[test]
fn a_backend_or_connection_that_was_made_again_has_no_last_good_generation() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    world.remove("team-a/agents").backend("team-a/agents", bad_backend());
    assert!(world.judge("team-a/b").served.is_none());
}

#[test]
fn what_is_gone_is_forgotten() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    assert_eq!(
        (world.last_good.bindings.len(), world.last_good.backends.len(), world.last_good.connections.len()),
        (1, 1, 1)
    );
    world.remove("team-a/b").remove("team-a/agents").remove("team-a/chat").accept();
    assert_eq!(world.last_good, LastGood::default());
}

#[test]
fn what_is_remembered_survives_a_restart() {
    let mut world = World::new();
    world.binds("team-a/b", "C1").accept();
    let text = format!("{:?}", world.last_good);
    let again: Good<BindingSpec> =
        serde_json::from_value(serde_json::to_value(&world.last_good.bindings[&key("team-a/b")]).unwrap()).unwrap();
    world.last_good.bindings.insert(key("team-a/b"), again);
    assert_eq!(format!("{:?}", world.last_good), text);
    world.binding("team-a/b", json!({}));
    assert!(world.judge("team-a/b").served.is_some());
}
