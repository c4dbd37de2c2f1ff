//! A leader of the Bindings of one namespace of a real API server: a writer at work, and what it sees.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kourier_core::condition::{Assessment, Finding};
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::message::Message;
use kourier_core::plan::{Case, Pace, Version};
use kourier_core::reason::{AcceptedReason, BackendReason, ChannelReason, ReadyReason};
use kourier_kube::api::standing;
use kourier_kube::client::{Access, server};
use kourier_kube::events::Events;
use kourier_kube::lease::Claim;
use kourier_kube::observe::{Observation, Observer, WriteResult};
use kourier_kube::writer::{AllCases, Cases, Writer};
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The longest that anything here may take to happen.
const DEADLINE: Duration = Duration::from_secs(30);

/// A thirtieth of the real gap, and all else in proportion: what is shown does not depend on the numbers.
pub(crate) fn pace() -> Pace {
    Pace {
        look_interval: Duration::from_millis(50),
        gap: Duration::from_millis(300),
        cap: Duration::from_millis(1500),
        spacing: Duration::from_millis(5),
        patience: Duration::from_secs(1),
        ..Pace::default()
    }
}

/// A write of a status that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) result: WriteResult,
    pub(crate) begin: Instant,
    pub(crate) end: Instant,
}

/// What everyone here shares.
#[derive(Default)]
struct Shared {
    seen: Mutex<BTreeMap<ObjectKey, Case>>,
    says: Mutex<BTreeMap<String, Assessment>>,
    is_blind: Mutex<bool>,
    schema: Mutex<String>,
    writes: Mutex<Vec<Write>>,
    others: Mutex<Vec<Observation>>,
}

/// A leader of the Bindings of one namespace.
pub(crate) struct Leader {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

/// The Bindings as the API server has them, for a user who may do everything.
pub(crate) struct Bindings {
    pub(crate) api: Api<DynamicObject>,
    pub(crate) client: Client,
}

pub(crate) async fn client_of(kubeconfig: &Path) -> Client {
    server(&Access { kubeconfig: Some(kubeconfig.to_owned()), context: None }).await.unwrap().writes().unwrap()
}

pub(crate) fn ok(generation: i64) -> Assessment {
    assessment(BackendReason::Ok, ReadyReason::Ok, "", generation)
}

pub(crate) fn unreachable(generation: i64) -> Assessment {
    let reason = BackendReason::Unreachable;
    assessment(reason, ReadyReason::Backend(reason), "The agent does not answer.", generation)
}

fn assessment(backend: BackendReason, ready: ReadyReason, message: &str, generation: i64) -> Assessment {
    Assessment::Served {
        accepted: finding(AcceptedReason::Ok, "", generation),
        backend: finding(backend, message, generation),
        channel: finding(ChannelReason::Ok, "", generation),
        ready: finding(ready, message, generation),
    }
}

fn finding<R>(reason: R, message: &str, generation: i64) -> Finding<R> {
    Finding { reason, message: Message::new(message), observed_generation: Generation(generation) }
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < DEADLINE, "not within {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Bindings {
    pub(crate) async fn new(kubeconfig: &Path, namespace: &str) -> Self {
        let client = client_of(kubeconfig).await;
        let kind = ApiResource::from_gvk_with_plural(
            &GroupVersionKind::gvk("agentkourier.io", "v1alpha1", "Binding"),
            "bindings",
        );
        Self { api: Api::namespaced_with(client.clone(), namespace, &kind), client }
    }

    pub(crate) async fn make(&self, name: &str) {
        let spec =
            json!({"agent": {"backendRef": {"name": "a"}}, "chat": {"connectionRef": {"name": "c"}, "channel": "C1"}});
        let binding = json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding", "metadata": {"name": name}, "spec": spec});
        self.api.create(&kube::api::PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
    }

    pub(crate) async fn get(&self, name: &str) -> DynamicObject {
        self.api.get(name).await.unwrap()
    }

    pub(crate) async fn status(&self, name: &str) -> Value {
        self.get(name).await.data["status"].clone()
    }

    /// The Ready condition's member of this name.
    pub(crate) async fn ready(&self, name: &str, member: &str) -> String {
        let status = self.status(name).await;
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition["type"] == "Ready");
        ready.and_then(|ready| ready[member].as_str()).unwrap_or_default().to_owned()
    }

    /// Somebody who writes as `manager` changes the Ready condition's reason and time, and all conditions else stay.
    pub(crate) async fn vandalise(&self, name: &str, manager: &str) {
        let mut status = self.status(name).await;
        for condition in status["conditions"].as_array_mut().unwrap() {
            if condition["type"] == "Ready" {
                condition["reason"] = "Vandalised".into();
                condition["lastTransitionTime"] = "2001-01-01T00:00:00Z".into();
            }
        }
        let params = PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() };
        self.api.patch_status(name, &params, &Patch::Merge(json!({ "status": status }))).await.unwrap();
    }
}

