//! What holds in every world.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// One step in the life of a small cluster: a put of an object with one of a few specs, or its removal.
#[derive(Clone, Debug)]
enum Step {
    Binding(&'static str, &'static str, &'static str, &'static str),
    BadBinding(&'static str),
    Backend(&'static str, u8),
    Connection(&'static str, u8),
    Remove(&'static str),
    Look,
}

const BINDINGS: [&str; 5] = ["team-a/b", "team-a/c", "team-a/d", "team-b/b", "team-b/c"];
const BACKENDS: [&str; 3] = ["team-a/agents", "team-b/agents", "team-b/other"];
const CONNECTIONS: [&str; 3] = ["team-a/chat", "team-b/chat", "team-b/wire"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (select(&BINDINGS[..]), select(&BACKENDS[..]), select(&CONNECTIONS[..]), select(&["C1", "C2", "general"][..]))
            .prop_map(|(at, backend, connection, channel)| Step::Binding(at, backend, connection, channel)),
        1 => select(&BINDINGS[..]).prop_map(Step::BadBinding),
        3 => (select(&BACKENDS[..]), 0..5u8).prop_map(|(at, variant)| Step::Backend(at, variant)),
        3 => (select(&CONNECTIONS[..]), 0..6u8).prop_map(|(at, variant)| Step::Connection(at, variant)),
        1 => select([&BINDINGS[..], &BACKENDS[..], &CONNECTIONS[..]].concat()).prop_map(Step::Remove),
        2 => Just(Step::Look),
    ]
}

fn play(world: &mut World, step: &Step) {
    let star = json!({"allowedNamespaces": ["*"]});
    match *step {
        Step::Binding(at, backend, connection, channel) => {
            world.binding(at, binding_spec(backend, connection, channel));
        }
        Step::BadBinding(at) => {
            world.binding(at, json!({}));
        }
        Step::Backend(at, variant) => {
            let changes = [
                star,
                json!({}),
                json!({"url": "no", "allowedNamespaces": ["*"]}),
                json!({"url": "no"}),
                json!({"url": null}),
            ];
            world.backend(at, with(backend_spec(), changes[usize::from(variant)].clone()));
        }
        Step::Connection(at, variant) => {
            let changes = [
                star,
                json!({}),
                json!({"platform": "irc", "allowedNamespaces": ["*"]}),
                json!({"platform": "irc"}),
                json!({"secretRef": null}),
                json!({"broker": "other", "allowedNamespaces": ["*"]}),
            ];
            world.connection(at, with(connection_spec(), changes[usize::from(variant)].clone()));
        }
        Step::Remove(at) => {
            world.remove(at);
        }
        Step::Look => {
            world.accept();
        }
    }
}

/// A world that has seen some life, with objects of the same age among them.
fn world() -> impl Strategy<Value = World> {
    (proptest::collection::vec(step(), 1..40), 1..4i64).prop_map(|(steps, coarse)| {
        let mut world = World::new();
        for step in &steps {
            play(&mut world, step);
        }
        for object in &mut world.snapshot.bindings {
            object.meta.created.0 /= coarse * 3;
        }
        world
    })
}

fn shuffle<T>(list: &mut [T], turns: &[Index]) {
    for (at, turn) in turns.iter().enumerate() {
        if !list.is_empty() {
            list.swap(at % list.len(), turn.index(list.len()));
        }
    }
}

proptest! {
    // Each case plays the life of a small cluster.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_the_input_changes_nothing(world in world(), turns in proptest::collection::vec(any::<Index>(), 12)) {
        let mut other = world.snapshot.clone();
        shuffle(&mut other.bindings, &turns);
        shuffle(&mut other.backends, &turns);
        shuffle(&mut other.connections, &turns);
        prop_assert_eq!(accept(&world.snapshot, &world.last_good, &rules()), accept(&other, &world.last_good, &rules()));
    }

    #[test]
    fn a_channel_of_a_connection_has_one_winner(mut world in world()) {
        let mut held = BTreeSet::new();
        for (at, judged) in world.accept().bindings {
            if let Some(served) = judged.served {
                prop_assert!(held.insert((served.chat.connection.key, served.chat.channel)), "{} has no right to it", at);
            }
        }
    }

    #[test]
    fn a_binding_is_served_or_refused_and_tells_why(mut world in world()) {
        for (at, judged) in world.accept().bindings {
            prop_assert!(judged.served.is_some() || judged.refusal.is_some(), "{}", at);
            let served = judged.served.map(|served| served.generation);
            match judged.refusal {
                None => prop_assert_eq!(served, Some(judged.generation)),
                Some(refusal) => prop_assert!(!refusal.message.is_empty() && refusal.reason != AcceptedReason::Ok),
            }
            prop_assert!(served <= Some(judged.generation));
        }
    }

    #[test]
    fn looking_again_changes_nothing(mut world in world()) {
        let first = world.accept();
        prop_assert_eq!(world.accept(), first);
    }

    /// `team-b`'s rejected objects are made wrong in another way, at the same generation and with the same permissions.
    #[test]
    fn another_namespaces_problems_show_in_no_refusal(mut world in world()) {
        let first = world.clone().accept();
        let theirs = |at: &ObjectKey| at.namespace == "team-b";
        for object in world.snapshot.backends.iter_mut().filter(|object| theirs(&object.meta.key)) {
            if let Ok(spec) = &mut object.spec && spec.url == "no" {
                spec.url = "https://u:p@secret.example".into();
            }
        }
        for object in world.snapshot.connections.iter_mut().filter(|object| theirs(&object.meta.key)) {
            if let Ok(spec) = &mut object.spec && spec.platform == "irc" {
                spec.settings.insert("secret".into(), "x".into());
                spec.platform = "secret".into();
            }
        }
        let second = world.accept();
        for (at, judged) in first.bindings.iter().filter(|(at, _)| !theirs(at)) {
            let there = &second.bindings[at];
            prop_assert_eq!(&judged.served, &there.served);
            let told = |judged: &Judged| judged.refusal.clone().map(|refusal| (refusal.reason, refusal.message));
            prop_assert_eq!(told(judged), told(there));
        }
    }
}
