//! A chat probe whose descriptor is not what the interface says: a text that is not UTF-8.

#![no_std]

extern crate alloc;

use alloc::string::String;

use kourier_probe_sdk::chat::{ChatProbe, Credential, Descriptor, Target, Verdict};

struct Liar;

impl ChatProbe for Liar {
    fn describe() -> Descriptor {
        Descriptor {
            // SAFETY: there is none, which is what the host has to stand.
            platform: unsafe { String::from_utf8_unchecked(alloc::vec![0xff, 0xfe]) },
            default_url: None,
            channel_pattern: ".+".into(),
            credential: Credential::Bearer,
            settings: alloc::vec![],
        }
    }

    fn check(_target: Target) -> Verdict {
        Verdict::Ok
    }
}

kourier_probe_sdk::export_chat_probe!(Liar);
