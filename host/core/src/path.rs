//! What no path of ours may be, whoever wrote it: one that some server takes for another.
//!
//! Servers decode a path once, twice or not at all, and cut it in different places. A guest's path has to stay below its
//! base for all of them. A base is its owner's own choice, but others rely on what it seems to be: who reviews it, and a
//! policy of the cluster that allows backends below one URL.

/// Checks a path, and the percent signs of its query.
///
/// # Errors
///
/// Which rule it breaks.
pub(crate) fn check(path: &str) -> Result<(), &'static str> {
    if !percent_signs_are_followed_by_digits(path) {
        return Err("has a percent sign without two hexadecimal digits");
    }
    check_segments(path.split('?').next().unwrap_or_default().as_bytes())
}

/// How often a path may be encoded: once is usual, and twice where a path holds a path. To look at each layer of thousands
/// would take their square.
const LAYERS: usize = 4;

/// Checks the part before the query, also as a server sees it that decodes it more than once.
fn check_segments(path: &[u8]) -> Result<(), &'static str> {
    let slashes = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'/').count();
    let mut seen = path.to_vec();
    for _ in 0..=LAYERS {
        if seen.split(|byte| *byte == b'/').any(is_dots) {
            return Err("has a . or .. segment");
        }
        let next = decoded(&seen);
        if next == seen {
            return Ok(());
        }
        if slashes(&next) != slashes(&seen) || next.contains(&b'\\') {
            return Err("has an encoded slash or backslash");
        }
        if next.iter().any(u8::is_ascii_control) {
            return Err("has an encoded control character");
        }
        if next.windows(2).any(is_overlong) || next.iter().any(begins_overlong) {
            return Err("has an overlong character");
        }
        seen = next;
    }
    Err("is percent-encoded more than 4 times over")
}

/// Whether a segment is `.` or `..`. Some servers cut a segment's parameters off before they look at the dots, some decode
/// before they cut off the query and the fragment, and some have file systems that drop blanks at the end of a name.
fn is_dots(segment: &[u8]) -> bool {
    let name = segment.split(|byte| b";?#".contains(byte)).next().unwrap_or_default().trim_ascii_end();
    name == b"." || name == b".."
}

/// Whether these bytes begin a character in more bytes than it has in UTF-8. Some servers take them for it: `%c0%ae` for a
/// dot.
fn is_overlong(pair: &[u8]) -> bool {
    matches!(pair, [0xe0, 0x80..=0x9f] | [0xf0, 0x80..=0x8f] | [0xf8..=0xff, 0x80..=0xbf])
}

/// Whether a byte begins two bytes for a character of ASCII. Some servers take it for that whatever follows: `%c0%2e` for a
/// dot.
fn begins_overlong(byte: &u8) -> bool {
    matches!(byte, 0xc0 | 0xc1)
}

fn percent_signs_are_followed_by_digits(text: &str) -> bool {
    text.split('%').skip(1).all(|tail| tail.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2)
}

/// Takes one layer of percent-encoding off. A percent sign without two digits stays.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.split_at_checked(2).filter(|_| *first == b'%');
        let encoded = digits.and_then(|(digits, tail)| Some((hex(digits)?, tail)));
        let (byte, tail) = encoded.unwrap_or((*first, tail));
        bytes.push(byte);
        rest = tail;
    }
    bytes
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}
