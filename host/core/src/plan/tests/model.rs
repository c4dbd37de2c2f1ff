//! Random histories in virtual time, and what has to hold in each of them.

use proptest::prelude::*;

use super::world::{Mood, World, key, ok, refused, s, unreachable};
use super::*;

#[derive(Clone, Copy, Debug)]
enum Event {
    Say(u8, i64),
    Interfere,
    Touch,
    Remake,
    Mood(Mood),
    Lag(u64),
    Take(u64),
}

const NAMES: [&str; 3] = ["a/1", "a/2", "b/1"];

fn any_event() -> impl Strategy<Value = Event> {
    let moods = [Mood::Well, Mood::Well, Mood::Refuses, Mood::LosesAnswers, Mood::Hangs];
    prop_oneof![
        5 => (0..3_u8, 1..3_i64).prop_map(|(what, generation)| Event::Say(what, generation)),
        4 => Just(Event::Interfere),
        1 => Just(Event::Touch),
        1 => Just(Event::Remake),
        3 => prop::sample::select(moods.to_vec()).prop_map(Event::Mood),
        1 => (0..20_000_u64).prop_map(Event::Lag),
        1 => (0..5_000_u64).prop_map(Event::Take),
    ]
}

fn any_history() -> impl Strategy<Value = Vec<(u64, &'static str, Event)>> {
    prop::collection::vec((0..40_000_u64, prop::sample::select(NAMES.to_vec()), any_event()), 0..60)
}

fn play(history: &[(u64, &'static str, Event)]) -> World {
    let mut world = World::new();
    NAMES.iter().for_each(|name| world.make(name));
    for (wait, name, event) in history {
        let until = world.now + wait;
        world.run_until(until);
        match *event {
            Event::Say(0, generation) => world.say(name, ok(generation)),
            Event::Say(1, generation) => world.say(name, unreachable(generation)),
            Event::Say(_, generation) => world.say(name, refused(generation)),
            Event::Interfere => world.interfere(name, "rival"),
            Event::Touch => world.touch(name),
            Event::Remake => world.make(name),
            Event::Mood(mood) => world.mood = mood,
            Event::Lag(lag) => world.lag = lag,
            Event::Take(takes) => world.takes = takes,
        }
    }
    world
}

/// Lets a healthy server and nobody else be at work for as long as the longest waits need.
fn calm_down(world: &mut World) {
    (world.mood, world.lag, world.takes) = (Mood::Well, 100, 100);
    let until = world.now + s(20 + 300 + 300 + 60);
    world.run_until(until);
}

proptest! {
    // Each case is half an hour of virtual time.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_two_writes_of_one_object_within_the_gap(history in any_history()) {
        let history: Vec<_> = history.into_iter().filter(|(_, _, event)| !matches!(event, Event::Remake)).collect();
        let world = play(&history);
        for name in NAMES {
            let own: Vec<_> = world.sent.iter().filter(|sent| sent.key == key(name)).collect();
            for (one, next) in own.iter().zip(own.iter().skip(1)) {
                prop_assert!(next.begin >= one.end + s(10), "{name}: {} after {}", next.begin, one.end);
            }
        }
    }

    #[test]
    fn what_is_sent_differs_from_what_stands(history in any_history()) {
        let world = play(&history);
        for sent in &world.sent {
            let words: Vec<_> = sent.conditions.iter().map(Condition::words).collect();
            let seen = sent.seen.text();
            let generation = sent.conditions.last().map(|ready| ready.observed_generation);
            prop_assert!(words != seen.words || generation != seen.observed_generation, "{:?}", sent);
        }
    }

    #[test]
    fn in_the_end_what_is_so_stands_and_nothing_is_written_any_more(history in any_history()) {
        let mut world = play(&history);
        calm_down(&mut world);
        for name in NAMES {
            prop_assert!(world.settled(name), "{name}\n{}", world.log.join("\n"));
        }
        let writes = world.sent.len();
        let until = world.now + s(900);
        world.run_until(until);
        prop_assert_eq!(world.sent.len(), writes);
    }

    #[test]
    fn put_backs_of_one_object_are_never_more_than_a_fight_allows(waits in prop::collection::vec(1..30_u64, 100)) {
        let mut world = World::new();
        world.make("a/1");
        for wait in waits {
            let until = world.now + s(wait);
            world.run_until(until);
            world.interfere("a/1", "rival");
        }
        let ends: Vec<_> = world.sent.iter().filter(|sent| sent.put_back).map(|sent| sent.end).collect();
        for (one, next) in ends.iter().zip(ends.iter().skip(1)).skip(2) {
            prop_assert!(next - one >= s(300), "{ends:?}");
        }
        let warned = world.log.iter().filter(|line| line.contains("fought over")).count();
        prop_assert_eq!(warned, usize::from(ends.len() >= 3));
    }

    #[test]
    fn a_time_moves_with_its_status_alone(history in any_history()) {
        let history: Vec<_> = history.into_iter().filter(|(_, _, event)| !matches!(event, Event::Remake)).collect();
        let mut world = play(&history);
        calm_down(&mut world);
        // Of what was certainly made: the last two writes that a watch has shown since.
        for name in NAMES {
            let own: Vec<_> = world.sent.iter().filter(|sent| sent.key == key(name)).collect();
            for (one, next) in own.iter().zip(own.iter().skip(1)) {
                if next.seen.conditions != one.conditions {
                    continue;
                }
                for (before, after) in one.conditions.iter().zip(&next.conditions) {
                    if before.kind == after.kind && before.status == after.status {
                        prop_assert_eq!(before.last_transition_time, after.last_transition_time);
                    }
                }
            }
        }
    }
}
