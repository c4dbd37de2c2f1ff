//! Random histories in virtual time, and what has to hold in each of them.

use proptest::prelude::*;

use super::world::{Link, Loses, WELL, World};

#[derive(Clone, Copy, Debug)]
enum Event {
    Link(Link),
    Freeze(u64),
    Restart,
    Resign,
    Touch,
}

/// As many candidates are alive.
const ALIVE: usize = 3;

fn any_link() -> impl Strategy<Value = Link> {
    let loses = [Loses::Nothing, Loses::Nothing, Loses::Nothing, Loses::Calls, Loses::Answers, Loses::Refuses];
    // Some calls arrive long after their candidate gave them up.
    let delay = || prop_oneof![4 => 0..50_u64, 2 => 0..5_000_u64, 1 => 0..60_000_u64];
    (delay(), delay(), prop::sample::select(loses.to_vec())).prop_map(|(there, back, loses)| Link {
        there,
        back,
        loses,
    })
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => any_link().prop_map(Event::Link),
        3 => Just(Event::Link(WELL)),
        2 => (0..40_000_u64).prop_map(Event::Freeze),
        1 => Just(Event::Restart),
        1 => Just(Event::Resign),
        1 => Just(Event::Touch),
    ]
}

fn any_history() -> impl Strategy<Value = Vec<(u64, usize, Event)>> {
    prop::collection::vec((0..12_000_u64, 0..ALIVE, any_event()), 0..60)
}

/// Clocks of which some are a fifteenth slower or faster.
fn any_rates() -> impl Strategy<Value = [u64; ALIVE]> {
    let rate = || prop::sample::select(vec![1000_u64, 1000, 933, 1067]);
    [rate(), rate(), rate()]
}

/// The world, and the index of the candidate that stands in each place now.
fn begin(rates: [u64; ALIVE]) -> (World, [usize; ALIVE]) {
    let mut world = World::new();
    let mut number = 0;
    let places = rates.map(|rate| {
        number += 1;
        world.start(&format!("c{number}"), rate)
    });
    (world, places)
}

/// Plays a history. The world itself asserts at each event that no two candidates lead.
fn play(world: &mut World, places: &mut [usize; ALIVE], history: &[(u64, usize, Event)]) {
    for (wait, place, event) in history {
        world.run_until(world.now + wait);
        let index = places[*place];
        match *event {
            Event::Link(link) => world.candidates[index].link = link,
            Event::Freeze(millis) => world.candidates[index].frozen = world.now + millis,
            Event::Resign => world.resign(index),
            Event::Touch => world.touch(),
            Event::Restart => {
                world.kill(index);
                let name = format!("c{}", world.candidates.len() + 1);
                places[*place] = world.start(&name, 1000);
            }
        }
    }
}

fn calm_down(world: &mut World, places: &mut [usize; ALIVE]) {
    for place in &*places {
        let candidate = &mut world.candidates[*place];
        (candidate.link, candidate.frozen) = (WELL, 0);
    }
    // The last late call, after which those that resigned have ended.
    world.run_until(world.now + 60_000 + 3_000);
    for place in places {
        if !world.candidates[*place].running {
            let name = format!("c{}", world.candidates.len() + 1);
            *place = world.start(&name, 1000);
        }
    }
    // A duration.
    world.run_until(world.now + 20_000);
}

proptest! {
    // Each case is some minutes of virtual time.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn two_never_lead_and_one_leads_soon_after_calm_returned(history in any_history(), rates in any_rates()) {
        let (mut world, mut places) = begin(rates);
        play(&mut world, &mut places, &history);
        calm_down(&mut world, &mut places);
        prop_assert_eq!(world.leaders().len(), 1, "\n{}", world.log.join("\n"));
        // And it stays: without trouble nobody takes from anybody.
        let before = world.log.len();
        world.run_until(world.now + 120_000);
        prop_assert_eq!(&world.log[before..], &[] as &[String]);
    }

    #[test]
    fn two_never_lead_though_the_lease_is_deleted_once_all_have_seen_it(
        before in any_history(), after in any_history(), rates in any_rates(),
    ) {
        let lasting = |history: Vec<(u64, usize, Event)>| {
            history.into_iter().filter(|(.., event)| !matches!(event, Event::Restart)).collect::<Vec<_>>()
        };
        let (mut world, mut places) = begin(rates);
        world.run_until(5_000);
        play(&mut world, &mut places, &lasting(before));
        prop_assert!(world.candidates.iter().all(|candidate| candidate.has_seen));
        world.delete();
        play(&mut world, &mut places, &lasting(after));
    }

    #[test]
    fn a_killed_holder_is_followed_within_the_duration_and_two_seconds_and_a_half(
        at in 0..30_000_u64, there in 0..200_u64, back in 0..200_u64,
    ) {
        let (mut world, places) = begin([1000; ALIVE]);
        for place in places {
            world.candidates[place].link = Link { there, back, loses: Loses::Nothing };
        }
        world.run_until(2_000 + at);
        let leader = places.into_iter().find(|place| world.leaders() == [world.candidates[*place].name.as_str()]);
        world.kill(leader.unwrap());
        // Its last renewal may have been at the server only just now, seen up to a retry and a call later.
        world.run_until(world.now + 15_000 + 2_000 + 3 * (there + back));
        prop_assert_eq!(world.leaders().len(), 1);
    }
}
