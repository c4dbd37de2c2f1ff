//! What keeps writes apart: versions, gaps, and what stands already.

use futures::StreamExt as _;
use kube::api::{DeleteParams, Patch, PatchParams, WatchParams};
use kube::core::WatchEvent;
use serde_json::json;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_write_with_an_old_version_is_refused_and_nothing_changes() {
    let Some(cluster) = or_skip("an old version", Cluster::shared()) else { return };
    let (bindings, leader) = settled(cluster).await;
    leader.be_blind(true);
    let label = json!({"metadata": {"labels": {"touched": "yes"}}});
    let touched = bindings.api.patch("one", &PatchParams::default(), &Patch::Merge(label)).await.unwrap();
    leader.say("one", unreachable(1));
    until("the write is refused", async || leader.results().contains(&WriteResult::Stale)).await;
    assert_eq!(bindings.get("one").await, touched);
    leader.be_blind(false);
    until("it is written at the newer version", async || bindings.ready("one", "status").await == "False").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_leader_s_late_write_never_lands_on_an_object_made_again() {
    let Some(cluster) = or_skip("an object made again", Cluster::shared()) else { return };
    let (bindings, old) = settled(cluster).await;
    old.be_blind(true);
    bindings.api.delete("one", &DeleteParams::default()).await.unwrap();
    old.say("one", unreachable(1));
    until("there is none to write to", async || old.results().contains(&WriteResult::Stale)).await;
    bindings.make("one").await;
    let fresh = bindings.get("one").await;
    // After its patience it tries again: now there is an object of that name.
    let before = old.writes().len();
    until("it tries again", async || old.writes().len() > before).await;
    assert_eq!(old.results().last(), Some(&WriteResult::Stale));
    assert_eq!(bindings.get("one").await, fresh);
    assert_eq!(fresh.data["status"], json!({"observedGeneration": -1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_is_not_written_again_and_no_watch_sees_an_event() {
    let Some(cluster) = or_skip("no event", Cluster::shared()) else { return };
    let (bindings, leader) = settled(cluster).await;
    let version = bindings.get("one").await.metadata.resource_version.unwrap();
    // 60 looks and more; a leader that begins anew is among them.
    let next = Leader::begin(&bindings, bindings.client.clone(), pace());
    next.say("one", ok(1));
    let events = bindings.api.watch(&WatchParams::default().timeout(3), &version).await.unwrap();
    let seen: Vec<_> = events.collect().await;
    let changes: Vec<_> = seen.iter().filter(|event| !matches!(event, Ok(WatchEvent::Bookmark(_)))).collect();
    assert!(changes.is_empty(), "{changes:?}");
    assert_eq!(leader.results(), [WriteResult::Changed]);
    assert_eq!(next.results(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_two_writes_of_one_binding_are_within_the_gap_of_the_end_of_the_first() {
    let Some(cluster) = or_skip("the gap", Cluster::shared()) else { return };
    let (_bindings, leader) = settled(cluster).await;
    let mut generation = 1;
    let started = std::time::Instant::now();
    while leader.writes().len() < 8 {
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", leader.writes());
        generation += 1;
        leader.say("one", if generation % 2 == 0 { unreachable(generation) } else { ok(generation) });
        tokio::time::sleep(Duration::from_millis(70)).await;
    }
    let writes = leader.writes();
    for (one, next) in writes.iter().zip(writes.iter().skip(1)) {
        let pause = next.begin - one.end;
        assert!(pause >= Duration::from_millis(299), "{pause:?} of 300 ms");
    }
}
