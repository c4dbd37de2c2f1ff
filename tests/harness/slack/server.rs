//! The HTTP side: parameters in, faults applied, bytes out.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures::stream::{self, StreamExt};
use serde_json::Value;
use tokio::time::Instant;

use super::workspace::{self, Params};
use super::{Fault, Shared, control};

pub(super) fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/{method}", any(call))
        .route("/fake/requests", get(control::requests))
        .route("/fake/{change}", post(control::change))
        .with_state(shared)
}

/// Name and value pairs of a query or form.
pub(super) fn pairs(bytes: &[u8]) -> Params {
    url::form_urlencoded::parse(bytes).into_owned().collect()
}

async fn call(
    State(shared): State<Arc<Shared>>,
    Path(method): Path<String>,
    RawQuery(query): RawQuery,
    (verb, headers): (Method, HeaderMap),
    body: Bytes,
) -> Response {
    let mut params = pairs(query.unwrap_or_default().as_bytes());
    let form = match verb {
        Method::GET => Params::new(),
        Method::POST => pairs(&body),
        _ => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    };
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let of_form = form.get("token").cloned();
    // A token in a query is in logs, and Slack takes none from there, even beside a good one.
    let of_query = params.remove("token").map(|_| String::new());
    let secret = of_query.or(of_form).or(bearer.map(str::to_owned));
    let secret = secret.as_deref();
    params.extend(form);
    let (fault, right) = {
        let mut state = shared.state();
        let fault = state.traffic.admit(&method, secret.unwrap_or_default(), Instant::now());
        (fault, state.workspace.answer(&method, secret, &params))
    };
    match fault {
        Some(fault) => spoilt(fault, &right).await,
        None => json(&right),
    }
}

async fn spoilt(fault: Fault, right: &Value) -> Response {
    let whole = right.to_string();
    let until = |at: usize| Bytes::copy_from_slice(&whole.as_bytes()[..whole.len().min(at)]);
    match fault {
        Fault::Html(status) => {
            let page = "<!DOCTYPE html><html><head><title>Server Error</title></head><body>Oh no.</body></html>";
            (code(status), [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
        }
        Fault::Text(status, text) => (code(status), text).into_response(),
        Fault::Delay(time) => {
            tokio::time::sleep(time).await;
            json(right)
        }
        Fault::Cut(at) => {
            // A pause, in which what was written so far is sent: an answer is cut, not withheld.
            let breaking = stream::once(async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut"))
            });
            let broken = stream::iter([Ok(until(at))]).chain(breaking);
            json_of(Body::from_stream(broken))
        }
        Fault::Truncated(at) => json_of(Body::from(until(at))),
        Fault::Error(code) => json(&workspace::error(&code)),
        Fault::Limited(seconds) => {
            let mut response = json(&workspace::error("ratelimited"));
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            response
        }
        Fault::Endless => {
            let spaces = stream::repeat(Bytes::from_static(&[b' '; 65_536]));
            let endless = stream::iter([until(usize::MAX)]).chain(spaces).map(Ok::<_, std::io::Error>);
            json_of(Body::from_stream(endless))
        }
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn json(value: &Value) -> Response {
    json_of(Body::from(value.to_string()))
}

fn json_of(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "application/json; charset=utf-8")], body).into_response()
}
