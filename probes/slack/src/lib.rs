//! Checks whether a Slack bot is in a channel.
//!
//! `decision` asks and concludes, `reading` reads bodies, `codes` knows Slack's error codes; none of them knows of a host.
//! This file describes the platform and carries requests.
//!
//! What is absent: display names (they change, and finding one means to read a whole workspace), direct messages,
//! `conversations.list` (it walks the workspace), `conversations.members` (it grows with the channel).

#![cfg_attr(all(target_arch = "wasm32", not(test)), no_std)]

extern crate alloc;

mod codes;
mod decision;
mod reading;

use alloc::vec;

use kourier_probe_sdk::chat::{ChatProbe, Credential, Descriptor, Setting, Target, Verdict};
use kourier_probe_sdk::endpoint::{self, Request};
use kourier_probe_sdk::journal;

use crate::decision::{Check, Step};

/// The setting that says in which workspace an organisation's token is to look.
const TEAM: &str = "teamId";

/// Slack, as this component knows it.
pub struct Slack;

kourier_probe_sdk::export_chat_probe!(Slack);

impl ChatProbe for Slack {
    fn describe() -> Descriptor {
        Descriptor {
            platform: "slack".into(),
            default_url: Some("https://slack.com/api".into()),
            // C: channels; G: private channels of old. Names are in lower case, direct messages begin with D.
            channel_pattern: "[CG][A-Z0-9]{1,30}".into(),
            credential: Credential::Bearer,
            settings: vec![Setting {
                name: TEAM.into(),
                required: false,
                pattern: Some("T[A-Z0-9]{1,30}".into()),
                summary: "The workspace's id, for a token that was installed for a whole organisation.".into(),
            }],
        }
    }

    fn check(target: Target) -> Verdict {
        let team = target.settings.iter().find(|(key, _)| key == TEAM).map(|(_, value)| value.as_str());
        let (mut check, mut path) = Check::begin(&target.channel, team);
        loop {
            let request = Request::get(path).header("accept", "application/json");
            match check.next(endpoint::send(&request)) {
                Step::Get(next) => path = next,
                Step::Done(finding) => {
                    finding.cause.iter().for_each(|text| journal::cause(text));
                    finding.advice.iter().for_each(|text| journal::advise(text));
                    return finding.verdict;
                }
            }
        }
    }
}
