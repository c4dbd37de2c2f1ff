//! The last good specs as ControllerRevisions, each beside the object whose spec it holds.
//!
//! A revision names its object as its owner, so that it goes when the object goes, and the object's uid, so that an
//! object made again under the same name has none. What it holds cannot be changed: a newer generation is another
//! revision, which is made before the older one is removed. So nothing is lost whenever a replica stops, and two that
//! write at a time do not undo each other: what one made the other finds, and neither removes what is newer than what it
//! knows.
//!
//! What is absent: memory of what failed. What is not known to be stored is tried again at the next save.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt as _, stream};
use k8s_openapi::api::apps::v1::ControllerRevision;
use kourier_core::accept::LastGood;
use kourier_core::id::{Kind, ObjectKey, Uid};
use kourier_core::object::API_VERSION;
use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, PostParams, Preconditions};
use kube::{Api, Client};

use crate::api::FIELD_MANAGER;
use crate::client::{ApiError, CALL, timely};

mod change;
mod row;

use change::Change;
use row::Revision;

/// Revisions that are written at a time. 4: more gain little on an API server, and delay others' calls.
const IN_FLIGHT: usize = 4;

/// Objects of one page of a list. 500: what kubectl asks for.
const PAGE: u32 = 500;

/// One of the three kinds, and where the object is.
type ObjectId = (Kind, ObjectKey);

/// The store of one broker's last good specs. All its replicas read it; the leader writes it.
#[derive(Clone)]
pub struct Revisions {
    client: Client,
    broker: String,
    /// What is stored, as far as is known.
    known: BTreeMap<ObjectId, Vec<Revision>>,
}

/// How many of the last good specs could not be stored; they are tried again at the next save.
#[derive(Debug, thiserror::Error)]
#[error("{count} of the last good specs could not be stored: {first}")]
pub struct Unsaved {
    /// Of so many objects.
    pub count: usize,
    /// The first cause.
    pub first: ApiError,
}

impl Revisions {
    /// The store of this broker. Nothing is known of it before it is loaded.
    #[must_use]
    pub fn new(client: Client, broker: impl Into<String>) -> Self {
        Self { client, broker: broker.into(), known: BTreeMap::new() }
    }

    /// Reads everything. Replicas do it when they start, and again when they begin to lead: in between each knows what it
    /// sees itself, and of two generations that follow each other fast a watch may show only the second.
    ///
    /// A revision that cannot be read is skipped, with a line in the log. Of several of one object the newest counts; of
    /// several objects of one name the one that lives.
    ///
    /// # Errors
    ///
    /// When the API server refuses, or does not answer in time.
    pub async fn load(&mut self) -> Result<LastGood, ApiError> {
        let mut known: BTreeMap<ObjectId, Vec<Revision>> = BTreeMap::new();
        for stored in self.list().await? {
            match Revision::read(&stored) {
                Ok((id, revision)) => known.entry(id).or_default().push(revision),
                Err(cause) => skip(stored.metadata.name.as_deref().unwrap_or_default(), &cause),
            }
        }
        let mut last_good = LastGood::default();
        for (id, revisions) in &mut known {
            revisions.sort_by_key(|revision| revision.row.generation);
            let living = self.living(id, revisions).await?;
            let of_living = revisions.iter().rev().filter(|revision| Some(&revision.row.uid) == living.as_ref());
            for revision in of_living {
                match revision.row.remember(id, &mut last_good) {
                    Ok(()) => break,
                    Err(cause) => skip(&revision.name, &cause),
                }
            }
        }
        self.known = known;
        Ok(last_good)
    }

