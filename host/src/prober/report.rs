//! What the operator hears of probes: a line of the log for each changed verdict, and metrics.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kourier_core::condition::Results;
use kourier_core::id::ObjectKey;
use kourier_core::outcome::{Blame, Fault};
use kourier_core::pause::Pause;
use kourier_core::reason::Status;
use kourier_core::schedule::{Check, Job, Said};

use super::probe::Told;
use crate::components::Loaded;
use crate::metrics::Metrics;

/// What was last said of each probe, so that only changes are said again.
pub(super) struct Report {
    metrics: Arc<Metrics>,
    heard: BTreeMap<(ObjectKey, Check), Heard>,
}

#[derive(PartialEq, Eq)]
struct Heard {
    reason: &'static str,
    fault: Option<Fault>,
    /// Of a fault of the host's: its cause is somebody's to mend, and another one is news. A peer's words differ each time.
    cause: Option<String>,
    advice: Vec<String>,
}

impl Heard {
    /// All but the advice.
    fn verdict(&self) -> (&'static str, Option<Fault>, Option<&str>) {
        (self.reason, self.fault, self.cause.as_deref())
    }
}

impl Report {
    pub(super) const fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, heard: BTreeMap::new() }
    }

    /// A probe ended.
    pub(super) fn ended(&mut self, job: &Job, told: &Told) {
        self.measure(job, told);
        let (status, reason) = words(told.said);
        let cause = told.causes.join("; ");
        let own = told.fault.filter(|fault| fault.blame() == Blame::Host).map(|_| cause.clone());
        let heard = Heard { reason, fault: told.fault, cause: own, advice: told.advice.clone() };
        let before = self.heard.get(&(job.key.clone(), job.check));
        let changed = before.is_none_or(|before| before.verdict() != heard.verdict());
        let advised = !told.advice.is_empty() && before.is_none_or(|before| before.advice != heard.advice);
        let (binding, probe) = (&job.key, job.check.as_str());
        let (fault, blame) = (told.fault.map(Fault::as_str), told.fault.map(|fault| fault.blame().as_str()));
        let (generation, requests, wall_ms) = (job.generation().0, told.requests, told.wall.map(millis));
        // A field that is none is left out of the line.
        if changed && status == Status::True {
            tracing::info!(%binding, probe, %status, reason, generation, requests, wall_ms, "verdict changed");
        } else if changed {
            tracing::warn!(%binding, probe, %status, reason, generation, fault, blame, cause, requests, wall_ms, "verdict changed");
        } else {
            tracing::debug!(%binding, probe, %status, reason, generation, fault, blame, cause, requests, wall_ms, "probe ended");
        }
        if advised {
            tracing::info!(%binding, probe, advice = told.advice.join("; "), "the probe has advice");
        }
        self.heard.insert((job.key.clone(), job.check), heard);
    }

    /// A probe could not say anything.
    pub(super) fn fault(&self, component: Option<&Loaded>, fault: Fault) {
        self.metrics.fault(component.map_or("", |component| &component.name), fault);
    }

    /// Forgets the Bindings that are not listed any more.
    pub(super) fn retain(&mut self, results: &BTreeMap<ObjectKey, Results>) {
        self.heard.retain(|(key, _), _| results.contains_key(key));
    }

    fn measure(&self, job: &Job, told: &Told) {
        let wall = told.wall.unwrap_or_default();
        match told.said {
            Said::Agent(outcome) => self.metrics.agent_probed(outcome.reason, wall),
            Said::Channel(outcome) => {
                self.metrics.channel_probed(&job.inputs.served.chat.platform, outcome.reason, wall);
            }
        }
        told.denied.iter().for_each(|rule| self.metrics.denied(*rule));
    }
}

/// A component is left alone for a while in one namespace.
pub(super) fn paused(component: &Loaded, namespace: &str, pause: Pause) {
    tracing::error!(
        component = component.name,
        digest = component.component.digest(),
        namespace,
        faults = pause.faults,
        seconds = pause.wait.as_secs(),
        "the component keeps failing, and is paused in this namespace"
    );
}

const fn words(said: Said) -> (Status, &'static str) {
    match said {
        Said::Agent(outcome) => (outcome.reason.status(), outcome.reason.as_str()),
        Said::Channel(outcome) => (outcome.reason.status(), outcome.reason.as_str()),
    }
}

fn millis(wall: Duration) -> u64 {
    u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)
}
