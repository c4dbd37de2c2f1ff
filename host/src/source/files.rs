//! A folder of manifests, as a mounted ConfigMap gives it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::source::Reading;
use crate::store::Store;

/// A folder that is read again and again.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    store: Arc<Store>,
}

impl Folder {
    /// The folder at `dir`, whose objects get their identity from `store`.
    #[must_use]
    pub fn new(dir: PathBuf, store: Arc<Store>) -> Self {
        Self { dir, store }
    }

    /// Looks at the folder once. It blocks on the disk.
    #[must_use]
    pub fn read(&mut self) -> Reading {
        let _ = (&self.dir, &self.store);
        unimplemented!()
    }

    /// Looks at the folder now, and then again after each `interval`, until nobody listens any more. The first reading
    /// is there when this returns; a reading that equals the last one is not announced.
    pub async fn follow(self, _interval: Duration) -> (watch::Receiver<Arc<Reading>>, tokio::task::JoinHandle<()>) {
        unimplemented!()
    }
}
