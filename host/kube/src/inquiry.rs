//! What somebody asks a cluster about Bindings, with their own rights, once.

use k8s_openapi::api::coordination::v1::Lease;
use kourier_core::id::{Kind, ObjectKey};
use kourier_core::object::DEFAULT_BROKER;
use kourier_core::time::Timestamp;
use kube::Client;
use kube::api::{GetParams, ListParams};
use kube::core::Request;
use serde_json::Value;

use crate::api::{Binding, BindingList, FIELD_MANAGER, parse_rfc3339};
use crate::client::{ApiError, CALL, timely};
use crate::lease::{lease_name, readable};
use crate::objects::collection;

/// Bindings on one page of a list.
const PAGE: u32 = 500;

/// By how many seconds the clock of a leader may be ahead of that of whoever asks. 1 min: more is no clock's fault.
const SKEW: i64 = 60;

/// The answer to a question that may not be everybody's to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<T> {
    /// It was told.
    Is(T),
    /// There is no such thing.
    Nothing,
    /// Whoever asks may not know.
    Forbidden,
}

/// What a cluster tells of one Binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The Binding.
    pub binding: Binding,
    /// When a broker last wrote its status; none when it never did.
    pub written: Option<Timestamp>,
    /// The broker that its ChatConnection names.
    pub broker: Told<String>,
    /// The Lease of that broker's replicas, of the namespace where it was renewed last.
    pub lease: Told<Held>,
}

/// A Lease as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its namespace.
    pub namespace: String,
    /// Who leads; empty when nobody does.
    pub holder: String,
    /// Since when.
    pub acquired: Option<Timestamp>,
    /// When it was renewed last.
    pub renewed: Option<Timestamp>,
    /// For how many seconds a renewal holds.
    pub seconds: i64,
}

/// The Bindings of a namespace, or of all.
///
/// # Errors
///
/// When the API server does not give them.
pub async fn bindings(client: &Client, namespace: Option<&str>) -> Result<BindingList, ApiError> {
    let mut items = Vec::new();
    let mut token = String::new();
    let params = ListParams::default().limit(PAGE);
    loop {
        let params = ListParams { continue_token: Some(token).filter(|token| !token.is_empty()), ..params.clone() };
        let request = collection(Kind::Binding, namespace).list(&params).map_err(kube::Error::BuildRequest)?;
        let page: Value = timely(CALL, client.request(request)).await?;
        for item in page["items"].as_array().into_iter().flatten() {
            // One that cannot be read is told: a list without it would say that there is none.
            items.push(serde_json::from_value::<Binding>(item.clone()).map_err(kube::Error::SerdeError)?);
        }
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => token = next.to_owned(),
            Some(_) | None => return Ok(BindingList::new(items)),
        }
    }
}

/// What the cluster tells of this Binding at this time; none when there is none.
///
/// # Errors
///
/// When the API server does not give the Binding.
pub async fn inquire(client: &Client, key: &ObjectKey, now: Timestamp) -> Result<Option<Inquiry>, ApiError> {
    let Told::Is(object) = told(get(client, Kind::Binding, key).await, true)? else { return Ok(None) };
    let connection = connection_of(&object, key);
    let broker = match connection {
        Some(connection) => match told(get(client, Kind::ChatConnection, &connection).await, false)? {
            Told::Is(found) => Told::Is(found["spec"]["broker"].as_str().unwrap_or(DEFAULT_BROKER).to_owned()),
            Told::Nothing => Told::Nothing,
            Told::Forbidden => Told::Forbidden,
        },
        None => Told::Nothing,
    };
    let lease = match &broker {
        Told::Is(broker) => lease(client, broker, now).await?,
        Told::Nothing => Told::Nothing,
        Told::Forbidden => Told::Forbidden,
    };
    let written = written(&object);
    let binding = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
    Ok(Some(Inquiry { binding, written, broker, lease }))
}

async fn lease(client: &Client, broker: &str, now: Timestamp) -> Result<Told<Held>, ApiError> {
    let only = ListParams::default().fields(&format!("metadata.name={}", lease_name(broker)));
    let request = Request::new("/apis/coordination.k8s.io/v1/leases").list(&only).map_err(kube::Error::BuildRequest)?;
    let Told::Is(found) = told(timely(CALL, client.request::<Value>(request)).await, false)? else {
        return Ok(Told::Forbidden);
    };
    let leases = found["items"].as_array().cloned().unwrap_or_default();
    let held = leases.into_iter().filter_map(|lease| Some(Held::from(readable(lease).ok()?)));
    // Whoever may write a Lease anywhere may write what is to come into it: that is nobody's renewal.
    let past = held.filter(|held| held.renewed.is_none_or(|renewed| renewed.0 <= now.0 + SKEW));
    Ok(past.max_by_key(|held| held.renewed).map_or(Told::Nothing, Told::Is))
}

impl From<Lease> for Held {
    fn from(lease: Lease) -> Self {
        let spec = lease.spec.unwrap_or_default();
        let time = |time: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime>| {
            time.map(|time| Timestamp(time.0.as_second()))
        };
        Self {
            namespace: lease.metadata.namespace.unwrap_or_default(),
            holder: spec.holder_identity.unwrap_or_default(),
            acquired: time(spec.acquire_time),
            renewed: time(spec.renew_time),
            seconds: spec.lease_duration_seconds.unwrap_or_default().into(),
        }
    }
}

/// Takes a refusal for what it tells. `must` says whether the question makes no sense without the right to ask it.
fn told<T>(answer: Result<T, ApiError>, must: bool) -> Result<Told<T>, ApiError> {
    match answer {
        Ok(found) => Ok(Told::Is(found)),
        Err(error) => match error.code() {
            Some(404) => Ok(Told::Nothing),
            Some(403) if !must => Ok(Told::Forbidden),
            Some(_) | None => Err(error),
        },
    }
}

/// Where the ChatConnection is that a Binding names.
fn connection_of(binding: &Value, key: &ObjectKey) -> Option<ObjectKey> {
    let reference = &binding["spec"]["chat"]["connectionRef"];
    let namespace = reference["namespace"].as_str().unwrap_or(&key.namespace);
    Some(ObjectKey::new(namespace, reference["name"].as_str()?))
}

/// When a broker last wrote the status.
fn written(object: &Value) -> Option<Timestamp> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let ours = entries.iter().filter(|entry| entry["manager"] == FIELD_MANAGER && entry["subresource"] == "status");
    ours.filter_map(|entry| parse_rfc3339(entry["time"].as_str()?)).max()
}

async fn get(client: &Client, kind: Kind, key: &ObjectKey) -> Result<Value, ApiError> {
    let request = collection(kind, Some(&key.namespace))
        .get(&key.name, &GetParams::default())
        .map_err(kube::Error::BuildRequest)?;
    timely(CALL, client.request(request)).await
}

#[cfg(test)]
mod tests;
