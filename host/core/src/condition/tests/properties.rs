//! What holds in every case.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn condition() -> impl Strategy<Value = Condition> {
    let kind = select(&ConditionType::ALL[..]);
    let status = select(&[Status::True, Status::False, Status::Unknown][..]);
    (kind, status, "[A-Z][a-z]{0,8}", 0..4i64, 0..100i64).prop_map(|(kind, status, reason, generation, time)| {
        let message = String::new();
        Words { kind, status, reason, message, observed_generation: Generation(generation) }.since(Timestamp(time))
    })
}

fn case() -> impl Strategy<Value = Case> {
    let base = select(&[Case::accepted as fn(i64) -> Case, Case::not_served, |g| Case::refused_edit(g + 1, g)][..]);
    let backend = proptest::option::of((1..4i64, select(BackendReason::ALL)));
    let channel = proptest::option::of((1..4i64, select(ChannelReason::ALL)));
    let standing = proptest::collection::vec(condition(), 0..5);
    (base, 1..4i64, any::<bool>(), backend, channel, standing).prop_map(
        |(base, generation, is_listed, backend, channel, standing)| {
            let mut case = base(generation);
            if is_listed {
                case = case.listed();
            }
            if let Some((generation, reason)) = backend {
                case = case.backend(generation, reason);
            }
            if let Some((generation, reason)) = channel {
                case = case.channel(generation, reason);
            }
            case.standing = standing;
            case
        },
    )
}

proptest! {
    #[test]
    fn ready_is_true_when_and_only_when_every_other_condition_is_true(case in case()) {
        let words = case.assess().words();
        let (ready, others) = words.split_last().unwrap();
        let all_are_true = others.iter().all(|words| words.status == Status::True);
        if ready.reason == "Pending" {
            // The bare Pending may stand before what it derives from was taken over.
            prop_assert!(case.results.is_none());
        } else {
            prop_assert_eq!(ready.status == Status::True, all_are_true);
        }
    }

    #[test]
    fn a_condition_never_says_more_than_its_evidence(case in case()) {
        let words = case.assess().words();
        let (ready, others) = words.split_last().unwrap();
        if case.judged.refusal.is_none() {
            prop_assert_eq!(Some(ready.observed_generation), others.iter().map(|words| words.observed_generation).min());
        }
        prop_assert!(words.iter().all(|words| words.observed_generation <= case.judged.generation));
    }

    #[test]
    fn a_time_stays_with_its_status_and_never_goes_back(case in case(), now in 0..100i64) {
        let assessment = case.assess();
        for condition in advance(&case.standing, &assessment, Timestamp(now)) {
            match case.standing.iter().find(|before| before.kind == condition.kind) {
                Some(before) if before.status == condition.status => {
                    prop_assert_eq!(condition.last_transition_time, before.last_transition_time);
                }
                Some(before) => prop_assert!(condition.last_transition_time >= before.last_transition_time.max(Timestamp(now))),
                None => prop_assert_eq!(condition.last_transition_time, Timestamp(now)),
            }
        }
    }

    #[test]
    fn what_was_written_is_found_said(case in case(), now in 0..100i64) {
        let assessment = case.assess();
        let written = advance(&case.standing, &assessment, Timestamp(now));
        prop_assert_eq!(said(&written), assessment.words());
        prop_assert_eq!(advance(&written, &assessment, Timestamp(now + 7)), written);
    }
}
