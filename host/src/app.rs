//! The only wiring: makes the parts, joins them, and stops them in order. There is no logic here.
//!
//! Parts are joined by channels that hold the latest value alone: `app/files.rs` and `app/cluster.rs` have the pictures.

mod cluster;
mod files;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use kourier_core::accept::Rules;
use kourier_core::pause::PausePolicy;
use kourier_sandbox::{Connector, Limits, Sandbox};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::clock;
use crate::components::Components;
use crate::config::{ConfigSource, Settings};
use crate::metrics::Metrics;
use crate::prober::{Guests, Prober};
use crate::pulse::Pulse;
use crate::secrets::Secrets;
use crate::store::Store;

/// How long the parts may take to stop. The slowest save the last good generations, and end the writes under way.
const STOP: Duration = Duration::from_secs(10);

/// The tasks of a broker: each yields its name when it ends.
type Tasks = JoinSet<&'static str>;

/// Runs a broker until `stop` ends, also when that is before it has started.
///
/// # Errors
///
/// When what every broker needs cannot be had, or a part of it dies.
pub async fn run(settings: Settings, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let (shutdown, told) = watch::channel(false);
    let mut stop = pin!(stop);
    let mut tasks = tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        started = start(settings, &told) => started?,
    };
    let died = tokio::select! {
        () = stop => None,
        died = tasks.join_next() => died,
    };
    shutdown.send_replace(true);
    if timeout(STOP, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
        tracing::warn!("a part did not stop in time");
    }
    match died {
        None => Ok(()),
        Some(Ok(name)) => bail!("the {name} ended by itself"),
        Some(Err(error)) => Err(error).context("a part of the broker died"),
    }
}

async fn start(settings: Settings, told: &watch::Receiver<bool>) -> anyhow::Result<Tasks> {
    let listener = listen(&settings).await?;
    match settings.config.source {
        ConfigSource::Files => files::start(Parts::new(settings, Vec::new()).await?, listener, told).await,
        ConfigSource::Crds => cluster::start(settings, listener, told).await,
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

/// What is made once, wherever the objects come from.
struct Parts {
    settings: Settings,
    sandbox: Sandbox,
    components: Arc<Components>,
    connector: Arc<Connector>,
    metrics: Arc<Metrics>,
}

impl Parts {
    /// `api_server` is where the API server is, which no probe may reach.
    async fn new(settings: Settings, api_server: Vec<SocketAddr>) -> anyhow::Result<Self> {
        // Room for what the prober starts, and for no more.
        let runs = u32::try_from(settings.prober.concurrency.get())?;
        let sandbox = Sandbox::new(Limits { runs, ..settings.probe.clone() })?;
        if let Some(cause) = sandbox.no_pool() {
            tracing::warn!(cause, "there is no pool of instances: each run of a probe costs more");
        }
        let mut egress = settings.egress.clone();
        egress.api_server = api_server;
        let connector = Arc::new(Connector::new(egress, settings.probe.body)?);
        let (loader, dir) = (sandbox.clone(), settings.components_dir.clone());
        let components = Arc::new(clock::blocking(move || Components::load(&loader, dir.as_deref())).await);
        components.report();
        let metrics = Arc::new(Metrics::new(&components));
        Ok(Self { settings, sandbox, components, connector, metrics })
    }

    async fn store(&self) -> anyhow::Result<Arc<Store>> {
        let path = self.settings.store_path.clone();
        Ok(Arc::new(clock::blocking(move || Store::open(&path)).await?))
    }

    fn rules(&self, single_label_hosts: bool) -> Rules {
        let platforms = self.components.platforms();
        Rules { broker: self.settings.broker.clone(), platforms, single_label_hosts }
    }

    fn prober(&self, secrets: Arc<Secrets>, pulse: Pulse) -> Prober {
        Prober {
            sandbox: self.sandbox.clone(),
            guests: Guests::Apart,
            components: Arc::clone(&self.components),
            secrets,
            transport: Arc::clone(&self.connector) as _,
            request: self.settings.probe.request,
            cadence: self.settings.prober.clone(),
            pauses: PausePolicy::default(),
            metrics: Arc::clone(&self.metrics),
            pulse,
        }
    }
}

/// Ends when the broker stops.
pub(crate) fn end(told: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut told = told.clone();
    async move {
        // An error means that the sender is gone, and with it the broker.
        let _ = told.wait_for(|told| *told).await;
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[tokio::test]
    async fn the_sandbox_has_room_for_as_many_runs_as_the_prober_starts() {
        let mut settings = Settings::default();
        settings.prober.concurrency = NonZeroUsize::new(7).unwrap();
        let parts = Parts::new(settings, Vec::new()).await.unwrap();
        assert_eq!(parts.sandbox.limits().runs, 7);
    }

    #[tokio::test]
    async fn a_stop_that_comes_while_the_broker_starts_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let store_path = folder.path().join("store.db");
        std::fs::write(&store_path, "no database, so that a start would fail in the end").unwrap();
        let admin_listen = "127.0.0.1:0".parse().unwrap();
        let settings = Settings { store_path, admin_listen, ..Settings::default() };
        assert!(run(settings.clone(), std::future::pending()).await.is_err());
        run(settings, async {}).await.unwrap();
    }
}
