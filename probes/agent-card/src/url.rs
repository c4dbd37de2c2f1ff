//! Whether the URL of a card is one that a client can be pointed at.
//!
//! What is absent: resolving, comparing with where the card came from, and the rest of URL parsing. The broker talks to
//! the address that the AgentBackend names; the card's URL says that the agent has this endpoint at all.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

/// Where a card may be; a URL that ends so is the card's own and not the agent's.
pub(crate) const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// What a usable URL points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Some host.
    Host,
    /// The machine that reads it: a loopback address.
    Loopback,
    /// No address at all, but the one that a server listens on: `0.0.0.0` or `[::]`.
    Unspecified,
}

/// Why a URL is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlFault {
    Missing,
    WhiteSpace,
    Placeholder,
    NotAbsolute,
    OtherScheme,
    UserInfo,
    Host,
    Port,
    OwnCard,
}

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing or blank",
            Self::WhiteSpace => "has white space or control characters",
            Self::Placeholder => "has a placeholder that nobody filled in",
            Self::NotAbsolute => "is not an absolute URL",
            Self::OtherScheme => "is neither http nor https",
            Self::UserInfo => "has user information",
            Self::Host => "has no valid host",
            Self::Port => "has no valid port",
            Self::OwnCard => "is the place of the card itself",
        })
    }
}

/// Judges the URL of an interface.
pub(crate) fn judge(url: &str) -> Result<Reach, UrlFault> {
    if url.trim().is_empty() {
        return Err(UrlFault::Missing);
    }
    if url.chars().any(|char| char.is_whitespace() || char.is_control()) {
        return Err(UrlFault::WhiteSpace);
    }
    if url.contains(['{', '}', '<', '>']) {
        return Err(UrlFault::Placeholder);
    }
    let (scheme, rest) = url.split_once("://").ok_or(UrlFault::NotAbsolute)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    // `$HOST` is no host, but in a path a dollar sign is a character like any other.
    if scheme.contains('$') || authority.contains('$') {
        return Err(UrlFault::Placeholder);
    }
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(UrlFault::OtherScheme);
    }
    let reach = judge_authority(authority)?;
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if WELL_KNOWN.iter().any(|card| path.ends_with(card)) { Err(UrlFault::OwnCard) } else { Ok(reach) }
}

fn judge_authority(authority: &str) -> Result<Reach, UrlFault> {
    if authority.contains('@') {
        return Err(UrlFault::UserInfo);
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or(UrlFault::Host)?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port_is_valid = match port.strip_prefix(':') {
        Some("") => true,
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok(),
        None => port.is_empty(),
    };
    if !port_is_valid {
        return Err(UrlFault::Port);
    }
    if authority.starts_with('[') { judge_ipv6(host) } else { judge_name(host) }
}

fn judge_ipv6(host: &str) -> Result<Reach, UrlFault> {
    // A zone (`fe80::1%25eth0`) does not change what the address is.
    let address = host.split('%').next().unwrap_or_default();
    let address: Ipv6Addr = address.parse().map_err(|_| UrlFault::Host)?;
    Ok(match address.to_ipv4_mapped() {
        Some(mapped) => reach_of_ipv4(mapped),
        None if address.is_loopback() => Reach::Loopback,
        None if address.is_unspecified() => Reach::Unspecified,
        None => Reach::Host,
    })
}

fn judge_name(host: &str) -> Result<Reach, UrlFault> {
    // Names in other scripts are common enough, and turning them into ASCII is the client's business.
    let is_name = |char: char| char.is_ascii_alphanumeric() || "-._~".contains(char) || !char.is_ascii();
    let name = host.strip_suffix('.').unwrap_or(host);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
        return Err(UrlFault::Host);
    }
    if let Ok(address) = name.parse() {
        return Ok(reach_of_ipv4(address));
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    Ok(if last.eq_ignore_ascii_case("localhost") { Reach::Loopback } else { Reach::Host })
}

fn reach_of_ipv4(address: Ipv4Addr) -> Reach {
    if address.is_loopback() {
        Reach::Loopback
    } else if address.is_unspecified() {
        Reach::Unspecified
    } else {
        Reach::Host
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(want: Result<Reach, UrlFault>, urls: &[&str]) {
        for url in urls {
            assert_eq!(judge(url), want, "{url:?}");
        }
    }

    #[test]
    fn an_absolute_http_url_is_usable() {
        check(
            Ok(Reach::Host),
            &[
                "https://agent.example",
                "HTTPS://agent.example:8443/a2a?x=$1#y",
                "http://agent",
                "http://agent.team-a.svc.:80/",
                "http://10.0.0.7:9000/invoke",
                "http://[fd00::1]:80/",
                "https://b\u{fc}cher.example/",
                "https://agent.example:/",
                "https://agent.example/agent-card.json",
                "https://agent.example/.well-known/agent.json.bak",
                "https://localhost.example",
                "https://agent.example//double",
            ],
        );
    }

    #[test]
    fn addresses_of_the_reader_or_of_nobody_are_told_apart() {
        let loopback = [
            "http://localhost:8080",
            "http://LocalHost.",
            "http://a.localhost",
            "http://127.8.0.1",
            "http://[::1]:1/",
            "http://[::ffff:127.0.0.1]",
        ];
        check(Ok(Reach::Loopback), &loopback);
        check(Ok(Reach::Unspecified), &["http://0.0.0.0:8000/", "http://[::]:8080/invoke", "http://[::ffff:0.0.0.0]"]);
    }

    #[test]
    fn what_no_client_can_dial_is_refused() {
        check(Err(UrlFault::Missing), &["", " ", "\u{a0}"]);
        check(
            Err(UrlFault::WhiteSpace),
            &[" https://a.example", "https://a.example\n", "https://a .example", "https://a\0.example"],
        );
        check(
            Err(UrlFault::Placeholder),
            &[
                "{BASE_URL}",
                "https://{{host}}/a",
                "https://${HOST}/a",
                "https://$HOST/a",
                "https://<your-domain>/",
                "$SCHEME://a",
                "https://a.example/${ID}",
            ],
        );
        check(
            Err(UrlFault::NotAbsolute),
            &["/a2a", "agent.example", "agent.example:443", "YOUR_URL_HERE", "//agent.example/a", "https:/a"],
        );
        check(
            Err(UrlFault::OtherScheme),
            &["wss://a.example", "grpc://a.example:443", "://a.example", "file:///etc", " x://a".trim()],
        );
        check(
            Err(UrlFault::UserInfo),
            &["https://user@a.example", "https://user:word@a.example/", "https://@a.example"],
        );
        check(
            Err(UrlFault::Host),
            &[
                "https://",
                "https:///a",
                "https://:443",
                "https://.",
                "https://a_b%20c",
                "http://[::g]",
                "http://[::1",
                "https://a,b",
            ],
        );
        check(
            Err(UrlFault::Port),
            &["https://a:x", "https://a:65536", "https://a:+80", "https://a:1:2", "http://[::1]80", "http://::1"],
        );
        check(
            Err(UrlFault::OwnCard),
            &["https://a.example/.well-known/agent-card.json", "https://a.example/x/.well-known/agent.json/?y#z"],
        );
    }

    proptest! {
        #[test]
        fn any_text_is_judged_without_a_panic(text in any::<String>(), tail in "[a-z@:/\\[\\].%$?#0-9]{0,24}") {
            let _ = judge(&text);
            let _ = judge(&alloc::format!("http://{tail}"));
        }
    }
}
