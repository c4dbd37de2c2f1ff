//! Golden timelines of servers that refuse, hang or prune, and of a watch that is slow.

use super::check;
use super::world::{Mood, World, s, unreachable};

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
    world.lag = s(25);
    world.touch("a/one");
    world.say("a/one", unreachable(1));
    world.run_until(s(44));
    world.lag = 100;
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=21 a/one write: Ready False BackendReachable:Unreachable since 21
         t=21.2 a/one Stale
         t=45 a/one write: Ready False BackendReachable:Unreachable since 45",
    );
}

#[test]
fn a_newer_object_that_the_watch_does_not_show_is_told_and_the_write_is_tried_again() {
    let mut world = World::new();
    world.make("a/one");
    world.run_until(s(20));
    world.lag = s(80);
    world.touch("a/one");
    world.say("a/one", unreachable(1));
    world.run_until(s(99));
    world.lag = 100;
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=21 a/one write: Ready False BackendReachable:Unreachable since 21
         t=21.2 a/one Stale
         t=52 a/one has no newer version in the watch
         t=52 a/one write: Ready False BackendReachable:Unreachable since 52
         t=52.2 a/one Stale
         t=83 a/one has no newer version in the watch
         t=83 a/one write: Ready False BackendReachable:Unreachable since 83
         t=83.2 a/one Stale
         t=100 a/one write: Ready False BackendReachable:Unreachable since 100",
    );
}

#[test]
fn a_server_that_did_not_know_the_kind_for_a_moment_is_asked_again() {
    let mut world = World::new();
    world.mood = Mood::FindsNothing;
    world.make("a/one");
    world.run_until(s(5));
    world.mood = Mood::Well;
    world.run_until(s(600));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0.2 a/one Stale
         t=31 a/one has no newer version in the watch
         t=31 a/one write: Ready True OK since 31",
    );
}

#[test]
fn a_server_that_asks_to_wait_is_left_alone_for_as_long_but_not_longer_than_the_cap() {
    let mut world = World::new();
    world.takes = 0;
    world.mood = Mood::AsksToWait(60);
    world.make("a/one");
    world.run_until(s(30));
    world.mood = Mood::AsksToWait(5);
    world.run_until(s(70));
    world.mood = Mood::AsksToWait(86_400);
    world.run_until(s(100));
    world.mood = Mood::Well;
    world.run_until(s(3000));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0 a/one Failed
         t=0 a/one failure 1, wait 60 s, warning
         t=60 a/one write: Ready True OK since 60
         t=60 a/one Failed
         t=60 a/one failure 2, wait 20 s, quiet
         t=80 a/one write: Ready True OK since 80
         t=80 a/one Failed
         t=80 a/one failure 3, wait 300 s, quiet
         t=380 a/one write: Ready True OK since 380",
    );
}

#[test]
fn another_schema_is_tried_without_the_wait_after_failures() {
    let mut world = World::new();
    world.takes = 0;
    world.mood = Mood::Refuses;
    world.make("a/one");
    world.run_until(s(200));
    world.mood = Mood::Well;
    world.schema = "2".to_owned();
    world.run_until(s(600));
    assert_eq!(world.log.last().map(String::as_str), Some("t=201 a/one write: Ready True OK since 201"));
}

#[test]
fn a_failure_of_another_kind_is_a_warning_again() {
    let mut world = World::new();
    world.takes = 0;
    world.mood = Mood::Hangs;
    world.make("a/one");
    world.run_until(s(5));
    world.mood = Mood::Refuses;
    world.run_until(s(60));
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=0 a/one InDoubt
         t=0 a/one failure 1, wait 10 s, warning
         t=10 a/one write: Ready True OK since 10
         t=10 a/one Failed
         t=10 a/one failure 2, wait 20 s, warning
         t=30 a/one write: Ready True OK since 30
         t=30 a/one Failed
         t=30 a/one failure 3, wait 40 s, quiet",
    );
}

#[test]
fn the_wait_after_failures_is_over_when_the_last_of_them_turns_out_to_be_made() {
    let mut world = World::new();
    world.takes = 0;
    world.mood = Mood::Refuses;
    world.make("a/one");
    world.run_until(s(100));
    world.mood = Mood::LosesAnswers;
    world.run_until(s(152));
    world.say("a/one", unreachable(1));
    world.mood = Mood::Well;
    world.run_until(s(600));
    let last: Vec<_> = world.log.iter().rev().take(2).rev().map(String::as_str).collect();
    assert_eq!(
        last,
        [
            "t=150 a/one failure 5, wait 160 s, warning",
            "t=160 a/one write: Ready False BackendReachable:Unreachable since 160"
        ],
        "\n{}",
        world.log.join("\n")
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
    check(
        &world,
        "t=0 a/one write: Ready True OK since 0
         t=31 a/one has no newer version in the watch",
    );
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
