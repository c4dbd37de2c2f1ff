//! What the escapes of a JSON string mean.

use alloc::string::String;

/// What stands after `\u`.
pub(super) enum Escaped {
    /// This character, in so many bytes.
    Char(char, usize),
    LoneSurrogate,
    NotHex,
}

impl Escaped {
    /// Bytes of a half of a surrogate pair.
    pub(super) const HALF: usize = 4;
}

pub(super) fn code_point(after_u: &[u8]) -> Escaped {
    let Some(first) = hex(after_u) else { return Escaped::NotHex };
    if let Some(char) = char::from_u32(first) {
        return Escaped::Char(char, 4);
    }
    let second = after_u.get(4..).and_then(|rest| rest.strip_prefix(b"\\u")).and_then(hex);
    match second {
        Some(low @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let point = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            Escaped::Char(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 10)
        }
        _ => Escaped::LoneSurrogate,
    }
}

fn hex(text: &[u8]) -> Option<u32> {
    text.get(..4)?.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

/// The meaning of a string whose escapes are known to be valid.
pub(super) fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let mut after = escape.chars();
        let (char, len) = match after.next() {
            Some('u') => match code_point(after.as_str().as_bytes()) {
                Escaped::Char(char, len) => (char, len),
                Escaped::LoneSurrogate => (char::REPLACEMENT_CHARACTER, Escaped::HALF),
                Escaped::NotHex => (char::REPLACEMENT_CHARACTER, 0),
            },
            Some('b') => ('\u{8}', 0),
            Some('f') => ('\u{c}', 0),
            Some('n') => ('\n', 0),
            Some('r') => ('\r', 0),
            Some('t') => ('\t', 0),
            Some(same) => (same, 0),
            None => break,
        };
        text.push(char);
        rest = after.as_str().get(len..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}
