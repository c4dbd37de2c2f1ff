//! The one place that makes HTTP clients.

use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::Duration;

use reqwest::{Client, redirect};
use rustls::ClientConfig;
use tower_layer::Layer;
use tower_service::Service;

use super::lookup::Gate;

/// TCP and TLS together: a peer that does not even greet leaves most of a request's time unused.
const CONNECT: Duration = Duration::from_secs(3);
/// A pass closes its connections when it ends. This is for programs without one, and shorter than the 30 seconds
/// between the starts of two passes, so that none is ever asked over a connection of an earlier one.
const IDLE: Duration = Duration::from_secs(20);
/// The fields of an answer's head. One more, and it is no answer.
const FIELDS: usize = 100;

/// Whether connections are kept for the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connections {
    Kept,
    Once,
}

/// HTTP/1.1 without redirects, cookies, decompression, retries of its own and the environment's proxies.
pub(super) fn client(tls: ClientConfig, gate: Gate, connections: Connections) -> reqwest::Result<Client> {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(gate)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http1_only()
        .http1_max_headers(FIELDS)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(match connections {
            Connections::Kept => 8,
            Connections::Once => 0,
        })
        .connector_layer(NoticeLayer)
        .build()
}

tokio::task_local! {
    /// Whether the request of this task opened a connection.
    pub(super) static CONNECTED: Cell<bool>;
}

/// Notes when a request opens a connection of its own.
#[derive(Clone)]
struct NoticeLayer;

impl<S> Layer<S> for NoticeLayer {
    type Service = Notice<S>;

    fn layer(&self, inner: S) -> Notice<S> {
        Notice(inner)
    }
}

#[derive(Clone)]
struct Notice<S>(S);

impl<S: Service<R>, R> Service<R> for Notice<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        // Outside a request there is nobody to tell.
        let _ = CONNECTED.try_with(|connected| connected.set(true));
        self.0.call(request)
    }
}