impl Leader {
    /// A leader that begins now, with the rights of `client`.
    pub(crate) fn begin(bindings: &Bindings, client: Client, pace: Pace) -> Self {
        let shared = Arc::new(Shared::default());
        let watch = tokio::spawn(watch(bindings.api.clone(), Arc::clone(&shared)));
        let told = Arc::clone(&shared);
        let observer: Observer = Arc::new(move |observation| told.hear(observation));
        let writer = Writer {
            events: Some(Events::new(client.clone(), "test", Arc::clone(&observer))),
            client,
            pace,
            observer,
            suspect: Arc::new(|_| ()),
        };
        let leads = || Some(Claim { until: tokio::time::Instant::now() + Duration::from_secs(10), term: 1 });
        let writer = tokio::spawn(writer.run(View(Arc::clone(&shared)), leads, std::future::pending()));
        Self { shared, tasks: vec![watch, writer] }
    }

    pub(crate) fn say(&self, name: &str, assessment: Assessment) {
        self.shared.says.lock().unwrap().insert(name.to_owned(), assessment);
    }

    /// From now on it sees nothing new.
    pub(crate) fn be_blind(&self, is_blind: bool) {
        *self.shared.is_blind.lock().unwrap() = is_blind;
    }

    pub(crate) fn schema(&self, schema: &str) {
        schema.clone_into(&mut self.shared.schema.lock().unwrap());
    }

    pub(crate) fn writes(&self) -> Vec<Write> {
        self.shared.writes.lock().unwrap().clone()
    }

    pub(crate) fn results(&self) -> Vec<WriteResult> {
        self.writes().iter().map(|write| write.result).collect()
    }

    pub(crate) fn count(&self, observation: Observation) -> usize {
        self.shared.others.lock().unwrap().iter().filter(|other| **other == observation).count()
    }

    /// The field managers other than ours that it sees.
    pub(crate) fn managers(&self, name: &str) -> BTreeSet<String> {
        let seen = self.shared.seen.lock().unwrap();
        seen.iter().find(|(key, _)| key.name == name).map(|(_, case)| case.managers.clone()).unwrap_or_default()
    }

    /// Whether it has seen the version that the API server has.
    pub(crate) async fn is_up_to_date(&self, bindings: &Bindings, name: &str) -> bool {
        let version = bindings.get(name).await.resource_version();
        let seen = self.shared.seen.lock().unwrap();
        seen.iter().any(|(key, case)| key.name == name && Some(&case.version.0) == version.as_ref())
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    fn hear(&self, observation: Observation) {
        let end = Instant::now();
        match observation {
            Observation::Write { result, took } => {
                self.writes.lock().unwrap().push(Write { result, begin: end - took, end });
            }
            other => self.others.lock().unwrap().push(other),
        }
    }
}

struct View(Arc<Shared>);

impl Cases for View {
    fn all(&self) -> Arc<AllCases> {
        let says = self.0.says.lock().unwrap();
        let seen = self.0.seen.lock().unwrap();
        let case = |(key, case): (&ObjectKey, &Case)| {
            let assessment = says.get(&key.name)?.clone();
            Some((key.clone(), Arc::new(Case { assessment, ..case.clone() })))
        };
        Arc::new(seen.iter().filter_map(case).collect())
    }

    fn one(&self, key: &ObjectKey) -> Option<Arc<Case>> {
        self.all().get(key).cloned()
    }

    fn schema(&self) -> String {
        self.0.schema.lock().unwrap().clone()
    }
}

/// Keeps what is seen, by a list each few milliseconds.
async fn watch(api: Api<DynamicObject>, shared: Arc<Shared>) {
    loop {
        if let Ok(listed) = api.list(&ListParams::default()).await
            && !*shared.is_blind.lock().unwrap()
        {
            *shared.seen.lock().unwrap() = listed.items.iter().map(seen).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn seen(object: &DynamicObject) -> (ObjectKey, Case) {
    let of_status = object.managed_fields().iter().filter(|field| field.subresource.as_deref() == Some("status"));
    let managers = of_status.filter_map(|field| field.manager.clone()).filter(|name| name != "agent-kourier");
    let case = Case {
        uid: Uid(object.uid().unwrap()),
        version: Version(object.resource_version().unwrap()),
        standing: standing::read(&object.data["status"]),
        managers: managers.collect(),
        assessment: ok(1),
    };
    (ObjectKey::new(object.namespace().unwrap(), object.name_any()), case)
}
