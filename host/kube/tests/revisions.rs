//! The last good specs on a real API server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;

use futures::{StreamExt as _, stream};
use k8s_openapi::api::apps::v1::ControllerRevision;
use kourier_core::accept::{Good, LastGood};
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::object::AgentBackendSpec;
use kourier_kube::client::{Access, client};
use kourier_kube::revisions::Revisions;
use kourier_test_cluster::{Cluster, or_skip};
use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

async fn client_of(kubeconfig: &Path) -> Client {
    client(&Access { kubeconfig: Some(kubeconfig.to_owned()), context: None }).await.unwrap()
}

/// A namespace of a cluster, in which a broker of the same name keeps its revisions.
struct Place {
    client: Client,
    namespace: String,
}

impl Place {
    async fn new(cluster: &Cluster) -> Self {
        cluster.crds().unwrap();
        Self { client: client_of(cluster.kubeconfig()).await, namespace: cluster.namespace().unwrap() }
    }

    /// The broker is named like the namespace, because a store reads all namespaces.
    fn revisions(&self) -> Revisions {
        Revisions::new(self.client.clone(), &self.namespace)
    }

    fn objects(&self, kind: &str, plural: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("agentkourier.io", "v1alpha1", kind);
        Api::namespaced_with(self.client.clone(), &self.namespace, &ApiResource::from_gvk_with_plural(&kind, plural))
    }

    fn backends(&self) -> Api<DynamicObject> {
        self.objects("AgentBackend", "agentbackends")
    }

    /// Makes an AgentBackend. What a broker then remembers of it at this generation.
    async fn backend(&self, name: &str, generation: i64) -> Good<AgentBackendSpec> {
        let spec = json!({ "url": format!("https://{name}.example/{generation}") });
        let object = json!({
            "apiVersion": "agentkourier.io/v1alpha1", "kind": "AgentBackend",
            "metadata": { "name": name }, "spec": spec,
        });
        let object = serde_json::from_value(object).unwrap();
        let made = self.backends().create(&PostParams::default(), &object).await.unwrap();
        good(&made.metadata.uid.unwrap(), generation, spec)
    }

    fn last_good(&self, good: &[(&str, &Good<AgentBackendSpec>)]) -> LastGood {
        let by_key = good.iter().map(|(name, good)| (ObjectKey::new(&self.namespace, *name), (*good).clone()));
        LastGood { backends: by_key.collect(), ..LastGood::default() }
    }

    fn stored(&self) -> Api<ControllerRevision> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The generations that are stored of anything here.
    async fn generations(&self) -> Vec<i64> {
        let stored = self.stored().list(&ListParams::default()).await.unwrap().items;
        let mut generations: Vec<_> = stored.into_iter().map(|revision| revision.revision).collect();
        generations.sort_unstable();
        generations
    }
}

fn good(uid: &str, generation: i64, spec: Value) -> Good<AgentBackendSpec> {
    let spec = serde_json::from_value(spec).unwrap();
    Good { uid: Uid(uid.to_owned()), generation: Generation(generation), spec }
}

/// The same object, one generation later.
fn edited(before: &Good<AgentBackendSpec>) -> Good<AgentBackendSpec> {
    let generation = before.generation.0 + 1;
    good(&before.uid.0, generation, json!({ "url": format!("https://edited.example/{generation}") }))
}

