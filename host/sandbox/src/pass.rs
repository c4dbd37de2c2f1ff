//! Answers shared within one pass.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use moka::future::Cache;
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout_at};

use crate::limits::Limits;
use crate::transport::{Failure, HttpRequest, HttpResponse, Method, Transport, Trust};

/// Bytes of all answers of a pass together. What does not fit is asked again, so that many large cards cost requests
/// and not memory.
const CAPACITY: u64 = 64 << 20;
/// Bytes of an entry beside its body.
const ENTRY: usize = 512;
/// Bytes of an answer that is kept though no other probe may ask for it. 32 KiB: 64 requests of a run are 2 MiB then.
const KEPT_FOR_ONE: u32 = 32 << 10;

/// What a question got: an answer, or a failure that is as good as one.
type Answer = Result<HttpResponse, Failure>;

/// A transport for one pass: identical GETs, with the same credential, are made once and shared.
///
/// A shared request has the whole time of a request, whoever asked first and however little time that asker had left,
/// and it goes on when that asker gives up. Its failure is shared too, except a fault of the host's own. A POST is
/// never shared.
pub struct Pass {
    inner: Arc<dyn Transport>,
    request: Duration,
    answers: Cache<[u8; 32], Answer>,
}

impl Pass {
    /// Shares answers of `inner` for as long as this value lives, with the default time of a request.
    #[must_use]
    pub fn new(inner: Arc<dyn Transport>) -> Self {
        Self::with_request_time(inner, Limits::default().request)
    }

    /// Shares answers of `inner`; a shared request may take `request`.
    #[must_use]
    pub fn with_request_time(inner: Arc<dyn Transport>, request: Duration) -> Self {
        let answers = Cache::builder().max_capacity(CAPACITY).weigher(|_, answer| weight(answer)).build();
        Self { inner, request, answers }
    }

    /// The transport of a probe that alone asks its origin in this pass: it is answered alike as often as it asks alike,
    /// but a large answer is not kept for nobody, and asked for again.
    #[must_use]
    pub fn for_one(self: Arc<Self>) -> Arc<dyn Transport> {
        Arc::new(ForOne(self))
    }

    fn carry(&self, request: HttpRequest, deadline: Instant, kept: u32) -> BoxFuture<'_, Answer> {
        match request.method {
            Method::Get => Box::pin(self.shared(request, deadline, kept)),
            Method::Post => self.inner.send(request, deadline),
        }
    }

    /// Asks once, and keeps the answer if it weighs at most `kept`.
    async fn shared(&self, request: HttpRequest, deadline: Instant, kept: u32) -> Answer {
        let key = question(&request);
        let (answers, inner) = (self.answers.clone(), Arc::clone(&self.inner));
        let whole = Instant::now() + self.request;
        // A task of its own for each asker, which goes on without it: were the asker's own future to ask, its end would
        // end the request for all who wait.
        let asked = tokio::spawn(async move {
            let ask = async move {
                // An error is not kept: those who wait share it, and the next one asks again.
                match inner.send(request, whole).await {
                    // Ours, not the peer's.
                    answer @ Err(Failure::Host(_)) => Err(answer),
                    answer if weight(&answer) > kept => Err(answer),
                    answer => Ok(answer),
                }
            };
            answers.try_get_with(key, ask).await
        });
        match timeout_at(deadline, asked).await {
            Ok(Ok(Ok(answer))) => answer,
            Ok(Ok(Err(answer))) => Answer::clone(&answer),
            Ok(Err(_)) => Err(Failure::Host("the task of a shared request ended early".to_owned())),
            Err(_) => Err(Failure::TimedOut),
        }
    }
}

impl Transport for Pass {
    fn send(&self, request: HttpRequest, deadline: Instant) -> BoxFuture<'_, Answer> {
        self.carry(request, deadline, u32::MAX)
    }
}

/// A pass, for a probe that shares with no other.
struct ForOne(Arc<Pass>);

impl Transport for ForOne {
    fn send(&self, request: HttpRequest, deadline: Instant) -> BoxFuture<'_, Answer> {
        self.0.carry(request, deadline, KEPT_FOR_ONE)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.inner.rest();
    }
}

/// A digest of everything that an answer may depend on: the credential is not kept a second time for the sake of a key.
fn question(request: &HttpRequest) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut add = |part: &str| {
        digest.update(part.len().to_le_bytes());
        digest.update(part.as_bytes());
    };
    add(request.url.as_str());
    for (name, value) in &request.headers {
        add(name);
        add(value);
    }
    match &request.trust {
        Trust::System => add("system"),
        Trust::Only(certificates) => {
            add("only");
            add(certificates);
        }
    }
    add(if request.absolute_name { "absolute" } else { "relative" });
    digest.finalize().into()
}

fn weight(answer: &Answer) -> u32 {
    let bytes = match answer {
        Ok(response) => {
            let headers: usize = response.headers.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
            response.body.len() + headers
        }
        Err(_) => 0,
    };
    u32::try_from(bytes + ENTRY).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
