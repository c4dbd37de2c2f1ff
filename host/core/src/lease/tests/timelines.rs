//! Golden timelines: what happens, in seconds.

use super::world::{Link, Loses, WELL, World};
use super::*;

fn check(world: &World, expected: &str) {
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(world.log, expected, "\n{}\n", world.log.join("\n"));
}

/// `a` leads, `b` stands by.
fn pair() -> (World, usize, usize) {
    let mut world = World::new();
    let a = world.start("a", 1000);
    world.run_until(100);
    let b = world.start("b", 1000);
    world.run_until(20_000);
    world.log.clear();
    (world, a, b)
}

#[test]
fn the_first_makes_the_lease_and_renews_it() {
    let mut world = World::new();
    world.wordy = true;
    world.start("a", 1000);
    world.run_until(100);
    world.start("b", 1000);
    world.run_until(6_000);
    check(
        &world,
        "t=0.03 Take by 'a', 0 changes
         t=0.04 a leads
         t=1.85 Renew by 'a', 0 changes
         t=3.50 Renew by 'a', 0 changes
         t=5.38 Renew by 'a', 0 changes",
    );
}

#[test]
fn a_killed_holder_is_followed_when_its_lease_is_over() {
    let (mut world, a, _) = pair();
    world.kill(a);
    world.run_until(60_000);
    check(
        &world,
        "t=20.00 a leads no more
         t=35.04 Take by 'b', 1 changes
         t=35.05 b leads",
    );
}

#[test]
fn a_holder_that_resigns_is_followed_within_one_retry() {
    let (mut world, a, _) = pair();
    world.resign(a);
    world.run_until(60_000);
    check(
        &world,
        "t=20.00 a leads no more
         t=20.02 Release by '', 0 changes
         t=21.79 Take by 'b', 1 changes
         t=21.80 b leads",
    );
}

#[test]
fn a_holder_that_is_not_answered_stops_before_another_leads_and_then_stands_by() {
    let (mut world, a, _) = pair();
    world.candidates[a].link = Link { loses: Loses::Calls, ..WELL };
    world.run_until(60_000);
    world.candidates[a].link = WELL;
    world.run_until(90_000);
    check(
        &world,
        "t=29.99 a leads no more
         t=35.04 Take by 'b', 1 changes
         t=35.05 b leads",
    );
}

#[test]
fn a_holder_whose_writes_land_but_whose_answers_are_lost_stops_and_keeps_the_others_waiting() {
    let (mut world, a, b) = pair();
    world.candidates[a].link = Link { loses: Loses::Answers, ..WELL };
    world.run_until(60_000);
    world.candidates[a].link = WELL;
    world.candidates[b].link = Link { loses: Loses::Calls, ..WELL };
    world.run_until(120_000);
    check(
        &world,
        "t=29.99 a leads no more
         t=36.90 Take by 'b', 1 changes
         t=36.91 b leads
         t=69.99 b leads no more
         t=78.02 Take by 'a', 2 changes
         t=78.03 a leads",
    );
}

#[test]
fn a_few_errors_do_not_end_a_claim() {
    let (mut world, a, _) = pair();
    world.candidates[a].link = Link { loses: Loses::Refuses, ..WELL };
    world.run_until(27_000);
    world.candidates[a].link = WELL;
    world.run_until(60_000);
    check(&world, "");
}

#[test]
fn a_process_that_stood_still_does_not_lead_when_it_runs_again() {
    let (mut world, a, _) = pair();
    world.candidates[a].frozen = 50_000;
    world.run_until(70_000);
    check(
        &world,
        "t=28.73 a leads no more
         t=35.04 Take by 'b', 1 changes
         t=35.05 b leads",
    );
}

#[test]
fn a_lease_that_was_deleted_is_made_again_by_its_holder() {
    let (mut world, _, _) = pair();
    world.delete();
    world.run_until(60_000);
    check(&world, "t=20.02 Take by 'a', 0 changes");
}

#[test]
fn a_lease_that_was_deleted_as_its_holder_died_is_taken_after_a_whole_duration() {
    let (mut world, a, _) = pair();
    world.kill(a);
    world.delete();
    world.run_until(60_000);
    check(
        &world,
        "t=20.00 a leads no more
         t=35.04 Take by 'b', 0 changes
         t=35.05 b leads",
    );
}

#[test]
fn a_lease_that_is_deleted_because_its_record_would_last_for_minutes_is_taken_after_the_candidate_s_own_duration() {
    let (mut world, a, _) = pair();
    world.kill(a);
    world.put(record("somebody", Some(300)));
    world.run_until(30_000);
    world.delete();
    world.run_until(60_000);
    check(
        &world,
        "t=20.00 a leads no more
         t=45.74 Take by 'b', 0 changes
         t=45.75 b leads",
    );
}

#[test]
fn a_lease_that_somebody_takes_by_hand_is_not_taken_back_before_it_is_over() {
    let (mut world, _, _) = pair();
    world.put(record("somebody", Some(20)));
    world.run_until(60_000);
    check(
        &world,
        "t=20.03 a leads no more
         t=40.04 Take by 'b', 4 changes
         t=40.05 b leads",
    );
}

#[test]
fn who_resigns_while_its_renewal_is_under_way_releases_what_that_made() {
    let (mut world, a, _) = pair();
    world.candidates[a].link = Link { loses: Loses::Answers, ..WELL };
    world.run_until(24_000);
    world.candidates[a].link = WELL;
    world.resign(a);
    world.run_until(60_000);
    check(
        &world,
        "t=24.00 a leads no more
         t=24.88 Release by '', 0 changes
         t=25.22 Take by 'b', 1 changes
         t=25.23 b leads",
    );
}

#[test]
fn who_never_led_resigns_without_a_call() {
    let mut election = found(record("other", Some(15)));
    election.resign();
    assert_eq!(election.next(at(0)), Step::Done);
    let mut fresh = Election::new("me", Timing::default()).unwrap();
    fresh.resign();
    assert_eq!(fresh.next(at(0)), Step::Done);
}
