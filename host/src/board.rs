//! The board: the latest status of each Binding, for everyone who looks.
//!
//! With the configuration in files there is no object that holds a status, so the board is where it stands: it folds
//! acceptance and the prober's results into conditions and keeps their times. With custom resources it shows what the
//! leader is about to write, and on a standby what stands in the objects.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kourier_core::condition::{Assessment, Condition, Results, advance, assess};
use kourier_core::id::{Kind, ObjectKey};
use kourier_core::plan::Case;
use kourier_core::reason::{ConditionType, Status};
use kourier_core::snapshot::Meta;
use kourier_core::time::Timestamp;
use serde_json::Value;
use tokio::sync::watch;

use crate::clock;
use crate::judge::Judgement;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use kourier_kube::api::{Binding, BindingList};
use kourier_kube::view::{Stored, View};
use kourier_kube::writer::AllCases;

/// The loop's pulse when nothing wakes it.
const LOOK: Duration = Duration::from_secs(1);
/// From one new board to the next: a pass over many Bindings ends many probes in a second, and each board is whole.
const GAP: Duration = Duration::from_millis(100);

/// The status of every Binding at one point in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// By Binding, in the order of kubectl. One that another broker answers for has no conditions here.
    pub rows: BTreeMap<ObjectKey, Arc<Row>>,
    /// How many problems the files have, documents that could not be read among them: what they last held stands here.
    pub problems: usize,
    /// Why there is nothing yet; none once the configuration was read.
    pub unread: Option<String>,
}

/// One Binding and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Who it is.
    pub meta: Meta,
    /// `spec` as written.
    pub written: Value,
    /// What is so; none when this broker does not answer for the Binding.
    pub assessment: Option<Assessment>,
    /// The same with times; empty when this broker does not answer for the Binding.
    pub conditions: Vec<Condition>,
}

/// A Binding whose Ready says something else than before.
#[derive(Debug, PartialEq)]
pub struct Turn<'a> {
    /// The Binding.
    pub key: &'a ObjectKey,
    /// What Ready said; none when the Binding is new.
    pub from: Option<&'a Condition>,
    /// What it says now.
    pub to: &'a Condition,
}

impl Board {
    /// The board that follows this one. Conditions whose status did not change keep their times; a Binding that is gone
    /// is dropped, and one that was made again starts anew.
    #[must_use]
    pub fn next(&self, judgement: &Judgement, results: &BTreeMap<ObjectKey, Results>, now: Timestamp) -> Self {
        let reading = &judgement.reading;
        let rows = reading.snapshot.bindings.iter().map(|object| {
            let (meta, key) = (object.meta.clone(), &object.meta.key);
            let standing = self.standing(&meta);
            let judged = judgement.accepted.bindings.get(key).filter(|judged| judged.uid == meta.uid);
            let assessment = judged.map(|judged| assess(judged, results.get(key), standing));
            let conditions = assessment.as_ref().map(|assessment| advance(standing, assessment, now));
            let written = reading.written.get(key).cloned().unwrap_or_default();
            (key.clone(), Arc::new(Row { meta, written, assessment, conditions: conditions.unwrap_or_default() }))
        });
        Self { rows: rows.collect(), problems: reading.problems.len(), unread: reading.unread.clone() }
    }

    /// What should stand in the objects of a cluster, and for the Bindings that this replica does not lead what stands.
    /// `before` is what this board was made of: a row of which nothing changed is taken over.
    #[must_use]
    pub fn next_of_cluster(&self, before: Option<&Seen>, seen: &Seen, now: Timestamp) -> Self {
        let rows = seen.view.objects.iter().filter(|((kind, _), _)| *kind == Kind::Binding).map(|(id, stored)| {
            let key = &id.1;
            let (case, old) =
                (seen.case(key), before.and_then(|before| Some((before.view.objects.get(id)?, before.case(key)))));
            let same = old.is_some_and(|(old, old_case)| Arc::ptr_eq(old, stored) && same_case(old_case, case));
            let row = self.rows.get(key).filter(|_| same).cloned();
            (key.clone(), row.unwrap_or_else(|| Arc::new(Row::of_cluster(stored, case, now))))
        });
        Self { rows: rows.collect(), problems: 0, unread: None }
    }

    /// What Ready says otherwise than it did in `before`.
    #[must_use]
    pub fn turns<'a>(&'a self, before: &'a Self) -> Vec<Turn<'a>> {
        let turn = |(key, row): (&'a ObjectKey, &'a Arc<Row>)| {
            let from = before.rows.get(key).filter(|old| old.meta.uid == row.meta.uid).and_then(|old| old.ready());
            let to = row.ready()?;
            let same = from.is_some_and(|from| (from.status, &from.reason) == (to.status, &to.reason));
            (!same).then_some(Turn { key, from, to })
        };
        self.rows.iter().filter_map(turn).collect()
    }

    /// The Bindings as an API server would give them.
    #[must_use]
    pub fn list(&self) -> BindingList {
        let binding = |row: &Arc<Row>| Binding::new(&row.meta, row.written.clone(), &row.conditions);
        BindingList::new(self.rows.values().map(binding).collect())
    }

