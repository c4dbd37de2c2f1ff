//! `agent-kourier run`: the broker.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::cli::{self, Failure, Outcome};
use crate::config::Settings;
use crate::{app, telemetry};

/// The exit code when a second signal ends the program at once.
const ABORTED: i32 = 3;

/// Runs the broker until it is told to stop (SIGTERM or SIGINT; a second one ends it at once).
///
/// What is wrong with a component, a file or a peer is told in the log and on the admin port; the rest is served.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of settings (YAML); an option below takes the place of what it says.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder of manifests: `config.dir`.
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// The folder of Secrets, as NAMESPACE/NAME/KEY: `secrets.dir`.
    #[arg(long, value_name = "DIR")]
    secrets_dir: Option<PathBuf>,
    /// The SQLite file of what survives a restart: `storePath`.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// A folder of `*.wasm` files beside the built-in components: `components.dir`.
    #[arg(long, value_name = "DIR")]
    components: Option<PathBuf>,
    /// Where metrics, health and statuses are served: `admin.listen`.
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
    /// Let probes reach this machine, for work on one: `egress.allowLoopback`.
    #[arg(long)]
    allow_loopback: bool,
}

/// Runs the broker.
///
/// # Errors
///
/// When the settings are wrong, or what every broker needs (its store, its admin port, the sandbox) cannot be had.
pub fn run(args: Args) -> Outcome {
    let settings = settings(args)?;
    telemetry::init(&settings.log).map_err(Failure::internal)?;
    cli::block_on(async {
        let stop = stop().map_err(Failure::internal)?;
        app::run(settings, stop).await.map_err(Failure::internal)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn settings(args: Args) -> Result<Settings, Failure> {
    let mut settings = cli::settings(args.config.as_deref())?;
    let set = |place: &mut PathBuf, given: Option<PathBuf>| {
        if let Some(given) = given {
            *place = given;
        }
    };
    set(&mut settings.config.dir, args.config_dir);
    set(&mut settings.secrets_dir, args.secrets_dir);
    set(&mut settings.store_path, args.store);
    settings.components_dir = args.components.or(settings.components_dir);
    settings.admin_listen = args.admin.unwrap_or(settings.admin_listen);
    settings.egress.allow_loopback |= args.allow_loopback;
    Ok(settings)
}

/// Ends with the first signal to stop. From then on, the next one ends the program at once.
fn stop() -> std::io::Result<impl Future<Output = ()> + Send> {
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (told, stop) = oneshot::channel();
    tokio::spawn(async move {
        let first = either(&mut term, &mut interrupt).await;
        tracing::info!(signal = first, "stopping");
        let _ = told.send(());
        let second = either(&mut term, &mut interrupt).await;
        tracing::warn!(signal = second, "stopping at once");
        std::process::exit(ABORTED);
    });
    Ok(async {
        let _ = stop.await;
    })
}

async fn either(term: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = term.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
