//! What Slack's error codes mean for a channel.
//!
//! The list is open-ended, codes appear that no page names: a code that is not here leaves the verdict open.

use kourier_probe_sdk::chat::Verdict;

/// The verdict for an error code, whichever method said it; `wait` is what the answer's `Retry-After` asked for.
pub(crate) fn verdict(code: &str, wait: Option<u32>) -> Verdict {
    match code {
        "channel_not_found" => Verdict::ChannelNotFound,
        // The first: a kind of conversation that the method does not take. The second: an org-wide token that was not
        // told which workspace, so `teamId` is missing.
        "method_not_supported_for_channel_type" | "missing_argument" => Verdict::InvalidChannel,
        "account_inactive"
        | "invalid_auth"
        | "is_bot"
        | "not_allowed_token_type"
        | "not_authed"
        | "token_expired"
        | "token_revoked"
        | "two_factor_setup_required" => Verdict::CredentialsRejected,
        "missing_scope" | "no_permission" => Verdict::MissingScope,
        "access_denied"
        | "accesslimited"
        | "channel_is_limited_access"
        | "ekm_access_denied"
        | "enterprise_is_restricted"
        | "team_access_not_granted"
        | "team_is_restricted" => Verdict::AccessRestricted,
        "rate_limited" | "ratelimited" => Verdict::RateLimited(wait),
        // The last two: the workspace is on its way into an organisation.
        "fatal_error" | "internal_error" | "service_unavailable" | "org_login_required" | "team_added_to_org" => {
            Verdict::PlatformUnavailable
        }
        // Slack did not receive the whole request in time.
        "request_timeout" => Verdict::PlatformTimeout,
        // Faults of our own request (`invalid_arg_name`, `unknown_method`, ...) and every code yet to come.
        _ => Verdict::UnexpectedAnswer,
    }
}

/// Whether a code of the listing says as much of every channel as the call for the one channel would.
///
/// If not, that call decides: the token may lack the scope for the other kind of channel, an organisation may forbid
/// the listing alone, and a fault of the listing's own parameters says nothing of a channel.
pub(crate) fn settles_every_channel(code: &str, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::AccessRestricted => code != "enterprise_is_restricted",
        Verdict::CredentialsRejected
        | Verdict::RateLimited(_)
        | Verdict::PlatformTimeout
        | Verdict::PlatformUnavailable => true,
        Verdict::Ok
        | Verdict::ChannelNotFound
        | Verdict::ChannelArchived
        | Verdict::NotInChannel
        | Verdict::MissingScope
        | Verdict::InvalidChannel
        | Verdict::UnexpectedAnswer => false,
    }
}
