use std::fmt::Write as _;

use super::*;

mod model;
mod timelines;
mod world;

use world::{World, seconds};

fn at(second: u64) -> Moment {
    Moment::after_origin(seconds(second))
}

#[test]
fn a_result_counts_for_the_object_and_generation_with_which_its_pass_began() {
    let mut world = World::new();
    world.serve("a/one");
    world.run_until(15);
    world.edit("a/one");
    world.run_until(20);
    let results = world.results("a/one");
    assert_eq!(results.backend.map(|(generation, _)| generation), Some(Generation(1)));
}

#[test]
fn the_result_of_a_binding_that_was_made_again_is_dropped() {
    let mut world = World::new();
    world.serve("a/one").takes("a/one", Check::Agent, 8).takes("a/one", Check::Channel, 8);
    world.run_until(16);
    world.remake("a/one");
    world.run_until(24);
    let results = world.results("a/one");
    assert_eq!((results.backend, results.channel), (None, None));
}

#[test]
fn the_results_of_a_binding_that_is_gone_are_forgotten() {
    let mut world = World::new();
    world.serve("a/one").serve("a/two");
    world.run_until(19);
    world.remove("a/one");
    world.run_until(20);
    let keys: Vec<_> = world.schedule.results().into_keys().map(|key| key.to_string()).collect();
    assert_eq!(keys, ["a/two"]);
}

#[test]
fn a_binding_that_lost_its_permission_is_forgotten_at_once() {
    let mut world = World::new();
    world.serve("a/one").serve("a/two");
    world.run_until(19);
    let mut accepted = Accepted::default();
    let kept = world.objects.get(&world::key("a/two")).unwrap();
    let judged = crate::accept::Judged {
        uid: kept.uid.clone(),
        generation: Generation(1),
        owned: true,
        channel: None,
        refusal: None,
        served: Some(kept.served.clone()),
    };
    accepted.bindings.insert(world::key("a/two"), judged.clone());
    accepted.bindings.insert(world::key("a/one"), crate::accept::Judged { served: None, ..judged });
    world.schedule.retain_served(&accepted);
    let keys: Vec<_> = world.schedule.results().into_keys().map(|key| key.to_string()).collect();
    assert_eq!(keys, ["a/two"]);
}

#[test]
fn an_edit_of_the_connection_opens_its_gate() {
    let mut world = World::new();
    world.serve("a/one").asks_to_wait("a/one", Check::Channel, 3600);
    world.run_until(49);
    world.edit_connection("a/one");
    world.run_until(60);
    assert_eq!(world.begun("a/one", Check::Channel), [15, 50]);
    world.run_until(400);
    assert_eq!(world.begun("a/one", Check::Channel), [15, 50], "the gate of the new generation is closed now");
    assert_eq!(world.begun("a/one", Check::Agent), [15, 50, 350]);
}

#[test]
fn a_probe_that_was_left_out_is_due_in_the_next_pass_though_its_sibling_ran() {
    let mut schedule = Schedule::new(Cadence::default(), Moment::ORIGIN);
    let mut world = World::new();
    world.serve("a/one");
    schedule.look(at(15), world.objects.clone());
    let Step::Begin(agent) = schedule.next(at(15)) else { panic!("no probe") };
    schedule.left_out(&agent);
    let Step::Begin(channel) = schedule.next(at(15)) else { panic!("no probe") };
    schedule.ended(&channel, Said::Channel(Outcome::of(ChannelReason::Ok)), at(16));
    schedule.look(at(45), world.objects.clone());
    let Step::Begin(again) = schedule.next(at(45)) else { panic!("no probe") };
    assert_eq!((again.pass, again.check), (2, Check::Agent));
}

#[test]
fn the_bindings_of_a_pass_take_turns_by_namespace_and_the_changed_ones_go_first() {
    let mut world = World::new();
    for name in ["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"] {
        world.serve(name).takes(name, Check::Agent, 0).takes(name, Check::Channel, 0);
    }
    world.run_until(310);
    world.edit("c/2").edit("a/3");
    world.events.clear();
    world.run_until(330);
    let mut order = String::new();
    for (_, name, check) in &world.events {
        if *check == Check::Agent {
            write!(order, "{name} ").unwrap();
        }
    }
    assert_eq!(order, "a/3 c/2 a/1 b/1 c/1 a/2 ");
}

#[test]
fn a_probe_knows_whether_it_alone_asks_its_origin_in_its_pass() {
    let mut world = World::new();
    world.serve("a/one").serve("b/two");
    let agent = &mut world.objects.get_mut(&world::key("b/two")).unwrap().served.agent;
    agent.url = crate::url::BaseUrl::parse("http://agent.example:8080/two").unwrap();
    let alone = |world: &World| -> Vec<(String, Check, bool)> {
        let mut schedule = Schedule::new(Cadence::default(), Moment::ORIGIN);
        schedule.look(at(15), world.objects.clone());
        let jobs = std::iter::from_fn(|| match schedule.next(at(15)) {
            Step::Begin(job) => Some((job.key.to_string(), job.check, job.asks_alone)),
            Step::Wait { .. } | Step::Look | Step::Gated(..) => None,
        });
        jobs.collect()
    };
    let pair = |name: &str, agent: bool, channel: bool| {
        [(name.to_owned(), Check::Agent, agent), (name.to_owned(), Check::Channel, channel)]
    };
    assert_eq!(alone(&world), [pair("a/one", true, false), pair("b/two", true, false)].concat());
    world.serve("a/three");
    let expected = [pair("a/one", false, false), pair("b/two", true, false)].concat();
    assert_eq!(alone(&world)[..2], expected[..2]);
    world.remove("a/three").remove("b/two");
    assert_eq!(alone(&world), pair("a/one", true, true));
}
