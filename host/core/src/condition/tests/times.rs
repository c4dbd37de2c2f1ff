//! Since when a condition says what it says, and what counts as the same.

use super::*;

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
    assert_eq!(said(&standing), assessment.words());
    standing.reverse();
    standing[0].last_transition_time = Timestamp(99);
    assert_eq!(said(&standing), assessment.words());
    for change in [
        (|c| c.status = Status::Unknown) as fn(&mut Condition),
        |c| c.reason = "Other".into(),
        |c| c.message.push('.'),
        |c| c.observed_generation.0 += 1,
    ] {
        let mut changed = standing.clone();
        change(&mut changed[1]);
        assert_ne!(said(&changed), assessment.words());
    }
    assert_ne!(said(&standing[1..]), assessment.words());
    assert_ne!(said(&standing), Case::not_served(1).assess().words());
}
