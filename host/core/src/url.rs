//! URLs that people configure, checked once.

use std::fmt;

use url::{Host, Url};

use crate::path;

/// The longest URL that may be configured, in bytes.
pub const MAX_URL_BYTES: usize = 2048;
/// The longest host name, in bytes: the limit of the DNS.
const MAX_HOST_BYTES: usize = 253;
/// The longest label of a host name, in bytes: the limit of the DNS.
const MAX_LABEL_BYTES: usize = 63;

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
    /// Refused: more than 2048 bytes; white space, control characters and a backslash, of which a parser would drop or
    /// turn some silently; anything outside ASCII; a scheme that is not http or https in small letters; user info, a
    /// query, a fragment; a host that is no DNS name or IP address; port 0; a path that some server could take for
    /// another: `.` and `..` segments, encoded slashes, backslashes and control characters, however often encoded.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, without the URL's value.
    pub fn parse(text: &str) -> Result<Self, String> {
        check_characters(text)?;
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let rest = rest.ok_or("has to be an absolute URL whose scheme is http or https, in small letters")?;
        if rest.is_empty() || rest.starts_with('/') {
            return Err("has no host: write one after the scheme".into());
        }
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        path::check(path).map_err(|rule| format!("{rule}: write the path that is meant"))?;
        let url = Url::parse(text).map_err(|fault| wrong_authority(fault).to_owned())?;
        if url.port() == Some(0) {
            return Err("has the port 0: write one from 1 to 65535, or none".into());
        }
        match url.host() {
            Some(Host::Domain(name)) => check_host(name)?,
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => {}
            None => return Err("has no host: write one after the scheme".into()),
        }
        let url = url.as_str().trim_end_matches('/');
        // Encoded, a character is three.
        check_length(url)?;
        Ok(Self(url.to_owned()))
    }

    /// This URL with `path`, which begins with `/` or is empty, appended with exactly one slash between them.
    ///
    /// `path` is taken as it is: whoever lets a stranger choose it has to refuse `..` in it first. A slash at its end
    /// stays.
    #[must_use]
    pub fn join(&self, path: &str) -> Self {
        let base = self.0.trim_end_matches('/');
        match path.trim_start_matches('/') {
            "" => Self(base.to_owned()),
            path => Self(format!("{base}/{path}")),
        }
    }

    /// The URL, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port, as in `https://a.example:8443`: who is asked, whatever the path.
    #[must_use]
    pub fn origin(&self) -> &str {
        let host = self.0.find("://").map_or(0, |at| at + "://".len());
        let end = self.0[host..].find('/').map_or(self.0.len(), |at| host + at);
        &self.0[..end]
    }

    /// Whether the host is a name of one label, which a resolver may complete with its own search domains.
    #[must_use]
    pub fn is_single_label_host(&self) -> bool {
        let authority = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let host = authority.split(['/', ':']).next().unwrap_or_default();
        // An IPv6 address is in brackets; an IPv4 address has dots in the normal form.
        !host.starts_with('[') && !host.trim_end_matches('.').contains('.')
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which character is wrong, and what is said of it.
type CharacterRule = (fn(char) -> bool, &'static str);

fn check_characters(text: &str) -> Result<(), &'static str> {
    let rules: [CharacterRule; 6] = [
        (|c| c.is_whitespace() || c.is_control(), "has white space or a control character: remove it"),
        (
            |c| !c.is_ascii(),
            "has a character outside ASCII: write a host's ASCII form (xn--), and percent-encode a path",
        ),
        (|c| c == '\\', "has a backslash: write slashes"),
        (|c| c == '@', "has an @: user info has no place in a URL, name a Secret instead"),
        (|c| c == '?', "has a query: remove it"),
        (|c| c == '#', "has a fragment: remove it"),
    ];
    if text.is_empty() {
        return Err("is empty: write an http or https URL");
    }
    check_length(text)?;
    rules.into_iter().find(|(is_wrong, _)| text.contains(*is_wrong)).map_or(Ok(()), |(_, what)| Err(what))
}

fn check_length(url: &str) -> Result<(), &'static str> {
    if url.len() > MAX_URL_BYTES { Err("has more than 2048 bytes: write a shorter one") } else { Ok(()) }
}

fn check_host(name: &str) -> Result<(), &'static str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=MAX_LABEL_BYTES).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    if name.len() > MAX_HOST_BYTES || !name.split('.').all(is_label) {
        return Err("has a host that is neither a DNS name nor an IP address");
    }
    Ok(())
}

fn wrong_authority(fault: url::ParseError) -> &'static str {
    if fault == url::ParseError::InvalidPort {
        "has a port that is not a number from 1 to 65535"
    } else {
        "has a host that is neither a DNS name nor an IP address"
    }
}

#[cfg(test)]
mod tests;
