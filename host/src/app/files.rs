//! The parts of a broker whose objects are in a folder.
//!
//! ```text
//! source -> judge -> prober -> board -> admin, log
//!             |                  ^
//!             +------------------+
//! ```

use std::sync::Arc;

use futures::FutureExt;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::admin::Admin;
use crate::app::{Parts, Tasks, end};
use crate::board;
use crate::components::Listing;
use crate::judge::Judge;
use crate::pulse::Pulse;
use crate::secrets::Secrets;
use crate::shown::Shown;
use crate::source::files::Folder;
use crate::store::LastGoodStore;

/// Starts every part.
pub(super) async fn start(parts: Parts, listener: TcpListener, told: &watch::Receiver<bool>) -> anyhow::Result<Tasks> {
    let store = parts.store().await?;
    let metrics = Arc::clone(&parts.metrics);
    let (judging, probing, showing) = (Pulse::default(), Pulse::default(), Pulse::default());
    let (send_judgements, judgements) = watch::channel(None);
    let (send_accepted, accepted) = watch::channel(Arc::default());
    let (send_results, results) = watch::channel(Arc::default());
    let (send_boards, boards) = watch::channel(None);
    let pulses = vec![("judge", judging.clone()), ("prober", probing.clone()), ("board", showing.clone())];
    let components = Arc::new(Listing::of(&parts.components));
    let admin = Admin { boards, metrics: Arc::clone(&metrics), components, pulses };
    let judge = Judge {
        rules: parts.rules(true),
        store: LastGoodStore::File(Arc::clone(&store)),
        metrics: Arc::clone(&metrics),
        pulse: judging,
    };
    let secrets_dir = parts.settings.secrets_dir.clone();
    if !secrets_dir.is_dir() {
        tracing::warn!(dir = %Shown(&secrets_dir), "secrets.dir is no folder: no credential can be read from it");
    }
    let secrets = Arc::new(Secrets::new(secrets_dir));

    let mut tasks = Tasks::new();
    tasks.spawn(admin.serve(listener, end(told)).map(|()| "admin port"));
    let folder = Folder::new(parts.settings.config.dir.clone(), store);
    // It ends when nobody listens any more.
    let (readings, _) = folder.follow(parts.settings.config.interval).await;
    tasks.spawn(judge.run(readings, send_judgements, send_accepted, end(told)).map(|()| "judge"));
    tasks.spawn(board::run(judgements, results, send_boards, (metrics, showing), end(told)).map(|()| "board"));
    tasks.spawn(parts.prober(secrets, probing).run(accepted, send_results, end(told)).map(|()| "prober"));
    Ok(tasks)
}
