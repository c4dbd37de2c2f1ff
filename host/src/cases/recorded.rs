//! The recorded peer: answers as written, in order, and nothing else.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use kourier_core::platform::CredentialPlace;
use kourier_core::url::BaseUrl;
use kourier_sandbox::endpoint::Credential;
use kourier_sandbox::{Failure, HttpRequest, HttpResponse, Limits, Method, Secret, Transport};
use tokio::time::{Instant, sleep_until};
use url::Url;

use super::case::{Asked, Exchange, Reply};

/// Where the peer of every case pretends to be.
const BASE: &str = "https://peer.invalid";
/// The credential of every case. A probe never sees it, and neither does a report.
const SECRET: &str = "recorded-credential";

/// How a run ends in which a request is not the recorded one: what the host says of that is not the probe's own.
pub(super) const NOT_RECORDED: &str = "this request is not the recorded one";

/// A peer that gives the recorded answers.
pub struct Recorded {
    exchanges: Vec<Exchange>,
    place: Option<CredentialPlace>,
    body_limit: usize,
    made: Mutex<Vec<Made>>,
}

/// A request that was made, as the probe gave it: without the credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The verb.
    pub method: Method,
    /// The path and query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body of a POST.
    pub body: Option<Bytes>,
    /// In what it is not the recorded one.
    pub mismatch: Option<Mismatch>,
}

/// The first thing in which a request is not the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// No request is recorded here.
    NotRecorded,
    /// Another verb or path.
    Line,
    /// This field is missing, or has another value.
    Header(String),
    /// Another body.
    Body,
}

impl Recorded {
    /// A peer that expects these requests, with the credential in this place.
    #[must_use]
    pub fn new(exchanges: Vec<Exchange>, place: Option<CredentialPlace>) -> Self {
        Self { exchanges, place, body_limit: Limits::default().body, made: Mutex::new(Vec::new()) }
    }

    /// The base URL of every recorded peer.
    ///
    /// # Errors
    ///
    /// Never, but the parser cannot know that.
    pub fn base() -> Result<BaseUrl, String> {
        BaseUrl::parse(BASE)
    }

    /// What was asked so far.
    #[must_use]
    pub fn made(&self) -> Vec<Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a request down and says what it gets. One that is not the recorded one ends the run: whatever came next
    /// would be about another conversation.
    fn take(&self, request: HttpRequest) -> Result<Reply, Failure> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let exchange = self.exchanges.get(made.len());
        let mut request = self.strip(request);
        request.mismatch = exchange.map_or(Some(Mismatch::NotRecorded), |it| mismatch(&it.request, &request));
        let known = request.mismatch.is_none();
        made.push(request);
        match exchange {
            Some(exchange) if known => Ok(exchange.reply.clone()),
            _ => Err(Failure::Host(NOT_RECORDED.to_owned())),
        }
    }

    /// The request as the probe gave it: the credential that the host added is taken out again.
    fn strip(&self, request: HttpRequest) -> Made {
        let HttpRequest { method, url, mut headers, body, .. } = request;
        let mut path = url[url::Position::BeforePath..].to_owned();
        match &self.place {
            None => {}
            Some(CredentialPlace::Bearer | CredentialPlace::Basic { .. }) => {
                headers.retain(|(name, _)| name != "authorization");
            }
            Some(CredentialPlace::Header { name: carrier, .. }) => headers.retain(|(name, _)| name != carrier),
            Some(CredentialPlace::PathPrefix(prefix)) => {
                if let Some(rest) = path.strip_prefix(&format!("/{prefix}{SECRET}")) {
                    path = rest.to_owned();
                }
            }
        }
        Made { method, path, headers, body, mismatch: None }
    }
}

impl Transport for Recorded {
    fn send(&self, request: HttpRequest, deadline: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        async move {
            let (status, headers, body, delay) = match self.take(request)? {
                Reply::Unreachable => return Err(Failure::Unreachable("recorded as unreachable".to_owned())),
                Reply::TooLarge => return Err(Failure::TooLarge),
                Reply::TimedOut => {
                    sleep_until(deadline).await;
                    return Err(Failure::TimedOut);
                }
                Reply::Answer { status, headers, body, delay } => (status, headers, body, delay),
            };
            let arrival = Instant::now() + delay;
            sleep_until(arrival.min(deadline)).await;
            if arrival > deadline {
                return Err(Failure::TimedOut);
            }
            if body.len() > self.body_limit {
                return Err(Failure::TooLarge);
            }
            Ok(HttpResponse { status, headers, body })
        }
        .boxed()
    }
}

/// The credential that the host adds in a case, in this place.
#[must_use]
pub fn credential(place: &CredentialPlace) -> Credential {
    let secret = Secret::new(SECRET.to_owned());
    match place {
        CredentialPlace::Bearer => {
            Credential::Header { name: "authorization".to_owned(), prefix: "Bearer ".to_owned(), secret }
        }
        CredentialPlace::Header { name, prefix } => {
            Credential::Header { name: name.clone(), prefix: prefix.clone(), secret }
        }
        CredentialPlace::Basic { .. } => Credential::Basic { user: "recorded-user".to_owned(), secret },
        CredentialPlace::PathPrefix(prefix) => Credential::PathPrefix { prefix: prefix.clone(), secret },
    }
}

fn mismatch(recorded: &Asked, made: &Made) -> Option<Mismatch> {
    if recorded.method != made.method || normal(&recorded.path) != made.path {
        return Some(Mismatch::Line);
    }
    let has = |name: &str, value: &str| made.headers.iter().any(|(it, its)| it == name && its == value);
    if let Some((name, _)) = recorded.headers.iter().find(|(name, value)| !has(name, value)) {
        return Some(Mismatch::Header(name.clone()));
    }
    let body = recorded.body.as_ref()?;
    (made.body.as_deref().unwrap_or_default() != body.as_bytes()).then_some(Mismatch::Body)
}

/// A path as it goes on the wire: a URL's parser escapes a quotation mark, for example.
fn normal(path: &str) -> String {
    Url::parse(&format!("{BASE}{path}"))
        .map_or_else(|_| path.to_owned(), |url| url[url::Position::BeforePath..].to_owned())
}

#[cfg(test)]
mod tests;
