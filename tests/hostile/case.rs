//! A hostile case, and how cases become tests.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use futures::future::BoxFuture;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::task::{JoinError, JoinHandle};

use crate::memory::Peak;
use crate::published::{self, Published};
use crate::world::{RUNTIME, warm_up};

/// KiB by which a case may raise the peak of the process's memory.
pub(crate) const MEMORY: u64 = 4 << 10;

/// What a case comes to; the error says what is wrong.
pub(crate) type Checked = Result<(), String>;

/// When a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pace {
    /// With all others that wait for a deadline. They share the memory that each may take.
    Together,
    /// While no other does.
    Alone,
    /// With all others whose peer sends as fast as it can until the deadline, after everything else: so that what is
    /// slow elsewhere is slow by itself.
    Flooding,
}

/// One test. Its name is `family::what::whom`.
pub(crate) struct Case {
    name: String,
    pace: Pace,
    check: Box<dyn FnOnce() -> BoxFuture<'static, Checked> + Send>,
}

impl Case {
    /// A case that runs while no other does.
    pub(crate) fn new<F>(name: impl Into<String>, check: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = Checked> + Send + 'static,
    {
        Self::paced(Pace::Alone, name, check)
    }

    /// A case that runs when its pace says.
    pub(crate) fn paced<F>(pace: Pace, name: impl Into<String>, check: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = Checked> + Send + 'static,
    {
        Self { name: name.into(), pace, check: Box::new(move || Box::pin(check())) }
    }
}

/// Makes a test of each case that was asked for, and one of what all of them counted together. What each publishes is
/// looked at when it is over: see [`published`].
pub(crate) fn trials(arguments: &Arguments, cases: impl Iterator<Item = Case>) -> Vec<Trial> {
    let cases = cases.filter(|case| !arguments.is_filtered_out(&Trial::test(case.name.clone(), || Ok(()))));
    let mut groups: BTreeMap<Pace, Vec<Case>> = BTreeMap::new();
    for case in cases {
        groups.entry(case.pace).or_default().push(case);
    }
    let group = |(pace, cases): (Pace, Vec<Case>)| match pace {
        Pace::Alone => cases.into_iter().map(alone).collect(),
        Pace::Together | Pace::Flooding => at_the_same_time(cases),
    };
    let last = [
        Trial::test("published::a-planted-leak-is-found", || told(published::planted())),
        Trial::test("published::the-labels-of-the-metrics-of-all-cases", || told(published::labels())),
    ];
    groups.into_iter().flat_map(group).chain(last).collect()
}

fn alone(case: Case) -> Trial {
    let Case { name, check, .. } = case;
    Trial::test(name, move || {
        warm_up();
        let (checked, published) = RUNTIME.block_on(published::of(check()));
        told(published.judge(checked))
    })
}

fn at_the_same_time(cases: Vec<Case>) -> Vec<Trial> {
    let names: Vec<_> = cases.iter().map(|case| case.name.clone()).collect();
    let crowd = Arc::new(Crowd(LazyLock::new(Box::new(move || run_together(cases)))));
    let trial = |name: String| {
        let crowd = Arc::clone(&crowd);
        Trial::test(name.clone(), move || crowd.verdict(&name))
    };
    names.into_iter().map(trial).collect()
}

fn told(checked: Checked) -> Result<(), Failed> {
    checked.map_err(Failed::from)
}

/// What the cases that run at the same time came to, by name.
type Verdicts = BTreeMap<String, Checked>;

/// They run when the first of them is asked for.
struct Crowd(LazyLock<Mutex<Verdicts>, Box<dyn FnOnce() -> Mutex<Verdicts> + Send>>);

impl Crowd {
    fn verdict(&self, name: &str) -> Result<(), Failed> {
        let verdict = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        told(verdict.unwrap_or_else(|| Err("it did not run".to_owned())))
    }
}

fn run_together(cases: Vec<Case>) -> Mutex<Verdicts> {
    warm_up();
    let peak = Peak::begin();
    let limit = MEMORY * cases.len() as u64;
    let running: Vec<(String, JoinHandle<(Checked, Published)>)> =
        cases.into_iter().map(|case| (case.name, RUNTIME.spawn(published::of((case.check)())))).collect();
    let failed = |error: JoinError| (Err(error.to_string()), Published::default());
    let ended: Vec<_> =
        running.into_iter().map(|(name, running)| (name, RUNTIME.block_on(running).unwrap_or_else(failed))).collect();
    let together = peak.at_most(limit).map_err(|error| format!("all together: {error}"));
    let verdict = |(name, (checked, published)): (String, (Checked, Published))| {
        (name, published.judge(checked).and_then(|()| together.clone()))
    };
    Mutex::new(ended.into_iter().map(verdict).collect())
}
