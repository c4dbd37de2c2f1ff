//! The custom resources of a cluster, as one more source of readings.
//!
//! What is absent: the statuses, which are the writer's, and the watches themselves, which are
//! [`kourier_kube::objects`]'s.

use std::collections::BTreeMap;
use std::sync::Arc;

use kourier_core::id::{Kind, ObjectId};
use kourier_core::snapshot::{Object, Problem};
use kourier_kube::view::{Stored, View};
use kourier_manifest::document::Document;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock;
use crate::source::{self, Reading};

/// Follows the views of a cluster, from the first one on. The receiver holds the newest reading; a view of which only
/// statuses are others is no new one. It ends with the views.
pub async fn follow(
    mut views: watch::Receiver<Option<Arc<View>>>,
) -> Option<(watch::Receiver<Arc<Reading>>, JoinHandle<()>)> {
    let first = views.wait_for(Option::is_some).await.ok()?.clone()?;
    let (mut seen, reading) = Seen::default().read(first).await;
    let (sender, receiver) = watch::channel(Arc::new(reading));
    let task = tokio::spawn(async move {
        while views.changed().await.is_ok() {
            let Some(view) = views.borrow_and_update().clone() else { continue };
            if seen.take_statuses(&view) {
                continue;
            }
            let reading;
            (seen, reading) = seen.read(view).await;
            sender.send_if_modified(|last| source::replace(last, reading));
        }
    });
    Some((receiver, task))
}

/// The documents of the last view, so that one whose spec is the same is not judged again.
#[derive(Debug, Default)]
struct Seen {
    documents: BTreeMap<ObjectId, (Arc<Stored>, Arc<Document>)>,
}

impl Seen {
    async fn read(mut self, view: Arc<View>) -> (Self, Reading) {
        clock::blocking(move || {
            let reading = self.take(&view);
            (self, reading)
        })
        .await
    }

    /// Takes over a view in which only statuses are others, as in most of them: reading it would tell nothing new. False,
    /// and nothing is taken, when more is.
    fn take_statuses(&mut self, view: &View) -> bool {
        let mut pairs = self.documents.iter().zip(&view.objects);
        let same = |old: &Arc<Stored>, new: &Arc<Stored>| {
            Arc::ptr_eq(old, new) || (old.meta == new.meta && old.spec == new.spec)
        };
        let all = self.documents.len() == view.objects.len()
            && pairs.all(|((id, (old, _)), (other, new))| id == other && same(old, new));
        if all {
            // So that the next look has as many equal pointers as it can, and no old status stays in memory.
            for ((old, _), new) in self.documents.values_mut().zip(view.objects.values()) {
                *old = Arc::clone(new);
            }
        }
        all
    }

    fn take(&mut self, view: &View) -> Reading {
        let mut before = std::mem::take(&mut self.documents);
        let mut reading = Reading::default();
        for (id, stored) in &view.objects {
            let document = match before.remove(id) {
                Some((old, document)) if old.spec == stored.spec => document,
                _ => Arc::new(Document::stored_in_cluster(id.clone(), &stored.spec)),
            };
            reading.take(id, stored, &document);
            self.documents.insert(id.clone(), (Arc::clone(stored), document));
        }
        reading
    }
}

impl Reading {
    fn take(&mut self, id: &ObjectId, stored: &Stored, document: &Document) {
        match id.0 {
            Kind::Binding => {
                self.written.insert(id.1.clone(), stored.spec.clone());
                self.snapshot.bindings.push(object(stored, document));
            }
            Kind::AgentBackend => self.snapshot.backends.push(object(stored, document)),
            Kind::ChatConnection => self.snapshot.connections.push(object(stored, document)),
        }
    }
}

fn object<S: DeserializeOwned>(stored: &Stored, document: &Document) -> Object<S> {
    let spec: Result<S, Vec<Problem>> = document.spec();
    Object { meta: stored.meta.clone(), spec }
}

#[cfg(test)]
mod tests;
