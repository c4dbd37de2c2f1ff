//! What a replica learns when it begins to lead.

use std::sync::Arc;
use std::time::Duration;

use agent_kourier::components::Components;
use agent_kourier::judge::{Judge, Judgement};
use agent_kourier::leader::Leadership;
use agent_kourier::metrics::Metrics;
use agent_kourier::pulse::Pulse;
use agent_kourier::source::Reading;
use agent_kourier::store::LastGoodStore;
use kourier_core::accept::{Good, LastGood, Rules};
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::object::AgentBackendSpec;
use kourier_core::snapshot::{Meta, Object, Problem, Snapshot};
use kourier_core::time::Timestamp;
use kourier_kube::client::{Access, client};
use kourier_kube::lease::Claim;
use kourier_kube::revisions::Revisions;
use serde_json::{Value, json};
use suite::cluster::World;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

/// The longest that anything here may take to happen.
const DEADLINE: Duration = Duration::from_secs(60);

/// An AgentBackend as a standby has it: it saw the third generation, which is wrong, and never the second.
fn reading(uid: &str, key: &ObjectKey) -> Reading {
    let meta = Meta { key: key.clone(), uid: Uid(uid.to_owned()), generation: Generation(3), created: Timestamp(1) };
    let object = Object { meta, spec: Err(vec![Problem::new("spec.url", "is no URL")]) };
    Reading { snapshot: Snapshot { backends: vec![object], ..Snapshot::default() }, ..Reading::default() }
}

/// The second generation, which the leader before it took.
fn second(uid: &str, key: &ObjectKey) -> LastGood {
    let spec: AgentBackendSpec = serde_json::from_value(json!({"url": "https://agents.example"})).unwrap();
    let good = Good { uid: Uid(uid.to_owned()), generation: Generation(2), spec };
    LastGood { backends: [(key.clone(), good)].into(), ..LastGood::default() }
}

#[test]
fn a_standby_that_begins_to_lead_first_learns_which_generations_its_predecessor_saw() {
    let test = "a_standby_that_begins_to_lead_first_learns_which_generations_its_predecessor_saw";
    let Some(world) = World::or_skip(test) else { return };
    let text = world.kubectl(&["get", "akbackend", "agents", "--output=json"]);
    let uid = serde_json::from_str::<Value>(&text).unwrap()["metadata"]["uid"].as_str().unwrap().to_owned();
    world.runtime.block_on(async {
        let access = Access { kubeconfig: Some(world.admin()), context: None };
        let client = client(&access).await.unwrap();
        let revisions = || Revisions::new(client.clone(), &world.broker);
        let key = ObjectKey::new(&*world.namespace, "agents");

        let (elect, claims) = watch::channel(None);
        let (leadership, preparation) = Leadership::elected(claims);
        let (revised, preparation) = (Arc::new(Mutex::new(revisions())), Arc::new(preparation));
        let judge = Judge {
            rules: Rules { broker: world.broker.clone(), platforms: [].into(), single_label_hosts: false },
            store: LastGoodStore::Cluster { revisions: revised, leadership: leadership.clone(), preparation },
            metrics: Arc::new(Metrics::new(&Components::default())),
            pulse: Pulse::default(),
        };
        let (_readings, read) = watch::channel(Arc::new(reading(&uid, &key)));
        let ((judgements, mut judged), (accepted, _)) = (watch::channel(None), watch::channel(Arc::default()));
        let judging = tokio::spawn(judge.run(read, judgements, accepted, std::future::pending()));

        let knows = |judged: &Option<Arc<Judgement>>| {
            let accepted = &judged.as_ref()?.accepted;
            Some(accepted.last_good.backends.get(&key).map(|good| good.generation.0))
        };
        let first = tokio::time::timeout(DEADLINE, judged.wait_for(|judged| knows(judged).is_some())).await;
        assert_eq!(knows(&first.unwrap().unwrap()), Some(None), "nothing good is known of it");

        revisions().save(&second(&uid, &key)).await.unwrap();
        elect.send_replace(Some(Claim { until: Instant::now() + DEADLINE, term: 1 }));
        assert_eq!(leadership.left(), None, "it is elected, and not prepared yet");
        let prepared = judged.wait_for(|judged| knows(judged) == Some(Some(2)));
        tokio::time::timeout(DEADLINE, prepared).await.expect("it knows the second generation").unwrap();
        let leads = async {
            while leadership.left().is_none() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(DEADLINE, leads).await.expect("it leads");
        // In its next term it has to learn anew what happened in between.
        elect.send_replace(Some(Claim { until: Instant::now() + DEADLINE, term: 2 }));
        assert_eq!(leadership.left(), None);
        judging.abort();
    });
}
