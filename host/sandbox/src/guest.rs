//! What a store holds for its guest, and the two interfaces that the guest may call.

use std::sync::Arc;

use kourier_core::egress::DenyRule;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::{Answer, ENDPOINT, endpoint, journal};
use crate::fault::Cut;
use crate::journal::Journal;
use crate::limiter::Limiter;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::peer::{Peer, incoming};
use crate::request;
use crate::task::Task;
use crate::transport::{Failure, HttpRequest, HttpResponse, Method, Transport};

/// The state of one run.
pub(crate) struct Guest {
    pub(crate) limits: Arc<Limits>,
    pub(crate) limiter: Limiter,
    pub(crate) meter: Arc<Meter>,
    pub(crate) journal: Journal,
    pub(crate) requests: u32,
    pub(crate) denied: Vec<DenyRule>,
    /// None while a component describes itself: it has no peer then.
    pub(crate) peer: Option<Peer>,
    /// Where requests run: not where guests do.
    pub(crate) network: Option<Handle>,
    /// When the run is cut.
    pub(crate) deadline: Instant,
    /// The guest was told that the run has no time left for a request.
    pub(crate) told_late: bool,
}

/// Links what a guest may call.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.instance(ENDPOINT)?.func_wrap_async("send", |mut store, (request,): (endpoint::Request,)| {
        Box::new(async move { Ok((store.data_mut().send(request).await?,)) })
    })?;
    journal::add_to_linker::<_, HasSelf<_>>(linker, |guest| guest)
}

impl Guest {
    /// What `endpoint.send` does.
    async fn send(&mut self, request: endpoint::Request) -> wasmtime::Result<Answer> {
        let credential = self.peer.as_ref().and_then(Peer::credential_header);
        if let Err(rule) = request::check(&request, credential, &self.limits) {
            self.journal.note(&format!("the probe's request was refused: {rule}"));
            return Ok(Err(endpoint::Failure::InvalidRequest));
        }
        if self.requests >= self.limits.requests {
            return Ok(Err(endpoint::Failure::Spent));
        }
        self.requests += 1;
        let what = what(&request);
        let Some(peer) = &self.peer else {
            return Ok(Err(endpoint::Failure::Unreachable));
        };
        let Some(outgoing) = peer.outgoing(request) else {
            self.journal.note(&format!("the probe's request was refused: {what} leads away from the configured URL"));
            return Ok(Err(endpoint::Failure::InvalidRequest));
        };
        let transport = Arc::clone(&peer.endpoint.transport);
        let answer = self.exchange(transport, outgoing).await;
        self.told(&what, answer)
    }

    /// Sends, apart from the guests' own threads. Once the guest was told that the run has no time left, a further
    /// request waits for the run's end: a guest that asks on does not spin meanwhile.
    async fn exchange(&mut self, transport: Arc<dyn Transport>, request: HttpRequest) -> Result<HttpResponse, Failure> {
        let now = Instant::now();
        let last = self.deadline.checked_sub(self.limits.reserve).unwrap_or(now);
        let deadline = last.min(now + self.limits.request);
        if self.told_late {
            std::future::pending::<()>().await;
        }
        let network = self.network.clone().ok_or_else(|| Failure::Host("no runtime for requests".to_owned()))?;
        let answer = if deadline > now {
            let task = Task::spawn(&network, async move { transport.send(request, deadline).await });
            timeout_at(deadline, task).await.unwrap_or(Some(Err(Failure::TimedOut)))
        } else {
            Some(Err(Failure::TimedOut))
        };
        self.told_late = Instant::now() >= last;
        answer.unwrap_or_else(|| Err(Failure::Host("the task of a request ended early".to_owned())))
    }

    /// What the guest is told of an answer; the log is told the rest.
    fn told(&mut self, what: &str, answer: Result<HttpResponse, Failure>) -> wasmtime::Result<Answer> {
        let failure = match answer {
            Ok(response) => return Ok(Ok(incoming(response))),
            Err(failure) => failure,
        };
        self.journal.note(&format!("{what}: {failure}"));
        Ok(Err(match failure {
            Failure::Unreachable(_) => endpoint::Failure::Unreachable,
            Failure::Denied(rule) => {
                self.denied.push(rule);
                endpoint::Failure::Unreachable
            }
            Failure::TimedOut => endpoint::Failure::TimedOut,
            Failure::TooLarge => endpoint::Failure::TooLarge,
            Failure::Host(_) => return Err(Cut::Host.into()),
        }))
    }
}

impl journal::Host for Guest {
    async fn cause(&mut self, text: String) -> wasmtime::Result<()> {
        self.journal.cause(&text);
        Ok(())
    }

    async fn advise(&mut self, text: String) -> wasmtime::Result<()> {
        self.journal.advise(&text);
        Ok(())
    }
}

/// A request's name in the log, without its query, which may be long.
fn what(request: &endpoint::Request) -> String {
    let method = match request.method {
        endpoint::Method::Get => Method::Get,
        endpoint::Method::Post => Method::Post,
    };
    format!("{method} {}", request.path.split('?').next().unwrap_or_default())
}
