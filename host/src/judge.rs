//! The loop around acceptance: whenever the source has read something new, judges it, and remembers what was good.
//!
//! What is absent: rules. They are [`kourier_core::accept`]'s.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::{Accepted, LastGood, Rules, accept};
use tokio::sync::watch;

use crate::clock;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::source::Reading;
use crate::store::Store;

/// From one look to the next when nothing changed: it tries again to save what could not be saved. 5 s: a disk that
/// was full for a moment costs no generation, and a broken one is not written to all the time.
const LOOK: Duration = Duration::from_secs(5);

/// A reading and what acceptance made of it.
#[derive(Debug, Default)]
pub struct Judgement {
    /// What was read.
    pub reading: Arc<Reading>,
    /// What is served and refused.
    pub accepted: Arc<Accepted>,
}

/// What acceptance works with.
pub struct Judge {
    /// What it judges by.
    pub rules: Rules,
    /// Where the last good specs survive a restart.
    pub store: Arc<Store>,
    /// Where problems and warnings are counted.
    pub metrics: Arc<Metrics>,
    /// Beats as the loop turns.
    pub pulse: Pulse,
}

impl Judge {
    /// Judges the reading that is there, and each later one, until `shutdown` ends or nobody reads any more.
    /// `judgements` is none before the first one.
    pub async fn run(
        self,
        mut readings: watch::Receiver<Arc<Reading>>,
        judgements: watch::Sender<Option<Arc<Judgement>>>,
        accepted: watch::Sender<Arc<Accepted>>,
        shutdown: impl Future<Output = ()>,
    ) {
        let mut shutdown = pin!(shutdown);
        let mut memory = Memory::new(Arc::clone(&self.store)).await;
        let mut last = Arc::new(Judgement::default());
        readings.mark_changed();
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                changed = readings.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    let reading = Arc::clone(&readings.borrow_and_update());
                    let judgement = Arc::new(self.judge(reading, &mut memory).await);
                    report(&last, &judgement);
                    accepted.send_replace(Arc::clone(&judgement.accepted));
                    judgements.send_replace(Some(Arc::clone(&judgement)));
                    last = judgement;
                    memory.save(&self.metrics).await;
                }
                () = tokio::time::sleep(LOOK) => memory.save(&self.metrics).await,
            }
            self.pulse.beat();
        }
        memory.save(&self.metrics).await;
    }

    async fn judge(&self, reading: Arc<Reading>, memory: &mut Memory) -> Judgement {
        self.metrics.config_read(reading.problems.len(), clock::now());
        let (rules, last_good, read) = (self.rules.clone(), Arc::clone(&memory.last_good), Arc::clone(&reading));
        let accepted = clock::blocking(move || accept(&read.snapshot, &last_good, &rules)).await;
        memory.remember(&accepted.last_good);
        Judgement { reading, accepted: Arc::new(accepted) }
    }
}

/// The last good specs, and whether the store has them.
struct Memory {
    store: Arc<Store>,
    last_good: Arc<LastGood>,
    saved: bool,
}

impl Memory {
    async fn new(store: Arc<Store>) -> Self {
        let reader = Arc::clone(&store);
        let last_good = clock::blocking(move || reader.last_good()).await;
        Self { store, last_good: Arc::new(last_good), saved: true }
    }

    fn remember(&mut self, last_good: &LastGood) {
        if *self.last_good != *last_good {
            self.last_good = Arc::new(last_good.clone());
            self.saved = false;
        }
    }

    /// Saves what is not saved. The store says in the log what went wrong.
    async fn save(&mut self, metrics: &Metrics) {
        if self.saved {
            return;
        }
        let (store, last_good) = (Arc::clone(&self.store), Arc::clone(&self.last_good));
        self.saved = clock::blocking(move || store.save_last_good(&last_good)).await;
        if !self.saved {
            metrics.store_warning();
        }
    }
}

/// Logs what is new: problems of the source, and refusals.
fn report(before: &Judgement, now: &Judgement) {
    let known: BTreeSet<_> = before.reading.problems.iter().collect();
    for problem in now.reading.problems.iter().filter(|problem| !known.contains(problem)) {
        tracing::warn!(cause = %problem, "the configuration has a problem");
    }
    for (key, judged) in &now.accepted.bindings {
        let known = before.accepted.bindings.get(key).and_then(|judged| judged.refusal.as_ref());
        let Some(refusal) = judged.refusal.as_ref().filter(|refusal| known != Some(*refusal)) else { continue };
        tracing::warn!(
            binding = %key,
            generation = judged.generation.0,
            serving = judged.served.as_ref().map(|served| served.generation.0),
            reason = %refusal.reason,
            says = %refusal.message,
            cause = refusal.log,
            "the Binding is refused"
        );
    }
}
