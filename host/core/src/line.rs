//! Texts that others wrote, as people are told of them: on one line, and without a way to steer a terminal.

use crate::message::is_spacing;

/// A text whose control characters, line separators and invisible characters are escaped as Rust writes them.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' => line.push(c),
            _ if is_spacing(c) => line.extend(c.escape_default()),
            _ => line.push(c),
        }
    }
    line
}
