//! What a component says of itself when it is loaded: nothing, garbage, or megabytes of it.

use std::collections::BTreeSet;

use suite::guests;

use super::files::{Want, load};
use crate::case::Case;

/// The ways of the guest that misdescribes itself, and what each comes to.
const WAYS: [(&str, Want); 21] = [
    ("well", Want::Loaded),
    ("well-after-a-flood", Want::Loaded),
    ("well-though-it-was-not-answered", Want::Loaded),
    ("with-100-megabytes-that-overlap", Want::Refused("it cannot be run: bad-answer; bad-answer: too much data")),
    ("with-1000-settings", Want::Refused("its descriptor is wrong: settings: has more than 16 entries")),
    ("with-a-length-beyond-memory", Want::Refused("it cannot be run: bad-answer; ")),
    ("with-a-megabyte-of-name", Want::Refused("its descriptor is wrong: platform: has to be 1 to 63 characters")),
    ("with-a-megabyte-of-pattern", Want::Refused("its descriptor is wrong: channel-pattern: has to be 1 to 255 bytes")),
    ("with-a-pattern-that-explodes", Want::Refused("its descriptor is wrong: channel-pattern: is no pattern")),
    ("with-a-pattern-that-is-none", Want::Refused("its descriptor is wrong: channel-pattern: is no pattern")),
    ("with-a-url-of-a-file", Want::Refused("its descriptor is wrong: default-url: ")),
    ("with-a-url-that-has-a-user", Want::Refused("its descriptor is wrong: default-url: ")),
    ("with-control-characters", Want::Refused("its descriptor is wrong: platform: has to be 1 to 63 characters")),
    ("with-the-credential-as-host", Want::Refused("its descriptor is wrong: credential.header.name: ")),
    ("with-the-credential-in-two-lines", Want::Refused("its descriptor is wrong: credential.header.prefix: ")),
    ("without-utf-8", Want::Refused("it cannot be run: bad-answer; ")),
    ("and-fills-memory", Want::Refused("it cannot be run: memory; ")),
    ("and-panics", Want::Refused("it cannot be run: panic; panic at ")),
    ("and-recurses", Want::Refused("it cannot be run: stack; ")),
    ("and-spins", Want::Refused("it cannot be run: cpu-budget; ")),
    ("and-traps", Want::Refused("it cannot be run: trap; ")),
];

/// The names of the rows.
pub(super) fn ways() -> BTreeSet<&'static str> {
    WAYS.iter().map(|(way, _)| *way).collect()
}

pub(super) fn cases() -> Vec<Case> {
    let case = |(way, want): (&'static str, Want)| {
        Case::new(format!("guest::describes-itself-{way}"), move || load(move || guests::misdescribing(way), want))
    };
    WAYS.into_iter().map(case).collect()
}
