//! Others who write the same status.

use std::collections::BTreeSet;
use std::time::Instant;

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_edit_is_put_back_once_with_the_times_that_were() {
    let Some(cluster) = or_skip("a foreign edit", Cluster::shared()) else { return };
    let (bindings, leader) = settled(cluster).await;
    let meant = bindings.status("one").await;
    // Times have whole seconds: a new one would be another.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    bindings.vandalise("one", "vandal").await;
    until("it is put back", async || bindings.status("one").await == meant).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(leader.results(), [WriteResult::Changed; 2]);
    assert_eq!((leader.count(Observation::PutBack), leader.count(Observation::Fight)), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_each_moment_is_a_fight_that_names_its_managers_and_slows_down_to_the_cap() {
    let Some(cluster) = or_skip("a fight", Cluster::shared()) else { return };
    let (bindings, leader) = settled(cluster).await;
    let (mut managers, started) = (BTreeSet::new(), Instant::now());
    while leader.count(Observation::PutBack) < 6 {
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", leader.writes());
        if bindings.ready("one", "reason").await == "OK" {
            bindings.vandalise("one", "vandal").await;
        }
        managers.extend(leader.managers("one"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(leader.count(Observation::Fight), 1);
    assert_eq!(managers, BTreeSet::from(["vandal".to_owned()]));
    let writes = leader.writes();
    // The first write, three put-backs a gap apart, and from then on the cap.
    let pauses: Vec<_> = writes.iter().zip(writes.iter().skip(1)).map(|(one, next)| next.begin - one.end).collect();
    assert!(pauses[..3].iter().all(|pause| *pause < Duration::from_millis(1400)), "{pauses:?}");
    assert!(pauses[3..].iter().all(|pause| *pause >= Duration::from_millis(1499)), "{pauses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_of_somebody_else_s_own_type_survives_our_writes() {
    let Some(cluster) = or_skip("a foreign type", Cluster::shared()) else { return };
    let (bindings, leader) = settled(cluster).await;
    let condition = json!({
        "type": "example.com/Audited", "status": "True", "reason": "Audited", "message": "",
        "lastTransitionTime": "2020-01-01T00:00:00Z", "observedGeneration": 1,
    });
    let applied = json!({
        "apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding", "status": {"conditions": [condition]},
    });
    let params = PatchParams::apply("auditor");
    bindings.api.patch_status("one", &params, &Patch::Apply(applied)).await.unwrap();
    leader.say("one", unreachable(1));
    until("our change is written", async || bindings.ready("one", "status").await == "False").await;
    let status = bindings.status("one").await;
    let of_type =
        |wanted: &str| status["conditions"].as_array().unwrap().iter().filter(|c| c["type"] == wanted).count();
    assert_eq!((of_type("example.com/Audited"), of_type("Ready")), (1, 1), "{status}");
    assert!(status["conditions"].as_array().unwrap().contains(&condition));
    assert_eq!(leader.count(Observation::PutBack), 0, "it is nothing to put back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transition_shows_as_an_event_with_the_words_of_the_status() {
    let Some(cluster) = or_skip("an Event", Cluster::shared()) else { return };
    let (bindings, leader) = settled(cluster).await;
    leader.say("one", unreachable(1));
    until("our change is written", async || bindings.ready("one", "status").await == "False").await;
    let namespace = bindings.get("one").await.metadata.namespace.unwrap();
    let list = || {
        let said =
            cluster.kubectl().ok(&["get", "events.events.k8s.io", "--namespace", &namespace, "--output=json"]).unwrap();
        serde_json::from_str::<Value>(&said).unwrap()["items"].as_array().cloned().unwrap()
    };
    until("two Events", async || list().len() == 2).await;
    let mut told: Vec<_> = list()
        .iter()
        .map(|event| ["type", "reason", "note"].map(|member| event[member].as_str().unwrap().to_owned()).join(" "))
        .collect();
    told.sort();
    let expected = [
        "Normal Ready The agent answers with a usable card and the bot is in the channel.",
        "Warning BackendReachable:Unreachable The agent does not answer.",
    ];
    assert_eq!(told, expected);
    let described = cluster.kubectl().ok(&["describe", "akbinding", "one", "--namespace", &namespace]).unwrap();
    assert!(described.contains("BackendReachable:Unreachable"), "{described}");
    assert_eq!(leader.count(Observation::EventLost), 0);
}
