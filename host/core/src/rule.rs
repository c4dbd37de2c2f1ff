//! What a text field may hold: one spelling, for the schemas and for the broker's own check.

use std::sync::OnceLock;

use regex::Regex;

use crate::url::MAX_URL_BYTES;

/// The rule of one kind of text. Lengths are in characters, as a schema counts them.
#[derive(Debug)]
pub struct TextRule {
    /// The fewest characters.
    pub min: usize,
    /// The most characters.
    pub max: usize,
    /// The regular expression that the text has to match, anchored, in the syntax that Rust and Go share.
    pub pattern: &'static str,
    /// What is right, as the end of a sentence that begins with `write`.
    right: &'static str,
    regex: OnceLock<Regex>,
}

/// An object's or a Secret's name.
pub static NAME: TextRule = TextRule::new(
    (1, 253),
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
    "a name: small letters, digits, - and ., with a letter or digit at both ends",
);

/// A namespace, a platform or a broker.
pub static LABEL: TextRule = TextRule::new(
    (1, 63),
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "a name: small letters, digits and -, with a letter or digit at both ends",
);

/// An entry of `allowedNamespaces`.
pub static ALLOWED_NAMESPACE: TextRule =
    TextRule::new((1, 63), r"^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$", "a namespace's name, or * as the only entry");

/// A key of a Secret.
pub static SECRET_KEY: TextRule =
    TextRule::new((1, 253), r"^[-._A-Za-z0-9]+$", "a Secret's key: letters, digits, -, . and _");

/// Where an agent lives below its backend's URL. A segment of dots alone would lead out of it.
pub static AGENT_PATH: TextRule = TextRule::new(
    (0, 256),
    r"^(/\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$",
    "nothing, or a path like /a/b of letters, digits, -, ., _ and ~, without a slash at its end or a segment of dots",
);

/// Where a card is below its agent's URL.
pub static CARD_PATH: TextRule = TextRule::new(
    (1, 256),
    r"^(/\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$",
    "a path like /a/card.json of letters, digits, -, ., _ and ~, without a slash at its end or a segment of dots",
);

/// What a schema can say of a URL. [`BaseUrl::parse`](crate::url::BaseUrl::parse) says the whole.
pub static URL: TextRule =
    TextRule::new((1, MAX_URL_BYTES), r"^https?://[^\s?#@]+$", "an http or https URL without user info and query");

/// The name of a header. 128: three times the longest that is registered, `Cross-Origin-Embedder-Policy-Report-Only`.
pub static HEADER: TextRule = TextRule::new(
    (1, 128),
    r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    "a header's name: letters, digits and - (or another character of an HTTP token)",
);

/// A channel's id. What it looks like is the platform's to say.
pub static CHANNEL: TextRule = TextRule::new((1, 255), r"^\S+$", "the channel's own id, not its display name");

/// The key of a platform's setting.
pub static SETTING_KEY: TextRule = TextRule::new((1, 64), r"^[A-Za-z0-9]+$", "letters and digits");

/// The value of a platform's setting. What it looks like is the platform's to say.
pub static SETTING_VALUE: TextRule = TextRule::new((1, 255), r"^[^\x00-\x1f\x7f-\x{9f}]+$", "a value on one line");

impl TextRule {
    const fn new(length: (usize, usize), pattern: &'static str, right: &'static str) -> Self {
        Self { min: length.0, max: length.1, pattern, right, regex: OnceLock::new() }
    }

    /// What is wrong with a text and what would be right, without the text; none when it keeps the rule.
    #[must_use]
    pub fn fault(&self, text: &str) -> Option<String> {
        let length = text.chars().count();
        if length > self.max {
            Some(format!("has {length} characters: at most {} are allowed", self.max))
        } else if length < self.min {
            Some(format!("is empty: write {}", self.right))
        } else if !self.regex.get_or_init(|| compile(self.pattern)).is_match(text) {
            Some(format!("has to be written otherwise: write {}", self.right))
        } else {
            None
        }
    }
}

/// Compiles a pattern that stands in this crate.
#[expect(clippy::expect_used, reason = "the patterns are constants, and a test uses each of them")]
pub(crate) fn compile(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("a pattern of this crate")
}

/// Headers that frame a message, steer its connection or speak for somebody else.
const HOST_HEADERS: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Beginnings of names that are the host's business.
const HOST_HEADER_PREFIXES: [&str; 3] = ["proxy-", "sec-", "x-forwarded-"];

/// Whether a header, its name in lower case, is the host's own business: no probe may set it, and no credential may
/// stand in it.
#[must_use]
pub fn is_host_header(name: &str) -> bool {
    HOST_HEADERS.contains(&name) || HOST_HEADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
