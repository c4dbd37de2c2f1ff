use std::collections::BTreeSet;

use super::*;

const LOG: &str = "the operator's log has the cause";

/// Every reason of the probes: its name, meaning and advice.
fn probed() -> Vec<(&'static str, &'static str, &'static str)> {
    let backend = BackendReason::ALL.iter().map(|r| (r.as_str(), r.meaning(), r.advice()));
    let channel = ChannelReason::ALL.iter().map(|r| (r.as_str(), r.meaning(), r.advice()));
    backend.chain(channel).collect()
}

#[test]
fn a_status_points_to_the_log_where_the_cause_cannot_be_said() {
    let points: BTreeSet<_> = probed().into_iter().filter(|(.., advice)| advice.contains(LOG)).map(|r| r.0).collect();
    let want = BTreeSet::from([
        "AgentError",
        "InvalidAgentCard",
        "InvalidChannel",
        "PlatformUnavailable",
        "ProbeFailed",
        "ProbeTimeout",
        "UnexpectedAnswer",
        "Unreachable",
    ]);
    assert_eq!(points, want);
}

#[test]
fn each_reason_says_what_is_so_and_what_to_do() {
    for (reason, meaning, advice) in probed() {
        assert!(meaning.ends_with('.'), "{reason}");
        assert_eq!(advice.is_empty(), reason == "OK", "{reason}");
        assert!(advice.is_empty() || advice.ends_with('.'), "{reason}");
    }
}

#[test]
fn no_reason_of_accepted_reads_rejected() {
    assert!(AcceptedReason::ALL.iter().all(|reason| reason.as_str() != "Rejected"));
}
