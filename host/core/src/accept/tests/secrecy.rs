//! What a refusal tells of another namespace.

use serde_json::Value;

use super::*;

/// `team-b` shares its objects with `team-a`, or does not; `team-a/b` uses both of them.
fn two_teams(backend: Value, connection: Value, allowed: &Value) -> World {
    let mut world = World::default();
    let allow = json!({"allowedNamespaces": allowed});
    world.backend("team-b/agents", with(backend_spec(), allow.clone()));
    world.connection("team-b/chat", with(connection_spec(), allow.clone()));
    world.binding("team-b/theirs", binding_spec("agents", "chat", "C1")).accept();
    world.backend("team-b/agents", with(with(backend_spec(), allow.clone()), backend));
    world.connection("team-b/chat", with(with(connection_spec(), allow), connection));
    world.binding("team-a/b", binding_spec("team-b/agents", "team-b/chat", "C1"));
    world
}

#[test]
fn a_message_about_another_namespaces_object_never_quotes_its_problems() {
    let mut world = two_teams(json!({"url": "no"}), json!({"settings": {"hush": "x"}}), &json!(["team-a"]));
    let refusal = world.judge("team-a/b").refusal.unwrap();
    assert_eq!(
        refusal.message.as_str(),
        "generation 2 of its AgentBackend is invalid, running generation 1; \
         generation 2 of its ChatConnection is invalid, running generation 1; \
         spec.chat.channel: already bound by a Binding in another namespace"
    );
}

#[test]
fn the_log_has_what_the_message_must_not_hold() {
    let mut world = two_teams(json!({"url": "no"}), json!({}), &json!(["team-a"]));
    let log = world.judge("team-a/b").refusal.unwrap().log.unwrap();
    assert!(log.contains("AgentBackend team-b/agents: spec.url: has to be an absolute URL"), "{log}");
    assert!(log.contains("channel C1 is held by Binding team-b/theirs"), "{log}");
}

#[test]
fn a_conflict_with_another_namespace_says_so_without_the_name() {
    let mut world = two_teams(json!({}), json!({}), &json!(["team-a"]));
    check(
        &mut world,
        "ChannelConflict: spec.chat.channel: already bound by a Binding in another namespace; not served",
    );
}

#[test]
fn a_conflict_in_the_same_namespace_names_the_winner_and_needs_no_log() {
    let mut world = World::new();
    world.binds("team-a/first", "C1").binds("team-a/b", "C1");
    let refusal = world.judge("team-a/b").refusal.unwrap();
    assert_eq!(refusal.message.as_str(), "spec.chat.channel: already bound by Binding first");
    assert_eq!(refusal.log, None);
}

#[test]
fn namespace_not_allowed_says_nothing_of_the_object_but_that_it_exists() {
    let want = "NamespaceNotAllowed: \
        spec.agent.backendRef: the AgentBackend is in another namespace and does not allow team-a, \
        ask its owner to add that to allowedNamespaces; \
        spec.chat.connectionRef: the ChatConnection is in another namespace and does not allow team-a, \
        ask its owner to add that to allowedNamespaces; not served";
    for (backend, connection) in [
        (json!({}), json!({})),
        (json!({"url": "no"}), json!({})),
        (json!({"url": null}), json!({"secretRef": null})),
        (json!({"allowedNamespaces": ["x", "x"]}), json!({"platform": "irc", "allowedNamespaces": ["*", "x"]})),
        // A platform whose pattern C1 does not match.
        (json!({}), json!({"platform": "zulip", "url": "https://z.example", "settings": {"botEmail": "x"}})),
    ] {
        for allowed in [json!([]), json!(["team-c"])] {
            let mut world = two_teams(backend.clone(), connection.clone(), &allowed);
            check(&mut world, want);
            assert_eq!(world.judge("team-a/b").refusal.unwrap().log, None);
        }
    }
}

#[test]
fn worlds_that_differ_in_what_is_hidden_give_the_same_refusal() {
    let worlds = [
        two_teams(json!({"url": "no"}), json!({"settings": {"hush": "x"}}), &json!(["team-a"])),
        two_teams(json!({"url": "https://u:p@h.example"}), json!({"secretRef": null}), &json!(["team-a"])),
        two_teams(json!({"cardPath": "/.."}), json!({"platform": "irc"}), &json!(["team-a", "team-c"])),
    ];
    let [first, rest @ ..] = worlds.map(|mut world| {
        let refusal = world.judge("team-a/b").refusal.unwrap();
        (refusal.reason, refusal.message)
    });
    // In the second world the connection cannot be read, so nothing but its older generation says who may use it.
    for other in rest {
        assert_eq!(first, other);
    }
}
