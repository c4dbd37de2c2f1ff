//! The text of a condition.

use std::fmt;

/// One line of at most 1024 bytes, redacted, cut at a character boundary with `…`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message(String);

impl Message {
    /// The longest message, in bytes: the page's limit.
    pub const MAX_BYTES: usize = 1024;

    /// Makes any text a message.
    #[must_use]
    pub fn new(_text: &str) -> Self {
        unimplemented!()
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
