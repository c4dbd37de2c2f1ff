//! Golden timelines: what happens, in seconds.

use super::check;
use super::world::{World, key, ok, refused, s, unreachable};

#[test]
fn each_change_is_written_once_and_a_gap_after_the_end_of_the_last_write() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(3));
    world.say("a/one", unreachable(1));
    world.run_until(s(8));
    world.say("a/one", refused(2));
    world.run_until(s(60));
    world.say("a/one", ok(3));
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=11 a/one write: Ready False Accepted:InvalidSpec since 11
         t=61 a/one write: Ready True OK since 61",
    );
}

#[test]
fn what_says_the_same_with_a_newer_generation_is_written_and_keeps_its_time() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(20));
    world.say("a/one", ok(2));
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=21 a/one write: Ready True OK since 0",
    );
}

#[test]
fn a_status_that_an_earlier_leader_wrote_is_put_back_with_its_times() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(100));
    world.next_leader();
    world.run_until(s(200));
    world.interfere("a/one", "kubectl-edit");
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=200 a/one is changed by kubectl-edit
         t=201 a/one put back: Ready True OK since 0",
    );
}

#[test]
fn a_binding_that_is_left_alone_while_its_words_stand_keeps_its_gap_and_its_put_backs() {
    let mut world = World::new();
    world.make("a/one");
    world.shared.insert(key("a/one"));
    world.run_until(s(3));
    for at in [3, 20, 40, 60] {
        world.run_until(s(at));
        world.interfere("a/one", "rival");
    }
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=3 a/one is changed by rival
         t=11 a/one put back: Ready True OK since 0
         t=20 a/one is changed by rival
         t=22 a/one put back: Ready True OK since 0
         t=40 a/one is changed by rival
         t=41 a/one put back: Ready True OK since 0
         t=41.2 a/one is fought over by rival
         t=60 a/one is changed by rival
         t=342 a/one put back: Ready True OK since 0",
    );
}

#[test]
fn a_foreign_change_is_put_back_once_with_the_times_that_were() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(100));
    world.interfere("a/one", "kubectl-edit");
    world.run_until(s(105));
    world.interfere("a/one", "kubectl-edit");
    world.run_until(s(2000));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=100 a/one is changed by kubectl-edit
         t=101 a/one put back: Ready True OK since 0
         t=105 a/one is changed by kubectl-edit
         t=112 a/one put back: Ready True OK since 0",
    );
}

#[test]
fn a_fight_is_reported_once_and_slows_put_backs_but_not_news() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(1));
    for minute in [100, 130, 160, 190, 500, 900] {
        world.run_until(s(minute));
        world.interfere("a/one", "rival");
    }
    world.run_until(s(950));
    world.say("a/one", unreachable(1));
    world.run_until(s(3000));
    world.interfere("a/one", "rival");
    world.run_until(s(4000));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=100 a/one is changed by rival
         t=101 a/one put back: Ready True OK since 0
         t=130 a/one is changed by rival
         t=131 a/one put back: Ready True OK since 0
         t=160 a/one is changed by rival
         t=161 a/one put back: Ready True OK since 0
         t=161.2 a/one is fought over by rival
         t=190 a/one is changed by rival
         t=462 a/one put back: Ready True OK since 0
         t=500 a/one is changed by rival
         t=763 a/one put back: Ready True OK since 0
         t=900 a/one is changed by rival
         t=951 a/one write: Ready False BackendReachable:Unreachable since 951
         t=3000 a/one is changed by rival
         t=3001 a/one put back: Ready False BackendReachable:Unreachable since 951",
    );
}

#[test]
fn an_object_that_was_made_again_is_written_without_its_predecessor_s_times() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(3));
    world.make("a/one");
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=4 a/one write: Ready True OK since 4",
    );
}

#[test]
fn writes_of_many_bindings_are_spaced_and_bounded() {
    let mut world = World::new();
    world.takes = s(1);
    for name in ["a/1", "a/2", "a/3", "a/4", "a/5", "a/6"] {
        world.make(name);
    }
    world.run_until(s(600));
    let begun: Vec<_> = world.sent.iter().map(|sent| sent.begin).collect();
    assert_eq!(begun, [0, 50, 100, 150, 1000, 1050]);
}
