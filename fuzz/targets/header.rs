//! A header that a guest may set can be sent as it is, and is none of the host's, in whatever case it is written.
//!
//! An input is `NAME: VALUE`.
#![no_main]

use fuzz::bounded;
use http::{HeaderName, HeaderValue};
use kourier_core::request::check_header;
use libfuzzer_sys::fuzz_target;

/// The name that carries the credential.
const CREDENTIAL: &str = "x-api-key";
/// As `wit/probe.wit` has them.
const RESERVED: [&str; 14] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    CREDENTIAL,
];
/// The same, of names that begin so.
const RESERVED_PREFIXES: [&str; 3] = ["proxy-", "sec-", "x-forwarded-"];

fuzz_target!(|header: &str| {
    let (name, value) = header.split_once(": ").unwrap_or((header, ""));
    let verdict = bounded(|| check_header(name, value, Some(CREDENTIAL)));
    assert_eq!(verdict.is_ok(), may_be_set(name, value), "{name:?}: {value:?}: {verdict:?}");
    for same in [name.to_ascii_uppercase(), name.to_ascii_lowercase()] {
        assert_eq!(check_header(&same, value, Some(CREDENTIAL)), verdict, "{same:?}: {value:?}");
    }
    if verdict.is_err() {
        // A line break or a blank around it makes nothing right.
        for worse in [format!("{value}\r\n"), format!(" {value}"), format!("{value}\0")] {
            assert!(check_header(name, &worse, Some(CREDENTIAL)).is_err(), "{name:?}: {worse:?}");
        }
    }
});

/// The rules once more, by what the library makes of a header that sends it.
fn may_be_set(name: &str, value: &str) -> bool {
    let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { return false };
    let Ok(value) = HeaderValue::from_str(value) else { return false };
    let name = name.as_str();
    let is_reserved = RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let is_visible = value.as_bytes().iter().all(|byte| (0x20..0x7f).contains(byte));
    let is_trimmed = value.as_bytes().trim_ascii() == value.as_bytes();
    !is_reserved && name.len() <= 128 && is_visible && is_trimmed && value.len() <= 1024
}
