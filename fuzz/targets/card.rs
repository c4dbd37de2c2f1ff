//! A card is judged as its JSON says, whatever its bytes: the reader that builds nothing and one that builds a tree agree.
#![no_main]

extern crate alloc;

#[rustfmt::skip]
#[path = "../../probes/agent-card/src/card.rs"]
mod card;
#[rustfmt::skip]
#[path = "../../probes/agent-card/src/protocol.rs"]
mod protocol;
#[rustfmt::skip]
#[path = "../../probes/agent-card/src/url.rs"]
mod url;

use crate::card::Refusal;
use crate::protocol::{Shape, Stated};
use crate::url::Reach;
use ::url::{Host, Url};
use fuzz::{assert_is_line, bounded};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

/// How many interfaces of a list are judged.
const JUDGED: usize = 1000;
/// The same of all lists of a card.
const JUDGED_IN_ALL: usize = 4000;

fuzz_target!(|body: &[u8]| {
    let judged = bounded(|| card::judge(body));
    let (kind, words) = match &judged {
        Ok(advice) => ("ok", advice.join("; ")),
        Err(Refusal::Invalid(cause)) => ("invalid", cause.clone()),
        Err(Refusal::Unsupported(cause)) => ("unsupported", cause.clone()),
    };
    assert_is_line(&words, 512);
    assert!(words.is_ascii(), "{words}");
    let is_unread = ["JSON at", "UTF-8", "nested", "surrogate", "empty"].iter().any(|word| words.contains(word));
    // Of a card with more entries some are not judged, and the tree does not tell which.
    if body.iter().filter(|byte| **byte == b',').count() >= JUDGED_IN_ALL {
        return;
    }
    match serde_json::from_slice::<Value>(body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)) {
        Ok(value) => {
            assert!(!is_unread, "is JSON, but {words}");
            assert_eq!(kind, modelled(&value), "{words}");
            if let Some(url) = value.get("url").and_then(Value::as_str) {
                points_where_a_client_goes(url);
            }
        }
        // What the tree has no room for, and the reader need not keep.
        Err(error) if is_too_much(&error.to_string()) => {}
        Err(error) => assert!(kind == "invalid" && is_unread, "is no JSON ({error}), but {kind}: {words}"),
    }
});

fn is_too_much(error: &str) -> bool {
    error.contains("number out of range") || error.contains("recursion limit")
}

/// The judgement once more, on a tree.
fn modelled(card: &Value) -> &'static str {
    let Value::Object(card) = card else { return "invalid" };
    let name = text(card, "name").unwrap_or_default();
    if name.chars().all(|c| c.is_whitespace() || c.is_control()) {
        return "invalid";
    }
    let listed = offers(card, "supportedInterfaces", |entry| {
        protocol::version(text(entry, "protocolVersion"), Shape::Interface)
    });
    let mut all = listed.clone();
    if let Some(url) = text(card, "url") {
        let version = match text(card, "protocolVersion") {
            version if listed.is_empty() => protocol::version(version, Shape::Legacy),
            _ => Stated::Nothing,
        };
        let binding = protocol::binding(text(card, "preferredTransport"));
        all.push(Offer::new(url, if binding == Stated::Nothing { Stated::Ours } else { binding }, version));
        all.extend(offers(card, "additionalInterfaces", |_| version));
    }
    if all.iter().any(|offer| offer.is_usable) {
        "ok"
    } else if all.iter().any(|offer| offer.is_dialable) {
        "unsupported"
    } else {
        "invalid"
    }
}

#[derive(Clone)]
struct Offer {
    is_dialable: bool,
    is_usable: bool,
}

impl Offer {
    fn new(url: &str, binding: Stated, version: Stated) -> Self {
        let is_dialable = url::judge(url).is_ok();
        Self { is_dialable, is_usable: is_dialable && binding == Stated::Ours && version != Stated::Other }
    }
}

fn offers(card: &Map<String, Value>, list: &str, version: impl Fn(&Map<String, Value>) -> Stated) -> Vec<Offer> {
    let none = Map::new();
    let entries = card.get(list).and_then(Value::as_array).into_iter().flatten().take(JUDGED);
    let offer = |entry: &Value| {
        let entry = entry.as_object().unwrap_or(&none);
        let binding = match protocol::binding(text(entry, "protocolBinding")) {
            Stated::Nothing => protocol::binding(text(entry, "transport")),
            stated => stated,
        };
        Offer::new(text(entry, "url").unwrap_or_default(), binding, version(entry))
    };
    entries.map(offer).collect()
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// What a URL was judged as is what a client makes of it, if one can make anything of it.
fn points_where_a_client_goes(text: &str) {
    let (Ok(reach), Ok(url)) = (url::judge(text), Url::parse(text)) else { return };
    assert!(matches!(url.scheme(), "http" | "https"), "{text}");
    assert!(url.username().is_empty() && url.password().is_none(), "{text} has user information");
    let is_right = match (reach, url.host()) {
        (_, None) => false,
        (Reach::Host, Some(_)) => true,
        (Reach::Loopback, Some(Host::Domain(name))) => {
            name.trim_end_matches('.').rsplit('.').next() == Some("localhost")
        }
        (Reach::Loopback, Some(Host::Ipv4(address))) => address.is_loopback(),
        (Reach::Loopback, Some(Host::Ipv6(address))) => address.to_canonical().is_loopback(),
        (Reach::Unspecified, Some(Host::Domain(_))) => false,
        (Reach::Unspecified, Some(Host::Ipv4(address))) => address.is_unspecified(),
        (Reach::Unspecified, Some(Host::Ipv6(address))) => address.to_canonical().is_unspecified(),
    };
    assert!(is_right, "{text} is judged as {reach:?}");
}
