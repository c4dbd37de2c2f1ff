//! One case, checked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use kourier_core::check;
use kourier_core::line::escaped;
use kourier_core::outcome::{self, Fault, Outcome};
use kourier_core::platform::Platform;
use kourier_core::reason::{BackendReason, ChannelReason};
use kourier_sandbox::{Method, ProbeKind};

use crate::shown::Shown;

/// A recorded case.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the case says of the probe: unique in its folder.
    pub sentence: String,
    /// Where it is written.
    pub place: Place,
    /// What the probe is asked to check.
    pub target: Target,
    /// What is to go over the wire, in order.
    pub exchanges: Vec<Exchange>,
    /// How the run is to end.
    pub verdict: Verdict,
    /// What one of the journal's causes is to contain.
    pub cause: Option<String>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 when only the file is known.
    pub line: u64,
}

/// Something that is wrong with a file of cases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong and what would be right.
    pub what: String,
}

/// What a probe is asked to check, of either kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The channel's id: of a chat probe.
    pub channel: Option<String>,
    /// The connection's settings: of a chat probe.
    pub settings: BTreeMap<String, String>,
    /// The only place of the card: of an agent probe.
    pub card_path: Option<String>,
}

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What the probe is to send.
    pub request: Asked,
    /// What it gets.
    pub reply: Reply,
}

/// A request as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The verb.
    pub method: Method,
    /// The path and query as the probe gives them.
    pub path: String,
    /// Fields that have to be there with these values; names in lower case. Others may be there.
    pub headers: BTreeMap<String, String>,
    /// The whole body, if it matters.
    pub body: Option<String>,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A whole answer.
    Answer {
        /// 200 to 599.
        status: u16,
        /// Names in lower case.
        headers: Vec<(String, String)>,
        /// The body.
        body: Bytes,
        /// How long the peer takes.
        delay: Duration,
    },
    /// No connection.
    Unreachable,
    /// Nothing within the time that the host gives.
    TimedOut,
    /// More than the host reads.
    TooLarge,
}

/// How a run ends, in the words of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The probe's own verdict.
    Said {
        /// The name in the WIT.
        name: String,
        /// For how long the host leaves the peer alone.
        gate: Option<Duration>,
    },
    /// The run was cut, or failed.
    Fault(Fault),
}

impl Verdict {
    /// The verdict of this name, with the wait that the peer asked for.
    #[must_use]
    pub fn named(name: &str, wait: Option<u32>) -> Self {
        Self::Said { name: name.to_owned(), gate: carries_wait(name).then(|| outcome::gate(wait)) }
    }

    /// What a run of an agent probe came to.
    #[must_use]
    pub fn of_agent(outcome: Outcome<BackendReason>, fault: Option<Fault>) -> Self {
        Self::of(outcome.reason.as_str(), outcome.gate, fault)
    }

    /// What a run of a chat probe came to.
    #[must_use]
    pub fn of_chat(outcome: Outcome<ChannelReason>, fault: Option<Fault>) -> Self {
        Self::of(outcome.reason.as_str(), outcome.gate, fault)
    }

    fn of(reason: &str, gate: Option<Duration>, fault: Option<Fault>) -> Self {
        fault.map_or_else(|| Self::Said { name: wit_name(reason), gate }, Self::Fault)
    }
}

/// Whether a verdict of this name may say how long to wait.
#[must_use]
pub fn carries_wait(name: &str) -> bool {
    matches!(name, "rate-limited" | "agent-busy")
}

/// The verdicts that a probe of this kind can say, by their names in the WIT.
#[must_use]
pub fn verdicts(kind: &ProbeKind) -> Vec<String> {
    match kind {
        ProbeKind::Agent => spoken(BackendReason::ALL, |reason| reason.as_str()),
        ProbeKind::Chat { .. } => spoken(ChannelReason::ALL, |reason| reason.as_str()),
    }
}

