//! Requests to the one peer of this run.
//!
//! The probe gives a path; the host appends it to the URL that was configured, adds the credential, and sends it. It
//! follows no redirect, decodes no compression, and reads at most 1 MiB.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bindings::agent_world::agentkourier::probe::endpoint as host;
pub use host::{Failure, Header, Method, Request, Response};

/// Sends one request and waits for the whole answer, for at most 8 seconds.
///
/// # Errors
///
/// A [`Failure`] when there is no answer. [`Failure::InvalidRequest`] and [`Failure::Spent`] are mistakes of the probe.
///
/// # Panics
///
/// Always, where there is no host: on the build machine.
pub fn send(request: &Request) -> Result<Response, Failure> {
    host::send(request)
}

impl Request {
    /// A GET of this path. It begins with exactly one `/` and may have a query; what is not an unreserved character is
    /// percent-encoded.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), headers: Vec::new(), body: None }
    }

    /// A POST of this body, at most 64 KiB. The host adds the length; its type is the probe's to say.
    #[must_use]
    pub fn post(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { method: Method::Post, path: path.into(), headers: Vec::new(), body: Some(body.into()) }
    }

    /// The same request with one more header field. See the interface for the names that are the host's business.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push(Header { name: name.into(), value: value.into() });
        self
    }
}

impl Response {
    /// The value of the first field of this name, which is written in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|field| field.name == name).map(|field| field.value.as_str())
    }

    /// The seconds of `Retry-After`, if it has a number. A date is none: a probe has no clock.
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        let value = self.header("retry-after")?.trim();
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| value.parse().unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, want: Option<u32>) {
        let headers = alloc::vec![
            Header { name: "date".into(), value: "Sun, 29 Nov 2026 08:00:00 GMT".into() },
            Header { name: "retry-after".into(), value: value.into() },
        ];
        let answer = Response { status: 429, headers, body: Vec::new() };
        assert_eq!(answer.retry_after(), want, "{value:?}");
    }

    #[test]
    fn only_a_number_of_seconds_is_a_time_to_wait() {
        check("0", Some(0));
        check("30", Some(30));
        check(" 30 ", Some(30));
        check("99999999999999999999", Some(u32::MAX));
        for garbage in ["", "-1", "+1", "1.5", "soon", "30s", "Sun, 29 Nov 2026 08:00:00 GMT"] {
            check(garbage, None);
        }
    }

    #[test]
    fn an_answer_without_the_field_asks_for_nothing() {
        let answer = Response { status: 429, headers: Vec::new(), body: Vec::new() };
        assert_eq!(answer.retry_after(), None);
    }

    #[test]
    fn a_request_is_what_its_parts_say() {
        let get = Request::get("/a?b=c").header("accept", "application/json");
        assert_eq!((get.method, get.path.as_str(), get.body.as_deref()), (Method::Get, "/a?b=c", None));
        assert_eq!(get.headers, [Header { name: "accept".into(), value: "application/json".into() }]);
        let post = Request::post("/a", "b=c");
        assert_eq!((post.method, post.body.as_deref()), (Method::Post, Some("b=c".as_bytes())));
    }
}
