//! A chat probe whose description is wrong in the way that its file names.
//!
//! `describe` is given nothing, so a test writes the name of a way over the blanks of [`WAY`] in the component's file. Each
//! way stands in [`WAYS`]; `tests/hostile/guests` has a row for every one of them.

#![no_std]

extern crate alloc;

#[path = "../../harm.rs"]
mod harm;

use alloc::format;
use alloc::string::String;
use alloc::vec;

use kourier_probe_sdk::chat::{ChatProbe, Credential, CredentialHeader, Descriptor, Setting, Target, Verdict};
use kourier_probe_sdk::endpoint::{self, Failure, Request};
use kourier_probe_sdk::journal;

/// Where the name of the way is written, behind the colon.
static WAY: [u8; 64] = *b"describe in this way:                                           ";

/// A way to describe oneself.
type Way = fn() -> Descriptor;

/// All of them. The tests read the names from this table.
const WAYS: [(&str, Way); 21] = [
    ("well", good),
    ("well-after-a-flood", well_after_a_flood),
    ("well-though-it-was-not-answered", well_though_it_was_not_answered),
    ("with-100-megabytes-that-overlap", with_100_megabytes_that_overlap),
    ("with-1000-settings", with_1000_settings),
    ("with-a-length-beyond-memory", with_a_length_beyond_memory),
    ("with-a-megabyte-of-name", with_a_megabyte_of_name),
    ("with-a-megabyte-of-pattern", || Descriptor { channel_pattern: "x".repeat(1 << 20), ..good() }),
    ("with-a-pattern-that-explodes", || Descriptor { channel_pattern: r"\w{1000}{1000}".into(), ..good() }),
    ("with-a-pattern-that-is-none", || Descriptor { channel_pattern: "(((".into(), ..good() }),
    ("with-a-url-of-a-file", || Descriptor { default_url: Some("file:///etc/passwd".into()), ..good() }),
    ("with-a-url-that-has-a-user", || Descriptor { default_url: Some("https://a:b@c.example".into()), ..good() }),
    ("with-control-characters", || Descriptor { platform: "\u{1b}[2J\r\n\u{202e}".into(), ..good() }),
    ("with-the-credential-as-host", with_the_credential_as_host),
    ("with-the-credential-in-two-lines", with_the_credential_in_two_lines),
    ("without-utf-8", without_utf_8),
    ("and-fills-memory", || harm::fill_memory()),
    ("and-panics", and_panics),
    ("and-recurses", || if harm::depth(1) == 0 { good() } else { without_utf_8() }),
    ("and-spins", || harm::spin()),
    ("and-traps", || core::arch::wasm32::unreachable()),
];

struct Misdescribes;

impl ChatProbe for Misdescribes {
    fn describe() -> Descriptor {
        // SAFETY: it is there. Read in this way, because what the compiler knows of it is not what the file has.
        let written = unsafe { core::ptr::read_volatile(&raw const WAY) };
        let name = str::from_utf8(&written).ok().and_then(|text| text.split(':').nth(1)).unwrap_or_default().trim();
        WAYS.iter().find(|(way, _)| *way == name).map_or_else(|| core::arch::wasm32::unreachable(), |(_, way)| way())
    }

    fn check(_target: Target) -> Verdict {
        Verdict::Ok
    }
}

kourier_probe_sdk::export_chat_probe!(Misdescribes);

/// What is right.
fn good() -> Descriptor {
    Descriptor {
        platform: "misdescribes".into(),
        default_url: Some("https://misdescribes.example/api".into()),
        channel_pattern: "[a-z-]+".into(),
        credential: Credential::Bearer,
        settings: vec![setting("path".into())],
    }
}

fn setting(name: String) -> Setting {
    Setting { name, required: false, pattern: None, summary: "What to fetch.".into() }
}

fn well_after_a_flood() -> Descriptor {
    let line = harm::long_line();
    for _ in 0..100 {
        journal::cause(&line);
    }
    good()
}

/// There is no peer while a component describes itself, however often it asks.
fn well_though_it_was_not_answered() -> Descriptor {
    let is_told_so = |number: usize| {
        let want = if number < 64 { Failure::Unreachable } else { Failure::Spent };
        endpoint::send(&Request::get(format!("/{number}"))) == Err(want)
    };
    if (0..1000).all(is_told_so) { good() } else { without_utf_8() }
}

fn with_a_megabyte_of_name() -> Descriptor {
    Descriptor { platform: "x".repeat(1 << 20), ..good() }
}

fn with_a_length_beyond_memory() -> Descriptor {
    // SAFETY: there is none, which is what the host has to stand. It is neither read nor freed here.
    let platform = unsafe { harm::text_at(&mut vec![b'x'; 16], 1 << 30) };
    Descriptor { platform, ..good() }
}

/// Settings whose names are the same four megabytes.
fn with_100_megabytes_that_overlap() -> Descriptor {
    let mut megabytes = vec![b'x'; 4 << 20];
    // SAFETY: they are neither changed nor freed: the call ends with them.
    let names = (0..25).map(|_| unsafe { harm::text_at(&mut megabytes, 4 << 20) });
    let settings = names.map(setting).collect();
    core::mem::forget(megabytes);
    Descriptor { settings, ..good() }
}

fn with_1000_settings() -> Descriptor {
    Descriptor { settings: (0..1000).map(|number| setting(format!("a{number}"))).collect(), ..good() }
}

fn with_the_credential_as_host() -> Descriptor {
    let header = CredentialHeader { name: "Host".into(), prefix: String::new() };
    Descriptor { credential: Credential::Header(header), ..good() }
}

fn with_the_credential_in_two_lines() -> Descriptor {
    let header = CredentialHeader { name: "X-Token".into(), prefix: "a\r\nHost: b\r\n".into() };
    Descriptor { credential: Credential::Header(header), ..good() }
}

fn without_utf_8() -> Descriptor {
    // SAFETY: there is none, which is what the host has to stand.
    Descriptor { platform: unsafe { String::from_utf8_unchecked(vec![0xff, 0xfe]) }, ..good() }
}

#[expect(clippy::panic, reason = "what is tested")]
fn and_panics() -> Descriptor {
    panic!("this probe is for nothing");
}
