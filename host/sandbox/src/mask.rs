//! Finds a secret in a text, in the forms in which programs repeat one.
//!
//! Who knows a secret can spell it in a way that nobody foresees, and a peer knows it. What is found here is what
//! programs do by themselves: another letter case, the escapes of JSON, URLs and HTML, hexadecimal, base64, a list of
//! numbers, the text backwards, and a text that was cut.

mod spelling;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::secret::Secret;
use spelling::{decimal, exactly, hexadecimal, in_any_case, literally};

/// What stands where a secret was.
pub(crate) const MASK: &str = "[masked]";

/// Characters of an encoded text that are enough to know it by: fewer would be found in innocent words.
const ENOUGH: usize = 6;
/// Characters at the beginning of a secret that are enough to know one that was cut, if they are half of it.
const CUT: usize = 8;

/// Bytes of the longest spelling of a character that is known: `%2541` has five, and a program that escapes six times over
/// writes 64 backslashes. What a guest says has megabytes, and without a bound each of its bytes could have all of the
/// rest read.
const SPELLING: usize = 128;

/// What is to be masked. Without a secret it finds nothing.
#[derive(Default)]
pub(crate) struct Mask {
    /// The secret, and the same backwards.
    plain: Vec<Zeroizing<String>>,
    /// In base64: what the secret alone decides, at each alignment.
    encoded: Vec<Zeroizing<String>>,
}

impl Mask {
    pub(crate) fn of(secret: &Secret) -> Self {
        let secret = secret.expose();
        if secret.is_empty() {
            return Self::default();
        }
        let plain = vec![Zeroizing::new(secret.to_owned()), Zeroizing::new(secret.chars().rev().collect())];
        Self { plain, encoded: ["", "\0", "\0\0"].iter().flat_map(|lead| aligned(lead, secret)).collect() }
    }

    /// How many bytes at the beginning of a text are the secret.
    pub(crate) fn length_at(&self, text: &str) -> Option<usize> {
        let plain = self.plain.iter().filter_map(|secret| spelt(text, secret)).max();
        plain.or_else(|| {
            let found = self.encoded.iter().filter_map(|part| walk(text, part.chars(), exactly)).max()?;
            // What follows belongs to it: its last character, which the padding decides too, or what was encoded with it.
            let rest = text.bytes().skip(found);
            let more = rest.take_while(|byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte));
            Some(found + more.count())
        })
    }
}

/// How much of a text is the secret: as it is, escaped, or each byte as a number.
fn spelt(text: &str, secret: &str) -> Option<usize> {
    let words = walk(text, secret.chars(), literally).max(walk(text, secret.chars(), in_any_case));
    if secret.len() * 2 < ENOUGH {
        return words;
    }
    words.max(walk(text, secret.bytes(), hexadecimal)).max(walk(text, secret.bytes(), decimal))
}

/// How many bytes of a text are these parts of a secret, one after the other, or enough of the first ones. `length` says
/// how many bytes of a text are one part; it is also told which part that is, and sees no more of the text than a
/// spelling has.
fn walk<T>(
    text: &str,
    parts: impl Iterator<Item = T> + Clone,
    length: impl Fn(T, usize, &str) -> Option<usize>,
) -> Option<usize> {
    let (mut at, mut found) = (0, 0);
    for (index, part) in parts.clone().enumerate() {
        let rest = &text[at..];
        let Some(length) = length(part, index, &rest[..rest.floor_char_boundary(SPELLING)]) else {
            // Only what was found at all is worth counting.
            return (found >= CUT && found * 2 >= parts.count()).then_some(at);
        };
        (at, found) = (at + length, found + 1);
    }
    Some(at)
}

/// The characters of a base64 text that the secret alone decides when `lead.len()` bytes stand before it.
fn aligned(lead: &str, secret: &str) -> Vec<Zeroizing<String>> {
    let bytes = Zeroizing::new([lead.as_bytes(), secret.as_bytes()].concat());
    let start = (lead.len() * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&*bytes), URL_SAFE_NO_PAD.encode(&*bytes)]
        .map(Zeroizing::new)
        .iter()
        .filter_map(|text| text.get(start..end))
        .filter(|text| text.len() >= ENOUGH)
        .map(|text| Zeroizing::new(text.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests;
