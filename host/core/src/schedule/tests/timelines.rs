//! Golden timelines: what happens, second by second.

use super::*;

fn check(world: &World, expected: &str) {
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(world.log, expected, "\n{}\n", world.log.join("\n"));
}

#[test]
fn a_leader_that_starts() {
    let mut world = World::new();
    world.serve("a/one");
    world.run_until(14);
    assert!(world.schedule.results().is_empty(), "nothing is listed before the first look");
    world.run_until(320);
    check(
        &world,
        "t=15 pass 1 begins
         t=15 a/one agent begins, generation 1
         t=15 a/one chat begins, generation 1
         t=16 a/one agent ends
         t=16 a/one chat ends
         t=315 pass 2 begins
         t=315 a/one agent begins, generation 1
         t=315 a/one chat begins, generation 1
         t=316 a/one agent ends
         t=316 a/one chat ends",
    );
}

#[test]
fn an_edit_soon_after_a_pass_waits_for_the_gap_and_a_later_one_for_the_look_alone() {
    let mut world = World::new();
    world.serve("a/one");
    world.run_until(17);
    world.edit("a/one");
    world.run_until(101);
    world.edit_secret("a/one");
    world.run_until(110);
    check(
        &world,
        "t=15 pass 1 begins
         t=15 a/one agent begins, generation 1
         t=15 a/one chat begins, generation 1
         t=16 a/one agent ends
         t=16 a/one chat ends
         t=45 pass 2 begins
         t=45 a/one agent begins, generation 2
         t=45 a/one chat begins, generation 2
         t=46 a/one agent ends
         t=46 a/one chat ends
         t=105 pass 3 begins
         t=105 a/one agent begins, generation 2
         t=105 a/one chat begins, generation 2
         t=106 a/one agent ends
         t=106 a/one chat ends",
    );
}

#[test]
fn a_pass_over_slow_peers_leaves_out_a_binding_that_changes_before_its_turn() {
    let mut world = World::new();
    for name in ["a/one", "b/two", "c/three"] {
        world.serve(name).takes(name, Check::Agent, 10).takes(name, Check::Channel, 10);
    }
    world.run_until(17);
    world.edit("c/three").edit("a/one");
    world.takes("a/one", Check::Agent, 1).takes("a/one", Check::Channel, 1);
    world.run_until(47);
    check(
        &world,
        "t=15 pass 1 begins
         t=15 a/one agent begins, generation 1
         t=15 a/one chat begins, generation 1
         t=15 b/two agent begins, generation 1
         t=15 b/two chat begins, generation 1
         t=25 a/one agent ends
         t=25 a/one chat ends
         t=25 b/two agent ends
         t=25 b/two chat ends
         t=45 pass 2 begins
         t=45 a/one agent begins, generation 2
         t=45 a/one chat begins, generation 2
         t=45 c/three agent begins, generation 2
         t=45 c/three chat begins, generation 2
         t=46 a/one agent ends
         t=46 a/one chat ends",
    );
}

#[test]
fn a_platform_that_asked_to_wait_gets_no_request_meanwhile() {
    let mut world = World::new();
    world.serve("a/one").asks_to_wait("a/one", Check::Channel, 100);
    world.run_until(40);
    world.edit("a/one");
    world.run_until(45);
    let found = world.results("a/one").channel.map(|(generation, outcome)| (generation, outcome.reason));
    assert_eq!(found, Some((Generation(2), ChannelReason::RateLimited)));
    world.run_until(360);
    check(
        &world,
        "t=15 pass 1 begins
         t=15 a/one agent begins, generation 1
         t=15 a/one chat begins, generation 1
         t=16 a/one agent ends
         t=16 a/one chat ends
         t=45 pass 2 begins
         t=45 a/one agent begins, generation 2
         t=45 a/one chat is left alone
         t=46 a/one agent ends
         t=345 pass 3 begins
         t=345 a/one agent begins, generation 2
         t=345 a/one chat begins, generation 2
         t=346 a/one agent ends
         t=346 a/one chat ends",
    );
}
