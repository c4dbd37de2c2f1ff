//! A URL that is taken is what it looks like: one host, which is judged as the address that it is, and a path below which
//! everything stays.
#![no_main]

use std::net::Ipv4Addr;

use fuzz::{assert_is_line, bounded};
use kourier_core::request::check_path;
use kourier_core::url::{BaseUrl, MAX_URL_BYTES};
use libfuzzer_sys::fuzz_target;
use url::{Host, Url};

fuzz_target!(|text: &str| {
    match bounded(|| BaseUrl::parse(text)) {
        Ok(url) => {
            assert_eq!(BaseUrl::parse(url.as_str()), Ok(url.clone()), "{text:?} is kept as another URL");
            looks_like_what_it_is(text, &url);
            joins_below(&url);
            a_guest_could_ask_for_its_path(&url);
        }
        Err(what) => {
            assert_is_line(&what, 128);
            no_problem_holds_the_value(text);
        }
    }
});

fn looks_like_what_it_is(text: &str, taken: &BaseUrl) {
    let url = Url::parse(taken.as_str()).expect("what was taken is a URL");
    assert!(matches!(url.scheme(), "http" | "https"), "{text:?}");
    assert!(url.username().is_empty() && url.password().is_none(), "{text:?} has user information");
    assert!(url.query().is_none() && url.fragment().is_none(), "{text:?} has more than a path");
    assert!(text.len() <= MAX_URL_BYTES && text.is_ascii(), "{text:?}");
    let rest = text.split_once("://").expect("a scheme").1;
    let written = rest.split('/').next().unwrap_or_default();
    let written = if written.starts_with('[') { written } else { written.split(':').next().unwrap_or_default() };
    // A host with an encoded character is kept as what it encodes.
    let is_plain = !written.contains('%');
    match url.host().expect("a host") {
        Host::Ipv4(address) => assert!(!is_plain || resolved(written) == Some(address), "{text:?} is {address}"),
        Host::Ipv6(_) => assert!(written.starts_with('[') && !taken.is_single_label_host(), "{text:?}"),
        Host::Domain(name) => {
            assert_eq!(resolved(name), None, "{text:?} names an address that is kept as a name");
            assert!(!is_plain || written.eq_ignore_ascii_case(name), "{text:?} has the host {name:?}");
            assert_eq!(taken.is_single_label_host(), !name.trim_end_matches('.').contains('.'), "{text:?}");
        }
    }
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    assert_eq!(encoded(url.path().trim_end_matches('/')), encoded(path.trim_end_matches('/')), "{text:?}");
}

/// A path in which a parser may, or may not, have encoded what can stand there.
fn encoded(path: &str) -> String {
    path.chars()
        .map(|c| if "\"<>`{}^".contains(c) { format!("%{:02X}", u32::from(c)) } else { c.to_string() })
        .collect()
}

/// The address that the C library takes a host for: one to four numbers, decimal, octal or hexadecimal, the last of which
/// fills what is left. A dot at the end is none of its own.
fn resolved(host: &str) -> Option<Ipv4Addr> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    let room = 32_u32.checked_sub(8 * u32::try_from(first.len()).ok()?).filter(|room| *room > 0)?;
    if first.iter().any(|number| *number > 255) || u64::from(*last) >> room != 0 {
        return None;
    }
    let head = first.iter().zip([24, 16, 8]).fold(0, |bits, (number, shift)| bits | number << shift);
    Some(Ipv4Addr::from_bits(head | last))
}

fn number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(""), _) => return Some(0),
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        (None, _) => (&*lower, 10),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_number { u32::from_str_radix(digits, radix).ok() } else { None }
}

/// A path joins with one slash and stays below; so does another below that.
fn joins_below(base: &BaseUrl) {
    for path in ["/a", "/a/b?c=/d", "/", "//a"] {
        let joined = base.join(path);
        let rest = joined.as_str().strip_prefix(base.as_str()).expect("the base stands first");
        assert!(rest.is_empty() || (rest.starts_with('/') && !rest.starts_with("//")), "{base} and {path}");
        let (url, root) = (Url::parse(joined.as_str()).expect("a URL"), Url::parse(base.as_str()).expect("a URL"));
        assert_eq!(url.origin(), root.origin(), "{joined}");
        assert!(url.path().starts_with(root.path().trim_end_matches('/')), "{joined}");
    }
}

/// What some server could take for another path is refused in a base as in what is joined to it.
fn a_guest_could_ask_for_its_path(base: &BaseUrl) {
    let url = Url::parse(base.as_str()).expect("what was taken is a URL");
    let path = format!("/{}", url.path().trim_start_matches('/'));
    assert_eq!(check_path(&path), Ok(()), "{base}");
}

/// Words of a problem may stand in a status of somebody else's.
fn no_problem_holds_the_value(text: &str) {
    const MARK: &str = "Zq7Xw";
    let end = text.char_indices().map(|(at, _)| at).nth(12).unwrap_or(text.len());
    for marked in [format!("{text}{MARK}"), format!("{}{MARK}{}", &text[..end], &text[end..])] {
        if let Err(what) = BaseUrl::parse(&marked) {
            assert!(!what.contains(MARK), "{marked:?}: {what}");
        }
    }
}
