//! Cases as they are written: strict YAML, several documents a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kourier_core::outcome::Fault;
use kourier_sandbox::Method;
use serde::{Deserialize, Deserializer};
use serde_saphyr::{SnippetMode, Spanned, UserMessageFormatter};

use super::case::{Asked, Case, Exchange, Place, Problem, Reply, Target, Verdict, carries_wait};
use crate::duration;

/// The largest body that `fill` makes: enough to be sixteen times over the host's limit.
const FILL_MAX: usize = 16 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    case: Spanned<String>,
    #[serde(default)]
    target: RawTarget,
    #[serde(default)]
    exchanges: Vec<RawExchange>,
    verdict: Spanned<RawVerdict>,
    cause: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawTarget {
    channel: Option<String>,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    card_path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExchange {
    request: Spanned<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
    answer: Option<Spanned<RawAnswer>>,
    fault: Option<RawFault>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawFault {
    Unreachable,
    TimedOut,
    TooLarge,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "present")]
    json: Option<serde_json::Value>,
    text: Option<String>,
    base64: Option<String>,
    fill: Option<RawFill>,
    delay: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFill {
    byte: String,
    size: usize,
    #[serde(default)]
    prefix: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawVerdict {
    Name(String),
    Map(BTreeMap<String, RawArgument>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawArgument {
    Seconds(u32),
    Word(String),
}

/// `probe.yaml`: which component the cases of a folder are about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProbe {
    component: String,
}

const fn ok() -> u16 {
    200
}

/// Tells `json: null` from no `json` at all.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(value).map(Some)
}

/// Reads the cases of one file.
///
/// # Errors
///
/// Every problem of the file, each with its line; a file that is no YAML has one.
pub(super) fn cases(file: &Path, text: &str) -> Result<Vec<Case>, Vec<Problem>> {
    let raw: Vec<RawCase> =
        serde_saphyr::from_multiple_with_options(text, options()).map_err(|error| vec![unreadable(file, &error)])?;
    let mut cases = Vec::new();
    let mut problems = Vec::new();
    for result in raw.into_iter().map(|raw| raw.check(file)) {
        match result {
            Ok(case) => cases.push(case),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}

/// Reads `probe.yaml`: the component that it names.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn component(file: &Path, text: &str) -> Result<String, Problem> {
    serde_saphyr::from_str_with_options(text, options())
        .map(|raw: RawProbe| raw.component)
        .map_err(|error| unreadable(file, &error))
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! { strict_booleans: true, with_snippet: false }
}

fn unreadable(file: &Path, error: &serde_saphyr::Error) -> Problem {
    let line = error.location().map_or(0, |location| location.line());
    let formatter = UserMessageFormatter;
    let text = error.render_with_options(serde_saphyr::render_options! {
        formatter: &formatter,
        snippets: SnippetMode::Off,
    });
    // The place stands before the text already.
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned();
    Problem { place: Place { file: file.to_owned(), line }, what }
}

impl RawCase {
    fn check(self, file: &Path) -> Result<Case, Problem> {
        let at = |line: u64| Place { file: file.to_owned(), line };
        let place = at(self.case.referenced.line());
        let sentence = self.case.value.trim().to_owned();
        if sentence.is_empty() || sentence.contains('\n') {
            return Err(Problem { place, what: "case: write one sentence on one line".to_owned() });
        }
        let line = self.verdict.referenced.line();
        let verdict = self.verdict.value.check().map_err(|what| Problem { place: at(line), what })?;
        let exchanges = self.exchanges.into_iter().map(|raw| {
            let line = raw.request.referenced.line();
            raw.check().map_err(|what| Problem { place: at(line), what })
        });
        let exchanges = exchanges.collect::<Result<_, _>>()?;
        let RawTarget { channel, settings, card_path } = self.target;
        Ok(Case {
            sentence,
            place,
            target: Target { channel, settings, card_path },
            exchanges,
            verdict,
            cause: self.cause,
        })
    }
}

impl RawExchange {
    fn check(self) -> Result<Exchange, String> {
        let (verb, path) = self.request.value.split_once(' ').unwrap_or((&self.request.value, ""));
        let method = match verb {
            "GET" => Method::Get,
            "POST" => Method::Post,
            _ => return Err("request: write GET or POST, a space, and the path".to_owned()),
        };
        if !path.starts_with('/') || path.contains(char::is_whitespace) {
            return Err("request: the path begins with / and has no white space".to_owned());
        }
        if self.body.is_some() && method == Method::Get {
            return Err("body: a GET has none".to_owned());
        }
        let reply = match (self.answer, self.fault) {
            (Some(answer), None) => answer.value.check()?,
            (None, Some(RawFault::Unreachable)) => Reply::Unreachable,
            (None, Some(RawFault::TimedOut)) => Reply::TimedOut,
            (None, Some(RawFault::TooLarge)) => Reply::TooLarge,
            _ => return Err("write one of answer and fault".to_owned()),
        };
        let request = Asked { method, path: path.to_owned(), headers: lower(self.headers).collect(), body: self.body };
        Ok(Exchange { request, reply })
    }
}

impl RawAnswer {
    fn check(self) -> Result<Reply, String> {
        if !(200..=599).contains(&self.status) {
            return Err(format!("status: {} is not between 200 and 599", self.status));
        }
        let strange = |value: &String| !value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if let Some((name, _)) = self.headers.iter().find(|(_, value)| strange(value)) {
            return Err(format!("headers.{name}: only visible ASCII reaches a probe"));
        }
        let given = [self.json.is_some(), self.text.is_some(), self.base64.is_some(), self.fill.is_some()];
        if given.into_iter().filter(|&it| it).count() > 1 {
            return Err("answer: write at most one of json, text, base64 and fill".to_owned());
        }
        let delay = self.delay.as_deref().map_or(Ok(Duration::ZERO), delay)?;
        let headers = lower(self.headers).collect();
        let body = if let Some(json) = self.json {
            json.to_string().into()
        } else if let Some(text) = self.text {
            text.into()
        } else if let Some(text) = self.base64 {
            STANDARD.decode(text).map_err(|error| format!("base64: {error}"))?.into()
        } else if let Some(fill) = self.fill {
            fill.check()?
        } else {
            Bytes::new()
        };
        Ok(Reply::Answer { status: self.status, headers, body, delay })
    }
}

impl RawFill {
    fn check(self) -> Result<Bytes, String> {
        let [byte] = *self.byte.as_bytes() else {
            return Err("fill.byte: write one ASCII character".to_owned());
        };
        if self.size > FILL_MAX {
            return Err(format!("fill.size: {} is more than {FILL_MAX}", self.size));
        }
        if self.size < self.prefix.len() {
            return Err("fill.size: counts the whole body, the prefix included".to_owned());
        }
        let mut body = self.prefix.into_bytes();
        body.resize(self.size, byte);
        Ok(body.into())
    }
}

impl RawVerdict {
    fn check(self) -> Result<Verdict, String> {
        let map = match self {
            Self::Name(name) => return Ok(Verdict::named(&name, None)),
            Self::Map(map) => map,
        };
        let mut entries = map.into_iter();
        match (entries.next(), entries.next()) {
            (Some((name, RawArgument::Seconds(wait))), None) if carries_wait(&name) => {
                Ok(Verdict::named(&name, Some(wait)))
            }
            (Some((name, RawArgument::Word(word))), None) if name == "fault" => fault(&word),
            _ => {
                Err("verdict: write a name, {rate-limited: SECONDS}, {agent-busy: SECONDS} or {fault: NAME}".to_owned())
            }
        }
    }
}

fn fault(word: &str) -> Result<Verdict, String> {
    let names: Vec<_> = Fault::ALL.iter().map(|fault| fault.as_str()).collect();
    let fault = Fault::ALL.into_iter().find(|fault| fault.as_str() == word);
    fault.map(Verdict::Fault).ok_or_else(|| format!("verdict.fault: {word} is none of {}", names.join(", ")))
}

fn lower(headers: BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value))
}

fn delay(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| format!("delay: write {}", duration::RIGHT))
}

#[cfg(test)]
mod tests;
