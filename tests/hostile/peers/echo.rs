//! Peers that repeat the credential that they were sent, in each form and wherever an answer has room for words.

use kourier_core::reason::{BackendReason, ChannelReason};
use serde_json::json;
use suite::leak::{Form, spellings};
use suite::peer::{Seen, answer};

use super::{BAD, Script, both};

pub(super) fn scripts() -> Vec<Script> {
    let forms = spellings("").into_iter().enumerate();
    forms.flat_map(|(number, (form, _))| [unknown_code(number, form), missing_scope(number, form)]).collect()
}

/// As an error code of the platform that nobody knows, and as a card whose URL is none.
fn unknown_code(number: usize, form: Form) -> Script {
    let name = format!("echo-{number}-{form:?}-as-a-code").to_lowercase();
    Script::by_request(name, BAD, move |seen: &Seen| repeat(seen, number, |word| word))
}

/// As a scope that is missing.
fn missing_scope(number: usize, form: Form) -> Script {
    let name = format!("echo-{number}-{form:?}-as-a-scope").to_lowercase();
    let want = both(BackendReason::InvalidAgentCard, ChannelReason::MissingScope);
    Script::by_request(name, want, move |seen: &Seen| repeat(seen, number, |_| "missing_scope"))
}

/// An answer that repeats the credential in this spelling. `code` makes the platform's error code of it.
fn repeat(seen: &Seen, number: usize, code: fn(&str) -> &str) -> Vec<suite::peer::Act> {
    let credential = seen.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let word = spellings(credential).swap_remove(number).1;
    let body = json!({
        "ok": false, "error": code(&word), "needed": word, "provided": word, "name": word, "url": word,
        "preferredTransport": word, "protocolVersion": word,
        "supportedInterfaces": [{"url": word, "protocolBinding": word, "protocolVersion": word}],
    });
    let fields = format!(
        "www-authenticate: Bearer error=\"{0}\"\r\nx-request: {0}\r\nlocation: /{0}\r\n",
        word.replace('"', "")
    );
    vec![answer(&format!("200 {word}"), &fields, body.to_string().as_bytes())]
}
