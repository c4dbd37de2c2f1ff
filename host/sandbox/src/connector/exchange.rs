//! One request and its whole answer.

use std::cell::Cell;
use std::error::Error;
use std::io;

use bytes::{Bytes, BytesMut};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};

use super::client::CONNECTED;
use super::lookup::Denied;
use crate::transport::{Failure, HttpRequest, HttpResponse, Method};

/// Bytes of an answer's head.
const HEAD: usize = 64 << 10;

/// Error numbers that say that this machine lacks something: no more files, memory, buffers, ports. The last one would also
/// mean that there is no address to send from, but an address of that kind is not tried: see [`has_way`](super::lookup::has_way).
const LACKS: [i32; 5] = [23, 24, 12, 105, 99];

/// Why there is no answer.
pub(super) enum Broken {
    /// For good.
    Failed(Failure),
    /// A connection of an earlier request was closed before the first byte of this answer.
    ReusedConnection(Failure),
}

impl Broken {
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) | Self::ReusedConnection(failure) => failure,
        }
    }
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Sends a request and reads the answer, of which the body has at most `body_limit` bytes.
pub(super) async fn exchange(
    client: &Client,
    request: &HttpRequest,
    body_limit: usize,
) -> Result<HttpResponse, Broken> {
    let method = match request.method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
    };
    let mut builder = client.request(method, request.url.clone()).headers(headers(request)?);
    if let Some(body) = &request.body {
        builder = builder.body(body.clone());
    }
    let (sent, connected) = CONNECTED
        .scope(Cell::new(false), async {
            let sent = builder.send().await;
            (sent, CONNECTED.with(Cell::get))
        })
        .await;
    let response = sent.map_err(|error| {
        let died = !connected && closed(&error);
        let failure = failure(error);
        if died { Broken::ReusedConnection(failure) } else { Broken::Failed(failure) }
    })?;
    Ok(read(response, body_limit).await?)
}

fn headers(request: &HttpRequest) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(Failure::Unreachable("a header cannot be sent".to_owned()));
        };
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

async fn read(response: Response, body_limit: usize) -> Result<HttpResponse, Failure> {
    let status = response.status().as_u16();
    if !(200..600).contains(&status) {
        return Err(Failure::Unreachable(format!("the answer has the status {status}")));
    }
    let size: usize = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if size > HEAD {
        return Err(Failure::Unreachable("the answer's head is larger than 64 KiB".to_owned()));
    }
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), visible(value)?.to_owned())))
        .collect();
    let body = body(response, body_limit).await?;
    Ok(HttpResponse { status, headers, body })
}

/// A value that is visible ASCII with spaces.
fn visible(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().filter(|text| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()))
}

/// Reads until the end or one chunk past the limit. An answer that is dropped unread closes its connection.
async fn body(mut response: Response, limit: usize) -> Result<Bytes, Failure> {
    let announced = usize::try_from(response.content_length().unwrap_or(0)).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(Failure::TooLarge);
    }
    let mut body = BytesMut::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(failure)? {
        if chunk.len() > limit - body.len() {
            return Err(Failure::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// What an error of the client's comes to.
fn failure(error: reqwest::Error) -> Failure {
    // The URL may hold a credential.
    let error = error.without_url();
    if let Some(Denied(rule)) = find::<Denied>(&error) {
        return Failure::Denied(*rule);
    }
    let lacks = find_all(&error).any(|cause| {
        let number = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        number.is_some_and(|number| LACKS.contains(&number))
    });
    if lacks { Failure::Host(chain(&error)) } else { Failure::Unreachable(chain(&error)) }
}

/// Whether the connection was closed or reset, so that nothing of an answer came.
fn closed(error: &reqwest::Error) -> bool {
    find::<hyper::Error>(error).is_some_and(|error| {
        let reset = find::<io::Error>(error).is_some_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
            )
        });
        error.is_incomplete_message() || error.is_canceled() || error.is_closed() || reset
    })
}

/// An error and its sources, as one line.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in find_all(error).map(ToString::to_string) {
        // Some errors repeat their source's words.
        if !parts.last().is_some_and(|last| last.contains(&part)) {
            parts.push(part);
        }
    }
    parts.join(": ")
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    find_all(error).find_map(|cause| cause.downcast_ref())
}

fn find_all<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}
