//! One call for the Lease, and what its answer means.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kourier_core::lease::{Answer, Purpose, Record, Step, Write};
use kourier_core::plan::Version;
use kube::Api;
use kube::api::{GetParams, PostParams};
use kube::core::Request;
use serde_json::Value;

use crate::api::FIELD_MANAGER;
use crate::client::{ApiError, timely};

/// What is to be done, and how long it may take.
pub(super) struct Asked {
    pub(super) within: Duration,
    pub(super) step: Step,
    pub(super) standing: Option<Lease>,
}

/// How it ended.
pub(super) struct Answered {
    pub(super) answer: Answer,
    /// The Lease that the API server gave, if it did.
    pub(super) lease: Option<Lease>,
    verb: &'static str,
    error: Option<ApiError>,
}

pub(super) fn purpose(step: &Step) -> Option<Purpose> {
    match step {
        Step::Write(write) => Some(write.purpose),
        Step::Read | Step::Wait { .. } | Step::Done => None,
    }
}

pub(super) async fn perform(api: &Api<Lease>, name: &str, asked: Asked) -> Answered {
    let Asked { within, step, standing } = asked;
    match step {
        Step::Write(write) => {
            let lease = lease(name, standing, &write);
            let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            if write.version.is_none() {
                let answer = timely(within, Sent::Create(&params, &lease).to(api)).await;
                Answered::of("create", answer, |_, version| Answer::Stored(write, version))
            } else {
                let answer = timely(within, Sent::Replace(name, &params, &lease).to(api)).await;
                Answered::of("update", answer, |_, version| Answer::Stored(write, version))
            }
        }
        Step::Read | Step::Wait { .. } | Step::Done => {
            let answer = timely(within, Sent::Get(name).to(api)).await;
            Answered::of("get", answer, |lease, version| Answer::Found(record(lease), version))
        }
    }
}

/// A call for one Lease.
enum Sent<'a> {
    Get(&'a str),
    Create(&'a PostParams, &'a Lease),
    Replace(&'a str, &'a PostParams, &'a Lease),
}

impl Sent<'_> {
    /// Sends it, and reads the Lease in the answer.
    async fn to(self, api: &Api<Lease>) -> kube::Result<Lease> {
        let at = Request::new(api.resource_url());
        let request = match self {
            Self::Get(name) => at.get(name, &GetParams::default()),
            Self::Create(params, lease) => at.create(params, body(lease)),
            Self::Replace(name, params, lease) => at.replace(name, params, body(lease)),
        };
        let request = request.map_err(kube::Error::BuildRequest)?;
        let lease: Value = api.clone().into_client().request(request).await?;
        readable(lease).map_err(kube::Error::SerdeError)
    }
}

/// A Lease without what this program cannot read and does not need: the API server takes times that no clock shows, and
/// nobody may end an election by writing one.
pub(crate) fn readable(mut lease: Value) -> serde_json::Result<Lease> {
    if let Some(metadata) = lease["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    if let Some(spec) = lease["spec"].as_object_mut() {
        for time in ["acquireTime", "renewTime"] {
            if spec.get(time).and_then(Value::as_str).is_some_and(|text| text.parse::<Timestamp>().is_err()) {
                spec.remove(time);
            }
        }
    }
    serde_json::from_value(lease)
}

/// A Lease is names, numbers and times: it always has a spelling in JSON.
fn body(lease: &Lease) -> Vec<u8> {
    serde_json::to_vec(lease).unwrap_or_default()
}

impl Answered {
    fn of(verb: &'static str, answer: Result<Lease, ApiError>, done: impl FnOnce(&Lease, Version) -> Answer) -> Self {
        let (answer, lease, error) = match answer {
            // A write on no version would be one on any.
            Ok(lease) => match lease.metadata.resource_version.clone().filter(|version| !version.is_empty()) {
                Some(version) => (done(&lease, Version(version)), Some(lease), None),
                None => (Answer::Failed, None, None),
            },
            Err(error) => match (error.code(), verb) {
                (Some(409), "create" | "update") => (Answer::Conflict, None, None),
                // Of a new Lease, it is the namespace that is missing.
                (Some(404), "get" | "update") => (Answer::Missing, None, None),
                _ => (Answer::Failed, None, Some(error)),
            },
        };
        Self { answer, lease, verb, error }
    }
}

/// What of a Lease decides.
fn record(lease: &Lease) -> Record {
    let spec = lease.spec.clone().unwrap_or_default();
    Record {
        holder: spec.holder_identity.unwrap_or_default(),
        seconds: spec.lease_duration_seconds,
        transitions: spec.lease_transitions.unwrap_or_default(),
    }
}

/// The Lease to write: what stands, with our words in it.
fn lease(name: &str, standing: Option<Lease>, write: &Write) -> Lease {
    let mut lease = standing.filter(|_| write.version.is_some()).unwrap_or_default();
    lease.metadata.name = Some(name.to_owned());
    lease.metadata.resource_version = write.version.as_ref().map(|version| version.0.clone());
    lease.metadata.managed_fields = None;
    let Record { holder, seconds, transitions } = write.record.clone();
    let now = now();
    let spec = lease.spec.take().unwrap_or_default();
    lease.spec = Some(LeaseSpec {
        holder_identity: Some(holder),
        lease_duration_seconds: seconds,
        lease_transitions: Some(transitions),
        acquire_time: if write.purpose == Purpose::Renew { spec.acquire_time.clone() } else { Some(now.clone()) },
        renew_time: Some(now),
        ..spec
    });
    lease
}

/// The wall clock, for people: nothing is decided by it.
fn now() -> MicroTime {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    MicroTime(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX))
}

/// The call that does not work at present, so that it is logged once.
#[derive(Debug, Default)]
pub(super) struct Trouble(Option<(&'static str, Option<u16>)>);

impl Trouble {
    /// Logs the first failure of a kind, and that the same call works again.
    pub(super) fn note(&mut self, answered: &Answered, namespace: &str, lease: &str) {
        let verb = answered.verb;
        let Some(error) = &answered.error else {
            if self.0.is_some_and(|(failed, _)| failed == verb) {
                self.0 = None;
                tracing::info!(namespace, lease, verb, "the Lease can be reached again");
            }
            return;
        };
        let kind = (verb, error.code());
        if self.0.replace(kind) == Some(kind) {
            return;
        }
        match error.code() {
            Some(403) => tracing::error!(
                namespace,
                lease,
                cause = %error,
                "a right is missing: {verb} leases.coordination.k8s.io in this namespace; trying again"
            ),
            _ => tracing::warn!(namespace, lease, verb, cause = %error, "the Lease cannot be reached; trying again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_that_no_clock_shows_does_not_keep_a_lease_from_being_read() {
        let lease = |renewed: &str| {
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": "a", "resourceVersion": "7", "managedFields": [{"time": "9999-12-31T23:59:59Z"}]},
                "spec": {"holderIdentity": "b", "leaseDurationSeconds": 15, "renewTime": renewed},
            })
        };
        for renewed in ["9999-12-31T23:59:59.999999Z", "2026-11-29T10:00:00.000000Z"] {
            let read = readable(lease(renewed)).unwrap();
            assert_eq!(
                record(&read),
                Record { holder: "b".to_owned(), seconds: Some(15), transitions: 0 },
                "{renewed}"
            );
        }
    }
}
