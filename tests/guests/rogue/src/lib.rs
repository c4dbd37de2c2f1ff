//! A chat probe whose channel names its misbehaviour.
//!
//! Each name stands in [`BEHAVIOURS`]; `tests/hostile/guests` has a row for every one of them. What a behaviour finds out
//! about the sandbox it says by its verdict, which is written beside it.

#![no_std]

extern crate alloc;

#[path = "../../harm.rs"]
mod harm;
mod network;
mod resources;
mod telling;

use alloc::vec;
use core::sync::atomic::{AtomicU32, Ordering};

use kourier_probe_sdk::chat::{ChatProbe, Credential, Descriptor, Setting, Target, Verdict};
use kourier_probe_sdk::journal;

/// A misbehaviour.
type Behaviour = fn(&Target) -> Verdict;

/// All of them. The tests read the names from this table.
const BEHAVIOURS: [(&str, Behaviour); 27] = [
    ("ask-a-million-times", network::ask_a_million_times),
    ("ask-forever", network::ask_forever),
    ("ask-too-much", network::ask_too_much),
    ("ask-wrongly-a-million-times", network::ask_wrongly_a_million_times),
    ("fetch", network::fetch),
    ("forbidden-bodies", network::forbidden_bodies),
    ("forbidden-headers", network::forbidden_headers),
    ("forbidden-paths", network::forbidden_paths),
    ("hand-over-megabytes", network::hand_over_megabytes),
    ("lie-about-a-length", network::lie_about_a_length),
    ("lie-about-a-text", network::lie_about_a_text),
    ("repeat-what-the-peer-says", network::repeat_what_the_peer_says),
    ("spin-when-told-so", network::spin_when_told_so),
    ("fill-memory", resources::fill_memory),
    ("live-with-a-full-memory", resources::live_with_a_full_memory),
    ("panic", resources::panic),
    ("panic-after-a-flood", resources::panic_after_a_flood),
    ("recurse", resources::recurse),
    ("recurse-with-locals", resources::recurse_with_locals),
    ("search-memory", resources::search_memory),
    ("spin", resources::spin),
    ("spin-in-host-calls", resources::spin_in_host_calls),
    ("trap", resources::trap),
    ("hear", telling::hear),
    ("tell", telling::tell),
    ("flood-the-journal", flood_the_journal),
    ("keep-a-global", keep_a_global),
];

struct Rogue;

impl ChatProbe for Rogue {
    fn describe() -> Descriptor {
        Descriptor {
            platform: "rogue".into(),
            default_url: Some("https://rogue.example/api".into()),
            channel_pattern: "[a-z-]+".into(),
            credential: Credential::Bearer,
            settings: vec![
                Setting { name: "path".into(), required: false, pattern: None, summary: "What to fetch.".into() },
                Setting { name: "head".into(), required: false, pattern: None, summary: "Half a needle.".into() },
                Setting { name: "tail".into(), required: false, pattern: None, summary: "The other half.".into() },
            ],
        }
    }

    fn check(target: Target) -> Verdict {
        match BEHAVIOURS.iter().find(|(name, _)| *name == target.channel) {
            Some((_, behave)) => behave(&target),
            None => Verdict::InvalidChannel,
        }
    }
}

kourier_probe_sdk::export_chat_probe!(Rogue);

/// A setting's value.
fn setting<'a>(target: &'a Target, name: &str) -> Option<&'a str> {
    target.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// A hundred long lines.
fn flood_the_journal(_target: &Target) -> Verdict {
    let line = harm::long_line();
    for _ in 0..50 {
        journal::cause(&line);
        journal::advise(&line);
    }
    Verdict::Ok
}

/// Ok in the first run of an instance, `NotInChannel` in any other.
fn keep_a_global(_target: &Target) -> Verdict {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    if RUNS.fetch_add(1, Ordering::Relaxed) == 0 { Verdict::Ok } else { Verdict::NotInChannel }
}
