//! The seam between a run and its peer.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::time::Instant;
use url::Url;

/// Carries a request to a peer. Two real ones: the network, and recorded cases.
pub trait Transport: Send + Sync {
    /// Sends the request and reads the whole answer, by `deadline` at the latest.
    fn send(&self, request: HttpRequest, deadline: Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>>;

    /// Lets go of what was kept for the next request, such as idle connections. Called when a pass ends.
    fn rest(&self) {}
}

/// The verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Read.
    Get,
    /// Send a body.
    Post,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::Post => "POST",
        })
    }
}

/// A request as it goes on the wire, credential included. `Debug` shows neither header values nor the path.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HttpRequest {
    /// The verb.
    pub method: Method,
    /// The whole URL, which may hold a credential (path prefix).
    pub url: Url,
    /// Names in lower case; the credential is among them.
    pub headers: Vec<(String, String)>,
    /// The body of a POST.
    pub body: Option<Bytes>,
    /// Whose certificates are trusted.
    pub trust: Trust,
    /// Whether the host is looked up as an absolute name, past search domains.
    pub absolute_name: bool,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Whose certificates are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trust {
    /// The system's roots.
    #[default]
    System,
    /// These certificates (PEM) and no others.
    Only(Arc<str>),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// 200 to 599.
    pub status: u16,
    /// Names in lower case, visible ASCII values, in the order received.
    pub headers: Vec<(String, String)>,
    /// At most the limit of a body.
    pub body: Bytes,
}

/// Why there is no answer. Each but the last is told to the guest; the text goes to the log only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Resolution, refusal, reset, TLS, cut off, not HTTP.
    Unreachable(String),
    /// The egress rules deny it. A guest is told `unreachable`.
    Denied(kourier_core::egress::DenyRule),
    /// Not within the deadline.
    TimedOut,
    /// The body is larger than the limit.
    TooLarge,
    /// The broker itself lacked descriptors, ports or memory: ends the run as a fault of the host.
    Host(String),
}

/// For the log.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(text) => f.write_str(text),
            Self::Denied(rule) => write!(f, "egress denied: {}", rule.as_str()),
            Self::TimedOut => f.write_str("no whole answer within the time of a request"),
            Self::TooLarge => f.write_str("the answer is larger than the limit"),
            Self::Host(text) => write!(f, "the broker lacks what a request needs: {text}"),
        }
    }
}
