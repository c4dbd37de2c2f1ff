use super::*;
use crate::reason::Status;

#[test]
fn the_faults_of_the_prober_read_the_same_in_both_conditions() {
    for fault in Fault::ALL {
        let (backend, channel) = (fault.backend_reason(), fault.channel_reason());
        assert_eq!(backend.as_str(), channel.as_str(), "{fault}");
        assert_eq!(backend.status(), channel.status(), "{fault}");
    }
    assert_eq!(Fault::Deadline.backend_reason(), BackendReason::ProbeTimeout);
    assert_eq!(Fault::Credential.backend_reason(), BackendReason::CredentialUnavailable);
    assert_eq!(Fault::Host.backend_reason(), BackendReason::ProbeFailed);
}

#[test]
fn a_probe_that_could_not_tell_is_unknown() {
    let backend = |status| BackendReason::ALL.iter().filter(move |r| r.status() == status).map(|r| r.as_str());
    let channel = |status| ChannelReason::ALL.iter().filter(move |r| r.status() == status).map(|r| r.as_str());
    let unknown = ["Pending", "AgentBusy", "ProbeTimeout", "ProbeFailed"];
    assert_eq!(backend(Status::Unknown).collect::<Vec<_>>(), unknown);
    let unknown = [
        "Pending",
        "RateLimited",
        "PlatformTimeout",
        "PlatformUnavailable",
        "UnexpectedAnswer",
        "ProbeTimeout",
        "ProbeFailed",
    ];
    assert_eq!(channel(Status::Unknown).collect::<Vec<_>>(), unknown);
    // A backend that does not answer is not one that could not be told.
    assert_eq!(BackendReason::Unreachable.status(), Status::False);
    assert_eq!(BackendReason::InvalidAgentCard.status(), Status::False);
    assert_eq!((backend(Status::True).count(), channel(Status::True).count()), (1, 1));
}

#[test]
fn a_peer_that_asks_to_wait_is_left_alone_within_bounds() {
    for (asked, seconds) in
        [(None, 30), (Some(0), 1), (Some(1), 1), (Some(90), 90), (Some(3600), 3600), (Some(u32::MAX), 3600)]
    {
        assert_eq!(gate(asked), Duration::from_secs(seconds), "{asked:?}");
    }
}
