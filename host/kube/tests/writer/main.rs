//! The writer against a real API server: what a fake one would only repeat of what its author believes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use kourier_kube::observe::{Observation, WriteResult};
use kourier_test_cluster::{Cluster, or_skip};

mod faults;
mod fences;
mod others;
mod world;

use world::{Bindings, Leader, client_of, ok, pace, unreachable, until};

/// A leader of one Binding, `one`, in a namespace of its own, whose status is written.
async fn settled(cluster: &Cluster) -> (Bindings, Leader) {
    let (bindings, leader) = begun(cluster).await;
    leader.say("one", ok(1));
    until("the status is written", async || bindings.ready("one", "status").await == "True").await;
    until("the leader sees it", async || leader.is_up_to_date(&bindings, "one").await).await;
    (bindings, leader)
}

/// A leader that has nothing to say yet, and a Binding `one` in a namespace of its own.
async fn begun(cluster: &Cluster) -> (Bindings, Leader) {
    cluster.crds().unwrap();
    let namespace = cluster.namespace().unwrap();
    let bindings = Bindings::new(cluster.kubeconfig(), &namespace).await;
    bindings.make("one").await;
    let leader = Leader::begin(&bindings, bindings.client.clone(), pace());
    until("the leader sees the Binding", async || leader.is_up_to_date(&bindings, "one").await).await;
    (bindings, leader)
}