    fn standing(&self, meta: &Meta) -> &[Condition] {
        self.rows.get(&meta.key).filter(|row| row.meta.uid == meta.uid).map_or(&[], |row| row.conditions.as_slice())
    }
}

impl Row {
    fn of_cluster(stored: &Stored, case: Option<&Arc<Case>>, now: Timestamp) -> Self {
        let standing = &stored.standing.conditions;
        let assessment = case.map(|case| case.assessment.clone());
        let mut conditions =
            assessment.as_ref().map_or_else(|| standing.clone(), |assessment| advance(standing, assessment, now));
        conditions.sort_by_key(|condition| condition.kind);
        Self { meta: stored.meta.clone(), written: stored.spec.clone(), assessment, conditions }
    }

    fn ready(&self) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == ConditionType::Ready)
    }
}

/// Keeps the board until `shutdown` ends or nobody judges any more. `boards` is none before the configuration was first
/// read.
pub async fn run(
    mut judgements: watch::Receiver<Option<Arc<Judgement>>>,
    mut results: watch::Receiver<Arc<BTreeMap<ObjectKey, Results>>>,
    boards: watch::Sender<Option<Arc<Board>>>,
    (metrics, pulse): (Arc<Metrics>, Pulse),
    shutdown: impl Future<Output = ()>,
) {
    let mut shutdown = pin!(shutdown);
    let mut board = Arc::new(Board::default());
    judgements.mark_changed();
    loop {
        pulse.beat();
        tokio::select! {
            biased;
            () = &mut shutdown => return,
            changed = judgements.changed() => if changed.is_err() { return },
            Ok(()) = results.changed() => tokio::time::sleep(GAP).await,
            () = tokio::time::sleep(LOOK) => continue,
        }
        let found = Arc::clone(&results.borrow_and_update());
        let Some(judgement) = judgements.borrow_and_update().clone() else { continue };
        let before = Arc::clone(&board);
        let next = clock::blocking(move || Arc::new(before.next(&judgement, &found, clock::now()))).await;
        report(&board, &next, &metrics);
        boards.send_replace(Some(Arc::clone(&next)));
        board = next;
    }
}

/// The latest value of a kind; none before the first.
type Latest<T> = watch::Receiver<Option<Arc<T>>>;

/// Keeps the board of a cluster until `shutdown` ends. `cases` are those that this replica leads; none while it does
/// not. `boards` is none before the objects were first read and judged.
pub async fn run_beside_cluster(
    (views, judgements): (Latest<View>, Latest<Judgement>),
    cases: impl Fn() -> Option<Arc<AllCases>>,
    boards: watch::Sender<Option<Arc<Board>>>,
    (metrics, pulse): (Arc<Metrics>, Pulse),
    shutdown: impl Future<Output = ()>,
) {
    let mut shutdown = pin!(shutdown);
    let mut board = Arc::new(Board::default());
    let mut shown: Option<Seen> = None;
    loop {
        pulse.beat();
        // A view of many Bindings changes many times in a second, and each board is whole.
        tokio::select! {
            biased;
            () = &mut shutdown => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let Some(view) = views.borrow().clone().filter(|_| judgements.borrow().is_some()) else { continue };
        let seen = Seen { view, cases: cases() };
        if shown.as_ref().is_some_and(|shown| shown.is(&seen)) {
            continue;
        }
        let (last, before, now) = (Arc::clone(&board), shown.take(), seen.clone());
        let next = clock::blocking(move || Arc::new(last.next_of_cluster(before.as_ref(), &now, clock::now()))).await;
        if seen.cases.is_some() {
            report(&board, &next, &metrics);
        } else {
            metrics.count_conditions([]);
        }
        boards.send_replace(Some(Arc::clone(&next)));
        (board, shown) = (next, Some(seen));
    }
}

/// What the board of a cluster is made of.
#[derive(Clone)]
pub struct Seen {
    /// The objects.
    pub view: Arc<View>,
    /// The cases that this replica leads; none while it does not lead.
    pub cases: Option<Arc<AllCases>>,
}

impl Seen {
    fn case(&self, key: &ObjectKey) -> Option<&Arc<Case>> {
        self.cases.as_ref()?.get(key)
    }

    /// Whether two are the very same values.
    fn is(&self, other: &Self) -> bool {
        let same_cases = match (&self.cases, &other.cases) {
            (Some(cases), Some(other)) => Arc::ptr_eq(cases, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        Arc::ptr_eq(&self.view, &other.view) && same_cases
    }
}

fn same_case(one: Option<&Arc<Case>>, other: Option<&Arc<Case>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn report(before: &Board, now: &Board, metrics: &Metrics) {
    metrics.count_conditions(now.rows.values().filter_map(|row| row.assessment.as_ref()));
    for Turn { key, from, to } in now.turns(before) {
        let (was, generation) = (from.map(|from| from.reason.as_str()), to.observed_generation.0);
        let (status, reason, says) = (to.status.as_str(), &to.reason, &to.message);
        if to.status == Status::False {
            tracing::warn!(binding = %key, status, reason, was, generation, says, "Ready changed");
        } else {
            tracing::info!(binding = %key, status, reason, was, generation, says, "Ready changed");
        }
    }
}

#[cfg(test)]
mod tests;
