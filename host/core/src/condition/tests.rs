use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::accept::{LastGood, Refusal, accept};
use crate::fixture::{World, key, rules};
use crate::id::Uid;

mod ready;

const REFUSED: &str = "spec.agent.path: is wrong";

/// A Binding in the making, its results and what stands in its status.
#[derive(Clone, Debug)]
struct Case {
    judged: Judged,
    results: Option<Results>,
    standing: Vec<Condition>,
}

impl Case {
    /// A Binding of this generation, taken as written, of which the prober knows nothing yet.
    fn accepted(generation: i64) -> Self {
        static JUDGED: LazyLock<Judged> = LazyLock::new(|| World::new().binds("team-a/b", "C1").judge("team-a/b"));
        let mut judged = JUDGED.clone();
        judged.generation = Generation(generation);
        judged.served.as_mut().unwrap().generation = Generation(generation);
        Self { judged, results: None, standing: vec![] }
    }

    /// The newest generation is refused; the older one is served.
    fn refused_edit(newest: i64, served: i64) -> Self {
        let mut case = Self::accepted(served);
        case.judged.generation = Generation(newest);
        case.judged.refusal =
            Some(Refusal { reason: AcceptedReason::InvalidSpec, message: Message::new(REFUSED), log: None });
        case
    }

    /// Refused, and nothing is served.
    fn not_served(generation: i64) -> Self {
        let mut case = Self::refused_edit(generation, generation);
        case.judged.served = None;
        case
    }

    fn listed(mut self) -> Self {
        self.results = Some(Results { uid: self.judged.uid.clone(), backend: None, channel: None });
        self
    }

    fn backend(self, generation: i64, reason: BackendReason) -> Self {
        let mut case = if self.results.is_some() { self } else { self.listed() };
        case.results.as_mut().unwrap().backend = Some((Generation(generation), Outcome::of(reason)));
        case
    }

    fn channel(self, generation: i64, reason: ChannelReason) -> Self {
        let mut case = if self.results.is_some() { self } else { self.listed() };
        case.results.as_mut().unwrap().channel = Some((Generation(generation), Outcome::of(reason)));
        case
    }

    fn stands(mut self, kind: ConditionType, status: Status, generation: i64) -> Self {
        let words = Words {
            kind,
            status,
            reason: "Whatever".into(),
            message: String::new(),
            observed_generation: Generation(generation),
        };
        self.standing.push(words.since(Timestamp(1)));
        self
    }

    /// All four stand True.
    fn all_stand(self, generation: i64) -> Self {
        ConditionType::ALL.into_iter().fold(self, |case, kind| case.stands(kind, Status::True, generation))
    }

    fn assess(&self) -> Assessment {
        assess(&self.judged, self.results.as_ref(), &self.standing)
    }
}

/// The assessment, one condition a line: type, status, reason, generation.
fn check(case: &Case, want: &[&str]) {
    let line =
        |words: &Words| format!("{} {} {} @{}", words.kind, words.status, words.reason, words.observed_generation);
    let lines: Vec<String> = case.assess().words().iter().map(line).collect();
    assert_eq!(lines, want);
}

#[test]
fn a_served_binding_has_four_conditions() {
    check(
        &Case::accepted(1).backend(1, BackendReason::Ok).channel(1, ChannelReason::Ok),
        &["Accepted True OK @1", "BackendReachable True OK @1", "ChannelJoined True OK @1", "Ready True OK @1"],
    );
}

#[test]
fn a_binding_that_is_not_served_has_accepted_and_ready_only() {
    check(
        &Case::not_served(3).backend(2, BackendReason::Ok).channel(2, ChannelReason::Ok),
        &["Accepted False InvalidSpec @3", "Ready False Accepted:InvalidSpec @3"],
    );
}

#[test]
fn a_message_is_empty_when_the_condition_is_true() {
    let case = Case::accepted(1).backend(1, BackendReason::Ok).channel(1, ChannelReason::Ok);
    assert!(case.assess().words().iter().all(|words| words.message.is_empty()));
    for backend in BackendReason::ALL {
        for channel in ChannelReason::ALL {
            for words in Case::accepted(1).backend(1, *backend).channel(1, *channel).assess().words() {
                assert_eq!(words.message.is_empty(), words.status == Status::True, "{words:?}");
            }
        }
    }
}

#[test]
fn a_probes_message_is_the_fixed_sentence_of_its_reason() {
    for reason in BackendReason::ALL.iter().filter(|reason| **reason != BackendReason::Ok) {
        let words = &Case::accepted(1).backend(1, *reason).assess().words()[1];
        assert_eq!(words.message, format!("{} {}", reason.meaning(), reason.advice()));
        assert_eq!(words.status, reason.status());
    }
    for reason in ChannelReason::ALL.iter().filter(|reason| **reason != ChannelReason::Ok) {
        let words = &Case::accepted(1).channel(1, *reason).assess().words()[2];
        assert_eq!(words.message, format!("{} {}", reason.meaning(), reason.advice()));
        assert_eq!(words.status, reason.status());
    }
}

