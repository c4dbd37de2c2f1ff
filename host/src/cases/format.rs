//! Cases as they are written: strict YAML, several documents a file, of which every problem is told.

mod reader;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kourier_core::message::is_spacing;
use kourier_core::outcome::Fault;
use kourier_core::rule::HEADER;
use kourier_manifest::yaml::Tree;
use kourier_sandbox::Method;

use super::case::{Asked, Case, Exchange, Problem, Reply, Target, Verdict, carries_wait};
use crate::duration;
use reader::{At, Fields, Reader};

/// The largest body that `fill` makes: enough to be sixteen times over the host's limit.
const FILL_MAX: usize = 16 << 20;

/// What a verdict is.
const VERDICT: &str = "a name of wit/probe.wit, {rate-limited: SECONDS}, {agent-busy: SECONDS} or {fault: NAME}";

/// Reads the cases of one file.
///
/// # Errors
///
/// Every problem of the file, each with its line.
pub(super) fn cases(file: &Path, text: &str) -> Result<Vec<Case>, Vec<Problem>> {
    let mut reader = Reader::new(file);
    let documents = reader.documents(text);
    let cases = documents.iter().filter_map(|document| reader.case(&At::document(document))).collect();
    reader.end(cases)
}

/// Reads `probe.yaml`, which says what the cases of a folder are about: the component that it names.
///
/// # Errors
///
/// Everything that is wrong with it.
pub(super) fn component(file: &Path, text: &str) -> Result<String, Vec<Problem>> {
    const RIGHT: &str = "component: NAME_OR_FILE, and nothing else";
    let mut reader = Reader::new(file);
    let documents = reader.documents(text);
    let name = match documents.as_slice() {
        [document] => {
            let at = At::document(document);
            let fields = reader.fields(&at, &["component"]).unwrap_or_default();
            let named = reader.required((&at, &fields), "component", "the name of a built-in one, or a file");
            named.and_then(|at| reader.text(at)).unwrap_or_default().to_owned()
        }
        documents => {
            if !reader.has_problems() {
                reader.tell(0, format!("has {} documents: write {RIGHT}", documents.len()));
            }
            String::new()
        }
    };
    reader.end(name)
}

/// The faults of a run of recorded cases: the others are of what is around a run.
const FAULTS: [Fault; 7] =
    [Fault::Deadline, Fault::CpuBudget, Fault::Memory, Fault::Stack, Fault::Panic, Fault::Trap, Fault::BadAnswer];

