use super::*;

mod model;
mod timelines;
mod world;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn at(second: u64) -> Moment {
    Moment::after_origin(seconds(second))
}

fn instantly(second: u64) -> Call {
    Call { sent: at(second), ended: at(second), jitter: 0 }
}

fn record(holder: &str, seconds: Option<i32>) -> Record {
    Record { holder: holder.to_owned(), seconds, transitions: 3 }
}

fn version(number: u64) -> Version {
    Version(number.to_string())
}

/// A candidate `me` that found this record at second 0.
fn found(record: Record) -> Election {
    let mut election = Election::new("me", Timing::default()).unwrap();
    assert_eq!(election.next(at(0)), Step::Read);
    election.answered(Answer::Found(record, version(1)), instantly(0));
    election
}

/// The second at which a candidate takes a Lease that it found at second 0, and that never changes.
fn taken_at(record: &Record) -> u64 {
    let mut election = found(record.clone());
    for second in 0..1000 {
        match election.next(at(second)) {
            Step::Wait { .. } => {}
            Step::Read => election.answered(Answer::Found(record.clone(), version(1)), instantly(second)),
            Step::Write(write) => {
                assert_eq!(write.purpose, Purpose::Take);
                return second;
            }
            Step::Done => panic!("it gave up"),
        }
    }
    panic!("never taken");
}

#[test]
fn another_s_lease_is_over_after_its_own_duration_and_an_absurd_one_is_bounded() {
    for (seconds, expected) in
        [(Some(15), 15), (Some(40), 40), (Some(1), 1), (None, 15), (Some(0), 15), (Some(-7), 15), (Some(i32::MAX), 300)]
    {
        assert_eq!(taken_at(&record("other", seconds)), expected, "{seconds:?}");
        assert_eq!(taken_at(&record("", seconds)), 0, "{seconds:?}, released");
    }
}

#[test]
fn who_has_our_name_but_another_identity_is_another() {
    assert_eq!(taken_at(&record("me-before", Some(15))), 15);
    let Step::Write(write) = found(record("me", Some(15))).next(at(0)) else { panic!("no write") };
    assert_eq!(write.purpose, Purpose::Renew, "our own, of which we did not know");
}

#[test]
fn a_change_of_holder_is_counted_and_a_renewal_is_not() {
    for (holder, count, expected) in [("", 3, 4), ("me", 3, 3), ("", -9, 0), ("", i32::MAX, i32::MAX)] {
        let election = found(Record { transitions: count, ..record(holder, None) });
        let Step::Write(write) = election.next(at(0)) else { panic!("no write") };
        assert_eq!(write.record.transitions, expected, "{holder} {count}");
        assert_eq!((write.record.holder.as_str(), write.record.seconds), ("me", Some(15)));
    }
}

#[test]
fn a_claim_counts_from_before_the_renewal_was_sent() {
    let mut election = found(record("", None));
    let Step::Write(write) = election.next(at(1)) else { panic!("no write") };
    election.answered(Answer::Stored(write, version(2)), Call { sent: at(1), ended: at(3), jitter: 0 });
    assert_eq!(election.claim(at(3)), Some(at(11)));
    assert_eq!(election.claim(at(11)), None, "it ends by itself");
}

#[test]
fn an_answer_that_comes_after_the_deadline_is_no_claim() {
    let mut election = found(record("", None));
    let Step::Write(write) = election.next(at(0)) else { panic!("no write") };
    election.answered(Answer::Stored(write, version(2)), Call { sent: at(0), ended: at(60), jitter: 0 });
    assert_eq!(election.claim(at(60)), None);
    let Step::Write(again) = election.next(at(60)) else { panic!("no write") };
    assert_eq!(again.version, Some(version(2)), "it asks for it anew, on that version");
}

#[test]
fn jitter_makes_waits_shorter_and_by_a_fifth_at_most() {
    let waits = [0, 51, 255].map(|jitter| Timing::default().pause(jitter).as_millis());
    assert_eq!(waits, [2000, 1920, 1600]);
}

#[test]
fn a_second_conflict_in_a_row_waits_for_its_turn() {
    let mut election = found(record("me", Some(15)));
    election.answered(Answer::Conflict, instantly(10));
    assert_eq!(election.next(at(10)), Step::Read);
    election.answered(Answer::Found(record("me", Some(15)), version(2)), instantly(10));
    assert!(matches!(election.next(at(10)), Step::Write(_)));
    election.answered(Answer::Conflict, instantly(10));
    assert_eq!(election.next(at(10)), Step::Wait { until: at(12) });
    assert_eq!(election.next(at(12)), Step::Read);
}

#[test]
fn numbers_that_could_make_two_leaders_are_refused_by_name() {
    let timing = |duration, renew_deadline, retry, call| {
        let [duration, renew_deadline, retry, call] =
            [duration, renew_deadline, retry, call].map(Duration::from_millis);
        Timing { duration, renew_deadline, retry, call }.check().map_err(|error| error.to_string())
    };
    assert_eq!(Timing::default().check(), Ok(()));
    assert_eq!(timing(3000, 2000, 400, 500), Ok(()));
    assert_eq!(timing(137_000, 107_000, 26_000, 20_000), Ok(()));
    for (refused, expected) in [
        (timing(0, 10, 1, 1), "duration: 0ns is not a whole number of seconds from 1 to 300"),
        (timing(1500, 10, 1, 1), "duration: 1.5s is not a whole number of seconds from 1 to 300"),
        (timing(301_000, 10, 1, 1), "duration: 301s is not a whole number of seconds from 1 to 300"),
        (timing(15_000, 10_000, 0, 3000), "retry: it must be more than zero"),
        (timing(15_000, 10_000, 2000, 0), "call: it must be more than zero"),
        (
            timing(15_000, 10_000, 2000, 4750),
            "renewDeadline: with a call of 4.75s and 250ms to spare, 10s does not end before duration, which is 15s",
        ),
        (
            timing(15_000, 4000, 2000, 3000),
            "renewDeadline: 4s is less than retry (2s) and call (3s) together, so one call that hangs would end the \
             leadership",
        ),
    ] {
        assert_eq!(refused, Err(expected.to_owned()));
    }
}
