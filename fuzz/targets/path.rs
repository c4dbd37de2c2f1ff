//! A path that a guest may ask for stays below the base, however a server reads it, and one that leads elsewhere is
//! refused in every spelling.
#![no_main]

use std::borrow::Cow;

use fuzz::bounded;
use kourier_core::request::check_path;
use kourier_core::url::BaseUrl;
use libfuzzer_sys::fuzz_target;
use url::Url;

const BASES: [&str; 3] = ["http://agent.example", "https://chat.example:8443/api/v1", "http://[2001:db8::1]/a%20b"];

/// How often a server may decode a path.
const DECODINGS: usize = 4;

fuzz_target!(|path: &str| {
    let verdict = bounded(|| check_path(path));
    for same in [path.to_ascii_uppercase(), path.to_ascii_lowercase()] {
        assert_eq!(check_path(&same), verdict, "{same:?} and {path:?}");
    }
    match verdict {
        Ok(()) => {
            BASES.iter().for_each(|base| assert_stays_below(base, path));
            every_server_reads_it_below(path);
        }
        Err(rule) if rule.ends_with("has a . or .. segment") => no_encoding_makes_it_right(path),
        Err(_) => {}
    }
});

/// What the parser makes of base and path is the base and the path.
fn assert_stays_below(base: &str, path: &str) {
    let base = BaseUrl::parse(base).expect("a base");
    let url = Url::parse(&format!("{base}{path}")).expect("a path makes a URL");
    let root = Url::parse(base.as_str()).expect("a base");
    let (below, query) = path.split_once('?').map_or((path, None), |(below, query)| (below, Some(query)));
    assert_eq!(url.origin(), root.origin(), "{url}");
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none(), "{url}");
    assert_eq!(url.path().strip_prefix(root.path().trim_end_matches('/')).map(encoded), Some(encoded(below)), "{url}");
    assert_eq!(url.query().is_some(), query.is_some(), "{url}");
}

/// A parser may encode what stands for itself (`"`, `<`, `>`, `` ` ``, `{`, `}`, `^`, `|`): then both spellings are compared.
fn encoded(text: &str) -> String {
    let bare = |c: char| "\"<>`{}^|'".contains(c);
    text.chars().map(|c| if bare(c) { format!("%{:02X}", u32::from(c)) } else { c.to_string() }).collect()
}

/// Servers that decode a path once or more, cut a query off before or after that, cut parameters off each segment, take a
/// backslash for a slash, and do not mind characters in too many bytes: none finds a segment of dots.
fn every_server_reads_it_below(path: &str) {
    let mut read = Cow::Borrowed(path.split('?').next().unwrap_or_default().as_bytes());
    for _ in 0..=DECODINGS {
        for read in [&*read, &shortened(&read)] {
            for segment in read.split(|byte| matches!(byte, b'/' | b'\\')) {
                let name = segment.split(|byte| matches!(byte, b';' | b'?' | b'#' | 0)).next().unwrap_or_default();
                assert!(name != b"." && name != b"..", "{path:?} is read as {:?}", String::from_utf8_lossy(read));
            }
        }
        assert!(!read.iter().any(u8::is_ascii_control), "{path:?} is read as {read:?}");
        read = Cow::Owned(decoded(&read));
    }
}

/// The text as a careless reader of UTF-8 has it: what was ASCII in two bytes is ASCII.
fn shortened(text: &[u8]) -> Vec<u8> {
    let (mut read, mut rest) = (Vec::new(), text);
    while let Some((first, tail)) = rest.split_first() {
        let (byte, tail) = match (first, tail) {
            (0xc0 | 0xc1, [second @ 0x80..=0xbf, tail @ ..]) => ((first << 6) | (second & 0x3f), tail),
            _ => (*first, tail),
        };
        read.push(byte);
        rest = tail;
    }
    read
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let (mut read, mut at) = (Vec::new(), 0);
    while let Some(byte) = text.get(at) {
        let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let value =
            digits.filter(|digits| !digits.starts_with('+')).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value.filter(|_| *byte == b'%') {
            Some(value) => {
                read.push(value);
                at += 3;
            }
            None => {
                read.push(*byte);
                at += 1;
            }
        }
    }
    read
}

/// A refused path with one character encoded, once or twice: it is refused, for whatever reason.
fn no_encoding_makes_it_right(path: &str) {
    for (at, byte) in path.bytes().enumerate().skip(1).take(32) {
        for spelt in [format!("%{byte:02x}"), format!("%25{byte:02X}")] {
            let other = format!("{}{spelt}{}", &path[..at], &path[at + 1..]);
            assert!(check_path(&other).is_err(), "{path:?} is refused and {other:?} is not");
        }
    }
}
