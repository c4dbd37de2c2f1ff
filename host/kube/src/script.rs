//! A scripted API server for the tests of this crate: a few Bindings, and faults.

use std::collections::BTreeMap;
use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Frame;
use hyper::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// Makes the write, after this long.
    Well(Duration),
    /// Makes it without `status.observedGeneration`.
    Prune,
    /// Has a CRD without `status.observedGeneration`, and makes what fits in it.
    OldSchema,
    /// Answers with this code, header `retry-after` and body, and does nothing.
    Answer(u16, Option<&'static str>, String),
    /// Never answers.
    Hang,
    /// Makes the write, and the connection breaks before the answer.
    Cut,
    /// Makes the write, and the connection breaks within the answer.
    CutWithin,
}

impl Play {
    /// A refusal as an API server words it.
    pub(crate) fn refuse(code: u16, message: &str) -> Self {
        Self::Answer(code, None, json!({ "kind": "Status", "code": code, "message": message }).to_string())
    }
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) at: Duration,
    pub(crate) method: String,
    pub(crate) uri: String,
    pub(crate) content_type: String,
    pub(crate) body: Value,
}

impl Call {
    /// The name of the object that it is about.
    pub(crate) fn name(&self) -> &str {
        self.body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
    }
}

/// What the server has.
#[derive(Debug)]
pub(crate) struct Records {
    origin: Instant,
    version: u64,
    /// The objects by name.
    pub(crate) objects: BTreeMap<String, Value>,
    /// What it does with each request.
    pub(crate) play: Play,
    /// What it does with requests about this object.
    pub(crate) plays: BTreeMap<String, Play>,
    pub(crate) calls: Vec<Call>,
    /// How many answers it gave.
    pub(crate) answered: usize,
}

/// The server.
#[derive(Clone, Debug)]
pub(crate) struct Server(Arc<Mutex<Records>>);

impl Server {
    /// A server that does well.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Records {
            origin: Instant::now(),
            version: 100,
            objects: BTreeMap::new(),
            play: Play::Well(Duration::ZERO),
            plays: BTreeMap::new(),
            calls: Vec::new(),
            answered: 0,
        })))
    }

    pub(crate) fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap()
    }

    pub(crate) fn play(&self, play: Play) {
        self.records().play = play;
    }

    /// Makes an object.
    pub(crate) fn make(&self, name: &str) {
        let mut records = self.records();
        records.version += 1;
        let metadata =
            json!({ "name": name, "uid": format!("uid-{name}"), "resourceVersion": records.version.to_string() });
        records.objects.insert(name.to_owned(), json!({ "metadata": metadata }));
    }

    /// Somebody else changes an object.
    pub(crate) fn edit(&self, name: &str, edit: impl FnOnce(&mut Value)) {
        let mut records = self.records();
        records.version += 1;
        let version = records.version.to_string();
        let object = records.objects.get_mut(name).unwrap();
        object["metadata"]["resourceVersion"] = version.into();
        edit(object);
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.records().calls.clone()
    }

    /// When requests about this object came, in milliseconds.
    pub(crate) fn times(&self, name: &str) -> Vec<u128> {
        self.calls().iter().filter(|call| call.name() == name).map(|call| call.at.as_millis()).collect()
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.clone(), "default")
    }

    async fn serve(self, request: Request<Body>) -> Result<Response<Torn>, std::io::Error> {
        let (parts, body) = request.into_parts();
        let body = serde_json::from_slice(&body.collect_bytes().await.unwrap()).unwrap();
        let content_type = parts.headers.get("content-type").map(|value| value.to_str().unwrap().to_owned());
        let (call, play) = {
            let mut records = self.records();
            let call = Call {
                at: records.origin.elapsed(),
                method: parts.method.to_string(),
                uri: parts.uri.to_string(),
                content_type: content_type.unwrap_or_default(),
                body,
            };
            records.calls.push(call.clone());
            let play = records.plays.get(call.name()).unwrap_or(&records.play).clone();
            (call, play)
        };
        let answer = self.act(&call, &play).await?;
        self.records().answered += 1;
        Ok(answer)
    }

    async fn act(&self, call: &Call, play: &Play) -> Result<Response<Torn>, std::io::Error> {
        match play {
            Play::Hang => pending().await,
            Play::Well(after) => {
                tokio::time::sleep(*after).await;
                Ok(self.apply(call, false))
            }
            Play::OldSchema if call.body.pointer("/status/observedGeneration").is_some() => {
                let message =
                    "failed to create typed patch object: .status.observedGeneration: field not declared in schema";
                Ok(answer(500, &json!({ "kind": "Status", "code": 500, "message": message })))
            }
            Play::OldSchema => Ok(self.apply(call, false)),
            Play::Prune => Ok(self.apply(call, true)),
            Play::Cut => {
                self.apply(call, false);
                Err(std::io::ErrorKind::ConnectionReset.into())
            }
            Play::CutWithin => {
                let (parts, _) = self.apply(call, false).into_parts();
                Ok(Response::from_parts(parts, Torn(None)))
            }
            Play::Answer(code, retry_after, body) => {
                let mut answer = Response::builder().status(*code);
                if let Some(seconds) = retry_after {
                    answer = answer.header("Retry-After", *seconds);
                }
                Ok(answer.body(Torn(Some(body.clone().into()))).unwrap())
            }
        }
    }

    fn apply(&self, call: &Call, prunes: bool) -> Response<Torn> {
        let mut records = self.records();
        if call.method == "POST" {
            return answer(201, &call.body);
        }
        let next = (records.version + 1).to_string();
        let Some(object) = records.objects.get_mut(call.name()) else { return answer(404, &json!({ "code": 404 })) };
        if object["metadata"]["resourceVersion"] != call.body["metadata"]["resourceVersion"] {
            return answer(409, &json!({ "code": 409 }));
        }
        object["status"] = call.body["status"].clone();
        if prunes {
            object["status"].as_object_mut().unwrap().remove("observedGeneration");
        }
        object["metadata"]["resourceVersion"] = next.into();
        let answer = answer(200, object);
        records.version += 1;
        answer
    }
}

impl tower_service::Service<Request<Body>> for Server {
    type Response = Response<Torn>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().serve(request))
    }
}

fn answer(code: u16, body: &Value) -> Response<Torn> {
    Response::builder().status(code).body(Torn(Some(body.to_string().into()))).unwrap()
}

/// A body that breaks off where it has nothing to give.
pub(crate) struct Torn(Option<Bytes>);

impl hyper::body::Body for Torn {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.0.take() {
            Some(bytes) if bytes.is_empty() => Poll::Ready(None),
            Some(bytes) => {
                self.0 = Some(Bytes::new());
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            None => Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into()))),
        }
    }
}
