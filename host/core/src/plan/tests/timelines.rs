//! Golden timelines: what happens, in seconds.

use super::world::{Mood, World, ok, refused, s, unreachable};

fn check(world: &World, expected: &str) {
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(world.log, expected, "\n{}\n", world.log.join("\n"));
}

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
fn a_failure_waits_one_gap_and_then_twice_as_long_up_to_the_cap() {
    let mut world = World::new();
    world.takes = 0;
    world.mood = Mood::Refuses;
    world.make("a/one");
    world.run_until(s(1000));
    world.mood = Mood::Well;
    world.run_until(s(3000));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0 a/one Failed
         t=0 a/one failure 1, wait 10 s, warning
         t=10 a/one write: Ready True OK since 10
         t=10 a/one Failed
         t=10 a/one failure 2, wait 20 s, quiet
         t=30 a/one write: Ready True OK since 30
         t=30 a/one Failed
         t=30 a/one failure 3, wait 40 s, quiet
         t=70 a/one write: Ready True OK since 70
         t=70 a/one Failed
         t=70 a/one failure 4, wait 80 s, quiet
         t=150 a/one write: Ready True OK since 150
         t=150 a/one Failed
         t=150 a/one failure 5, wait 160 s, quiet
         t=310 a/one write: Ready True OK since 310
         t=310 a/one Failed
         t=310 a/one failure 6, wait 300 s, quiet
         t=610 a/one write: Ready True OK since 610
         t=610 a/one Failed
         t=610 a/one failure 7, wait 300 s, quiet
         t=910 a/one write: Ready True OK since 910
         t=910 a/one Failed
         t=910 a/one failure 8, wait 300 s, quiet
         t=1210 a/one write: Ready True OK since 1210",
    );
}

#[test]
fn a_stale_version_waits_for_the_newer_object() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(20));
    world.lag = s(60);
    world.touch("a/one");
    world.say("a/one", unreachable(1));
    world.run_until(s(79));
    world.lag = 100;
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=21 a/one write: Ready False BackendReachable:Unreachable since 21
         t=21.2 a/one Stale
         t=80 a/one write: Ready False BackendReachable:Unreachable since 80",
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
fn a_write_whose_answer_was_lost_is_known_by_what_stands() {
    let mut world = World::new();
    world.mood = Mood::LosesAnswers;
    world.make("a/one");
    world.run_until(s(5));
    world.mood = Mood::Well;
    world.run_until(s(100));
    world.interfere("a/one", "kubectl-edit");
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0.2 a/one InDoubt
         t=0.2 a/one failure 1, wait 10 s, warning
         t=100 a/one is changed by kubectl-edit
         t=101 a/one put back: Ready True OK since 0",
    );
}

#[test]
fn a_lost_answer_and_a_slow_watch_end_in_no_second_write() {
    let mut world = World::new();
    world.mood = Mood::LosesAnswers;
    world.lag = s(30);
    world.make("a/one");
    world.run_until(s(5));
    world.mood = Mood::Well;
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0.2 a/one InDoubt
         t=0.2 a/one failure 1, wait 10 s, warning
         t=11 a/one write: Ready True OK since 11
         t=11.2 a/one Stale",
    );
}

#[test]
fn a_slow_watch_is_not_taken_for_a_foreign_change() {
    let mut world = World::new();
    world.lag = s(60);
    world.make("a/one");
    world.run_until(s(600));
    check(&world, "t=0 a/one write: Ready True OK since 0");
}

#[test]
fn what_the_server_does_not_keep_is_sent_again_for_another_text_or_schema_alone() {
    let mut world = World::new();
    world.mood = Mood::Prunes;
    world.make("a/one");
    world.run_until(s(600));
    world.say("a/one", unreachable(1));
    world.run_until(s(1200));
    world.mood = Mood::Well;
    world.run_until(s(1800));
    world.schema = "2".to_owned();
    world.run_until(s(2400));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0.2 a/one was pruned
         t=601 a/one write: Ready False BackendReachable:Unreachable since 601
         t=601.2 a/one was pruned
         t=1801 a/one write: Ready False BackendReachable:Unreachable since 601",
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
