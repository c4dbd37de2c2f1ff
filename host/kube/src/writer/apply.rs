//! One write: the request, and what its answer means.
//!
//! The answer is read here and not by the client, which drops the headers of a refusal: a server that is busy says in
//! one how long to wait, with a body that is no `Status`.
//!
//! A server that stands still must not make a write when it goes on, because by then another replica may lead. So half
//! of the time left is for the server to begin with the request, and before it has, it does not get what is to be
//! written ([`crate::gate`]). The other half it may take from then on, and it is told so: when it goes on after that, it
//! knows itself that the time is over.
//!
//! A CRD that is older than this program does not prune what it does not know of an apply: the API server refuses the
//! whole, and names the fields. Then the same is applied without them, as far as a status can do without.

use std::error::Error;
use std::time::Duration;

use kourier_core::id::Kind;
use kourier_core::object::API_VERSION;
use kourier_core::plan::{Answer, Failure, Order, Version};
use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::client::Body;
use kube::core::{Request, Status};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::api::{BindingStatus, FIELD_MANAGER, standing};
use crate::client::{ApiError, CALL, timely};
use crate::gate::{NotAsked, SentOnceAsked};
use crate::observe::WriteResult;

/// How much of what a server says of a refusal is logged, in characters.
const CAUSE: usize = 512;

/// What a write came to.
pub(super) struct Reply {
    /// For the plan.
    pub(super) answer: Answer,
    /// For the metrics.
    pub(super) result: WriteResult,
    /// For the log: why it was not made.
    pub(super) cause: Option<String>,
}

/// What is applied: never the object as it was read, whose `managedFields` would be refused.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata<'a>,
    status: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
    /// The precondition, and the only one: a uid is ignored.
    resource_version: &'a str,
}

/// An answer of the server.
struct Said {
    code: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// Applies the order's status, before `until`. A process that is stopped on the way finds the time over, not shifted.
pub(super) async fn send(client: &Client, order: &Order, until: Instant) -> Reply {
    let now = Instant::now();
    let until = until.min(now + CALL);
    match timely(until.saturating_duration_since(now), apply(client, order, until)).await {
        Ok(said) => judge(order, &said),
        Err(error) => unanswered(&error),
    }
}

async fn apply(client: &Client, order: &Order, until: Instant) -> kube::Result<Said> {
    let mut status = serde_json::to_value(BindingStatus::new(&order.conditions)).map_err(kube::Error::SerdeError)?;
    loop {
        let said = exchange(client, order, &status, until).await?;
        if !(said.is_of_an_unknown_field() && leave_out(&mut status, &said.status().message)) {
            return Ok(said);
        }
    }
}

/// What a refusal says of a field, after its path.
const UNKNOWN: &str = ": field not declared in schema";

/// Takes out of a status the fields that the schema does not have, by what the refusal says. Whether that was any.
fn leave_out(status: &mut Value, refusal: &str) -> bool {
    let is_unknown = |path: &str| refusal.contains(&format!("{path}{UNKNOWN}"));
    let mut left_out = false;
    let mut take = |from: &mut Value, field: &str| {
        left_out |= from.as_object_mut().and_then(|fields| fields.remove(field)).is_some();
    };
    if is_unknown(".status.observedGeneration") {
        take(status, "observedGeneration");
    }
    if is_unknown("].observedGeneration") {
        let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
        conditions.into_iter().flatten().for_each(|condition| take(condition, "observedGeneration"));
    }
    left_out
}

async fn exchange(client: &Client, order: &Order, status: &Value, until: Instant) -> kube::Result<Said> {
    let path = format!("/apis/{API_VERSION}/namespaces/{}/{}", order.key.namespace, Kind::Binding.plural());
    let applied = Applied {
        api_version: API_VERSION,
        kind: Kind::Binding.as_str(),
        metadata: Metadata {
            name: &order.key.name,
            namespace: &order.key.namespace,
            resource_version: &order.version.0,
        },
        status,
    };
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let mut request = Request::new(path)
        .patch_subresource("status", &order.key.name, &params, &Patch::Apply(applied))
        .map_err(kube::Error::BuildRequest)?;
    let now = Instant::now();
    let half = until.saturating_duration_since(now) / 2;
    request.extensions_mut().insert(SentOnceAsked { by: now + half });
    let address = format!("{}&timeout={}ms", request.uri(), half.as_millis().max(1));
    match address.parse() {
        Ok(address) => *request.uri_mut() = address,
        Err(error) => return Err(kube::Error::HttpError(error.into())),
    }
    let response = client.send(request.map(Body::from)).await?;
    let seconds = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Ok(Said {
        code: response.status().as_u16(),
        retry_after: seconds.map(Duration::from_secs),
        body: response.into_body().collect_bytes().await?.to_vec(),
    })
}

impl Said {
    /// Whether the apply was refused because the CRD does not have one of its fields. The code for it is 500.
    fn is_of_an_unknown_field(&self) -> bool {
        self.code >= 400 && self.status().message.contains(UNKNOWN)
    }

