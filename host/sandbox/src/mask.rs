//! Finds a secret in a text, in the forms in which a peer or a probe may repeat it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::secret::Secret;

/// What stands where a secret was.
pub(crate) const MASK: &str = "[masked]";

/// Characters of a base64 text that are enough to know it by: fewer would be found in innocent words.
const ENOUGH: usize = 6;

/// What is to be masked. Without a secret it finds nothing.
#[derive(Default)]
pub(crate) struct Mask {
    /// The secret, and as JSON writes it. Each character may be percent-encoded.
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
        let plain = vec![Zeroizing::new(secret.to_owned()), Zeroizing::new(json(secret))];
        Self { plain, encoded: ["", "\0", "\0\0"].iter().flat_map(|lead| aligned(lead, secret)).collect() }
    }

    /// How many bytes at the beginning of a text are the secret.
    pub(crate) fn length_at(&self, text: &str) -> Option<usize> {
        let plain = self.plain.iter().filter_map(|secret| percent_tolerant(text, secret)).max();
        plain.or_else(|| {
            let found = self.encoded.iter().find(|part| text.starts_with(part.as_str()))?;
            // What follows belongs to it: its last character, which the padding decides too, or what was encoded with it.
            let more = text
                .bytes()
                .skip(found.len())
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte));
            Some(found.len() + more.count())
        })
    }
}

/// How much of the text is the secret, each byte of which stands for itself or as `%XX`.
fn percent_tolerant(text: &str, secret: &str) -> Option<usize> {
    let text = text.as_bytes();
    let mut at = 0;
    for byte in secret.bytes() {
        let rest = text.get(at..)?;
        at += match rest {
            [b'%', high, low, ..] if hex(*high, *low) == Some(byte) => 3,
            [first, ..] if *first == byte => 1,
            _ => return None,
        };
    }
    Some(at)
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
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

fn json(secret: &str) -> String {
    secret.replace('\\', "\\\\").replace('"', "\\\"").replace('/', "\\/")
}

#[cfg(test)]
mod tests;