#[test]
fn a_probed_condition_is_pending_until_its_first_probe_has_ended() {
    check(
        &Case::accepted(1).listed(),
        &[
            "Accepted True OK @1",
            "BackendReachable Unknown Pending @1",
            "ChannelJoined Unknown Pending @1",
            "Ready Unknown BackendReachable:Pending @1",
        ],
    );
    check(
        &Case::accepted(1).backend(1, BackendReason::Ok),
        &[
            "Accepted True OK @1",
            "BackendReachable True OK @1",
            "ChannelJoined Unknown Pending @1",
            "Ready Unknown ChannelJoined:Pending @1",
        ],
    );
}

#[test]
fn ready_is_the_bare_pending_before_the_prober_has_listed_the_binding() {
    check(
        &Case::accepted(1),
        &[
            "Accepted True OK @1",
            "BackendReachable Unknown Pending @1",
            "ChannelJoined Unknown Pending @1",
            "Ready Unknown Pending @1",
        ],
    );
}

#[test]
fn a_refused_edit_has_four_conditions_and_the_probes_stay_at_the_generation_served() {
    check(
        &Case::refused_edit(2, 1).backend(1, BackendReason::Ok).channel(1, ChannelReason::Ok),
        &[
            "Accepted False InvalidSpec @2",
            "BackendReachable True OK @1",
            "ChannelJoined True OK @1",
            "Ready False Accepted:InvalidSpec @2",
        ],
    );
}

#[test]
fn ready_of_a_binding_that_is_not_accepted_has_accepteds_message_and_generation() {
    for case in [Case::refused_edit(2, 1), Case::refused_edit(2, 1).all_stand(1).listed(), Case::not_served(2)] {
        let assessment = case.assess();
        assert_eq!(assessment.ready().message, Message::new(REFUSED));
        assert_eq!(assessment.ready().message, assessment.accepted().message);
        assert_eq!(assessment.ready().observed_generation, assessment.accepted().observed_generation);
    }
}

#[test]
fn after_an_edit_the_probed_conditions_still_say_what_they_said_about_the_old_spec() {
    check(
        &Case::accepted(2).backend(1, BackendReason::Ok).channel(1, ChannelReason::Ok),
        &["Accepted True OK @2", "BackendReachable True OK @1", "ChannelJoined True OK @1", "Ready True OK @1"],
    );
}

#[test]
fn ready_when_accepted_is_of_the_oldest_generation_that_it_derives_from() {
    check(
        &Case::accepted(3).backend(3, BackendReason::Ok).channel(2, ChannelReason::NotInChannel),
        &[
            "Accepted True OK @3",
            "BackendReachable True OK @3",
            "ChannelJoined False NotInChannel @2",
            "Ready False ChannelJoined:NotInChannel @2",
        ],
    );
    check(
        &Case::accepted(3).backend(1, BackendReason::AgentNotFound).channel(2, ChannelReason::Ok),
        &[
            "Accepted True OK @3",
            "BackendReachable False AgentNotFound @1",
            "ChannelJoined True OK @2",
            "Ready False BackendReachable:AgentNotFound @1",
        ],
    );
}

#[test]
fn a_probes_generation_moves_though_the_result_stays_the_same() {
    let before = Case::accepted(2).backend(1, BackendReason::Ok).channel(1, ChannelReason::Ok).assess();
    let after = Case::accepted(2).backend(2, BackendReason::Ok).channel(2, ChannelReason::Ok).assess();
    let standing = advance(&[], &before, Timestamp(10));
    assert!(!same_words(&standing, &after));
    let times: Vec<_> = advance(&standing, &after, Timestamp(20)).iter().map(|c| c.last_transition_time).collect();
    assert_eq!(times, [Timestamp(10); 4]);
}

#[test]
fn a_result_for_another_object_is_not_claimed_for_this_one() {
    let mut case = Case::accepted(1).backend(1, BackendReason::Ok).channel(1, ChannelReason::Ok);
    case.results.as_mut().unwrap().uid = Uid("the-old-one".into());
    check(
        &case,
        &[
            "Accepted True OK @1",
            "BackendReachable Unknown Pending @1",
            "ChannelJoined Unknown Pending @1",
            "Ready Unknown Pending @1",
        ],
    );
}

#[test]
fn a_result_for_a_newer_generation_is_not_claimed_for_the_one_served() {
    check(
        &Case::refused_edit(3, 1).backend(2, BackendReason::Ok).channel(2, ChannelReason::Ok),
        &[
            "Accepted False InvalidSpec @3",
            "BackendReachable Unknown Pending @1",
            "ChannelJoined Unknown Pending @1",
            "Ready False Accepted:InvalidSpec @3",
        ],
    );
}

#[test]
fn a_new_leader_does_not_write_pending_over_a_good_status_of_the_generation_it_serves() {
    let good = ["Accepted True OK @2", "BackendReachable True OK @2", "ChannelJoined True OK @2", "Ready True OK @2"];
    check(&Case::accepted(2).all_stand(2), &good);
    check(&Case::accepted(2).all_stand(2).listed(), &good);
    check(&Case::accepted(2).all_stand(2).backend(2, BackendReason::Ok), &good);
}

