//! Servers that refuse, prune or hang.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::*;

/// The time of a call, plus what a busy machine needs to notice.
const DEADLINE_NOTICED: Duration = Duration::from_secs(7);
/// Half the time of a call, in which the server does not even begin with it.
const NOT_BEGUN: Duration = Duration::from_millis(2500);

#[tokio::test(flavor = "multi_thread")]
async fn a_binding_that_may_not_be_written_and_one_that_cannot_be_delay_no_other() {
    let Some(cluster) = or_skip("one of many", Cluster::shared()) else { return };
    cluster.crds().unwrap();
    let namespace = cluster.namespace().unwrap();
    let bindings = Bindings::new(cluster.kubeconfig(), &namespace).await;
    for name in ["forbidden", "full", "a", "b", "c"] {
        bindings.make(name).await;
    }
    fill(&bindings, "full").await;
    let kubeconfig = cluster.service_account(&namespace, "writer").unwrap();
    cluster.kubectl().apply(&rights(&namespace)).unwrap();
    let leader = Leader::begin(&bindings, client_of(&kubeconfig).await, pace());
    for name in ["forbidden", "full", "a", "b", "c"] {
        leader.say(name, ok(1));
    }
    for name in ["a", "b", "c"] {
        until("the others are written", async || bindings.ready(name, "status").await == "True").await;
    }
    // Nor does the missing right to send Events: one was tried, and the rest left.
    until("the refused ones are tried again", async || leader.writes().len() >= 7).await;
    let changed = leader.results().iter().filter(|result| **result == WriteResult::Changed).count();
    let errors = leader.results().iter().filter(|result| **result == WriteResult::Error).count();
    assert!(changed == 3 && errors >= 4, "{:?}", leader.results());
    assert_eq!(bindings.ready("forbidden", "status").await, "");
    until("three Events are lost", async || leader.count(Observation::EventLost) == 3).await;
    cluster.kubectl().ok(&["delete", "role", "writer", "--namespace", &namespace]).unwrap();
}

/// May write all of these Bindings' statuses but one.
fn rights(namespace: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: List, items: [
          {{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: writer, namespace: {namespace}}},
            rules: [{{apiGroups: [agentkourier.io], resources: [bindings/status], resourceNames: [full, a, b, c], verbs: [patch]}}]}},
          {{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: writer, namespace: {namespace}}},
            subjects: [{{kind: ServiceAccount, name: writer, namespace: {namespace}}}],
            roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: writer}}}}]}}"
    )
}

/// Somebody fills the list up to what the CRD allows: no write of ours passes, whose types come on top.
async fn fill(bindings: &Bindings, name: &str) {
    let condition = |number| {
        json!({"type": format!("example.com/Filler{number}"), "status": "True", "reason": "Full", "message": "",
               "lastTransitionTime": "2020-01-01T00:00:00Z"})
    };
    let conditions: Vec<_> = (0..32).map(condition).collect();
    let applied =
        json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding", "status": {"conditions": conditions}});
    bindings.api.patch_status(name, &PatchParams::apply("filler"), &Patch::Apply(applied)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_older_crd_does_not_keep_is_written_again_when_the_crd_has_it() {
    let Some(cluster) = or_skip("an older CRD", Cluster::start()) else { return };
    cluster.crds().unwrap();
    let crd = "bindings.agentkourier.io";
    let fields = "/spec/versions/0/schema/openAPIV3Schema/properties";
    let newer = cluster.kubectl().ok(&["get", "crd", crd, "--output=json"]).unwrap();
    let newer: serde_json::Value = serde_json::from_str(&newer).unwrap();
    let change = |to: &serde_json::Value| {
        let patch = json!([{"op": "replace", "path": fields, "value": to}]).to_string();
        cluster.kubectl().ok(&["patch", "crd", crd, "--type=json", "--patch", &patch]).unwrap();
    };
    let newer = newer.pointer(fields).unwrap();
    change(&older(newer));
    let (bindings, leader) = begun(&cluster).await;
    // A changed schema is served a moment after it was taken.
    until("the older schema is served", async || observed_generation(&bindings).await.is_none()).await;

    leader.say("one", ok(1));
    until("it is written without the field", async || bindings.ready("one", "status").await == "True").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(leader.results(), [WriteResult::Changed]);
    assert_eq!(leader.count(Observation::Pruned), 1);
    assert_eq!(bindings.status("one").await.to_string().matches("observedGeneration").count(), 0);

    change(newer);
    until("the newer schema is served", async || {
        bindings.make("probe").await;
        let probe = bindings.get("probe").await;
        bindings.api.delete("probe", &kube::api::DeleteParams::default()).await.unwrap();
        probe.data["status"]["observedGeneration"] == -1
    })
    .await;
    leader.schema("newer");
    until("the field is written", async || observed_generation(&bindings).await == Some(1)).await;
    until("its answer is there", async || leader.writes().len() >= 2).await;
    assert_eq!(leader.results(), [WriteResult::Changed; 2]);
    assert_eq!((leader.count(Observation::PutBack), leader.count(Observation::Pruned)), (0, 1));
    assert_eq!(bindings.status("one").await.to_string().matches("observedGeneration").count(), 5);
}

/// A schema that knows of no generation that was observed, and lacks a field of the spec as well.
fn older(newer: &serde_json::Value) -> serde_json::Value {
    let mut older = newer.clone();
    let mut take =
        |at: &str, field: &str| older.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(field).unwrap();
    take("/status", "default");
    take("/status/properties", "observedGeneration");
    take("/status/properties/conditions/items/properties", "observedGeneration");
    take("/spec/properties/agent/properties", "path");
    older
}

async fn observed_generation(bindings: &Bindings) -> Option<i64> {
    bindings.status("one").await["observedGeneration"].as_i64()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_hangs_ends_a_write_by_its_deadline() {
    let Some(cluster) = or_skip("a hanging server", Cluster::start()) else { return };
    let (bindings, leader) = settled(&cluster).await;
    cluster.server().unwrap().freeze().unwrap();
    leader.say("one", unreachable(1));
    until("the write ends", async || leader.writes().len() == 2).await;
    let write = leader.writes()[1];
    assert_eq!(write.result, WriteResult::Timeout);
    let took = write.end - write.begin;
    assert!(took >= NOT_BEGUN && took < DEADLINE_NOTICED, "{took:?}");
    cluster.server().unwrap().thaw().unwrap();
    until("it is written in the end", async || bindings.ready("one", "status").await == "False").await;
}
