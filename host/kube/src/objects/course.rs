//! Follows one kind: lists it, watches it from there, and begins again where that leads nowhere.
//!
//! This is not the client's own watcher, because that one keeps bookmarks to itself (so that nobody can tell whether
//! what it knows is current), gives neither its list nor the start of its watch a deadline, goes on after an event that
//! it could not read as if there had been none, and asks for a history that is gone for ever when that is answered with
//! a status instead of an event.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use kourier_core::id::{Kind, ObjectKey};
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::Request;
use kube::core::request::Error as RequestError;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::{Hub, collection, parsed, stored};
use crate::client::{ApiError, CALL};
use crate::observe::Observation;
use crate::retry::{Backoff, Told, seconds};
use crate::view::Stored;

mod fault;

use fault::{Fault, Lost, Verb};

/// A watch that ends sooner is a failure: a server that ends each at once is not asked without a pause.
const SHORT: Duration = Duration::from_secs(5);

/// The way of one kind through lists and watches.
pub(super) struct Course<'a> {
    hub: &'a Hub,
    kind: Kind,
    request: Request,
    anew: watch::Receiver<()>,
    /// The version up to which everything is known; none: everything is to be listed.
    place: Option<String>,
    /// `place` is from an earlier watch.
    resumed: bool,
    /// What is known may be of a history that is gone: a version then says nothing of what an object holds.
    in_doubt: bool,
    backoff: Backoff,
    told: Told,
}

/// One page of a list. Items are read one by one: one that is odd hides no other.
#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(default)]
    items: Option<Vec<Value>>,
}

/// `metadata` of a page.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMetadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default, rename = "continue")]
    more: Option<String>,
}

impl<'a> Course<'a> {
    pub(super) fn new(hub: &'a Hub, kind: Kind) -> Self {
        Self {
            hub,
            kind,
            request: collection(kind, None),
            anew: hub.anew.subscribe(),
            place: None,
            resumed: false,
            in_doubt: false,
            backoff: Backoff::new(hub.rhythm.backoff, hub.rhythm.cap),
            told: Told::default(),
        }
    }

    /// Follows the kind for ever.
    pub(super) async fn follow(mut self) -> Infallible {
        loop {
            let ended = match self.place.clone() {
                None => self.list().await,
                Some(place) => self.watch(&place).await,
            };
            if let Err(fault) = ended {
                self.hub.observe(Observation::WatchRestarted(self.kind));
                fault.tell(self.kind, &mut self.told);
                if fault.is_lost() {
                    self.place = None;
                }
                self.in_doubt |= fault.casts_doubt();
                tokio::time::sleep(self.backoff.next()).await;
            }
        }
    }

