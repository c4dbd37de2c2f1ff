//! Follows all objects of the three kinds, and publishes them as one [`View`], of which the latest one counts.
//!
//! Each kind is listed once and then watched: by its own loop, so that one that may not be read, or whose CRD is not
//! there, holds back no other. The loops keep one cache, and a view of it is published at most each 100 ms. There is no
//! view before all three kinds were listed: a Binding whose AgentBackend was not read yet would look refused.
//!
//! A watch can be silent for ever without an error: when its peer is gone, and when the API server was restored from a
//! backup and has yet to reach the version from which it is watched. So no watch is open for longer than a minute, each
//! later one begins with a look at the server's present version, and whoever finds out from an answer that an object is
//! not what the view says may ask for a look at it ([`Refresh`]).
//!
//! What is absent: a queue, and any opinion on what a spec says.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::object::{GROUP, VERSION};
use kube::Client;
use kube::core::Request;
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, watch};

use crate::observe::{Observation, Observer};
use crate::view::View;

mod cache;
mod course;
mod schema;
mod stored;
mod suspicion;

use cache::Cache;
use course::Course;

/// How often and how patiently objects are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// For how long one watch is open, in whole seconds. 60 s: a peer that died is noticed after no longer.
    pub watch: Duration,
    /// How much longer than `watch` a watch may be silent. 5 s: the API server ends it by itself before.
    pub patience: Duration,
    /// How long a page of a list may take. 30 s: one may have several MB.
    pub list: Duration,
    /// Objects on a page of a list. 500, as other clients have it.
    pub page: u32,
    /// From one view to the next. 100 ms: a change of a thousand objects is not a thousand views.
    pub batch: Duration,
    /// The wait after a failure, twice as long with each further one. 500 ms.
    pub backoff: Duration,
    /// The longest wait after failures. 30 s: an installed CRD or a granted right is noticed as fast.
    pub cap: Duration,
    /// How long a watch may take to tell what an object is that was looked at. 2 s.
    pub grace: Duration,
    /// From one look at the CRDs' schema to the next. 1 min.
    pub schema: Duration,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            watch: Duration::from_secs(60),
            patience: Duration::from_secs(5),
            list: Duration::from_secs(30),
            page: 500,
            batch: Duration::from_millis(100),
            backoff: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            schema: Duration::from_secs(60),
        }
    }
}

/// Follows all objects of the three kinds.
pub struct Objects {
    hub: Arc<Hub>,
    views: watch::Sender<Option<Arc<View>>>,
}

/// Asks for a look at objects that seem not to be what the view says. Clones ask the same loop.
#[derive(Clone)]
pub struct Refresh {
    hub: Arc<Hub>,
}

/// What the loops share.
struct Hub {
    client: Client,
    observer: Observer,
    rhythm: Rhythm,
    cache: Mutex<Cache>,
    /// The cache is not what was published.
    dirty: Notify,
    /// A kind was listed: the CRDs may be others.
    listed: Notify,
    /// Changed when all watches are to begin with a list.
    anew: watch::Sender<()>,
    suspects: Mutex<BTreeSet<ObjectKey>>,
    suspicion: Notify,
}

impl Objects {
    /// The objects that `client` sees. Nothing is asked before [`run`](Self::run).
    #[must_use]
    pub fn new(client: Client, rhythm: Rhythm, observer: Observer) -> Self {
        let hub = Hub {
            client,
            observer,
            rhythm,
            cache: Mutex::default(),
            dirty: Notify::new(),
            listed: Notify::new(),
            anew: watch::Sender::new(()),
            suspects: Mutex::default(),
            suspicion: Notify::new(),
        };
        Self { hub: Arc::new(hub), views: watch::Sender::new(None) }
    }

    /// The views: none before each kind was listed once.
    #[must_use]
    pub fn views(&self) -> watch::Receiver<Option<Arc<View>>> {
        self.views.subscribe()
    }

    /// For whoever finds out that the view is wrong.
    #[must_use]
    pub fn refresh(&self) -> Refresh {
        Refresh { hub: Arc::clone(&self.hub) }
    }

    /// Follows the objects until `shutdown` ends.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let hub = &*self.hub;
        let [bindings, backends, connections] = Kind::ALL.map(|kind| Course::new(hub, kind).follow());
        tokio::select! {
            () = shutdown => {}
            never = bindings => match never {},
            never = backends => match never {},
            never = connections => match never {},
            never = schema::follow(hub) => match never {},
            never = suspicion::follow(hub) => match never {},
            never = publish(hub, &self.views) => match never {},
        }
    }
}

impl Refresh {
    /// The API server answered that the Binding `key` is not at the version that the view has, again and again: it is
    /// looked at, and if the watch does not tell what is so by then, everything is listed anew. It does not wait.
    pub fn suspect(&self, key: &ObjectKey) {
        self.hub.suspects().insert(key.clone());
        self.hub.suspicion.notify_one();
    }
}

impl Hub {
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn suspects(&self) -> MutexGuard<'_, BTreeSet<ObjectKey>> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the cache. `change` says whether it did.
    fn change(&self, change: impl FnOnce(&mut Cache) -> bool) {
        if change(&mut self.cache()) {
            self.dirty.notify_one();
        }
    }

    fn observe(&self, observation: Observation) {
        (self.observer)(observation);
    }
}

async fn publish(hub: &Hub, views: &watch::Sender<Option<Arc<View>>>) -> Infallible {
    loop {
        hub.dirty.notified().await;
        let view = hub.cache().view();
        if let Some(view) = view {
            views.send_replace(Some(Arc::new(view)));
            tokio::time::sleep(hub.rhythm.batch).await;
        }
    }
}

/// Reads an answer. One that cannot be read is not logged, as the client would: it may be anything, and of any length.
async fn parsed<T: DeserializeOwned>(text: impl Future<Output = kube::Result<String>>) -> kube::Result<T> {
    serde_json::from_str(&text.await?).map_err(kube::Error::SerdeError)
}

/// The objects of this kind, in one namespace or in all.
pub(crate) fn collection(kind: Kind, namespace: Option<&str>) -> Request {
    let namespace = namespace.map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    Request::new(format!("/apis/{GROUP}/{VERSION}{namespace}/{}", kind.plural()))
}
