//! A scripted API server, for what a real one does not do when it is asked to, and a log that tests can read.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::body::Frame;
use hyper::{Request, Response, StatusCode};
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower_service::Service;
use tracing_subscriber::fmt::MakeWriter;

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The path.
    pub(crate) path: String,
    /// The query.
    pub(crate) query: BTreeMap<String, String>,
}

/// How it is answered.
pub(crate) enum Answer {
    /// With this body.
    Body(u16, String),
    /// With what comes, for as long as the other end is held.
    Stream(mpsc::UnboundedReceiver<String>),
    /// Later.
    After(Duration, Box<Self>),
    /// Not at all.
    Silence,
    /// The connection breaks.
    Reset,
}

impl Asked {
    fn new(request: &Request<kube::client::Body>) -> Self {
        let decoded = |text: &str| text.replace("%3D", "=").replace("%2C", ",");
        let pairs = request.uri().query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let query = pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect();
        Self { path: request.uri().path().to_owned(), query }
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.query.get("watch").is_some_and(|watch| watch == "true")
    }

    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.query.get(name).is_some_and(|found| found == value)
    }

    /// A list of everything, and not a look at the present version.
    pub(crate) fn is_list(&self) -> bool {
        !self.is_watch() && !self.has("limit", "1") && self.path.ends_with('s')
    }

    pub(crate) fn of(&self, plural: &str) -> bool {
        self.path.ends_with(plural)
    }
}

impl Answer {
    pub(crate) fn json(value: &Value) -> Self {
        Self::Body(200, value.to_string())
    }

    /// A refusal as an API server words it.
    pub(crate) fn status(code: u16, message: &str) -> Self {
        let status =
            json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message });
        Self::Body(code, status.to_string())
    }

    /// A list at this version.
    pub(crate) fn list(version: &str, items: &[Value]) -> Self {
        Self::json(&json!({ "metadata": { "resourceVersion": version }, "items": items }))
    }

    /// A watch that tells these, and then ends.
    pub(crate) fn events(events: &[Value]) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        for event in events {
            sender.send(line(event)).unwrap();
        }
        Self::Stream(receiver)
    }

    /// A watch that tells these, and then nothing, for ever.
    pub(crate) fn events_and_silence(events: &[Value]) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        for event in events {
            sender.send(line(event)).unwrap();
        }
        std::mem::forget(sender);
        Self::Stream(receiver)
    }

    /// What a server with nothing in it says to everything: the watch ends after its time, as a real one's does.
    pub(crate) fn quiet(asked: &Asked, version: &str) -> Self {
        if asked.is_watch() {
            let seconds = asked.query["timeoutSeconds"].parse().unwrap();
            let (sender, receiver) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                drop(sender);
            });
            Self::Stream(receiver)
        } else if asked.path.ends_with('s') {
            Self::list(version, &[])
        } else {
            Self::status(404, "not found")
        }
    }
}

/// A line of a watch.
pub(crate) fn line(event: &Value) -> String {
    format!("{event}\n")
}

/// An event of a watch.
pub(crate) fn event(kind: &str, object: &Value) -> Value {
    json!({ "type": kind, "object": object })
}

/// The scripted server: what it was asked, in order.
#[derive(Clone, Default)]
pub(crate) struct Script {
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Script {
    /// A client of a server that answers as `answer` says.
    pub(crate) fn client(&self, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Client {
        Client::new(Peer { asked: Arc::clone(&self.asked), answer: Arc::new(answer) }, "default")
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, which: impl Fn(&Asked) -> bool) -> usize {
        self.asked().iter().filter(|asked| which(asked)).count()
    }
}

struct Peer {
    asked: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<dyn Fn(&Asked) -> Answer + Send + Sync>,
}

impl Service<Request<kube::client::Body>> for Peer {
    type Response = Response<Told>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Response<Told>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let asked = Asked::new(&request);
        self.asked.lock().unwrap().push(asked.clone());
        let answer = Arc::clone(&self.answer);
        Box::pin(async move { give(answer(&asked)).await })
    }
}

async fn give(mut answer: Answer) -> io::Result<Response<Told>> {
    while let Answer::After(wait, later) = answer {
        tokio::time::sleep(wait).await;
        answer = *later;
    }
    let (code, body) = match answer {
        Answer::Body(code, text) => (code, Told::Once(Some(text))),
        Answer::Stream(receiver) => (200, Told::Lines(receiver)),
        Answer::After(..) | Answer::Silence => return std::future::pending().await,
        Answer::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    Ok(response)
}

/// The body of an answer.
pub(crate) enum Told {
    Once(Option<String>),
    Lines(mpsc::UnboundedReceiver<String>),
}

impl hyper::body::Body for Told {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let text = match self.get_mut() {
            Self::Once(text) => Poll::Ready(text.take()),
            Self::Lines(receiver) => receiver.poll_recv(cx),
        };
        text.map(|text| text.map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}

/// What was logged on this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Everything that is logged on this thread from now on, until the guard is dropped.
    pub(crate) fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false);
        let guard = tracing::subscriber::set_default(subscriber.with_max_level(tracing::Level::TRACE).finish());
        (log, guard)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// How many lines of ours hold this.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.text().lines().filter(|line| line.contains(" kourier_kube::") && line.contains(text)).count()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Waits until `met`, as the clock of the test goes: with a paused one that takes no time.
pub(crate) async fn eventually(what: &str, mut met: impl FnMut() -> bool) {
    for _ in 0..30_000 {
        if met() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(met(), "in vain: {what}");
}
