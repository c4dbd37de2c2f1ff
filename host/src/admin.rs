//! The admin port: metrics, health, and the status of every Binding, for operators.
//!
//! It answers GET only, and listens on loopback by default. What is absent: Secrets, a way to change anything, and a
//! readiness that depends on what the Bindings say.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::board::Board;
use crate::components::Listing;
use crate::metrics::Metrics;
use crate::pulse::Pulse;

/// Within this time each loop turns: the slowest waits 5 s between two looks, and a pass does not hold a loop up.
const STUCK: Duration = Duration::from_secs(60);
/// Connections at a time: scrapers, probes of the kubelet, and people.
const CONNECTIONS: usize = 64;
/// From the start of a connection, or of the wait for the next request on it, to the end of the request's head.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Fields of a request's head.
const HEAD_FIELDS: usize = 64;
/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 << 10;
/// Time to wait after a connection could not be accepted, most likely for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The field of the answer to `/bindings` that says how many problems the files have: a Binding of a file that cannot be
/// read stands there as it last was.
pub const PROBLEMS: &str = "agent-kourier-config-problems";

/// What the admin port shows.
#[derive(Clone)]
pub struct Admin {
    /// The statuses; none before the configuration was first read.
    pub boards: watch::Receiver<Option<Arc<Board>>>,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// The components.
    pub components: Arc<Listing>,
    /// The loops that have to turn.
    pub pulses: Vec<(&'static str, Pulse)>,
}

impl Admin {
    /// The latest board, or why there is none.
    fn board(&self) -> Result<Arc<Board>, String> {
        match self.boards.borrow().clone() {
            None => Err("the configuration has not been read yet: ask again in a moment".to_owned()),
            Some(board) => match &board.unread {
                Some(why) => Err(format!("the configuration cannot be read: {why}")),
                None => Ok(board),
            },
        }
    }

    /// The routes.
    pub fn router(self) -> Router {
        Router::new()
            .route("/metrics", get(metrics))
            .route("/live", get(live))
            .route("/ready", get(ready))
            .route("/bindings", get(bindings))
            .route("/components", get(components))
            .with_state(Arc::new(self))
    }

    /// Serves until `shutdown` ends. Connections that are open then are dropped.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let router = self.router();
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = tokio::task::JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                Some(_) = connections.join_next() => {}
                accepted = accept(&listener, &room) => match accepted {
                    Ok((stream, permit)) => {
                        let router = router.clone();
                        connections.spawn(async move {
                            connection(stream, router).await;
                            drop(permit);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(cause = %error, "the admin port could not accept a connection");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }
}

/// Waits for room, then for a connection.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, permit))
}

async fn connection(stream: TcpStream, router: Router) {
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEAD_FIELDS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
    if let Err(error) = served {
        tracing::debug!(cause = %error, "a connection to the admin port ended early");
    }
}

async fn metrics(State(admin): State<Arc<Admin>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], admin.metrics.encode()).into_response()
}

async fn live(State(admin): State<Arc<Admin>>) -> Response {
    let stuck: Vec<&str> =
        admin.pulses.iter().filter(|(_, pulse)| pulse.age() > STUCK).map(|(name, _)| *name).collect();
    if stuck.is_empty() {
        return "live\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("does not turn: {}\n", stuck.join(", "))).into_response()
}

async fn ready(State(admin): State<Arc<Admin>>) -> Response {
    match admin.board() {
        Ok(_) => "ready\n".into_response(),
        Err(why) => not_read(&why),
    }
}

async fn bindings(State(admin): State<Arc<Admin>>) -> Response {
    match admin.board() {
        Ok(board) => ([(PROBLEMS, board.problems.to_string())], json(&board.list())).into_response(),
        Err(why) => not_read(&why),
    }
}

async fn components(State(admin): State<Arc<Admin>>) -> Response {
    json(&*admin.components)
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec_pretty(value) {
        Ok(body) => ([(CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

fn not_read(why: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response()
}
