//! The parts of a broker whose objects are in a cluster.
//!
//! ```text
//! objects -> source -> judge --> prober -> statuses -> writer
//!    |                   |                  ^  ^
//!    |                   +------------------+  |
//!    +-----------------------------------------+--> board -> admin
//! ```
//!
//! Every replica reads and accepts. The prober and the writer live as long as one term of leadership.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::FutureExt;
use kourier_core::accept::Accepted;
use kourier_kube::client::{self, Access, ApiError, Client, Server};
use kourier_kube::events::Events;
use kourier_kube::lease::{self, Candidacy, Elections, lease_name};
use kourier_kube::objects::{Objects, Refresh, Rhythm};
use kourier_kube::observe::{Observation, Observer};
use kourier_kube::revisions::Revisions;
use kourier_kube::secrets::{SecretCache, SecretRhythm};
use kourier_kube::view::View;
use kourier_kube::writer::{AllCases, Cases, Writer};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::admin::Admin;
use crate::app::{Parts, Tasks, end};
use crate::board;
use crate::clock;
use crate::components::Listing;
use crate::config::{Settings, StoreKind};
use crate::judge::{Judge, Judgement};
use crate::leader::{Leader, Leadership, Preparation};
use crate::metrics::Metrics;
use crate::prober::Prober;
use crate::pulse::Pulse;
use crate::secrets::Secrets;
use crate::source::crds;
use crate::statuses::Statuses;
use crate::store::LastGoodStore;

/// How long the API server's name is looked up at the start.
const LOOKUP: Duration = Duration::from_secs(5);

/// Starts every part.
pub(super) async fn start(
    settings: Settings,
    listener: TcpListener,
    told: &watch::Receiver<bool>,
) -> anyhow::Result<Tasks> {
    let (server, writes) =
        server(settings.kubernetes.clone()).await.context("config.source: crds needs an API server")?;
    let parts = Arc::new(Parts::new(settings, addresses(&server).await).await?);
    let observer = observer(Arc::clone(&parts.metrics));
    let identity = identity();
    let objects = Objects::new(server.client.clone(), Rhythm::default(), Arc::clone(&observer));
    let (views, refresh) = (objects.views(), objects.refresh());
    let (leadership, election) = elect(&parts.settings, &server, &identity, &observer)?;
    let (elections, preparation) = election.unzip();
    let store = store(&parts, &server, (&leadership, preparation)).await?;
    let secrets = Arc::new(Secrets::of_cluster(SecretCache::new(server.client.clone(), SecretRhythm::default())));

    let (judging, probing, showing) = (Pulse::default(), Pulse::default(), Pulse::default());
    let (send_judgements, judgements) = watch::channel(None);
    let (send_accepted, accepted) = watch::channel(Arc::default());
    let (send_results, results) = watch::channel(Arc::default());
    let (send_boards, boards) = watch::channel(None);
    let pulses = vec![("judge", judging.clone()), ("prober", probing.clone()), ("board", showing.clone())];
    let metrics = Arc::clone(&parts.metrics);
    let admin =
        Admin { boards, metrics: Arc::clone(&metrics), components: Arc::new(Listing::of(&parts.components)), pulses };
    judging.rest();
    let judge = Judge { rules: parts.rules(false), store, metrics: Arc::clone(&metrics), pulse: judging };
    let statuses = Statuses::new(views.clone(), judgements.clone(), results);
    let led = led(leadership.clone(), statuses.clone());
    let leader = Leader {
        writer: writer(&parts.settings, (&server, writes), (&identity, &observer), refresh),
        prober: prober(Arc::clone(&parts), Arc::clone(&secrets), probing.clone()),
        pulse: probing,
        results: send_results,
        leadership,
        elections,
        statuses,
        accepted,
        secrets,
    };

    let mut tasks = Tasks::new();
    tasks.spawn(admin.serve(listener, end(told)).map(|()| "admin port"));
    tasks.spawn(objects.run(end(told)).map(|()| "watch of the objects"));
    tasks.spawn(judged(judge, views.clone(), (send_judgements, send_accepted), told.clone()).map(|()| "judge"));
    let showing = (metrics, showing);
    tasks.spawn(board::run_beside_cluster((views, judgements), led, send_boards, showing, end(told)).map(|()| "board"));
    tasks.spawn(leader.run(end(told)).map(|()| "leader"));
    Ok(tasks)
}