    /// Stores these last good specs in place of the former ones: sends only what differs from what is known to be
    /// stored. Once the API server does not answer, nothing more is begun.
    ///
    /// # Errors
    ///
    /// When not everything is stored. What is, is not sent again.
    pub async fn save(&mut self, last_good: &LastGood) -> Result<(), Unsaved> {
        let changes = change::changes(&self.known, &row::rows(last_good));
        let silent = AtomicBool::new(false);
        let applied = stream::iter(changes).map(|change| self.apply(change, &silent)).buffer_unordered(IN_FLIGHT);
        let applied: Vec<_> = applied.collect().await;
        let mut failed: Option<Unsaved> = None;
        for (id, stored, error) in applied {
            if stored.is_empty() {
                self.known.remove(&id);
            } else {
                self.known.insert(id, stored);
            }
            if let Some(error) = error {
                failed.get_or_insert(Unsaved { count: 0, first: error }).count += 1;
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Makes what is new, then removes what is old. What is then known to be stored, and why not all was done.
    async fn apply(&self, change: Change, silent: &AtomicBool) -> (ObjectId, Vec<Revision>, Option<ApiError>) {
        let mut stored = self.known.get(&change.id).cloned().unwrap_or_default();
        if silent.load(Ordering::Relaxed) {
            return (change.id, stored, Some(ApiError::Timeout(CALL)));
        }
        let error = self.change(&change, &mut stored).await.err();
        if error.as_ref().is_some_and(|error| error.code().is_none()) {
            silent.store(true, Ordering::Relaxed);
        }
        (change.id, stored, error)
    }

    async fn change(&self, change: &Change, stored: &mut Vec<Revision>) -> Result<(), ApiError> {
        let api = Api::namespaced(self.client.clone(), &change.id.1.namespace);
        if let Some(row) = &change.make {
            let made = make(&api, &row.object(&self.broker, &change.id)).await?;
            stored.retain(|revision| revision.name != made.0);
            stored.push(Revision { name: made.0, own_uid: made.1, row: row.clone() });
        }
        for old in &change.remove {
            remove(&api, &old.name, &old.own_uid).await?;
            stored.retain(|revision| revision.own_uid != old.own_uid);
        }
        Ok(())
    }

    async fn list(&self) -> Result<Vec<ControllerRevision>, ApiError> {
        let api: Api<ControllerRevision> = Api::all(self.client.clone());
        let mut params = ListParams::default().labels(&row::selector(&self.broker)).limit(PAGE);
        let mut all = Vec::new();
        loop {
            let page = timely(CALL, api.list(&params)).await?;
            all.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params.continue_token = Some(token),
                None => return Ok(all),
            }
        }
    }

    /// Of which object of this name the revisions count: of the only one that they name, or the one that lives.
    async fn living(&self, (kind, key): &ObjectId, revisions: &[Revision]) -> Result<Option<Uid>, ApiError> {
        let Some(first) = revisions.first().map(|revision| &revision.row.uid) else { return Ok(None) };
        if revisions.iter().all(|revision| revision.row.uid == *first) {
            return Ok(Some(first.clone()));
        }
        let (group, version) = API_VERSION.split_once('/').unwrap_or(("", API_VERSION));
        let kind_of = GroupVersionKind::gvk(group, version, kind.as_str());
        let resource = ApiResource::from_gvk_with_plural(&kind_of, kind.plural());
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &key.namespace, &resource);
        let object = timely(CALL, api.get_metadata_opt(&key.name)).await?;
        Ok(object.and_then(|object| object.metadata.uid).map(Uid))
    }
}

fn skip(revision: &str, cause: &str) {
    tracing::warn!(revision, cause, "a stored spec cannot be read and is left out");
}

/// Makes a revision, and says its name and uid. One that is there already and says the same was made by another replica,
/// and is as good.
async fn make(api: &Api<ControllerRevision>, new: &ControllerRevision) -> Result<(String, String), ApiError> {
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let name = new.metadata.name.clone().unwrap_or_default();
    let made = match timely(CALL, api.create(&params, new)).await {
        Err(error) if error.code() == Some(409) => {
            let there = timely(CALL, api.get(&name)).await?;
            if row::says_the_same(&there, new) {
                there
            } else {
                // Another version of this program spelled it otherwise.
                remove(api, &name, there.metadata.uid.as_deref().unwrap_or_default()).await?;
                timely(CALL, api.create(&params, new)).await?
            }
        }
        answer => answer?,
    };
    Ok((name, made.metadata.uid.unwrap_or_default()))
}

/// Removes this revision; another one of its name, or none, is as good.
async fn remove(api: &Api<ControllerRevision>, name: &str, own_uid: &str) -> Result<(), ApiError> {
    let only = Preconditions { uid: Some(own_uid.to_owned()), resource_version: None };
    match timely(CALL, api.delete(name, &DeleteParams::default().preconditions(only))).await {
        Err(error) if matches!(error.code(), Some(404 | 409)) => Ok(()),
        answer => answer.map(|_| ()),
    }
}
