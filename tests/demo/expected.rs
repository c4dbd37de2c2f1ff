//! What each Binding of deploy/samples shows once its probes have looked.

use std::collections::BTreeSet;

use anyhow::bail;

use crate::rows::Row;
use crate::tell;

/// Namespace, name, and the reason of Ready: one row for each Binding.
pub(crate) const READY: &[(&str, &str, &str)] = &[
    ("team-a", "recipes", "OK"),
    ("team-a", "weather", "OK"),
    ("team-a", "travel", "OK"),
    ("team-b", "recipes-for-us", "OK"),
    ("team-a", "weather-by-pigeon", "OK"),
    ("team-b", "edited-badly", "OK"),
    ("team-a", "edited-away", "OK"),
    ("team-a", "by-display-name", "Accepted:InvalidSpec"),
    ("team-a", "no-agent", "Accepted:BackendNotFound"),
    ("team-a", "wrong-agent", "Accepted:BackendRejected"),
    ("team-a", "no-chat", "Accepted:ConnectionNotFound"),
    ("team-a", "wrong-chat", "Accepted:ConnectionRejected"),
    ("team-a", "not-ours", "Accepted:NamespaceNotAllowed"),
    ("team-a", "too-late", "Accepted:ChannelConflict"),
    ("team-a", "agent-asleep", "BackendReachable:Unreachable"),
    ("team-a", "agent-elsewhere", "BackendReachable:AgentNotFound"),
    ("team-a", "agent-talkative", "BackendReachable:InvalidAgentCard"),
    ("team-a", "agent-too-new", "BackendReachable:UnsupportedProtocol"),
    ("team-a", "not-invited", "ChannelJoined:NotInChannel"),
    ("team-a", "old-project", "ChannelJoined:ChannelArchived"),
    ("team-a", "bot-revoked", "ChannelJoined:CredentialsRejected"),
    ("team-a", "rush-hour", "ChannelJoined:RateLimited"),
    ("team-a", "lost-pigeon", "ChannelJoined:ProbeTimeout"),
];

/// How many different outcomes that is.
pub(crate) fn kinds() -> usize {
    READY.iter().map(|(_, _, reason)| reason).collect::<BTreeSet<_>>().len()
}

/// Compares the table with what it should say.
///
/// # Errors
///
/// Every Binding that is missing or says something else.
pub(crate) fn check(rows: &[Row]) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for &(namespace, name, reason) in READY {
        match rows.iter().find(|row| row.namespace == namespace && row.name == name) {
            Some(row) if row.reason == reason => {}
            Some(row) => wrong.push(format!("{namespace}/{name} says {}, and should say {reason}", row.reason)),
            None => wrong.push(format!("{namespace}/{name} is missing: it should say {reason}")),
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.iter().for_each(|line| tell::text(line));
    bail!("{} of {} Bindings are not as promised", wrong.len(), READY.len())
}
