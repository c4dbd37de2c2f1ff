//! A component that is a probe of both kinds.

#![no_std]

extern crate alloc;

use kourier_probe_sdk::{agent, chat};

struct Both;

impl agent::AgentProbe for Both {
    fn check(_target: agent::Target) -> agent::Verdict {
        agent::Verdict::Ok
    }
}

impl chat::ChatProbe for Both {
    fn describe() -> chat::Descriptor {
        chat::Descriptor {
            platform: "both".into(),
            default_url: None,
            channel_pattern: ".+".into(),
            credential: chat::Credential::Bearer,
            settings: alloc::vec![],
        }
    }

    fn check(_target: chat::Target) -> chat::Verdict {
        chat::Verdict::Ok
    }
}

kourier_probe_sdk::export_agent_probe!(Both);
kourier_probe_sdk::export_chat_probe!(Both);
