//! The watch of the three kinds, against a scripted API server: what a real one does not do when it is asked to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kourier_core::id::{Kind, ObjectKey, Uid};
use kourier_kube::objects::{Objects, Refresh, Rhythm};
use kourier_kube::observe::Observation;
use kourier_kube::view::{Stored, View};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

mod faults;
mod flow;
mod live;
#[path = "../script/mod.rs"]
mod script;

use script::{Answer, Asked, Log, Script, event, eventually, line};

/// Objects that are followed.
struct Followed {
    script: Script,
    views: watch::Receiver<Option<Arc<View>>>,
    refresh: Refresh,
    seen: Arc<Mutex<Vec<Observation>>>,
    task: JoinHandle<()>,
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Followed {
    fn new(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let script = Script::default();
        let seen: Arc<Mutex<Vec<Observation>>> = Arc::default();
        let told = Arc::clone(&seen);
        let observer = Arc::new(move |observation| told.lock().unwrap().push(observation));
        let objects = Objects::new(script.client(answer), Rhythm::default(), observer);
        let (views, refresh) = (objects.views(), objects.refresh());
        let task = tokio::spawn(objects.run(std::future::pending()));
        Self { script, views, refresh, seen, task }
    }

    fn binding(&self, name: &str) -> Option<Arc<Stored>> {
        let view = self.views.borrow().clone()?;
        view.objects.get(&(Kind::Binding, ObjectKey::new("a", name))).cloned()
    }

    fn version(&self, name: &str) -> Option<String> {
        self.binding(name).map(|stored| stored.version.0.clone())
    }

    async fn until(&self, what: &str, name: &str, version: Option<&str>) {
        eventually(what, || self.views.borrow().is_some() && self.version(name).as_deref() == version).await;
    }

    fn times(&self, observation: Observation) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| **seen == observation).count()
    }

    fn lists(&self) -> usize {
        self.script.count(|asked| asked.of("bindings") && asked.is_list())
    }
}

fn binding(name: &str, version: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "a", "uid": format!("u-{name}"), "resourceVersion": version, "generation": 1,
            "creationTimestamp": "2026-01-02T03:04:05Z",
        },
        "spec": { "chat": { "channel": "C1" } },
    })
}

/// A number that goes up with each look at it.
fn turns() -> impl Fn() -> usize + Send + Sync {
    let turn = AtomicUsize::new(0);
    move || turn.fetch_add(1, Ordering::SeqCst)
}

/// Bindings: listed as `lists` say, one after another, the last again and again; watched as `watches` say.
fn bindings(
    lists: impl Fn(usize) -> Answer + Send + Sync + 'static,
    watches: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static,
) -> impl Fn(&Asked) -> Answer + Send + Sync + 'static {
    let (listed, watched) = (turns(), turns());
    move |asked| {
        if !asked.of("bindings") || asked.has("limit", "1") {
            Answer::quiet(asked, "10")
        } else if asked.is_watch() {
            watches(watched(), asked)
        } else {
            lists(listed())
        }
    }
}
