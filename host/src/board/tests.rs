use kourier_core::accept::{Judged, Refusal};
use kourier_core::id::{Generation, Uid};
use kourier_core::message::Message;
use kourier_core::reason::AcceptedReason;
use kourier_core::snapshot::{Object, Problem, Snapshot};
use serde_json::json;

use super::*;
use crate::source::Reading;

const BEFORE: Timestamp = Timestamp(100);
const NOW: Timestamp = Timestamp(200);

/// A reading of one Binding of this uid, and what acceptance says of it: refused for this reason, or nothing.
fn judgement(uid: &str, refused: Option<AcceptedReason>) -> Judgement {
    let key = ObjectKey::new("team-a", "chat");
    let meta = Meta { key: key.clone(), uid: Uid(uid.to_owned()), generation: Generation(1), created: Timestamp(1) };
    let object = Object { meta, spec: Err(vec![Problem::new("spec", "unread")]) };
    let reading = Reading {
        snapshot: Snapshot { bindings: vec![object], ..Snapshot::default() },
        written: [(key.clone(), json!({"chat": {"channel": "C1"}}))].into(),
        problems: Vec::new(),
        ..Reading::default()
    };
    let judged = refused.map(|reason| Judged {
        uid: Uid(uid.to_owned()),
        generation: Generation(1),
        owned: true,
        channel: Some("C1".to_owned()),
        refusal: Some(Refusal { reason, message: Message::new("spec: unread"), problems: Vec::new(), log: None }),
        served: None,
    });
    let mut judgement = Judgement { reading: Arc::new(reading), ..Judgement::default() };
    if let Some(judged) = judged {
        Arc::make_mut(&mut judgement.accepted).bindings.insert(key, judged);
    }
    judgement
}

fn next(board: &Board, judgement: &Judgement, now: Timestamp) -> Board {
    board.next(judgement, &BTreeMap::new(), now)
}

/// Each condition as `type=status reason since`.
fn words(board: &Board) -> Vec<String> {
    let conditions = board.rows.values().flat_map(|row| &row.conditions);
    conditions.map(|c| format!("{}={} {} {}", c.kind, c.status, c.reason, c.last_transition_time.0)).collect()
}

#[test]
fn a_refused_binding_has_two_conditions() {
    let board = next(&Board::default(), &judgement("u1", Some(AcceptedReason::InvalidSpec)), NOW);
    assert_eq!(words(&board), ["Accepted=False InvalidSpec 200", "Ready=False Accepted:InvalidSpec 200"]);
}

#[test]
fn a_new_reason_with_the_same_status_does_not_move_the_time() {
    let before = next(&Board::default(), &judgement("u1", Some(AcceptedReason::InvalidSpec)), BEFORE);
    let board = next(&before, &judgement("u1", Some(AcceptedReason::ChannelConflict)), NOW);
    assert_eq!(words(&board), ["Accepted=False ChannelConflict 100", "Ready=False Accepted:ChannelConflict 100"]);
}

#[test]
fn a_binding_that_was_made_again_starts_anew() {
    let before = next(&Board::default(), &judgement("u1", Some(AcceptedReason::InvalidSpec)), BEFORE);
    let board = next(&before, &judgement("u2", Some(AcceptedReason::InvalidSpec)), NOW);
    assert_eq!(words(&board), ["Accepted=False InvalidSpec 200", "Ready=False Accepted:InvalidSpec 200"]);
    assert_eq!(board.turns(&before).len(), 1);
    assert_eq!(board.turns(&before)[0].from, None);
}

#[test]
fn a_binding_that_is_gone_is_dropped() {
    let before = next(&Board::default(), &judgement("u1", Some(AcceptedReason::InvalidSpec)), BEFORE);
    let board = next(&before, &Judgement::default(), NOW);
    assert_eq!(board, Board::default());
    assert_eq!(board.turns(&before), []);
}

#[test]
fn a_binding_of_another_broker_has_no_conditions_here() {
    let board = next(&Board::default(), &judgement("u1", None), NOW);
    assert_eq!(board.rows.len(), 1);
    assert_eq!(words(&board), [""; 0]);
}

#[test]
fn only_what_ready_says_otherwise_is_a_turn() {
    let first = next(&Board::default(), &judgement("u1", Some(AcceptedReason::InvalidSpec)), BEFORE);
    let same = next(&first, &judgement("u1", Some(AcceptedReason::InvalidSpec)), NOW);
    let other = next(&same, &judgement("u1", Some(AcceptedReason::BackendNotFound)), NOW);
    let reasons = |turns: Vec<Turn<'_>>| -> Vec<(Option<String>, String)> {
        turns.iter().map(|turn| (turn.from.map(|from| from.reason.clone()), turn.to.reason.clone())).collect()
    };
    let invalid = "Accepted:InvalidSpec".to_owned();
    assert_eq!(reasons(first.turns(&Board::default())), [(None, invalid.clone())]);
    assert_eq!(reasons(same.turns(&first)), []);
    assert_eq!(reasons(other.turns(&same)), [(Some(invalid), "Accepted:BackendNotFound".to_owned())]);
}
