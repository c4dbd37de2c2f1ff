//! Ready over every combination of what it derives from.

use super::*;

/// Ready as the page says it, spelt a second time and otherwise.
fn as_the_page_says(accepted: AcceptedReason, backend: BackendReason, channel: ChannelReason) -> (Status, String) {
    let others = [
        ("Accepted", accepted.status(), accepted.as_str()),
        ("BackendReachable", backend.status(), backend.as_str()),
        ("ChannelJoined", channel.status(), channel.as_str()),
    ];
    match others.into_iter().find(|(_, status, _)| *status != Status::True) {
        None => (Status::True, "OK".to_owned()),
        Some((kind, status, reason)) => (status, format!("{kind}:{reason}")),
    }
}

#[test]
fn ready_is_the_first_condition_that_holds_it_back_in_every_combination() {
    let mut seen = 0;
    for accepted in AcceptedReason::ALL {
        for backend in BackendReason::ALL {
            for channel in ChannelReason::ALL {
                let mut case = Case::accepted(1).backend(1, *backend).channel(1, *channel);
                if *accepted != AcceptedReason::Ok {
                    case.judged.refusal = Some(Refusal {
                        reason: *accepted,
                        message: Message::new(REFUSED),
                        problems: Vec::new(),
                        log: None,
                    });
                }
                let ready = case.assess().words().pop().unwrap();
                assert_eq!((ready.status, ready.reason), as_the_page_says(*accepted, *backend, *channel));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, AcceptedReason::ALL.len() * BackendReason::ALL.len() * ChannelReason::ALL.len());
}

#[test]
fn ready_has_the_message_of_the_condition_that_holds_it_back() {
    for backend in BackendReason::ALL {
        for channel in ChannelReason::ALL {
            let words = Case::accepted(1).backend(1, *backend).channel(1, *channel).assess().words();
            let (ready, others) = words.split_last().unwrap();
            let first = others.iter().find(|words| words.status != Status::True);
            assert_eq!(ready.message, first.map_or("", |words| words.message.as_str()));
        }
    }
}

#[test]
fn an_unknown_condition_that_stands_first_holds_ready_at_unknown_whatever_stands_behind_it() {
    check(
        &Case::accepted(1).backend(1, BackendReason::AgentBusy).channel(1, ChannelReason::ChannelNotFound),
        &[
            "Accepted True OK @1",
            "BackendReachable Unknown AgentBusy @1",
            "ChannelJoined False ChannelNotFound @1",
            "Ready Unknown BackendReachable:AgentBusy @1",
        ],
    );
}
