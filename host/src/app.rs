//! The only wiring: makes the parts, joins them, and stops them in order. There is no logic here.
//!
//! ```text
//! source -> judge -> prober -> board -> admin, log
//!             |                  ^
//!             +------------------+
//! ```
//!
//! Each arrow is a channel that holds the latest value alone.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use futures::FutureExt;
use kourier_core::accept::Rules;
use kourier_core::pause::PausePolicy;
use kourier_sandbox::{Connector, Sandbox};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::admin::Admin;
use crate::components::{Components, Listing};
use crate::config::Settings;
use crate::judge::Judge;
use crate::metrics::Metrics;
use crate::prober::{Guests, Prober};
use crate::pulse::Pulse;
use crate::secrets::Secrets;
use crate::source::files::Folder;
use crate::store::Store;
use crate::{board, clock};

/// How long the parts may take to stop. The slowest saves the last good generations.
const STOP: Duration = Duration::from_secs(10);

/// Runs a broker until `stop` ends.
///
/// # Errors
///
/// When what every broker needs cannot be had, or a part of it dies.
pub async fn run(settings: Settings, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let listener = listen(&settings).await?;
    let parts = Parts::new(settings).await?;
    let (shutdown, told) = watch::channel(false);
    let (mut tasks, source) = start(parts, listener, &told).await;
    let died = tokio::select! {
        () = stop => None,
        died = tasks.join_next() => died,
    };
    shutdown.send_replace(true);
    source.abort();
    if timeout(STOP, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
        tracing::warn!("a part did not stop in time");
    }
    match died {
        None => Ok(()),
        Some(Ok(name)) => bail!("the {name} ended by itself"),
        Some(Err(error)) => Err(error).context("a part of the broker died"),
    }
}

async fn listen(settings: &Settings) -> anyhow::Result<TcpListener> {
    let address = settings.admin_listen;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("admin.listen: {address} cannot be listened on: choose another address or port"))?;
    tracing::info!(address = %listener.local_addr()?, "the admin port listens");
    Ok(listener)
}

/// What is made once.
struct Parts {
    settings: Settings,
    sandbox: Sandbox,
    components: Arc<Components>,
    connector: Connector,
    store: Arc<Store>,
    metrics: Arc<Metrics>,
}

impl Parts {
    async fn new(settings: Settings) -> anyhow::Result<Self> {
        let sandbox = Sandbox::new(settings.probe.clone())?;
        let connector = Connector::new(settings.egress.clone(), settings.probe.body)?;
        let (loader, dir) = (sandbox.clone(), settings.components_dir.clone());
        let components = Arc::new(clock::blocking(move || Components::load(&loader, dir.as_deref())).await);
        components.report();
        let path = settings.store_path.clone();
        let store = Arc::new(clock::blocking(move || Store::open(&path)).await?);
        let metrics = Arc::new(Metrics::new(&components));
        Ok(Self { settings, sandbox, components, connector, store, metrics })
    }

    fn rules(&self) -> Rules {
        let platforms = self.components.platforms();
        Rules { broker: self.settings.broker.clone(), platforms, single_label_hosts: true }
    }
}

/// Starts every part. Each of the tasks yields its name when it ends; the source ends with its listeners.
async fn start(
    parts: Parts,
    listener: TcpListener,
    told: &watch::Receiver<bool>,
) -> (JoinSet<&'static str>, JoinHandle<()>) {
    let metrics = Arc::clone(&parts.metrics);
    let (judging, probing, showing) = (Pulse::default(), Pulse::default(), Pulse::default());
    let (send_judgements, judgements) = watch::channel(None);
    let (send_accepted, accepted) = watch::channel(Arc::default());
    let (send_results, results) = watch::channel(Arc::default());
    let (send_boards, boards) = watch::channel(None);
    let pulses = vec![("judge", judging.clone()), ("prober", probing.clone()), ("board", showing.clone())];
    let components = Arc::new(Listing::of(&parts.components));
    let admin = Admin { boards, metrics: Arc::clone(&metrics), components, pulses };
    let judge =
        Judge { rules: parts.rules(), store: Arc::clone(&parts.store), metrics: Arc::clone(&metrics), pulse: judging };

    let mut tasks = JoinSet::new();
    tasks.spawn(admin.serve(listener, end(told)).map(|()| "admin port"));
    let folder = Folder::new(parts.settings.config.dir.clone(), Arc::clone(&parts.store));
    let (readings, source) = folder.follow(parts.settings.config.interval).await;
    tasks.spawn(judge.run(readings, send_judgements, send_accepted, end(told)).map(|()| "judge"));
    tasks.spawn(board::run(judgements, results, send_boards, (metrics, showing), end(told)).map(|()| "board"));
    tasks.spawn(prober(parts, probing).run(accepted, send_results, end(told)).map(|()| "prober"));
    (tasks, source)
}

fn prober(parts: Parts, pulse: Pulse) -> Prober {
    Prober {
        sandbox: parts.sandbox,
        guests: Guests::Apart,
        components: parts.components,
        secrets: Arc::new(Secrets::new(parts.settings.secrets_dir)),
        transport: Arc::new(parts.connector),
        request: parts.settings.probe.request,
        cadence: parts.settings.prober,
        pauses: PausePolicy::default(),
        metrics: parts.metrics,
        pulse,
    }
}

/// Ends when the broker stops.
fn end(told: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut told = told.clone();
    async move {
        // An error means that the sender is gone, and with it the broker.
        let _ = told.wait_for(|told| *told).await;
    }
}
