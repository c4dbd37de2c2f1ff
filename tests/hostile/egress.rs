//! Where a tenant may not send the broker: whatever a URL is spelt like, whatever a name server says, whatever the
//! environment says of proxies.
//!
//! A denial has to read as a peer that is not there: the same reason, the same requests, no fault. The run names the
//! rule, for the log and the metric.

mod names;
mod program;
mod spellings;

pub(crate) use names::{INSIDE, inside};

use kourier_core::egress::DenyRule;

use crate::case::{Case, Checked};
use crate::world::Judged;

/// Every case of this family.
pub(crate) fn cases() -> Vec<Case> {
    [spellings::cases(), names::cases(), program::cases()].into_iter().flatten().collect()
}

/// Whether a run was denied by this rule, and otherwise ended as the one against a peer that is not there.
fn check_denied(judged: &Judged, dead: &Judged, rule: DenyRule) -> Checked {
    let told = |what: &str| Err(format!("{what}: {judged:?}"));
    let words = format!("egress denied: {rule}");
    if judged.denied.is_empty() || judged.denied.iter().any(|denied| *denied != rule) {
        return told(&format!("not denied by {rule}"));
    }
    if !judged.lines.iter().any(|line| line.contains(&words)) {
        return told("the log does not name the rule");
    }
    check_absent(judged, dead)
}

/// Whether a run ended as the one against a peer that is not there.
fn check_absent(judged: &Judged, dead: &Judged) -> Checked {
    let outward = |judged: &Judged| (judged.reason, judged.gate, judged.fault, judged.requests);
    let is_same = outward(judged) == outward(dead) && dead.fault.is_none();
    if is_same { Ok(()) } else { Err(format!("not as {dead:?}: {judged:?}")) }
}
