//! A whole probe for a chat platform that Agent Kourier has never seen: Pigeon Post, whose channels are lofts.
//!
//! `cargo build --release --target wasm32-wasip2 --package pigeon-post` makes the component. It works as soon as it lies
//! in the broker's `components.dir`.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use kourier_probe_sdk::chat::{ChatProbe, Credential, CredentialHeader, Descriptor, Target, Verdict};
use kourier_probe_sdk::endpoint::{self, Failure, Request, Response};
use kourier_probe_sdk::journal;

struct PigeonPost;

kourier_probe_sdk::export_chat_probe!(PigeonPost);

impl ChatProbe for PigeonPost {
    fn describe() -> Descriptor {
        Descriptor {
            platform: "pigeon-post".into(),
            default_url: None,
            channel_pattern: "[a-z]+(-[a-z]+)*".into(),
            credential: Credential::Header(CredentialHeader { name: "x-ring".into(), prefix: "".into() }),
            settings: alloc::vec![],
        }
    }

    fn check(target: Target) -> Verdict {
        // A pigeon takes its time: send the next one. Each has a number, because two identical GETs of one pass are one. If
        // none ever comes back, the host ends the run with ProbeTimeout.
        for pigeon in 1.. {
            match endpoint::send(&Request::get(alloc::format!("/lofts/{}?pigeon={pigeon}", target.channel))) {
                Ok(answer) => return conclude(&answer),
                Err(Failure::TimedOut) => {}
                Err(_) => break,
            }
        }
        Verdict::PlatformUnavailable
    }
}

fn conclude(answer: &Response) -> Verdict {
    match answer.status {
        200 => Verdict::Ok,
        401 => Verdict::CredentialsRejected,
        403 => Verdict::NotInChannel,
        404 => Verdict::ChannelNotFound,
        410 => Verdict::ChannelArchived,
        429 => Verdict::RateLimited(answer.retry_after()),
        status => {
            journal::cause(&alloc::format!("the loft answered {status}"));
            Verdict::UnexpectedAnswer
        }
    }
}
