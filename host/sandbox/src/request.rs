//! What a probe may put into a request: the rules of `wit/probe.wit`, as plain functions.

use kourier_core::rule::is_host_header;

use crate::bindings::endpoint::{Header, Method, Request};
use crate::limits::Limits;

/// Bytes of a path with its query.
const PATH: usize = 2048;
/// Fields of a request.
const FIELDS: usize = 32;
/// Bytes of a field's value.
const VALUE: usize = 1024;

/// Checks a whole request. `credential` is the name of the field that carries the credential, in lower case.
///
/// # Errors
///
/// Which rule it breaks.
pub(crate) fn check(request: &Request, credential: Option<&str>, limits: &Limits) -> Result<(), String> {
    check_path(&request.path)?;
    if request.headers.len() > FIELDS {
        return Err(format!("more than {FIELDS} headers"));
    }
    request.headers.iter().try_for_each(|header| check_header(header, credential))?;
    match (&request.body, request.method) {
        (Some(_), Method::Get) => Err("a GET with a body".to_owned()),
        (Some(body), Method::Post) if body.len() > limits.request_body => {
            Err(format!("a body of more than {} bytes", limits.request_body))
        }
        _ => Ok(()),
    }
}

/// Checks a path with its query.
fn check_path(path: &str) -> Result<(), String> {
    let refuse = |rule: &str| Err(format!("its path {rule}"));
    if path.len() > PATH {
        return refuse("is longer than 2048 bytes");
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
        seen = next;
    }
}

/// Whether a segment is `.` or `..`. Some servers cut a segment's parameters off before they look at the dots, and some
/// decode before they cut off the query and the fragment.
fn is_dots(segment: &[u8]) -> bool {
    let name = segment.split(|byte| b";?#".contains(byte)).next().unwrap_or_default();
    name == b"." || name == b".."
}

fn percent_signs_are_followed_by_digits(text: &str) -> bool {
    text.split('%').skip(1).all(|tail| tail.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2)
}

/// Takes one layer of percent-encoding off. A percent sign without two digits stays.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let byte = tail.get(..2).filter(|_| *first == b'%').and_then(hex);
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    bytes
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

fn check_header(header: &Header, credential: Option<&str>) -> Result<(), String> {
    if !is_token(&header.name) {
        return Err("the name of a header is no HTTP token".to_owned());
    }
    let name = header.name.to_ascii_lowercase();
    if is_host_header(&name) || name == "authorization" || Some(name.as_str()) == credential {
        return Err(format!("the header {name} is the host's business"));
    }
    if header.value.len() > VALUE || !is_value(&header.value) {
        return Err(format!("the value of the header {name} is longer than {VALUE} bytes or not visible ASCII"));
    }
    Ok(())
}

/// Whether a text is an HTTP token of a sensible length.
pub(crate) fn is_token(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text is visible ASCII with spaces inside only.
pub(crate) fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !text.starts_with(' ') && !text.ends_with(' ')
}

#[cfg(test)]
mod tests;
