//! What a probe may put into a request: the rules of `wit/probe.wit`, as plain functions.
//!
//! Whoever lets a stranger choose a path or a header checks it here; that a joined URL lies below its base is looked at
//! once more by who joins them.

use crate::path;
use crate::rule::{HEADER, is_host_header};

/// Bytes of a path with its query: with a base of as many it is half of the 8000 bytes of a request's first line that
/// every server should take (RFC 9112, section 3).
const PATH: usize = 2048;
/// Bytes of a field's value: a media type or a version. It is an eighth of what nginx and Apache take; the long value is
/// the credential, which is the host's business.
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
    path::check(path).or_else(refuse)
}

/// Checks a header. `credential` is the name of the field that carries the credential, in lower case.
///
/// # Errors
///
/// Which rule it breaks, without the value.
pub fn check_header(name: &str, value: &str, credential: Option<&str>) -> Result<(), String> {
    if let Some(fault) = HEADER.fault(name) {
        return Err(format!("the name of a header {fault}"));
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

/// Whether a text is a header's name: an HTTP token, no longer than [`HEADER`] has it.
#[must_use]
pub fn is_token(text: &str) -> bool {
    HEADER.fault(text).is_none()
}

/// Whether a text is visible ASCII with spaces inside only.
#[must_use]
pub fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !text.starts_with(' ') && !text.ends_with(' ')
}

#[cfg(test)]
mod tests;
