//! Where the last good specs are kept: in the store's file, or in the cluster.

use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::LastGood;
use kourier_kube::revisions::Revisions;
use tokio::sync::Mutex;

use crate::clock;
use crate::leader::{Leadership, Preparation};
use crate::store::Store;

/// From one attempt to read the last good specs from the cluster to the next. 2 s: nothing is judged before, because a
/// refused edit would end what its last good spec still serves.
const RETRY: Duration = Duration::from_secs(2);

/// Where the last good specs survive a restart. Clones are the same place.
#[derive(Clone)]
pub enum LastGoodStore {
    /// The store's file.
    File(Arc<Store>),
    /// The cluster, where replicas read them and the leader writes them.
    Cluster {
        /// The objects that hold them.
        revisions: Arc<Mutex<Revisions>>,
        /// Whether this replica leads.
        leadership: Leadership,
        /// A replica that begins to lead reads them anew: its predecessor may have seen what it missed.
        preparation: Arc<Preparation>,
    },
}

/// What came of an attempt to save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Everything is where it survives a restart.
    Whole,
    /// Not everything, and why; none where the store has told the log itself.
    InPart(Option<String>),
    /// Another replica leads, and saves.
    LeftToLeader,
}

impl LastGoodStore {
    /// The last good specs that were saved. It does not end before a cluster has told them.
    pub async fn load(&self) -> LastGood {
        match self {
            Self::File(store) => {
                let store = Arc::clone(store);
                clock::blocking(move || store.last_good()).await
            }
            Self::Cluster { revisions, .. } => load(revisions, "nothing is judged").await,
        }
    }

    /// Waits until this replica is elected, and yields the last good specs that its predecessor saved, with the number
    /// of the term: to be [prepared](Self::prepared) for. It never ends with a file, which nobody else writes.
    pub async fn taken_over(&self) -> (u64, LastGood) {
        match self {
            Self::File(_) => std::future::pending().await,
            Self::Cluster { revisions, preparation, .. } => {
                let term = preparation.wanted().await;
                (term, load(revisions, "this replica is elected, and neither probes nor writes").await)
            }
        }
    }

    /// What the predecessor of this term knew is known: this replica leads.
    pub fn prepared(&self, term: u64) {
        match self {
            Self::File(_) => {}
            Self::Cluster { preparation, .. } => preparation.done(term),
        }
    }

    /// Saves these last good specs in place of the former ones.
    pub async fn save(&self, last_good: &Arc<LastGood>) -> Saved {
        match self {
            Self::File(store) => {
                let (store, last_good) = (Arc::clone(store), Arc::clone(last_good));
                let whole = clock::blocking(move || store.save_last_good(&last_good)).await;
                if whole { Saved::Whole } else { Saved::InPart(None) }
            }
            Self::Cluster { leadership, .. } if leadership.left().is_none() => Saved::LeftToLeader,
            Self::Cluster { revisions, .. } => match revisions.lock().await.save(last_good).await {
                Ok(()) => Saved::Whole,
                Err(error) => Saved::InPart(Some(error.to_string())),
            },
        }
    }
}

/// Loads them, however long it takes. Before, `without` is so.
async fn load(revisions: &Mutex<Revisions>, without: &str) -> LastGood {
    let mut told = None;
    loop {
        let error = match revisions.lock().await.load().await {
            Ok(last_good) => return last_good,
            Err(error) => error.to_string(),
        };
        if told.as_ref() != Some(&error) {
            tracing::warn!(
                cause = error,
                "the last good specs cannot be read from the cluster: before they are, {without}"
            );
            told = Some(error);
        }
        tokio::time::sleep(RETRY).await;
    }
}
