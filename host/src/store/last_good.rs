//! Where the last good specs are kept: in the store's file, or in the cluster.

use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::LastGood;
use kourier_kube::revisions::Revisions;
use tokio::sync::Mutex;

use crate::clock;
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
        leads: Arc<dyn Fn() -> bool + Send + Sync>,
    },
}

/// What came of an attempt to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Everything is where it survives a restart.
    Whole,
    /// Not everything. The log has the cause.
    InPart,
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
            Self::Cluster { revisions, .. } => load(revisions).await,
        }
    }

    /// Saves these last good specs in place of the former ones.
    pub async fn save(&self, last_good: &Arc<LastGood>) -> Saved {
        match self {
            Self::File(store) => {
                let (store, last_good) = (Arc::clone(store), Arc::clone(last_good));
                let whole = clock::blocking(move || store.save_last_good(&last_good)).await;
                if whole { Saved::Whole } else { Saved::InPart }
            }
            Self::Cluster { leads, .. } if !leads() => Saved::LeftToLeader,
            Self::Cluster { revisions, .. } => match revisions.lock().await.save(last_good).await {
                Ok(()) => Saved::Whole,
                Err(error) => {
                    tracing::warn!(cause = %error, "last good specs cannot be saved in the cluster: serving on from memory");
                    Saved::InPart
                }
            },
        }
    }
}

async fn load(revisions: &Mutex<Revisions>) -> LastGood {
    let mut told = None;
    loop {
        let error = match revisions.lock().await.load().await {
            Ok(last_good) => return last_good,
            Err(error) => error.to_string(),
        };
        if told.as_ref() != Some(&error) {
            tracing::warn!(
                cause = error,
                "the last good specs cannot be read from the cluster: nothing is judged before they are"
            );
            told = Some(error);
        }
        tokio::time::sleep(RETRY).await;
    }
}