    /// The refusal as Kubernetes words it; empty when somebody else did.
    fn status(&self) -> Status {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What the server's answer means.
fn judge(order: &Order, said: &Said) -> Reply {
    if (200..300).contains(&said.code) {
        return made(order, &said.body);
    }
    let status = said.status();
    let cause = Some(cause(said, &status));
    let failure = Failure { code: Some(said.code), wait: said.retry_after };
    let (answer, result) = match said.code {
        // With force nobody's ownership is in the way; were it, waiting for a newer object would not help.
        409 if !of_ownership(&status) => (Answer::Stale, WriteResult::Stale),
        404 => (Answer::Stale, WriteResult::Stale),
        _ if said.is_of_an_unknown_field() => (Answer::Failed(failure), WriteResult::Error),
        // The server, or one between here and there, gave up waiting: behind it the write may go on.
        408 | 500.. => (Answer::InDoubt(failure), WriteResult::Error),
        _ => (Answer::Failed(failure), WriteResult::Error),
    };
    Reply { answer, result, cause }
}

fn of_ownership(status: &Status) -> bool {
    let causes = status.details.as_ref().map_or(&[][..], |details| &details.causes);
    causes.iter().any(|cause| cause.reason == "FieldManagerConflict")
}

/// The object after the write. An answer that holds none does not tell what was made.
fn made(order: &Order, body: &[u8]) -> Reply {
    let object: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(version) = object.pointer("/metadata/resourceVersion").and_then(Value::as_str) else {
        let cause = Some("the answer to a write is no object".to_owned());
        return Reply { answer: Answer::InDoubt(Failure::default()), result: WriteResult::Error, cause };
    };
    let version = Version(version.to_owned());
    let result = if version == order.version { WriteResult::Unchanged } else { WriteResult::Changed };
    let standing = object.get("status").map(standing::read).unwrap_or_default();
    Reply { answer: Answer::Written { version, standing }, result, cause: None }
}

/// What it means that there was no answer.
fn unanswered(error: &ApiError) -> Reply {
    let failure = Failure::default();
    let (answer, result) = match error {
        ApiError::Api(error) if is_not_asked(error) => (Answer::Failed(failure), WriteResult::Timeout),
        ApiError::Timeout(_) => (Answer::InDoubt(failure), WriteResult::Timeout),
        ApiError::Api(error) if may_have_been_sent(error) => (Answer::InDoubt(failure), WriteResult::Error),
        ApiError::Api(_) | ApiError::Access(_) => (Answer::Failed(failure), WriteResult::Error),
    };
    Reply { answer, result, cause: Some(crate::retry::cause(error)) }
}

/// Whether the server did not begin with the request in time: then it does not have what was to be written.
fn is_not_asked(error: &kube::Error) -> bool {
    links(error).any(|link| link.is::<NotAsked>())
}

/// Whether the request may have reached the server: there was a connection.
fn may_have_been_sent(error: &kube::Error) -> bool {
    match error {
        kube::Error::HyperError(_) => true,
        kube::Error::Service(error) => !links(&**error).any(|link| {
            link.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect())
        }),
        _ => false,
    }
}

/// What the server says, in so many words.
fn cause(said: &Said, status: &Status) -> String {
    let text = if status.message.is_empty() { String::from_utf8_lossy(&said.body) } else { (&status.message).into() };
    format!("{}: {}", said.code, text.trim().chars().take(CAUSE).collect::<String>())
}

fn links<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests;
