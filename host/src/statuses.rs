//! What the status of each Binding of a cluster should say, beside what stands: the writer's cases.
//!
//! They are derived from three latest values - the objects as last seen, what acceptance made of them, and what the
//! probes ended with - and from nothing else, so that none is ever lost.

use std::sync::{Arc, Mutex, PoisonError};

use kourier_core::accept::Judged;
use kourier_core::condition::{Condition, Results, Words, assess};
use kourier_core::id::{Kind, ObjectKey};
use kourier_core::plan::Case;
use kourier_kube::view::{Stored, View};
use kourier_kube::writer::{AllCases, Cases};
use tokio::sync::watch;

use crate::judge::Judgement;
use crate::prober::Found;

/// The cases of one leader. Clones derive them once for all.
#[derive(Clone)]
pub struct Statuses {
    views: watch::Receiver<Option<Arc<View>>>,
    judgements: watch::Receiver<Option<Arc<Judgement>>>,
    results: watch::Receiver<Found>,
    /// The cases that were derived last, and from what.
    last: Arc<Mutex<Option<Derived>>>,
}

/// Cases, and what they were derived from.
struct Derived {
    evidence: Evidence,
    cases: Arc<AllCases>,
}

/// What cases are derived from.
#[derive(Clone)]
struct Evidence {
    view: Arc<View>,
    judgement: Arc<Judgement>,
    results: Found,
}

impl Statuses {
    /// The cases that these values make.
    #[must_use]
    pub fn new(
        views: watch::Receiver<Option<Arc<View>>>,
        judgements: watch::Receiver<Option<Arc<Judgement>>>,
        results: watch::Receiver<Found>,
    ) -> Self {
        Self { views, judgements, results, last: Arc::default() }
    }

    fn evidence(&self) -> Option<Evidence> {
        let (view, judgement) = (self.views.borrow().clone()?, self.judgements.borrow().clone()?);
        Some(Evidence { view, judgement, results: self.results.borrow().clone() })
    }
}

impl Cases for Statuses {
    fn all(&self) -> Arc<AllCases> {
        let Some(evidence) = self.evidence() else { return Arc::default() };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = last.as_ref().filter(|before| before.evidence.is(&evidence)) {
            return Arc::clone(&before.cases);
        }
        let cases = Arc::new(evidence.cases(last.as_ref()));
        *last = Some(Derived { evidence, cases: Arc::clone(&cases) });
        cases
    }

    fn one(&self, key: &ObjectKey) -> Option<Arc<Case>> {
        let evidence = self.evidence()?;
        let stored = evidence.view.objects.get(&(Kind::Binding, key.clone()))?;
        evidence.case(key, stored, evidence.judgement.accepted.bindings.get(key)?).map(Arc::new)
    }

    fn schema(&self) -> String {
        self.views.borrow().as_ref().map(|view| view.schema.clone()).unwrap_or_default()
    }
}

impl Evidence {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.view, &other.view)
            && Arc::ptr_eq(&self.judgement, &other.judgement)
            && Arc::ptr_eq(&self.results, &other.results)
    }

    /// All cases. One of which nothing changed is that of `before`.
    fn cases(&self, before: Option<&Derived>) -> AllCases {
        let bindings = self.view.objects.iter().filter(|((kind, _), _)| *kind == Kind::Binding);
        let case = |(id, stored): (&(Kind, ObjectKey), &Arc<Stored>)| {
            let key = &id.1;
            let judged = self.judgement.accepted.bindings.get(key)?;
            let known = before.and_then(|before| {
                let same = before.evidence.view.objects.get(id).is_some_and(|old| Arc::ptr_eq(old, stored));
                before.cases.get(key).filter(|_| same && self.judges_alike(&before.evidence, key, judged))
            });
            let case = known.cloned().or_else(|| self.case(key, stored, judged).map(Arc::new))?;
            Some((key.clone(), case))
        };
        bindings.filter_map(case).collect()
    }

    /// Whether acceptance and the probes say of a Binding what they said before.
    fn judges_alike(&self, before: &Self, key: &ObjectKey, judged: &Judged) -> bool {
        let same_judgement = Arc::ptr_eq(&self.judgement, &before.judgement)
            || before.judgement.accepted.bindings.get(key) == Some(judged);
        same_judgement && self.results.get(key) == before.results.get(key)
    }

    /// The case of a Binding; none when it was made again since it was judged, or is not for this broker to write.
    fn case(&self, key: &ObjectKey, stored: &Stored, judged: &Judged) -> Option<Case> {
        if stored.meta.uid != judged.uid {
            return None;
        }
        let case = case(stored, judged, self.results.get(key));
        // A Binding that no broker owns is every broker's to answer: who finds it answered leaves it.
        (judged.owned || !said(&case.standing.conditions, &case.assessment.words())).then_some(case)
    }
}

fn case(stored: &Stored, judged: &Judged, results: Option<&Results>) -> Case {
    Case {
        uid: stored.meta.uid.clone(),
        version: stored.version.clone(),
        standing: stored.standing.clone(),
        managers: stored.managers.clone(),
        assessment: assess(judged, results, &stored.standing.conditions),
    }
}

fn said(standing: &[Condition], wanted: &[Words]) -> bool {
    let mut words: Vec<Words> = standing.iter().map(Condition::words).collect();
    words.sort();
    words == wanted
}

#[cfg(test)]
mod tests;