/// The API server, and the way of a leader's writes. Reading a kubeconfig, and its plugins, may block.
async fn server(access: Access) -> Result<(Server, Client), ApiError> {
    let runtime = Handle::current();
    clock::blocking(move || {
        let server = runtime.block_on(client::server(&access))?;
        // It needs the runtime for its connections.
        let _on = runtime.enter();
        let writes = server.writes()?;
        Ok((server, writes))
    })
    .await
}

/// Judges what is read, from the first view on.
async fn judged(
    judge: Judge,
    views: watch::Receiver<Option<Arc<View>>>,
    (judgements, accepted): (watch::Sender<Option<Arc<Judgement>>>, watch::Sender<Arc<Accepted>>),
    told: watch::Receiver<bool>,
) {
    let read = tokio::select! {
        biased;
        () = end(&told) => return,
        read = crds::follow(views) => read,
    };
    // Without views the broker ends.
    let Some((readings, _)) = read else { return };
    judge.run(readings, judgements, accepted, end(&told)).await;
}

/// The cases that this replica leads; none while it does not.
fn led(leadership: Leadership, statuses: Statuses) -> impl Fn() -> Option<Arc<AllCases>> {
    move || leadership.left().map(|_| statuses.all())
}

fn prober(parts: Arc<Parts>, secrets: Arc<Secrets>, pulse: Pulse) -> Box<dyn Fn() -> Prober + Send + Sync> {
    Box::new(move || parts.prober(Arc::clone(&secrets), pulse.clone()))
}

fn writer(
    settings: &Settings,
    (server, writes): (&Server, Client),
    (identity, observer): (&str, &Observer),
    refresh: Refresh,
) -> Writer {
    let events = settings.events.then(|| Events::new(server.client.clone(), identity, Arc::clone(observer)));
    Writer {
        client: writes,
        pace: settings.writer.clone(),
        observer: Arc::clone(observer),
        events,
        suspect: Arc::new(move |key| refresh.suspect(key)),
    }
}

/// With a store that replicas share one is elected; with a file there is one replica.
fn elect(
    settings: &Settings,
    server: &Server,
    identity: &str,
    observer: &Observer,
) -> anyhow::Result<(Leadership, Option<(Elections, Preparation)>)> {
    match settings.store {
        StoreKind::Sqlite => {
            observer(Observation::Leading(true));
            Ok((Leadership::Alone, None))
        }
        StoreKind::Kubernetes => {
            let namespace = settings.lease_namespace.as_ref().unwrap_or(&server.namespace);
            let candidacy = Candidacy {
                namespace: namespace.clone(),
                name: lease_name(&settings.broker),
                identity: identity.to_owned(),
                timing: settings.lease.clone(),
            };
            let (claims, elections) = Elections::start(server.client.clone(), candidacy, Arc::clone(observer))?;
            let (leadership, preparation) = Leadership::elected(claims);
            Ok((leadership, Some((elections, preparation))))
        }
    }
}

/// Where the last good specs are: where there is an election, all replicas share them.
async fn store(
    parts: &Parts,
    server: &Server,
    (leadership, preparation): (&Leadership, Option<Preparation>),
) -> anyhow::Result<LastGoodStore> {
    let Some(preparation) = preparation else { return Ok(LastGoodStore::File(parts.store().await?)) };
    Ok(LastGoodStore::Cluster {
        revisions: Arc::new(Mutex::new(Revisions::new(server.client.clone(), &parts.settings.broker))),
        leadership: leadership.clone(),
        preparation: Arc::new(preparation),
    })
}

fn observer(metrics: Arc<Metrics>) -> Observer {
    Arc::new(move |seen| metrics.observe(seen, clock::now()))
}

/// The name of the pod, or of the machine, so that people find it, and a part that is another one at each start.
fn identity() -> String {
    let named = ["POD_NAME", "HOSTNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    lease::identity(&named.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "agent-kourier".to_owned()))
}

/// Where the API server is, as probes would find it.
async fn addresses(server: &Server) -> Vec<SocketAddr> {
    let found = timeout(LOOKUP, tokio::net::lookup_host((server.host.as_str(), server.port))).await;
    match found {
        Ok(Ok(addresses)) => addresses.collect(),
        Ok(Err(_)) | Err(_) => {
            tracing::warn!("the API server's name cannot be looked up: probes are kept from it by egress.deny alone");
            Vec::new()
        }
    }
}
