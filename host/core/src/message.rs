//! The text of a condition.
//!
//! A [`Message`] can hold nothing but what a status may hold, so nobody who writes one has to remember the rules. Our
//! own sentences name no peer: the redaction is the last line of defence, for words that came from elsewhere.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::rule::compile;

/// Stands where a URL, an address, user info or a host with its port stood.
const REDACTED: &str = "[redacted]";
/// How much of a text is looked at, in bytes: four times what a message holds. More would be work without an end.
const MAX_READ: usize = 4 * Message::MAX_BYTES;
/// Stands where the text was cut.
const CUT: char = '…';

/// One line of at most 1024 bytes, redacted, cut at a character boundary with `…`.
///
/// Control characters, line separators and characters that are invisible or turn the direction of writing are spaces;
/// URLs, IP addresses, user info and hosts with a port are `[redacted]`. Making a message of a message changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message(String);

impl Message {
    /// The longest message, in bytes: the page's limit.
    pub const MAX_BYTES: usize = 1024;

    /// Makes any text a message.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut line = cut(redact(one_line(&readable(text))));
        // A replacement or a cut can bring together what is an address only then, so the result is looked at again.
        // Each turn leaves fewer characters outside of `[redacted]`.
        loop {
            let again = cut(redact(line.clone()));
            if again == line {
                return Self(line);
            }
            line = again;
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is no text: the message of a condition that is True.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As much of a text as is looked at. Redaction makes a text shorter, so that more than a message holds may matter, but
/// not more than a person would read. It ends at a space, so that no half of an address is left.
fn readable(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_READ {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(MAX_READ)).unwrap_or_default();
    let end = head.rfind(is_spacing).unwrap_or_default();
    Cow::Owned(format!("{} {CUT}", head.get(..end).unwrap_or_default()))
}

fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if is_spacing(c) { ' ' } else { c }).collect();
    line.trim().to_owned()
}

/// Whether a character would break the line, turn the direction of writing, or not be seen.
#[must_use]
pub fn is_spacing(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn redact(line: String) -> String {
    let line = replace(&URL, line, |_| REDACTED.to_owned());
    let line = replace(&USER_INFO, line, |_| REDACTED.to_owned());
    let line = replace(&IPV6, line, |found| {
        let found = &found[0];
        match found.strip_suffix(':') {
            // Colons alone are no address.
            _ if !found.contains(|c: char| c.is_ascii_hexdigit()) => found.to_owned(),
            // It ends a host and its port, and not an address.
            Some(before) if !before.ends_with(':') => format!("{REDACTED}:"),
            _ => REDACTED.to_owned(),
        }
    });
    let line = replace(&IPV4, line, |_| REDACTED.to_owned());
    replace(&HOST_AND_PORT, line, |_| REDACTED.to_owned())
}

fn replace(pattern: &Regex, line: String, with: impl Fn(&Captures<'_>) -> String) -> String {
    if pattern.is_match(&line) { pattern.replace_all(&line, with).into_owned() } else { line }
}

/// A scheme, or none, two slashes, and all that follows up to a space. What readers of URLs take for http needs no
/// slashes.
static URL: LazyLock<Regex> = LazyLock::new(|| compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^ ]*|(?i:https?):[^ ]+"));

/// A name and a password, then a host: what a URL has between its slashes and its path.
static USER_INFO: LazyLock<Regex> = LazyLock::new(|| compile(r"[\w.~%+-]+:[\w.~%!$&*+,;=-]*@[\w.-]+"));

/// Groups of hexadecimal digits with two colons or more, perhaps in brackets, with a zone, or with a port; and what
/// stands before them without a space, which may be a part of it or a host's name.
static IPV6: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"[\w.-]*\[?(?:[0-9A-Fa-f]{0,4}:){2,}[0-9A-Fa-f]{0,4}(?:\.[0-9]+)*(?:%[0-9A-Za-z]+)?\]?(?::[0-9]+)?")
});

/// Four numbers or more, decimal or hexadecimal, with dots between them, perhaps with a port; or one number of as many
/// bytes. A decimal one, and fewer numbers, may be anything else.
static IPV4: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?:0[xX][0-9A-Fa-f]+|\d+)(?:[.。．｡](?:0[xX][0-9A-Fa-f]+|\d+)){3,}(?::\d+)?|0[xX][0-9A-Fa-f]{7,}")
});

/// A name and a number with nothing but a colon between them. In our own sentences a space follows a colon.
static HOST_AND_PORT: LazyLock<Regex> = LazyLock::new(|| compile(r"[\w.-]+(?::\d+)+"));

fn cut(line: String) -> String {
    if line.len() <= Message::MAX_BYTES {
        return line;
    }
    let end = line.floor_char_boundary(Message::MAX_BYTES - CUT.len_utf8());
    let mut line = line;
    line.truncate(end);
    line.push(CUT);
    line
}

#[cfg(test)]
mod tests;
