//! Whether a component that misbehaves is run at all.
//!
//! After several faults in a row a component is left alone for a while, twice as long each time, so that a broken one
//! does not cost a place among the running probes again and again. The count is kept for each namespace apart: what a
//! tenant's peers answer may be what makes the component fail, and must not stop the probes of other tenants.
//!
//! A run that was only too old does not count: its peer may have kept it waiting.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::outcome::{Blame, Fault};
use crate::time::Moment;

/// When a component is paused, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PausePolicy {
    /// Faults in a row, in one namespace, after which a component is paused. 5: one bad answer of one peer, probed
    /// again after edits, does not come to it soon.
    pub faults: u32,
    /// The first pause. 1 min: the next pass or two.
    pub first: Duration,
    /// The longest pause. 1 h: a component that was mended by its peer's doing is found out within it.
    pub cap: Duration,
}

impl Default for PausePolicy {
    fn default() -> Self {
        Self { faults: 5, first: Duration::from_secs(60), cap: Duration::from_secs(3600) }
    }
}

/// The faults of all components.
#[derive(Debug, Default)]
pub struct Pauses {
    policy: PausePolicy,
    rows: BTreeMap<String, BTreeMap<String, Row>>,
}

/// Faults in a row of one component in one namespace.
#[derive(Debug, Default)]
struct Row {
    faults: u32,
    pauses: u32,
    until: Option<Moment>,
}

/// A pause that begins: for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Faults in a row.
    pub faults: u32,
    /// For how long the component is not run in this namespace.
    pub wait: Duration,
}

impl Pauses {
    /// No faults yet.
    #[must_use]
    pub const fn new(policy: PausePolicy) -> Self {
        Self { policy, rows: BTreeMap::new() }
    }

    /// Whether the component with this digest is not to be run for a Binding of this namespace now.
    #[must_use]
    pub fn paused(&self, digest: &str, namespace: &str, now: Moment) -> bool {
        let row = self.rows.get(digest).and_then(|rows| rows.get(namespace));
        row.and_then(|row| row.until).is_some_and(|until| now < until)
    }

    /// Takes note of how a run ended. The pause that begins now, if one does.
    pub fn ran(&mut self, digest: &str, namespace: &str, fault: Option<Fault>, now: Moment) -> Option<Pause> {
        if !fault.is_some_and(counts) {
            // A fault that does not count says nothing of the component, a verdict says that it works.
            if fault.is_none() {
                self.forget(digest, namespace);
            }
            return None;
        }
        let row = self.rows.entry(digest.to_owned()).or_default().entry(namespace.to_owned()).or_default();
        row.faults = row.faults.saturating_add(1);
        let pausing = row.until.is_some_and(|until| now < until);
        if row.faults < self.policy.faults || pausing {
            // Runs that had begun before the pause end during it, and do not make it longer.
            return None;
        }
        let factor = 2_u32.checked_pow(row.pauses).unwrap_or(u32::MAX);
        let wait = self.policy.first.saturating_mul(factor).min(self.policy.cap);
        row.pauses = row.pauses.saturating_add(1);
        row.until = Some(now + wait);
        Some(Pause { faults: row.faults, wait })
    }

    fn forget(&mut self, digest: &str, namespace: &str) {
        let Some(rows) = self.rows.get_mut(digest) else { return };
        rows.remove(namespace);
        if rows.is_empty() {
            self.rows.remove(digest);
        }
    }
}

fn counts(fault: Fault) -> bool {
    fault.blame() == Blame::Guest && fault != Fault::Deadline && fault != Fault::Paused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Moment {
        Moment::after_origin(Duration::from_secs(second))
    }

    /// Runs that end at these seconds with these faults in namespace `a`; the pauses that begin, as `at+for`.
    fn check(runs: &[(u64, Option<Fault>)], expected: &[(u64, u64)]) {
        let mut pauses = Pauses::default();
        let begun: Vec<_> = runs
            .iter()
            .filter_map(|(second, fault)| Some((*second, pauses.ran("d", "a", *fault, at(*second))?.wait.as_secs())))
            .collect();
        assert_eq!(begun, expected, "{runs:?}");
    }

    #[test]
    fn a_component_is_paused_after_five_faults_in_a_row_and_then_after_each_twice_as_long_up_to_the_cap() {
        let trap = Some(Fault::Trap);
        check(&[(1, trap), (2, trap), (3, trap), (4, trap), (5, trap)], &[(5, 60)]);
        check(&[(1, trap), (2, trap), (3, trap), (4, trap), (5, None), (6, trap), (7, trap)], &[]);
        check(&[(1, trap), (2, trap), (3, trap), (4, trap), (5, trap), (6, trap), (64, trap)], &[(5, 60)]);
        let hours = (0..12).map(|hour| (hour * 3600, trap));
        let runs: Vec<_> = (0..4).map(|_| (0, trap)).chain(hours).collect();
        let waits = [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600, 3600, 3600];
        let expected: Vec<_> = waits.into_iter().enumerate().map(|(hour, wait)| (hour as u64 * 3600, wait)).collect();
        check(&runs, &expected);
    }

    #[test]
    fn only_what_is_the_component_s_doing_counts() {
        for fault in Fault::ALL {
            let counted = matches!(
                fault,
                Fault::CpuBudget | Fault::Memory | Fault::Stack | Fault::Panic | Fault::Trap | Fault::BadAnswer
            );
            let runs: Vec<_> = (0..5).map(|second| (second, Some(fault))).collect();
            check(&runs, if counted { &[(4, 60)] } else { &[] });
        }
    }

    #[test]
    fn a_verdict_ends_the_backoff() {
        let trap = Some(Fault::Trap);
        let row = |from: u64| (0..5).map(move |second| (from + second, trap));
        let runs: Vec<_> = row(0).chain([(100, None)]).chain(row(200)).collect();
        check(&runs, &[(4, 60), (204, 60)]);
    }

    #[test]
    fn a_pause_is_one_namespace_s_and_one_component_s_and_ends() {
        let mut pauses = Pauses::default();
        for second in 0..5 {
            pauses.ran("d", "a", Some(Fault::Panic), at(second));
        }
        for (digest, namespace, second, expected) in [
            ("d", "a", 4, true),
            ("d", "a", 63, true),
            ("d", "a", 64, false),
            ("d", "b", 5, false),
            ("e", "a", 5, false),
        ] {
            assert_eq!(pauses.paused(digest, namespace, at(second)), expected, "{digest} {namespace} {second}");
        }
    }
}
