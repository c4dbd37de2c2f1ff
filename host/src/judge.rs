//! The loop around acceptance: whenever the source has read something new, judges it, and remembers what was good.
//!
//! What is absent: rules. They are [`kourier_core::accept`]'s.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::{Accepted, LastGood, Rules, accept};
use kourier_core::id::ObjectKey;
use kourier_core::rule::LABEL;
use tokio::sync::watch;

use crate::clock;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::source::Reading;
use crate::store::{LastGoodStore, Saved};

/// From one look to the next when nothing changed: it tries again to save what could not be saved. 5 s: a disk that
/// was full for a moment costs no generation, and a broken one is not written to all the time.
const LOOK: Duration = Duration::from_secs(5);

/// The longest wait after failures to save. 5 min: what cannot be saved for so long somebody has to look at.
const LONGEST: Duration = Duration::from_secs(300);

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
    pub store: LastGoodStore,
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
        readings: watch::Receiver<Arc<Reading>>,
        judgements: watch::Sender<Option<Arc<Judgement>>>,
        accepted: watch::Sender<Arc<Accepted>>,
        shutdown: impl Future<Output = ()>,
    ) {
        let mut shutdown = pin!(shutdown);
        let loaded = tokio::select! {
            biased;
            () = &mut shutdown => return,
            loaded = self.store.load() => Arc::new(loaded),
        };
        let (remember, remembered) = watch::channel(loaded);
        let saved = save(self.store.clone(), remembered, Arc::clone(&self.metrics));
        let judged = self.follow(readings, judgements, accepted, (remember, shutdown));
        tokio::join!(judged, saved);
    }

    async fn follow(
        self,
        mut readings: watch::Receiver<Arc<Reading>>,
        judgements: watch::Sender<Option<Arc<Judgement>>>,
        accepted: watch::Sender<Arc<Accepted>>,
        (remember, mut shutdown): (watch::Sender<Arc<LastGood>>, impl Future<Output = ()> + Unpin),
    ) {
        let mut last = Arc::new(Judgement::default());
        let mut takeover = pin!(self.store.taken_over());
        readings.mark_changed();
        loop {
            let mut prepared = None;
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                (term, kept) = &mut takeover => {
                    takeover.set(self.store.taken_over());
                    remember.send_modify(|known| Arc::make_mut(known).take_newer(kept));
                    prepared = Some(term);
                }
                changed = readings.changed() => if changed.is_err() {
                    break;
                },
                () = tokio::time::sleep(LOOK) => {
                    self.pulse.beat();
                    continue;
                }
            }
            let reading = Arc::clone(&readings.borrow_and_update());
            let last_good = Arc::clone(&remember.borrow());
            let judgement = Arc::new(self.judge(reading, last_good).await);
            report(&last, &judgement);
            report_unloaded_platforms(&self.rules, &last, &judgement);
            accepted.send_replace(Arc::clone(&judgement.accepted));
            judgements.send_replace(Some(Arc::clone(&judgement)));
            remember.send_if_modified(|known| {
                let found = &judgement.accepted.last_good;
                let changed = **known != *found;
                if changed {
                    *known = Arc::new(found.clone());
                }
                changed
            });
            last = judgement;
            if let Some(term) = prepared {
                self.store.prepared(term);
            }
            self.pulse.beat();
        }
    }

    async fn judge(&self, reading: Arc<Reading>, last_good: Arc<LastGood>) -> Judgement {
        self.metrics.config_read(reading.problems.len(), clock::now());
        let (rules, read) = (self.rules.clone(), Arc::clone(&reading));
        let accepted = clock::blocking(move || accept(&read.snapshot, &last_good, &rules)).await;
        Judgement { reading, accepted: Arc::new(accepted) }
    }
}

/// Saves the last good specs whenever they change, and tries again what could not be saved, until nobody judges any
/// more. A failure is told once for each cause, and its attempts grow rare.
async fn save(store: LastGoodStore, mut remembered: watch::Receiver<Arc<LastGood>>, metrics: Arc<Metrics>) {
    let (mut saved, mut pause, mut told) = (true, LOOK, None);
    loop {
        let ended = tokio::select! {
            changed = remembered.changed() => changed.is_err(),
            () = tokio::time::sleep(pause), if !saved => false,
        };
        if ended && saved {
            return;
        }
        let last_good = Arc::clone(&remembered.borrow_and_update());
        let answer = store.save(&last_good).await;
        saved = answer == Saved::Whole;
        pause = if matches!(answer, Saved::InPart(_)) { (pause * 2).min(LONGEST) } else { LOOK };
        if matches!(answer, Saved::InPart(_)) {
            metrics.store_warning();
        }
        tell(answer, &mut told);
        if ended {
            return;
        }
    }
}

/// Logs why last good specs cannot be saved when it is another cause than the one last told, and that they are saved
/// again.
fn tell(answer: Saved, told: &mut Option<String>) {
    match answer {
        Saved::InPart(Some(cause)) if told.as_ref() != Some(&cause) => {
            tracing::warn!(cause, "last good specs cannot be saved in the cluster: serving on from memory");
            *told = Some(cause);
        }
        Saved::InPart(_) | Saved::LeftToLeader => {}
        Saved::Whole => {
            if told.take().is_some() {
                tracing::info!("the last good specs are saved in the cluster again");
            }
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

/// Logs each ChatConnection of this broker whose platform no component serves, if it was not so before. Where no Binding
/// names it, nothing else tells of it.
fn report_unloaded_platforms(rules: &Rules, before: &Judgement, now: &Judgement) {
    let known: BTreeMap<_, _> = unloaded(rules, before).collect();
    let loaded: Vec<&str> = rules.platforms.keys().map(String::as_str).collect();
    for (key, platform) in unloaded(rules, now).filter(|(key, platform)| known.get(key) != Some(platform)) {
        let loaded = loaded.join(", ");
        tracing::warn!(connection = %key, platform, loaded, "no probe component is loaded for the platform of the ChatConnection");
    }
}

fn unloaded<'j>(rules: &'j Rules, judgement: &'j Judgement) -> impl Iterator<Item = (&'j ObjectKey, &'j str)> {
    let specs = judgement.reading.snapshot.connections.iter();
    let specs = specs.filter_map(|object| Some((&object.meta.key, object.spec.as_ref().ok()?)));
    let specs = specs.filter(|(_, spec)| spec.broker() == rules.broker && LABEL.fault(&spec.platform).is_none());
    let platforms = specs.map(|(key, spec)| (key, spec.platform.as_str()));
    platforms.filter(|(_, platform)| !rules.platforms.contains_key(*platform))
}
