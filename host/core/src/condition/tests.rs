use std::sync::LazyLock;

use super::*;
use crate::accept::{LastGood, Refusal, accept};
use crate::fixture::{World, key, rules};
use crate::id::Uid;

mod properties;
mod ready;
mod times;

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
        case.judged.refusal = Some(Refusal {
            reason: AcceptedReason::InvalidSpec,
            message: Message::new(REFUSED),
            problems: Vec::new(),
            log: None,
        });
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

/// What stands says, in the fixed order.
fn said(standing: &[Condition]) -> Vec<Words> {
    let mut said: Vec<Words> = standing.iter().map(Condition::words).collect();
    said.sort();
    said
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
    assert_ne!(said(&standing), after.words());
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
fn a_ready_that_stands_without_what_it_derives_from_gives_way_to_the_bare_pending() {
    check(
        &Case::accepted(2).stands(ConditionType::BackendReachable, Status::True, 2).stands(
            ConditionType::Ready,
            Status::True,
            2,
        ),
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
fn the_words_of_the_acceptance_are_the_words_of_accepted() {
    let mut world = World::new();
    world.binds("team-a/first", "C1").binds("team-a/b", "C1");
    let judged = accept(&world.snapshot, &LastGood::default(), &rules()).bindings.remove(&key("team-a/b")).unwrap();
    let words = assess(&judged, None, &[]).words();
    assert_eq!(words[0].message, "spec.chat.channel: already bound by Binding first");
    assert_eq!((words[0].reason.as_str(), words[1].reason.as_str()), ("ChannelConflict", "Accepted:ChannelConflict"));
}