#[test]
fn a_new_leader_starts_at_pending_over_what_is_not_good_or_of_another_generation() {
    let pending = |case: Case| {
        check(
            &case.listed(),
            &[
                "Accepted True OK @2",
                "BackendReachable Unknown Pending @2",
                "ChannelJoined Unknown Pending @2",
                "Ready Unknown BackendReachable:Pending @2",
            ],
        );
    };
    pending(Case::accepted(2).all_stand(1));
    pending(Case::accepted(2).all_stand(3));
    for status in [Status::False, Status::Unknown] {
        pending(ConditionType::ALL.into_iter().fold(Case::accepted(2), |case, kind| case.stands(kind, status, 2)));
    }
}

#[test]
fn each_probed_condition_takes_over_its_own_good_status() {
    check(
        &Case::accepted(2)
            .stands(ConditionType::BackendReachable, Status::True, 2)
            .stands(ConditionType::ChannelJoined, Status::False, 2)
            .stands(ConditionType::Ready, Status::False, 2),
        &[
            "Accepted True OK @2",
            "BackendReachable True OK @2",
            "ChannelJoined Unknown Pending @2",
            "Ready Unknown Pending @2",
        ],
    );
}

#[test]
fn what_a_probe_says_takes_the_place_of_what_stood() {
    check(
        &Case::accepted(2).all_stand(2).backend(2, BackendReason::Unreachable),
        &[
            "Accepted True OK @2",
            "BackendReachable False Unreachable @2",
            "ChannelJoined True OK @2",
            "Ready False BackendReachable:Unreachable @2",
        ],
    );
}

#[test]
fn what_stands_of_a_refused_edit_is_taken_over_at_the_generation_served() {
    check(
        &Case::refused_edit(2, 1).all_stand(1),
        &[
            "Accepted False InvalidSpec @2",
            "BackendReachable True OK @1",
            "ChannelJoined True OK @1",
            "Ready False Accepted:InvalidSpec @2",
        ],
    );
}

#[test]
fn a_transition_time_moves_with_the_status_only() {
    let at = |case: Case, previous: &[Condition], now| advance(previous, &case.assess(), Timestamp(now));
    let probed = |backend| Case::accepted(1).backend(1, backend).channel(1, ChannelReason::Ok);
    let first = at(probed(BackendReason::Unreachable), &[], 10);
    // Another reason and message, the same status.
    let second = at(probed(BackendReason::AgentNotFound), &first, 20);
    assert_eq!(second[1].reason, "AgentNotFound");
    assert_eq!(second.iter().map(|c| c.last_transition_time.0).collect::<Vec<_>>(), [10, 10, 10, 10]);
    let third = at(probed(BackendReason::Ok), &second, 30);
    assert_eq!(third.iter().map(|c| c.last_transition_time.0).collect::<Vec<_>>(), [10, 30, 10, 30]);
}

#[test]
fn a_condition_that_comes_back_after_not_being_served_has_a_new_time() {
    let served = advance(&[], &Case::accepted(1).listed().assess(), Timestamp(10));
    let refused = advance(&served, &Case::not_served(2).assess(), Timestamp(20));
    let again = advance(&refused, &Case::accepted(3).listed().assess(), Timestamp(30));
    assert_eq!(again.iter().map(|c| c.last_transition_time.0).collect::<Vec<_>>(), [30, 30, 30, 30]);
    assert_eq!(refused.len(), 2);
}

#[test]
fn the_same_words_are_the_same_whatever_their_times_and_order() {
    let assessment = Case::accepted(1).backend(1, BackendReason::Ok).channel(1, ChannelReason::NotInChannel).assess();
    let mut standing = advance(&[], &assessment, Timestamp(10));
    assert!(same_words(&standing, &assessment));
    standing.reverse();
    standing[0].last_transition_time = Timestamp(99);
    assert!(same_words(&standing, &assessment));
    for change in [
        (|c| c.status = Status::Unknown) as fn(&mut Condition),
        |c| c.reason = "Other".into(),
        |c| c.message.push('.'),
        |c| c.observed_generation.0 += 1,
    ] {
        let mut changed = standing.clone();
        change(&mut changed[1]);
        assert!(!same_words(&changed, &assessment));
    }
    assert!(!same_words(&standing[1..], &assessment));
    assert!(!same_words(&standing, &Case::not_served(1).assess()));
}

#[test]
fn the_words_of_the_acceptance_are_the_words_of_accepted() {
    let mut world = World::new();
    world.binds("team-a/first", "C1").binds("team-a/b", "C1");
    let judged = accept(&world.snapshot, &LastGood::default(), &rules()).bindings.remove(&key("team-a/b")).unwrap();
    let words = assess(&judged, None, &[]).words();
    assert_eq!(words[0].message, "spec.chat.channel: already bound by Binding first");
    assert_eq!((words[0].reason.as_str(), words[1].reason.as_str()), ("ChannelConflict", "Accepted:ChannelConflict"));
}

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
        prop_assert!(same_words(&written, &assessment));
        prop_assert_eq!(advance(&written, &assessment, Timestamp(now + 7)), written);
    }
}
