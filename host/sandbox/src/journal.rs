//! What a run says to the operator: bounded, escaped, masked.

use std::fmt::Write as _;

use kourier_core::message::is_spacing;

use crate::limits::Limits;
use crate::mask::{MASK, Mask};

/// How a guest's panic handler begins its line: the SDK's, and std's.
const PANIC: [&str; 3] = ["panic at ", "panic: ", "panicked at "];

/// The host's own lines of a run: one for each request that failed would be too many.
const HOST_LINES: usize = 16;

/// The lines of one run.
pub(crate) struct Journal {
    lines_left: usize,
    host_lines_left: usize,
    line_limit: usize,
    mask: Mask,
    /// A line said that the guest panicked.
    pub(crate) panicked: bool,
    pub(crate) causes: Vec<String>,
    pub(crate) advice: Vec<String>,
    pub(crate) dropped: u32,
}

impl Journal {
    /// A journal in which this is masked.
    pub(crate) fn new(limits: &Limits, mask: Mask) -> Self {
        Self {
            lines_left: limits.journal_lines,
            host_lines_left: HOST_LINES,
            line_limit: limits.journal_line,
            mask,
            panicked: false,
            causes: Vec::new(),
            advice: Vec::new(),
            dropped: 0,
        }
    }

    /// The guest's cause. A panic is heard even when the guest has used up its lines.
    pub(crate) fn cause(&mut self, text: &str) {
        let panic = PANIC.iter().any(|words| text.starts_with(words)) && !self.panicked;
        if self.take_line() || panic {
            self.panicked |= panic;
            self.causes.push(self.line(text));
        }
    }

    /// The guest's advice.
    pub(crate) fn advise(&mut self, text: &str) {
        if self.take_line() {
            self.advice.push(self.line(text));
        }
    }

    /// The host's own words. They may quote a peer or a path, so they are treated like a guest's.
    pub(crate) fn note(&mut self, text: &str) {
        let line = self.line(text);
        if self.host_lines_left > 0 && self.causes.last() != Some(&line) {
            self.host_lines_left -= 1;
            self.causes.push(line);
        }
    }

    fn take_line(&mut self) -> bool {
        let left = self.lines_left > 0;
        self.lines_left = self.lines_left.saturating_sub(1);
        self.dropped = self.dropped.saturating_add(u32::from(!left));
        left
    }

    fn line(&self, text: &str) -> String {
        masked_line(text, self.line_limit, &self.mask)
    }
}

/// Somebody else's text as one line of at most so many bytes, which a terminal and a log can stand.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    masked_line(text, limit, &Mask::default())
}

/// Reads only as much of the text as it needs.
fn masked_line(text: &str, limit: usize, mask: &Mask) -> String {
    let (mut line, mut rest, mut fits) = (String::new(), text, 0);
    while line.len() <= limit
        && let Some(next) = rest.chars().next()
    {
        if line.len() + '…'.len_utf8() <= limit {
            fits = line.len();
        }
        if let Some(length) = mask.length_at(rest) {
            line.push_str(MASK);
            rest = &rest[length..];
        } else {
            push_escaped(&mut line, next);
            rest = &rest[next.len_utf8()..];
        }
    }
    if line.len() > limit {
        line.truncate(fits);
        line.push('…');
    }
    line
}

/// Writes a character so that it can neither break the line, nor move the cursor, nor turn the direction of the text.
fn push_escaped(line: &mut String, next: char) {
    match next {
        '\n' => line.push_str("\\n"),
        '\r' => line.push_str("\\r"),
        '\t' => line.push_str("\\t"),
        _ if next != ' ' && (is_spacing(next) || is_unassigned(next)) => {
            // Writing to a string does not fail.
            let _ = write!(line, "\\u{{{:x}}}", u32::from(next));
        }
        _ => line.push(next),
    }
}

/// Private use and the planes without scripts: what a terminal makes of such a character is its own choice.
fn is_unassigned(next: char) -> bool {
    matches!(next, '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests;
