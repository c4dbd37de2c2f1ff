//! Random histories in virtual time, and what has to hold in each of them.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Something that happens to one of a few Bindings.
#[derive(Clone, Copy, Debug)]
enum Event {
    Serve,
    Edit,
    EditSecret,
    EditConnection,
    Remake,
    Remove,
    AskToWait(u64),
    Take(u64),
}

const NAMES: [&str; 9] = ["a/1", "a/2", "a/3", "a/4", "a/5", "b/1", "b/2", "c/1", "d/1"];

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Serve),
        3 => Just(Event::Edit),
        1 => Just(Event::EditSecret),
        1 => Just(Event::EditConnection),
        1 => Just(Event::Remake),
        1 => Just(Event::Remove),
        1 => (1..200_u64).prop_map(Event::AskToWait),
        2 => (1..=10_u64).prop_map(Event::Take),
    ]
}

fn any_history() -> impl Strategy<Value = Vec<(u64, &'static str, Event)>> {
    prop::collection::vec((0..60_u64, prop::sample::select(NAMES.to_vec()), any_event()), 0..60)
}

fn apply(world: &mut World, name: &str, event: Event) {
    let there = world.objects.contains_key(&world::key(name));
    match event {
        Event::Serve if !there => world.serve(name),
        Event::Remake if there => world.remake(name),
        Event::Serve | Event::Remake => world,
        Event::Edit => world.edit(name),
        Event::EditSecret => world.edit_secret(name),
        Event::EditConnection => world.edit_connection(name),
        Event::Remove => world.remove(name),
        Event::AskToWait(wait) => world.asks_to_wait(name, Check::Channel, wait),
        Event::Take(duration) => world.takes(name, Check::Agent, duration).takes(name, Check::Channel, duration),
    };
}

fn play(history: &[(u64, &'static str, Event)]) -> World {
    let mut world = World::new();
    for (wait, name, event) in history {
        let until = world.now + wait;
        world.run_until(until);
        apply(&mut world, name, *event);
    }
    world
}

/// A pass over all nine, each probe of 10 s, 4 at a time.
const LONGEST_PASS: u64 = 9 * 2 * 10 / 4 + 10;

proptest! {
    // Each case is an hour of virtual time.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_pass_begins_within_the_gap(history in any_history()) {
        let mut world = play(&history);
        let until = world.now + 400;
        world.run_until(until);
        for (one, next) in world.passes.iter().zip(world.passes.iter().skip(1)) {
            prop_assert!(next - one >= 30, "{:?}", world.passes);
        }
        prop_assert!(world.passes.first().is_none_or(|first| *first >= 15));
    }

    #[test]
    fn no_probe_of_one_object_is_made_twice_in_a_pass(history in any_history()) {
        let remade = |(_, _, event): &(u64, &str, Event)| matches!(event, Event::Remake | Event::Remove);
        let history: Vec<_> = history.into_iter().filter(|event| !remade(event)).collect();
        let world = play(&history);
        let mut seen = BTreeSet::new();
        for (second, name, check) in &world.events {
            let pass = world.passes.iter().filter(|start| *start <= second).count();
            prop_assert!(seen.insert((pass, name, *check)), "{name} twice in pass {pass}");
        }
    }

    #[test]
    fn what_is_served_is_probed_every_five_minutes_and_a_pass(history in any_history()) {
        let mut world = play(&history);
        let from = world.now;
        world.run_until(from + 2000);
        // A look, the gap of a pass that just began, and the pass itself. No wait of a peer stops the agent's probe.
        let bound = 300 + 5 + 30 + LONGEST_PASS;
        for name in world.objects.keys().map(ToString::to_string) {
            let mut last = from.max(15);
            let begun = world.begun(&name, Check::Agent).into_iter().filter(|second| *second >= from);
            for second in begun.chain([world.now]) {
                prop_assert!(second.saturating_sub(last) <= bound, "{name}: nothing from {last} to {second}");
                last = second;
            }
        }
    }

    #[test]
    fn what_is_served_is_listed_and_probed_at_its_newest_generation(history in any_history()) {
        let mut world = play(&history);
        let until = world.now.max(15) + 5 + 30 + 2 * LONGEST_PASS;
        world.run_until(until);
        let results = world.schedule.results();
        prop_assert_eq!(results.keys().collect::<Vec<_>>(), world.objects.keys().collect::<Vec<_>>());
        for (key, inputs) in &world.objects {
            let found = &results[key];
            prop_assert_eq!(&found.uid, &inputs.uid);
            let generations = [found.backend.map(|(of, _)| of), found.channel.map(|(of, _)| of)];
            prop_assert_eq!(generations, [Some(inputs.served.generation); 2], "{}", key);
        }
    }

    #[test]
    fn namespaces_take_turns(counts in prop::collection::vec(0..12_usize, 1..5)) {
        let mut world = World::new();
        for (namespace, count) in counts.iter().enumerate() {
            for name in 0..*count {
                world.serve(&format!("n{namespace}/{name:02}"));
            }
        }
        world.run_until(200);
        let mut begun = vec![0; counts.len()];
        for (_, name, _) in world.events.iter().filter(|(_, _, check)| *check == Check::Agent) {
            let own: usize = name[1..2].parse().unwrap();
            begun[own] += 1;
            for (other, count) in begun.iter().enumerate() {
                let waits = *count < counts[other];
                prop_assert!(!waits || begun[own] <= count + 1, "n{own} before n{other}: {:?}", world.events);
            }
        }
        prop_assert_eq!(begun, counts);
    }
}
