//! What a probe may put into a request: the rules of `wit/probe.wit`, as plain functions.
//!
//! Whoever lets a stranger choose a path or a header checks it here; that a joined URL lies below its base is looked at
//! once more by who joins them.

use crate::rule::is_host_header;

/// Bytes of a path with its query.
const PATH: usize = 2048;
/// Bytes of a field's value.
const VALUE: usize = 1024;

/// Checks a path with its query: that it begins with one slash, and leads nowhere but below it, also for a server that
/// decodes it once more than others do.
///
/// # Errors
///
/// Which rule it breaks.
pub fn check_path(path: &str) -> Result<(), String> {
    let refuse = |rule: &str| Err(format!("its path {rule}"));
    if path.len() > PATH {
        return refuse(&format!("is longer than {PATH} bytes"));
    }
    if !path.starts_with('/') || path.starts_with("//") {
        return refuse("does not begin with exactly one slash");
    }
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse("has white space, a control character or one outside ASCII");
    }
    if path.contains(['\\', '#']) {
        return refuse("has a backslash or a fragment");
    }
    if !percent_signs_are_followed_by_digits(path) {
        return refuse("has a percent sign without two hexadecimal digits");
    }
    check_segments(path.split('?').next().unwrap_or_default().as_bytes())
}

/// Checks a header. `credential` is the name of the field that carries the credential, in lower case.
///
/// # Errors
///
/// Which rule it breaks, without the value.
pub fn check_header(name: &str, value: &str, credential: Option<&str>) -> Result<(), String> {
    if !is_token(name) {
        return Err("the name of a header is no HTTP token".to_owned());
    }
    let name = name.to_ascii_lowercase();
    if is_host_header(&name) || name == "authorization" || Some(name.as_str()) == credential {
        return Err(format!("the header {name} is the host's business"));
    }
    if value.len() > VALUE || !is_value(value) {
        return Err(format!("the value of the header {name} is longer than {VALUE} bytes or not visible ASCII"));
    }
    Ok(())
}

/// Whether a text is an HTTP token of a sensible length.
#[must_use]
pub fn is_token(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text is visible ASCII with spaces inside only.
#[must_use]
pub fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !text.starts_with(' ') && !text.ends_with(' ')
}

/// Checks the part before the query, also as a server sees it that decodes it more than once.
fn check_segments(path: &[u8]) -> Result<(), String> {
    let refuse = |rule: &str| Err(format!("its path {rule}"));
    let slashes = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'/').count();
    let mut seen = path.to_vec();
    loop {
        if seen.split(|byte| *byte == b'/').any(is_dots) {
            return refuse("has a dot segment");
        }
        let next = decoded(&seen);
        if next == seen {
            return Ok(());
        }
        if slashes(&next) != slashes(&seen) || next.contains(&b'\\') {
            return refuse("has an encoded slash or backslash");
        }
        if next.iter().any(u8::is_ascii_control) {
            return refuse("has an encoded control character");
        }
        if next.windows(2).any(is_overlong) {
            return refuse("has an overlong character");
        }
        seen = next;
    }
}

/// Whether a segment is `.` or `..`. Some servers cut a segment's parameters off before they look at the dots, and some
/// decode before they cut off the query and the fragment.
fn is_dots(segment: &[u8]) -> bool {
    let name = segment.split(|byte| b";?#".contains(byte)).next().unwrap_or_default();
    name == b"." || name == b".."
}

/// Whether these bytes begin a character in more bytes than it has in UTF-8. Some servers take them for it: `%c0%ae` for a
/// dot.
fn is_overlong(pair: &[u8]) -> bool {
    matches!(pair, [0xc0 | 0xc1, 0x80..=0xbf] | [0xe0, 0x80..=0x9f] | [0xf0, 0x80..=0x8f])
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

#[cfg(test)]
mod tests;