impl Reader<'_> {
    /// A case. An optional part that is wrong is told, and then taken as left out: the file is refused anyway.
    fn case(&mut self, at: &At<'_>) -> Option<Case> {
        let fields = self.fields(at, &["case", "target", "exchanges", "verdict", "cause"])?;
        let sentence = self.required((at, &fields), "case", "one sentence on one line");
        let place = self.place(sentence.map_or(at.line, |sentence| sentence.line));
        let sentence = sentence.and_then(|at| self.sentence(at));
        let target = fields.get("target").and_then(|at| self.target(at)).unwrap_or_default();
        let exchanges = fields.get("exchanges").and_then(|at| self.exchanges(at)).unwrap_or_default();
        let verdict = self.required((at, &fields), "verdict", VERDICT).and_then(|at| self.verdict(at));
        let cause = fields.get("cause").and_then(|at| self.text(at)).map(ToOwned::to_owned);
        Some(Case { sentence: sentence?, place, target, exchanges, verdict: verdict?, cause })
    }

    fn sentence(&mut self, at: &At<'_>) -> Option<String> {
        match self.text(at)?.trim() {
            sentence if sentence.is_empty() || sentence.contains('\n') => {
                self.refuse(at, "write one sentence on one line")
            }
            sentence if sentence.chars().any(|c| c != ' ' && is_spacing(c)) => {
                self.refuse(at, "has a character that is not seen: write none of them")
            }
            sentence => Some(sentence.to_owned()),
        }
    }

    fn target(&mut self, at: &At<'_>) -> Option<Target> {
        let fields = self.fields(at, &["channel", "settings", "cardPath"])?;
        let mut text = |key: &str| fields.get(key).and_then(|at| self.text(at)).map(ToOwned::to_owned);
        let (channel, card_path) = (text("channel"), text("cardPath"));
        let settings = fields.get("settings").and_then(|at| self.strings(at)).unwrap_or_default();
        Some(Target { channel, settings, card_path })
    }

    fn exchanges(&mut self, at: &At<'_>) -> Option<Vec<Exchange>> {
        let nodes = self.list(at)?;
        let exchange = |(index, node)| self.exchange(&at.entry(index, node));
        Some(nodes.iter().enumerate().filter_map(exchange).collect())
    }

    fn exchange(&mut self, at: &At<'_>) -> Option<Exchange> {
        let fields = self.fields(at, &["request", "headers", "body", "answer", "fault"])?;
        let line = self.required((at, &fields), "request", "GET or POST, a space, and the path");
        let line = line.and_then(|at| self.request(at));
        let headers = fields.get("headers").and_then(|at| self.entries(at)).unwrap_or_default();
        self.names(&headers);
        let headers = self.strings_of(headers);
        let body = fields.get("body").and_then(|at| self.text(at)).map(ToOwned::to_owned);
        if let (Some((Method::Get, _)), Some(at)) = (&line, fields.get("body")) {
            self.refuse::<()>(at, "a GET has none: remove it, or write POST");
        }
        let reply = match (fields.get("answer"), fields.get("fault")) {
            (Some(at), None) => self.answer(at),
            (None, Some(at)) => self.fault(at),
            (None, None) => self.refuse(at, "has neither answer nor fault: write one of them"),
            (Some(_), Some(_)) => self.refuse(at, "has both answer and fault: write one of them"),
        };
        let (method, path) = line?;
        Some(Exchange { request: Asked { method, path, headers: lower(headers).collect(), body }, reply: reply? })
    }

    fn request(&mut self, at: &At<'_>) -> Option<(Method, String)> {
        let text = self.text(at)?;
        let (verb, path) = text.split_once(' ').unwrap_or((text, ""));
        let method = match verb {
            "GET" => Method::Get,
            "POST" => Method::Post,
            _ => return self.refuse(at, "write GET or POST, a space, and the path"),
        };
        if !path.starts_with('/') || path.contains(char::is_whitespace) {
            return self.refuse(at, "the path begins with / and has no white space: write %20 for a blank");
        }
        Some((method, path.to_owned()))
    }

    fn fault(&mut self, at: &At<'_>) -> Option<Reply> {
        match self.text(at)? {
            "unreachable" => Some(Reply::Unreachable),
            "timed-out" => Some(Reply::TimedOut),
            "too-large" => Some(Reply::TooLarge),
            _ => self.refuse(at, "is not known: write unreachable, timed-out or too-large"),
        }
    }

    fn answer(&mut self, at: &At<'_>) -> Option<Reply> {
        const BODIES: [&str; 4] = ["json", "text", "base64", "fill"];
        let fields = self.fields(at, &["status", "headers", "json", "text", "base64", "fill", "delay"])?;
        let status = fields.get("status").map_or(Some(200), |at| self.status(at));
        let headers = fields.get("headers").and_then(|at| self.visible(at)).unwrap_or_default();
        let delay = fields.get("delay").map_or(Some(Duration::ZERO), |at| self.delay(at));
        if BODIES.into_iter().filter(|body| fields.contains_key(body)).count() > 1 {
            return self.refuse(at, &format!("has several bodies: write at most one of {}", BODIES.join(", ")));
        }
        let body = self.body(&fields);
        Some(Reply::Answer { status: status?, headers: lower(headers).collect(), body: body?, delay: delay? })
    }

    fn status(&mut self, at: &At<'_>) -> Option<u16> {
        const RIGHT: &str = "a number between 200 and 599";
        match self.count(at, RIGHT)? {
            status @ 200..=599 => Some(status),
            status => self.refuse(at, &format!("{status} is out of range: write {RIGHT}")),
        }
    }

    /// The headers of an answer.
    fn visible(&mut self, at: &At<'_>) -> Option<BTreeMap<String, String>> {
        let strange = |value: &str| !value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let entries = self.entries(at)?;
        self.names(&entries);
        for at in entries.values().filter(|at| at.node.text().is_some_and(strange)) {
            self.refuse::<()>(at, "has what is not visible ASCII, which reaches no probe: write nothing else");
        }
        Some(self.strings_of(entries))
    }

    /// Tells which of these can be the name of no header.
    fn names(&mut self, entries: &Fields<'_>) {
        for (name, at) in entries {
            if let Some(fault) = HEADER.fault(name) {
                self.refuse::<()>(at, &fault);
            }
        }
    }

    fn delay(&mut self, at: &At<'_>) -> Option<Duration> {
        let delay = at.node.text().and_then(duration::parse);
        delay.or_else(|| self.refuse(at, &format!("is {}: write {}", at.node.article(), duration::RIGHT)))
    }

    fn body(&mut self, fields: &Fields<'_>) -> Option<Bytes> {
        if let Some(at) = fields.get("json") {
            Some(self.json(at)?.to_string().into())
        } else if let Some(at) = fields.get("text") {
            Some(self.text(at)?.to_owned().into())
        } else if let Some(at) = fields.get("base64") {
            let decoded = STANDARD.decode(self.text(at)?);
            decoded.map(Bytes::from).map_or_else(|error| self.refuse(at, &format!("is not base64: {error}")), Some)
        } else if let Some(at) = fields.get("fill") {
            self.fill(at)
        } else {
            Some(Bytes::new())
        }
    }

    fn fill(&mut self, at: &At<'_>) -> Option<Bytes> {
        let fields = self.fields(at, &["byte", "size", "prefix"])?;
        let byte = self.required((at, &fields), "byte", "one ASCII character").and_then(|at| self.byte(at));
        let prefix = fields.get("prefix").and_then(|at| self.text(at)).unwrap_or_default();
        let right = format!("the bytes of the whole body, at most {FILL_MAX}");
        let at = self.required((at, &fields), "size", &right)?;
        let size = self.count(at, &right)?;
        if size > FILL_MAX {
            return self.refuse(at, &format!("{size} is more than {FILL_MAX}"));
        }
        if size < prefix.len() {
            return self.refuse(at, "counts the whole body, the prefix included: write more");
        }
        let mut body = prefix.as_bytes().to_owned();
        body.resize(size, byte?);
        Some(body.into())
    }

    fn byte(&mut self, at: &At<'_>) -> Option<u8> {
        match *self.text(at)?.as_bytes() {
            [byte] => Some(byte),
            _ => self.refuse(at, "write one ASCII character"),
        }
    }

    fn verdict(&mut self, at: &At<'_>) -> Option<Verdict> {
        if let Some(name) = at.node.text() {
            return Some(Verdict::named(name, None));
        }
        let entries = if matches!(at.node.tree, Tree::Map(_)) { self.entries(at)? } else { Fields::new() };
        let mut entries = entries.into_iter();
        match (entries.next(), entries.next()) {
            (Some(("fault", at)), None) => self.fault_of_run(&at),
            (Some((name, at)), None) if carries_wait(name) => {
                Some(Verdict::named(name, Some(self.count(&at, "whole seconds")?)))
            }
            _ => self.refuse(at, &format!("is {}: write {VERDICT}", at.node.article())),
        }
    }

    fn fault_of_run(&mut self, at: &At<'_>) -> Option<Verdict> {
        let word = self.text(at)?;
        let names: Vec<_> = FAULTS.iter().map(|fault| fault.as_str()).collect();
        let fault = FAULTS.into_iter().find(|fault| fault.as_str() == word);
        fault
            .map(Verdict::Fault)
            .or_else(|| self.refuse(at, &format!("is not known: write one of {}", names.join(", "))))
    }
}

fn lower(headers: BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value))
}

#[cfg(test)]
mod tests;
