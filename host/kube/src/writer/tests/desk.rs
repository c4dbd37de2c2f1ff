//! What the tests of the writer have in common: assessments, a broker's cases, and a writer at work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use kourier_core::condition::{Assessment, Finding};
use kourier_core::id::{Generation, Uid};
use kourier_core::message::Message;
use kourier_core::plan::Version;
use kourier_core::reason::{AcceptedReason, BackendReason, ChannelReason, ReadyReason};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::api::standing;
use crate::script::Server;

/// A broker and the scripted server that it writes to: its watch is never behind.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) server: Server,
    says: Arc<Mutex<BTreeMap<ObjectKey, Assessment>>>,
    observed: Arc<Mutex<Vec<Observation>>>,
    pub(super) suspects: Arc<Mutex<Vec<String>>>,
    /// Until when it leads, in milliseconds after `origin`.
    claim: Arc<AtomicU64>,
    term: Arc<AtomicU64>,
    origin: Instant,
    /// The watch shows the objects as they were when this was set.
    frozen: Arc<Mutex<Option<BTreeMap<String, Value>>>>,
}

/// A year, in milliseconds.
const FOR_EVER: u64 = 365 * 24 * 3600 * 1000;

/// A writer at work.
pub(super) struct AtWork {
    stop: Option<oneshot::Sender<()>>,
    pub(super) task: JoinHandle<()>,
}

impl AtWork {
    pub(super) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
}

impl Desk {
    /// A leader of these Bindings, with all well.
    pub(super) fn new(names: &[&str]) -> Self {
        let desk = Self {
            server: Server::new(),
            says: Arc::default(),
            observed: Arc::default(),
            suspects: Arc::default(),
            claim: Arc::new(AtomicU64::new(FOR_EVER)),
            term: Arc::new(AtomicU64::new(1)),
            origin: Instant::now(),
            frozen: Arc::default(),
        };
        for name in names {
            desk.server.make(name);
            desk.say(name, ok(1));
        }
        desk
    }

    pub(super) fn say(&self, name: &str, assessment: Assessment) {
        self.says.lock().unwrap().insert(key(name), assessment);
    }

    /// It leads for so long from now on.
    pub(super) fn lead_for(&self, time: Duration) {
        let until = (self.origin.elapsed() + time).as_millis();
        self.claim.store(u64::try_from(until).unwrap(), Ordering::Relaxed);
    }

    /// It leads in this term from now on.
    pub(super) fn begin_term(&self, term: u64) {
        self.term.store(term, Ordering::Relaxed);
    }

    /// The watch shows nothing new any more.
    pub(super) fn freeze(&self) {
        *self.frozen.lock().unwrap() = Some(self.server.records().objects.clone());
    }

    /// How writes ended.
    pub(super) fn results(&self) -> Vec<WriteResult> {
        let result = |observation: &Observation| match observation {
            Observation::Write { result, .. } => Some(*result),
            _ => None,
        };
        self.observed.lock().unwrap().iter().filter_map(result).collect()
    }

    pub(super) fn count(&self, observation: Observation) -> usize {
        self.observed.lock().unwrap().iter().filter(|other| **other == observation).count()
    }

    pub(super) fn start(&self, pace: Pace) -> AtWork {
        let (observed, suspects, desk) = (Arc::clone(&self.observed), Arc::clone(&self.suspects), self.clone());
        let observer: Observer = Arc::new(move |observation| observed.lock().unwrap().push(observation));
        let writer = Writer {
            client: self.server.client(),
            pace,
            observer: Arc::clone(&observer),
            events: Some(Events::new(self.server.client(), "pod", observer)),
            suspect: Arc::new(move |key| suspects.lock().unwrap().push(key.name.clone())),
        };
        let leads = move || {
            let until = desk.origin + Duration::from_millis(desk.claim.load(Ordering::Relaxed));
            Some(Claim { until, term: desk.term.load(Ordering::Relaxed) })
        };
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { stopped.await.unwrap_or_default() };
        AtWork { stop: Some(stop), task: tokio::spawn(writer.run(self.clone(), leads, shutdown)) }
    }
}

impl Cases for Desk {
    fn all(&self) -> Arc<AllCases> {
        let keys: Vec<_> = self.says.lock().unwrap().keys().cloned().collect();
        Arc::new(keys.into_iter().filter_map(|key| Some((key.clone(), self.one(&key)?))).collect())
    }

    fn one(&self, key: &ObjectKey) -> Option<Arc<Case>> {
        let objects = self.frozen.lock().unwrap().clone().unwrap_or_else(|| self.server.records().objects.clone());
        let object = objects.get(&key.name)?;
        Some(Arc::new(Case {
            uid: Uid(object["metadata"]["uid"].as_str()?.to_owned()),
            version: Version(object["metadata"]["resourceVersion"].as_str()?.to_owned()),
            standing: object.get("status").map(standing::read).unwrap_or_default(),
            managers: BTreeSet::from(["kubectl-edit".to_owned()]),
            assessment: self.says.lock().unwrap().get(key)?.clone(),
        }))
    }

    fn schema(&self) -> String {
        "1".to_owned()
    }
}

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::new("team-a", name)
}

fn finding<R>(reason: R, message: &str, generation: i64) -> Finding<R> {
    Finding { reason, message: Message::new(message), observed_generation: Generation(generation) }
}

/// All is well with this generation.
pub(super) fn ok(generation: i64) -> Assessment {
    Assessment::Served {
        accepted: finding(AcceptedReason::Ok, "", generation),
        backend: finding(BackendReason::Ok, "", generation),
        channel: finding(ChannelReason::Ok, "", generation),
        ready: finding(ReadyReason::Ok, "", generation),
    }
}

/// The agent of this generation does not answer.
pub(super) fn unreachable(generation: i64) -> Assessment {
    let reason = BackendReason::Unreachable;
    Assessment::Served {
        accepted: finding(AcceptedReason::Ok, "", generation),
        backend: finding(reason, "no answer", generation),
        channel: finding(ChannelReason::Ok, "", generation),
        ready: finding(ReadyReason::Backend(reason), "no answer", generation),
    }
}
