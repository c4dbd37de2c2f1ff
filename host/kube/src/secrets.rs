//! Secrets, watched one by one by name and never listed: the rights to `get` and `watch` those that are named suffice.
//!
//! Each Secret that is wanted has its own task. It opens a watch of that one name, reads the Secret, and takes what the
//! watch tells from then on. The watch begins with what is there and not at the version that was read, because a
//! Secret's version is as old as its last edit, and an API server remembers minutes.
//!
//! Values are in memory that is wiped when nobody holds them any more, and so is what was read from the network here.
//! What the layers below (TLS, HTTP) had in their buffers is not ours to wipe.
//!
//! What is absent: any judgement of what a Secret holds, and a way to enumerate Secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kourier_core::id::Uid;
use kourier_core::plan::Version;
use kube::Client;
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;
use zeroize::Zeroizing;

mod course;
mod wire;

use course::Course;

/// How often and how patiently Secrets are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRhythm {
    /// For how long one watch is open at least, in whole seconds; each has up to as much again, by chance, so that
    /// hundreds do not begin anew together. 90 s: a peer that died is noticed after no longer than twice that.
    pub watch: Duration,
    /// How much longer a watch may be silent. 5 s: the API server ends it by itself before.
    pub patience: Duration,
    /// Secrets that are read, or whose watches are opened, at a time. 8: hundreds are no burst.
    pub openings: NonZeroUsize,
    /// The wait after a failure, twice as long with each further one. 1 s.
    pub backoff: Duration,
    /// The longest wait after failures. 1 min: a granted right is noticed as fast.
    pub cap: Duration,
}

impl Default for SecretRhythm {
    fn default() -> Self {
        Self {
            watch: Duration::from_secs(90),
            patience: Duration::from_secs(5),
            openings: NonZeroUsize::MIN.saturating_add(7),
            backoff: Duration::from_secs(1),
            cap: Duration::from_secs(60),
        }
    }
}

/// What a Secret holds. Its values are wiped when it is dropped.
#[derive(PartialEq, Eq)]
pub struct SecretData {
    /// `metadata.resourceVersion`: another one for each change.
    pub version: Version,
    /// Which object it is.
    pub uid: Uid,
    /// The values by key, decoded.
    pub values: BTreeMap<String, Zeroizing<Vec<u8>>>,
}

/// Why there is nothing of a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum SecretTrouble {
    /// There is no such Secret.
    #[error("there is no such Secret")]
    NotFound,
    /// The broker may not read it.
    #[error("the broker may not read it")]
    Forbidden,
    /// It could not be read since it is wanted, or it is not as a Secret has to be.
    #[error("it cannot be read")]
    Unreadable,
}

/// What is known of the Secrets that are wanted.
pub struct SecretCache {
    shared: Arc<Shared>,
}

/// A Secret's namespace and name.
type Place = (String, String);

/// What is known of one Secret; none before it was read.
type Found = Result<Arc<SecretData>, SecretTrouble>;

/// What the tasks share.
struct Shared {
    client: Client,
    rhythm: SecretRhythm,
    slots: Mutex<Slots>,
    changes: watch::Sender<()>,
    openings: Semaphore,
}

/// The Secrets that are wanted.
#[derive(Default)]
struct Slots {
    by_place: BTreeMap<Place, Slot>,
    tickets: u64,
}

/// One Secret that is wanted.
struct Slot {
    /// Which task's it is: one that was ended may still have something to say.
    ticket: u64,
    task: AbortHandle,
    found: Option<Found>,
}

impl SecretCache {
    /// A cache in which nothing is wanted yet.
    #[must_use]
    pub fn new(client: Client, rhythm: SecretRhythm) -> Self {
        let openings = Semaphore::new(rhythm.openings.get());
        let (slots, changes) = (Mutex::default(), watch::Sender::new(()));
        Self { shared: Arc::new(Shared { client, rhythm, slots, changes, openings }) }
    }

    /// Watches these Secrets, by namespace and name, and no others: what is no longer wanted is forgotten. To be called
    /// within a runtime.
    pub fn want(&self, wanted: &BTreeSet<(String, String)>) {
        let mut slots = self.shared.slots();
        slots.by_place.retain(|place, _| wanted.contains(place));
        for place in wanted {
            if !slots.by_place.contains_key(place) {
                let ticket = slots.tickets;
                slots.tickets += 1;
                let course = Course::new(Arc::clone(&self.shared), place.clone(), ticket);
                let task = tokio::spawn(course.follow()).abort_handle();
                slots.by_place.insert(place.clone(), Slot { ticket, task, found: None });
            }
        }
    }

    /// What is known of a Secret; none when it was not read yet, or is not wanted. While the API server cannot be
    /// reached it is what was read last.
    #[must_use]
    pub fn get(&self, namespace: &str, name: &str) -> Option<Result<Arc<SecretData>, SecretTrouble>> {
        self.shared.slots().by_place.get(&(namespace.to_owned(), name.to_owned()))?.found.clone()
    }

    /// Ends when something is known of each Secret that is wanted.
    pub async fn read(&self) {
        let mut changes = self.changes();
        while self.shared.slots().by_place.values().any(|slot| slot.found.is_none()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Marked as changed whenever what is known of a Secret changes.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.shared.changes.subscribe()
    }
}

impl Drop for SecretCache {
    fn drop(&mut self) {
        self.shared.slots().by_place.clear();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was found, unless the Secret is not that task's any more.
    fn put(&self, place: &Place, ticket: u64, found: Found) {
        let mut slots = self.slots();
        let Some(slot) = slots.by_place.get_mut(place).filter(|slot| slot.ticket == ticket) else { return };
        if slot.found.as_ref() != Some(&found) {
            slot.found = Some(found);
            self.changes.send_replace(());
        }
    }

    /// Whether nothing good is known of the Secret.
    fn lacks(&self, place: &Place) -> bool {
        self.slots().by_place.get(place).is_none_or(|slot| !matches!(slot.found, Some(Ok(_))))
    }
}

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.values.keys().collect();
        let mut shown = f.debug_struct("SecretData");
        shown.field("version", &self.version).field("uid", &self.uid).field("keys", &keys).finish_non_exhaustive()
    }
}

impl fmt::Debug for SecretCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretCache").field("wanted", &self.shared.slots().by_place.len()).finish_non_exhaustive()
    }
}