    async fn list(&mut self) -> Result<(), Fault> {
        self.anew.mark_unchanged();
        let mut listing = BTreeMap::new();
        let mut params = ListParams::default().limit(self.hub.rhythm.page);
        let place = loop {
            let page = self.page(&params, self.hub.rhythm.list).await?;
            let items = page.items.unwrap_or_default().into_iter();
            listing.extend(items.filter_map(|item| self.read(item)).map(|stored| (stored.meta.key.clone(), stored)));
            match page.metadata.more.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => break page.metadata.resource_version,
            }
        };
        if place.is_empty() {
            return Err(Fault::Lost(Lost::Unversioned));
        }
        self.place = Some(place);
        (self.resumed, self.in_doubt) = (false, false);
        self.hub.change(|cache| cache.list(self.kind, listing));
        self.hub.observe(Observation::Listed(self.kind));
        self.is_fresh();
        self.hub.listed.notify_one();
        Ok(())
    }

    async fn page(&self, params: &ListParams, deadline: Duration) -> Result<Page, Fault> {
        let request = built(self.request.list(params))?;
        let page = timeout(deadline, parsed::<Page>(self.hub.client.request_text(request))).await;
        answered(page, deadline).map_err(|error| Fault::Call(Verb::List, error))
    }

    async fn watch(&mut self, place: &str) -> Result<(), Fault> {
        if self.resumed {
            self.compare(place).await?;
        }
        let rhythm = &self.hub.rhythm;
        let request = built(self.request.watch(&WatchParams::default().timeout(seconds(rhythm.watch)), place))?;
        let events = timeout(CALL, self.hub.client.request_events::<Value>(request)).await;
        let events = answered(events, CALL).map_err(|error| Fault::Call(Verb::Watch, error))?;
        let (mut events, began) = (pin!(events), Instant::now());
        self.resumed = true;
        loop {
            let next = tokio::select! {
                biased;
                _ = self.anew.changed() => return Err(Fault::Lost(Lost::Blind)),
                next = timeout(rhythm.watch + rhythm.patience, events.try_next()) => next,
            };
            match next.map_err(|_| Fault::Silent)?.map_err(Fault::stream)? {
                Some(event) => self.take(event)?,
                None if began.elapsed() < SHORT => return Err(Fault::Short),
                None => break,
            }
        }
        self.works();
        Ok(())
    }

    /// Fails when the API server is at an older version than it was: it was restored from a backup, and a watch from
    /// where we are would be silent until it has caught up.
    async fn compare(&self, place: &str) -> Result<(), Fault> {
        let page = self.page(&ListParams::default().limit(1), CALL).await?;
        if is_older(&page.metadata.resource_version, place) { Err(Fault::Lost(Lost::Restored)) } else { Ok(()) }
    }

    fn take(&mut self, event: WatchEvent<Value>) -> Result<(), Fault> {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                self.reach(stored::version(&object).map(|version| version.0))?;
                if let Some(stored) = self.read(object) {
                    self.hub.change(|cache| cache.put(self.kind, stored));
                }
            }
            WatchEvent::Deleted(object) => {
                self.reach(stored::version(&object).map(|version| version.0))?;
                let key = stored::key(&object).ok_or(Fault::Lost(Lost::Unreadable))?;
                self.forget(&key);
            }
            WatchEvent::Bookmark(bookmark) => self.reach(Some(bookmark.metadata.resource_version))?,
            WatchEvent::Error(status) => return Err(Fault::status(*status)),
        }
        self.works();
        self.is_fresh();
        Ok(())
    }

    /// Everything up to this version is known.
    fn reach(&mut self, place: Option<String>) -> Result<(), Fault> {
        let place = place.filter(|place| !place.is_empty()).ok_or(Fault::Lost(Lost::Unversioned))?;
        self.place = Some(place);
        Ok(())
    }

    /// Reads an object, unless it is known in this version. One that cannot be read is forgotten: what it was is not so
    /// any more.
    fn read(&self, object: Value) -> Option<Arc<Stored>> {
        if let Some(known) = self.known(&object) {
            return Some(known);
        }
        match stored::read(self.kind, object) {
            Ok(stored) => Some(Arc::new(stored)),
            Err(odd) => {
                let object = odd.key.as_ref().map(ObjectKey::to_string).unwrap_or_default();
                let (kind, field) = (self.kind.as_str(), odd.field);
                tracing::warn!(kind, object, field, "an object cannot be read and is passed over");
                if let Some(key) = odd.key {
                    self.forget(&key);
                }
                None
            }
        }
    }

    fn known(&self, object: &Value) -> Option<Arc<Stored>> {
        let cache = self.hub.cache();
        let known = cache.at(self.kind, &stored::key(object)?)?;
        let same = stored::version(object)? == known.version && stored::uid(object)? == known.meta.uid;
        (same && !self.in_doubt).then(|| Arc::clone(known))
    }

    fn forget(&self, key: &ObjectKey) {
        self.hub.change(|cache| cache.remove(self.kind, key));
    }

    fn works(&mut self) {
        self.backoff.reset();
    }

    fn is_fresh(&mut self) {
        self.hub.observe(Observation::Fresh(self.kind));
        if self.told.is_over() {
            tracing::info!(kind = self.kind.as_str(), "objects of this kind are followed again");
        }
    }
}

fn built<T>(request: Result<T, RequestError>) -> Result<T, Fault> {
    request.map_err(|error| Fault::Call(Verb::Watch, ApiError::Api(kube::Error::BuildRequest(error))))
}

fn answered<T>(
    answer: Result<kube::Result<T>, tokio::time::error::Elapsed>,
    deadline: Duration,
) -> Result<T, ApiError> {
    answer.map_err(|_| ApiError::Timeout(deadline))?.map_err(ApiError::Api)
}

/// Whether a version is older than another. Versions are numbers as far as we know; of others nothing can be told.
fn is_older(version: &str, other: &str) -> bool {
    version.parse::<u64>().ok().zip(other.parse().ok()).is_some_and(|(version, other)| version < other)
}