#[tokio::test]
async fn what_was_saved_is_found_again_by_another_process_and_a_newer_generation_takes_its_place() {
    let Some(cluster) = or_skip("saved revisions", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let (support, sales) = (place.backend("support", 1).await, place.backend("sales", 4).await);
    let first = place.last_good(&[("support", &support), ("sales", &sales)]);
    let mut revisions = place.revisions();
    assert_eq!(revisions.load().await.unwrap(), LastGood::default());
    revisions.save(&first).await.unwrap();
    assert_eq!(place.revisions().load().await.unwrap(), first);

    let newer = edited(&support);
    let second = place.last_good(&[("support", &newer), ("sales", &sales)]);
    revisions.save(&second).await.unwrap();
    assert_eq!(place.generations().await, [2, 4]);
    let mut another = place.revisions();
    assert_eq!(another.load().await.unwrap(), second);

    another.save(&place.last_good(&[("sales", &sales)])).await.unwrap();
    assert_eq!(place.generations().await, [4], "one that is not remembered any more is removed");
}

#[tokio::test]
async fn a_save_sends_only_the_difference() {
    let Some(cluster) = or_skip("the difference", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let (support, sales) = (place.backend("support", 1).await, place.backend("sales", 1).await);
    let both = place.last_good(&[("support", &support), ("sales", &sales)]);
    let mut revisions = place.revisions();
    revisions.save(&both).await.unwrap();
    let versions = async || {
        let stored = place.stored().list(&ListParams::default()).await.unwrap().items;
        stored
            .into_iter()
            .map(|revision| (revision.metadata.uid, revision.metadata.resource_version))
            .collect::<Vec<_>>()
    };
    let before = versions().await;
    revisions.save(&both).await.unwrap();
    let mut restarted = place.revisions();
    restarted.load().await.unwrap();
    restarted.save(&both).await.unwrap();
    assert_eq!(versions().await, before);
}

#[tokio::test]
async fn an_object_made_again_has_none_of_the_old_one_s() {
    let Some(cluster) = or_skip("an object made again", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let old = place.backend("support", 7).await;
    let mut revisions = place.revisions();
    revisions.save(&place.last_good(&[("support", &old)])).await.unwrap();

    place.backends().delete("support", &DeleteParams::default()).await.unwrap();
    let new = place.backend("support", 1).await;
    let loaded = place.revisions().load().await.unwrap();
    assert!(loaded.backends.values().all(|good| good.uid != new.uid), "{loaded:?}");

    // No garbage is collected here, so both stand, and the older object's has the higher generation.
    let wanted = place.last_good(&[("support", &new)]);
    revisions.save(&wanted).await.unwrap();
    assert_eq!(place.revisions().load().await.unwrap(), wanted);
    place.backends().delete("support", &DeleteParams::default()).await.unwrap();
    assert_eq!(place.revisions().load().await.unwrap(), LastGood::default(), "nobody lives under that name");
}

#[tokio::test]
async fn a_revision_goes_with_its_object_and_does_not_keep_it() {
    let Some(cluster) = or_skip("the owner of a revision", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let support = place.backend("support", 1).await;
    place.revisions().save(&place.last_good(&[("support", &support)])).await.unwrap();
    let stored = place.stored().list(&ListParams::default()).await.unwrap().items.remove(0);
    let [owner] = stored.metadata.owner_references.unwrap().try_into().unwrap();
    assert_eq!((owner.kind.as_str(), owner.uid), ("AgentBackend", support.uid.0));
    assert_eq!((owner.block_owner_deletion, owner.controller), (Some(false), None));
}

#[tokio::test]
async fn two_replicas_that_store_do_not_undo_each_other() {
    let Some(cluster) = or_skip("two replicas", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let support = place.backend("support", 1).await;
    let (first_good, second_good) = (support.clone(), edited(&support));
    let (mut first, mut second) = (place.revisions(), place.revisions());
    let same = place.last_good(&[("support", &first_good)]);
    let (one, other) = tokio::join!(first.save(&same), second.save(&same));
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
    assert_eq!(place.generations().await, [1]);

    let newer = place.last_good(&[("support", &second_good)]);
    second.save(&newer).await.unwrap();
    // One that woke up late and knows of the newer one does not remove it.
    first.load().await.unwrap();
    first.save(&same).await.unwrap();
    assert_eq!(place.revisions().load().await.unwrap(), newer);
}

#[tokio::test]
async fn what_cannot_be_stored_is_counted_and_tried_again() {
    let Some(cluster) = or_skip("rights that are missing", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let account = cluster.service_account(&place.namespace, "broker").unwrap();
    let (support, sales) = (place.backend("support", 1).await, place.backend("sales", 1).await);
    let both = place.last_good(&[("support", &support), ("sales", &sales)]);
    let mut revisions = Revisions::new(client_of(&account).await, &place.namespace);
    assert_eq!(revisions.load().await.unwrap_err().code(), Some(403));
    let unsaved = revisions.save(&both).await.unwrap_err();
    assert_eq!((unsaved.count, unsaved.first.code()), (2, Some(403)));

    let namespaced = format!("--namespace={}", place.namespace);
    let resource = "--resource=controllerrevisions.apps";
    cluster.kubectl().ok(&["create", "role", "store", "--verb=create", resource, &namespaced]).unwrap();
    let to = format!("--serviceaccount={}:broker", place.namespace);
    cluster.kubectl().ok(&["create", "rolebinding", "store", "--role=store", &to, &namespaced]).unwrap();
    // A new right counts once the API server has seen it itself.
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    while let Err(unsaved) = revisions.save(&both).await {
        assert!(tokio::time::Instant::now() < deadline, "{unsaved}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(place.revisions().load().await.unwrap(), both);
}

#[tokio::test]
async fn a_revision_that_cannot_be_read_hides_no_other() {
    let Some(cluster) = or_skip("an unreadable revision", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let support = place.backend("support", 1).await;
    let wanted = place.last_good(&[("support", &support)]);
    place.revisions().save(&wanted).await.unwrap();
    let mut copy = place.stored().list(&ListParams::default()).await.unwrap().items.remove(0);
    for (name, data) in [("newer-program", json!({ "uid": support.uid, "spec": { "url": 7 } })), ("damaged", json!({}))]
    {
        copy.metadata.name = Some(name.to_owned());
        (copy.metadata.resource_version, copy.metadata.uid, copy.revision) = (None, None, 9);
        copy.data.as_mut().unwrap().0 = data;
        place.stored().create(&PostParams::default(), &copy).await.unwrap();
    }
    assert_eq!(place.revisions().load().await.unwrap(), wanted);
}

#[tokio::test]
async fn a_store_of_more_than_one_page_is_read_whole() {
    let Some(cluster) = or_skip("pages", Cluster::shared()) else { return };
    let place = Place::new(cluster).await;
    let names: Vec<String> = (0..520).map(|number| format!("backend-{number}")).collect();
    let made = stream::iter(&names).map(|name| place.backend(name, 1)).buffered(8).collect::<Vec<_>>().await;
    let pairs: Vec<_> = names.iter().map(String::as_str).zip(&made).collect();
    let wanted = place.last_good(&pairs);
    let started = std::time::Instant::now();
    place.revisions().save(&wanted).await.unwrap();
    println!("520 revisions stored in {:?}", started.elapsed());
    assert_eq!(place.revisions().load().await.unwrap(), wanted);
}
