//! URLs that people configure, checked once.

use std::fmt;

/// An absolute http or https URL without user info, query and fragment, used as a prefix.
///
/// It is kept in the parser's normal form (a host written as a number is the address that it is) and without a slash
/// at its end, so that a path joins it with exactly one. `Debug` and `Display` print it: it is configuration, and may
/// stand in a log, never in a status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Checks a URL as written.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, without the URL's value.
    pub fn parse(_text: &str) -> Result<Self, String> {
        unimplemented!()
    }

    /// This URL with `path`, which begins with `/` or is empty, appended.
    #[must_use]
    pub fn join(&self, _path: &str) -> Self {
        unimplemented!()
    }

    /// The URL, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
