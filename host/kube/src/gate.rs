//! A client that lets go of a request's body only when the server asks for it.
//!
//! A server that stands still takes whatever is sent to it into the buffers of its connections, and carries it out when
//! it goes on: a write of a leader, minutes after another replica took the lead. So the head of such a write goes ahead
//! (`Expect: 100-continue`), and the body follows when the server has read the head and says so. One that stands still
//! says nothing, and never gets what it could carry out later.
//!
//! Every API server asks, because Go's HTTP server does. A proxy before it may ask in its place; then what it holds back
//! is as late as it was without.
//!
//! What is absent: what the time is that a server may take, and every other call, which needs none of this.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::ext::on_informational;
use hyper::header::{EXPECT, HeaderValue};
use hyper::{Request, Response, StatusCode};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tower_layer::Layer as _;
use tower_service::Service;

/// In a request's extensions: its body waits until the server asks for it, and is not sent at all after this moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentOnceAsked {
    pub(crate) by: Instant,
}

/// Why a request ended: the server did not ask for its body in time. Nothing was sent that it could carry out.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the API server did not begin to read the request in time")]
pub(crate) struct NotAsked;

/// A client that heeds [`SentOnceAsked`]. It has no deadlines of its own.
pub(crate) fn client(config: &Config) -> kube::Result<Client> {
    let connector = config.rustls_https_connector()?;
    let gate = Gate(legacy::Client::builder(TokioExecutor::new()).build(connector));
    let namespace = config.default_namespace.clone();
    let (address, headers) = (config.base_uri_layer(), config.extra_headers_layer()?);
    Ok(match config.auth_layer()? {
        Some(credentials) => Client::new(address.layer(credentials.layer(headers.layer(gate))), namespace),
        None => Client::new(address.layer(headers.layer(gate)), namespace),
    })
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

#[derive(Clone)]
struct Gate<C>(legacy::Client<C, Gated>);

impl<C: Connect + Clone + Send + Sync + 'static> Gate<C> {
    fn answer(&self, request: Request<Gated>) -> <Self as Service<Request<Body>>>::Future {
        let answer = self.0.request(request);
        Box::pin(async move { Ok(answer.await?) })
    }
}

/// A body that waits.
struct Gated {
    body: Body,
    /// Ends when the body may be sent; none: it may.
    asked: Option<Boxed<Result<(), NotAsked>>>,
}

impl<C: Connect + Clone + Send + Sync + 'static> Service<Request<Body>> for Gate<C> {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = Boxed<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Some(SentOnceAsked { by }) = request.extensions_mut().remove() else {
            return self.answer(request.map(|body| Gated { body, asked: None }));
        };
        request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
        let asks = Arc::new(Notify::new());
        let asked = Arc::clone(&asks);
        let asked = async move {
            timeout_at(by, asked.notified()).await.map_err(|_| NotAsked)?;
            // A process that itself stood still finds the server's word and the end of the time together.
            if Instant::now() < by { Ok(()) } else { Err(NotAsked) }
        };
        let mut request = request.map(|body| Gated { body, asked: Some(Box::pin(asked)) });
        on_informational(&mut request, move |said| {
            if said.status() == StatusCode::CONTINUE {
                asks.notify_one();
            }
        });
        self.answer(request)
    }
}

impl hyper::body::Body for Gated {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if let Some(asked) = &mut self.asked {
            if let Err(error) = ready!(asked.as_mut().poll(context)) {
                return Poll::Ready(Some(Err(error.into())));
            }
            self.asked = None;
        }
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
