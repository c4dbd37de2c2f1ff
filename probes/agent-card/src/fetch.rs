//! Where the card may be, and what the status of an answer means.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use kourier_probe_sdk::agent::Verdict;
use kourier_probe_sdk::endpoint::{Failure, Request, Response};

use crate::card::{self, Refusal};
use crate::url::WELL_KNOWN;

/// What the check comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    /// Why, for the journal.
    pub(crate) cause: Option<String>,
    /// What else the operator may want to know.
    pub(crate) advice: Vec<String>,
}

impl Finding {
    fn because(verdict: Verdict, cause: String) -> Self {
        Self { verdict, cause: Some(cause), advice: Vec::new() }
    }
}

/// Fetches the card and judges it.
///
/// A configured path is the only place. Without one the well-known path is asked and, when nothing is there, the one
/// of A2A before 0.3. The first place that answers anything but "not here" decides: a refusal at the first place must not
/// be hidden by a 404 at the second. Never is another place tried: it may hold another agent's card.
pub(crate) fn check(card_path: Option<String>, mut send: impl FnMut(&Request) -> Result<Response, Failure>) -> Finding {
    let places = card_path.map_or_else(|| WELL_KNOWN.map(String::from).to_vec(), |path| Vec::from([path]));
    let mut absent = Vec::new();
    for place in places {
        match ask(&place, &mut send) {
            Answer::Absent(status) => absent.push(format!("GET {place} answered {status}")),
            Answer::Found(mut finding) => {
                if finding.verdict == Verdict::Ok && !absent.is_empty() {
                    finding.advice.push(format!("the card is at {place}, where A2A had it before 0.3"));
                }
                return finding;
            }
        }
    }
    Finding::because(Verdict::AgentNotFound, absent.join(", "))
}

/// What a place holds.
enum Answer {
    /// No card, by this status.
    Absent(u16),
    /// Something that decides.
    Found(Finding),
}

fn ask(place: &str, send: &mut impl FnMut(&Request) -> Result<Response, Failure>) -> Answer {
    // A server that speaks both shapes chooses by the version, and some send a web page to who does not ask for JSON.
    let request =
        Request::get(place).header("a2a-version", "1.0").header("accept", "application/json, application/a2a+json");
    let answer = match send(&request) {
        Ok(answer) => answer,
        Err(failure) => return Answer::Found(no_answer(place, failure)),
    };
    let verdict = match answer.status {
        200..=299 => return Answer::Found(judge(place, &answer.body)),
        404 | 405 | 410 => return Answer::Absent(answer.status),
        401 | 403 | 407 => Verdict::AgentUnauthorized,
        301 | 302 | 303 | 307 | 308 => Verdict::AgentRedirected,
        408 | 425 | 429 => Verdict::AgentBusy(answer.retry_after()),
        _ => Verdict::AgentError,
    };
    Answer::Found(Finding::because(verdict, format!("GET {place} answered {}", answer.status)))
}

fn no_answer(place: &str, failure: Failure) -> Finding {
    let (verdict, what) = match failure {
        Failure::TooLarge => (Verdict::InvalidAgentCard, "answered more than 1 MiB"),
        Failure::Unreachable => (Verdict::Unreachable, "got no answer"),
        Failure::TimedOut => (Verdict::Unreachable, "got no whole answer in time"),
        // A configured path that the host will not send is the configuration's fault. A trap would count against this
        // component, and after a few of them against every Binding.
        Failure::InvalidRequest => (Verdict::Unreachable, "was not sent: the path breaks a rule of the interface"),
        Failure::Spent => (Verdict::Unreachable, "was not sent: the run has made too many requests"),
    };
    Finding::because(verdict, format!("GET {place} {what}"))
}

fn judge(place: &str, body: &[u8]) -> Finding {
    match card::judge(body) {
        Ok(advice) => Finding { verdict: Verdict::Ok, cause: None, advice },
        Err(Refusal::Invalid(why)) => Finding::because(Verdict::InvalidAgentCard, format!("GET {place}: {why}")),
        Err(Refusal::Unsupported(why)) => Finding::because(Verdict::UnsupportedProtocol, format!("GET {place}: {why}")),
    }
}

#[cfg(test)]
mod tests;
