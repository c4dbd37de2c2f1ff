//! A chat probe whose descriptor has a megabyte.

#![no_std]

extern crate alloc;

use kourier_probe_sdk::chat::{ChatProbe, Credential, Descriptor, Target, Verdict};

struct Loud;

impl ChatProbe for Loud {
    fn describe() -> Descriptor {
        Descriptor {
            platform: "x".repeat(1 << 20),
            default_url: None,
            channel_pattern: ".".repeat(1 << 20),
            credential: Credential::Bearer,
            settings: alloc::vec![],
        }
    }

    fn check(_target: Target) -> Verdict {
        Verdict::Ok
    }
}

kourier_probe_sdk::export_chat_probe!(Loud);
