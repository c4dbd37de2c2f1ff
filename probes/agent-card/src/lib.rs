//! Checks one agent's card.
//!
//! `fetch` asks for the card and reads the status of the answer, `card` judges the document. Both are pure: they get
//! an answer and return a verdict with words for the journal. This file alone touches the host.
//!
//! What is absent: a strict reading of the specification. The question is whether a broker can talk to the agent, and
//! most cards that answer it with yes break a rule somewhere.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod card;
mod fetch;
mod protocol;
mod url;

use kourier_probe_sdk::agent::{AgentProbe, Target, Verdict};
use kourier_probe_sdk::{endpoint, journal};

/// The probe.
enum AgentCard {}

impl AgentProbe for AgentCard {
    fn check(target: Target) -> Verdict {
        let finding = fetch::check(target.card_path, endpoint::send);
        if let Some(cause) = &finding.cause {
            journal::cause(cause);
        }
        for advice in &finding.advice {
            journal::advise(advice);
        }
        finding.verdict
    }
}

kourier_probe_sdk::export_agent_probe!(AgentCard);