fn spoken<R: Copy>(all: &[R], name: impl Fn(R) -> &'static str) -> Vec<String> {
    const OF_THE_PROBER: [&str; 4] = ["Pending", "ProbeTimeout", "ProbeFailed", "CredentialUnavailable"];
    all.iter().map(|&reason| name(reason)).filter(|name| !OF_THE_PROBER.contains(name)).map(wit_name).collect()
}

/// `AgentNotFound` is `agent-not-found` in the WIT, and `OK` is `ok`.
fn wit_name(reason: &str) -> String {
    if reason == "OK" {
        return "ok".to_owned();
    }
    let mut name = String::with_capacity(reason.len() + 4);
    for (index, letter) in reason.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

impl Case {
    /// Everything that keeps this case from being one of a probe of this kind: the host would never ask this, or no such
    /// probe could say that.
    #[must_use]
    pub fn misfits(&self, kind: &ProbeKind) -> Vec<Problem> {
        let mut misfits = match kind {
            ProbeKind::Agent => self.target.misfits_of_agent(),
            ProbeKind::Chat { descriptor, .. } => self.target.misfits_of_chat(descriptor),
        };
        misfits.extend(self.verdict_misfit(kind));
        misfits.into_iter().map(|what| Problem { place: self.place.clone(), what }).collect()
    }

    fn verdict_misfit(&self, kind: &ProbeKind) -> Option<String> {
        let Verdict::Said { name, .. } = &self.verdict else { return None };
        let known = verdicts(kind);
        let of = match kind {
            ProbeKind::Agent => "an agent probe",
            ProbeKind::Chat { .. } => "a chat probe",
        };
        (!known.contains(name))
            .then(|| format!("verdict: {of} cannot say {}: write one of {}", escaped(name), known.join(", ")))
    }
}

impl Target {
    fn misfits_of_agent(&self) -> Vec<String> {
        let misfit = self.channel.is_some() || !self.settings.is_empty();
        let what = "target: an agent probe knows cardPath only: remove channel and settings";
        misfit.then(|| what.to_owned()).into_iter().collect()
    }

    fn misfits_of_chat(&self, platform: &Platform) -> Vec<String> {
        let mut misfits = Vec::new();
        if self.card_path.is_some() {
            misfits.push("target.cardPath: a chat probe knows channel and settings only: remove it".to_owned());
        }
        let pattern = &platform.channel_pattern;
        match &self.channel {
            None => misfits.push("target.channel: is missing: a chat probe needs one".to_owned()),
            Some(channel) if pattern.is_match(channel) => {}
            Some(_) => misfits.push(format!(
                "target.channel: is no id of the component's platform, so the host never asks this: write one that \
                 matches {pattern}"
            )),
        }
        let problems = check::settings("target.settings", &self.settings, platform);
        misfits.extend(problems.iter().map(ToString::to_string));
        misfits
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown(&self.file))?;
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", verb(self.method), self.path)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said { name, gate: None } => f.write_str(name),
            Self::Said { name, gate: Some(gate) } => write!(f, "{name}: {}", gate.as_secs()),
            Self::Fault(fault) => write!(f, "fault: {fault}"),
        }
    }
}

/// A verb as it is written.
#[must_use]
pub const fn verb(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_that_a_probe_can_say_has_its_name_of_the_interface() {
        let agent = verdicts(&ProbeKind::Agent);
        assert_eq!(
            agent,
            [
                "ok",
                "unreachable",
                "agent-not-found",
                "agent-unauthorized",
                "agent-redirected",
                "agent-error",
                "invalid-agent-card",
                "unsupported-protocol",
                "agent-busy"
            ]
        );
    }

    #[test]
    fn a_wait_is_compared_as_the_host_keeps_it() {
        assert_eq!(Verdict::named("rate-limited", None).to_string(), "rate-limited: 30");
        assert_eq!(Verdict::named("rate-limited", Some(0)).to_string(), "rate-limited: 1");
        assert_eq!(Verdict::named("agent-busy", Some(7200)).to_string(), "agent-busy: 3600");
        assert_eq!(Verdict::named("ok", None).to_string(), "ok");
    }
}
