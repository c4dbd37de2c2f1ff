//! What the broker counts and measures, for Prometheus.
//!
//! Each label is of a closed set: an enumeration, or the names of the components that this broker has loaded. What is
//! absent: a label that names a Binding, a namespace, a host, or anything that a peer sent.

use std::collections::BTreeMap;
use std::time::Duration;

use kourier_core::condition::Assessment;
use kourier_core::egress::DenyRule;
use kourier_core::id::Kind;
use kourier_core::outcome::Fault;
use kourier_core::reason::{AcceptedReason, BackendReason, ChannelReason, ConditionType, ReadyReason, Status};
use kourier_core::time::Timestamp;
use kourier_kube::observe::{Observation, WriteResult};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::components::Components;

mod labels;

use labels::{
    BuildLabels, ComponentLabels, ConditionLabels, FaultLabels, InFlightLabels, KindLabels, ProbeLabels, ResultLabels,
    RuleLabels, StateLabels,
};

/// Upper bounds in seconds of the duration of a probe: its deadline is 10 s.
const PROBE_BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 8.0, 10.0];
/// Upper bounds in seconds of the duration of a pass: the shortest gap between passes is 30 s.
const PASS_BUCKETS: [f64; 10] = [0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Upper bounds in seconds of the duration of a write: its deadline is 5 s.
const WRITE_BUCKETS: [f64; 9] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// One metric as documented: `docs/metrics.md` is this table.
#[derive(Debug)]
pub struct Entry {
    /// The name as it is scraped, without the suffixes of a histogram.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// The names of the labels.
    pub labels: &'static [&'static str],
    /// One sentence, without a dot: the encoder adds it.
    pub help: &'static str,
}

macro_rules! catalogue {
    ($($field:ident: $name:literal, $kind:literal, $labels:expr, $help:literal;)+) => {
        /// Every metric, in the order in which it is scraped.
        pub const CATALOGUE: &[Entry] = &[$(Entry { name: $name, kind: $kind, labels: &$labels, help: $help }),+];

        fn register(metrics: &Metrics, registry: &mut Registry) {
            // The encoder adds the suffix of a counter itself.
            $(registry.register($name.trim_end_matches("_total"), $help, metrics.$field.clone());)+
        }
    };
}

catalogue! {
    probe_duration: "agentkourier_binding_probe_duration_seconds", "histogram", ["probe", "platform", "reason"],
        "How long probes of Bindings took, from start to end, by what they ended with";
    in_flight: "agentkourier_binding_probes_in_flight", "gauge", ["probe"],
        "Probes of Bindings that run now";
    pass_duration: "agentkourier_pass_duration_seconds", "histogram", [],
        "How long passes over the Bindings that were due took";
    last_pass: "agentkourier_last_pass_end_timestamp_seconds", "gauge", [],
        "When the last pass ended, in seconds since 1970; 0 before the first: time() minus it is the age of the last pass";
    conditions: "agentkourier_binding_conditions", "gauge", ["type", "status", "reason"],
        "Bindings by what each of their conditions says now";
    faults: "agentkourier_component_faults_total", "counter", ["component", "kind", "blame"],
        "Probes that could not say anything, by what went wrong and whose doing it was";
    components: "agentkourier_components", "gauge", ["state"],
        "Probe components by whether they were loaded or refused";
    component: "agentkourier_component_loaded_bytes", "gauge", ["component", "platform", "digest"],
        "Size of each probe component that is loaded";
    denied: "agentkourier_egress_denied_total", "counter", ["rule"],
        "Connections of probes that the egress rules denied";
    problems: "agentkourier_config_problems", "gauge", [],
        "Problems of the configuration's files that were found when they were last read";
    read: "agentkourier_config_last_read_timestamp_seconds", "gauge", [],
        "When the configuration was last seen to change, in seconds since 1970; 0 before it was first read";
    store_warnings: "agentkourier_store_warnings_total", "counter", [],
        "Failed attempts to save the last good generations";
    writes: "agentkourier_status_writes_total", "counter", ["result"],
        "Writes of a Binding's status, by how they ended";
    write_duration: "agentkourier_status_write_duration_seconds", "histogram", [],
        "How long writes of a Binding's status took";
    waiting: "agentkourier_status_writes_waiting", "gauge", [],
        "Bindings whose status does not say yet what is so";
    put_backs: "agentkourier_status_put_backs_total", "counter", [],
        "Changes of a status by somebody else that were undone";
    pruned: "agentkourier_status_pruned_total", "counter", [],
        "Writes of a status of which the API server did not keep all, because its CRDs are older than this program";
    fights: "agentkourier_status_fights_total", "counter", [],
        "Bindings whose status somebody else changed again and again";
    leader: "agentkourier_leader", "gauge", [],
        "1 while this replica leads, else 0";
    lease_renewed: "agentkourier_lease_renewed_timestamp_seconds", "gauge", [],
        "When this replica last renewed its Lease, in seconds since 1970; 0 when it never led";
    watch_restarts: "agentkourier_watch_restarts_total", "counter", ["kind"],
        "Watches of a kind that had to begin again after a failure";
    watch_lists: "agentkourier_watch_lists_total", "counter", ["kind"],
        "Lists of all objects of a kind";
    cache_fresh: "agentkourier_cache_fresh_timestamp_seconds", "gauge", ["kind"],
        "When the objects of a kind were last known to be current, in seconds since 1970; 0 before that";
    events_lost: "agentkourier_events_lost_total", "counter", [],
        "Events that could not be sent";
    build: "agentkourier_build_info", "gauge", ["version"],
        "Always 1; the label is the version of this program";
}

/// Which of the two probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// Of an agent.
    Agent,
    /// Of a channel.
    Chat,
}

/// The broker's metrics. Shared behind an `Arc`.
#[derive(Debug)]
pub struct Metrics {
    probe_duration: Family<ProbeLabels, Histogram, fn() -> Histogram>,
    in_flight: Family<InFlightLabels, Gauge>,
    pass_duration: Histogram,
    last_pass: Gauge,
    conditions: Family<ConditionLabels, Gauge>,
    faults: Family<FaultLabels, Counter>,
    components: Family<StateLabels, Gauge>,
    component: Family<ComponentLabels, Gauge>,
    denied: Family<RuleLabels, Counter>,
    problems: Gauge,
    read: Gauge,
    store_warnings: Counter,
    writes: Family<ResultLabels, Counter>,
    write_duration: Histogram,
    waiting: Gauge,
    put_backs: Counter,
    pruned: Counter,
    fights: Counter,
    leader: Gauge,
    lease_renewed: Gauge,
    watch_restarts: Family<KindLabels, Counter>,
    watch_lists: Family<KindLabels, Counter>,
    cache_fresh: Family<KindLabels, Gauge>,
    events_lost: Counter,
    build: Family<BuildLabels, Gauge>,
}

impl Metrics {
    /// Metrics at zero. Every series whose labels are known beforehand is there from the start.
    #[must_use]
    pub fn new(components: &Components) -> Self {
        let metrics = Self::blank();
        metrics.build.get_or_create(&BuildLabels { version: env!("CARGO_PKG_VERSION") }).set(1);
        for probe in [Probe::Agent, Probe::Chat] {
            metrics.in_flight.get_or_create(&InFlightLabels { probe: probe.as_str() }).set(0);
        }
        for result in WriteResult::ALL {
            drop(metrics.writes.get_or_create(&ResultLabels { result: result.as_str() }));
        }
        for kind in Kind::ALL.map(|kind| KindLabels { kind: kind.as_str() }) {
            drop(metrics.watch_restarts.get_or_create(&kind));
            drop(metrics.watch_lists.get_or_create(&kind));
            metrics.cache_fresh.get_or_create(&kind).set(0);
        }
        metrics.list_components(components);
        metrics.count_conditions([]);
        metrics
    }

    /// All metrics as OpenMetrics text.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut registry = Registry::default();
        register(self, &mut registry);
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }

    /// A probe starts: it counts as in flight until the value is dropped.
    pub fn probe_starts(&self, probe: Probe) -> InFlight {
        let gauge = self.in_flight.get_or_create_owned(&InFlightLabels { probe: probe.as_str() });
        gauge.inc();
        InFlight(gauge)
    }

    /// A probe of an agent ended.
    pub fn agent_probed(&self, reason: BackendReason, wall: Duration) {
        let labels = ProbeLabels { probe: Probe::Agent.as_str(), platform: String::new(), reason: reason.as_str() };
        self.probe_duration.get_or_create(&labels).observe(wall.as_secs_f64());
    }

    /// A probe of a channel ended. `platform` is a loaded component's.
    pub fn channel_probed(&self, platform: &str, reason: ChannelReason, wall: Duration) {
        let labels =
            ProbeLabels { probe: Probe::Chat.as_str(), platform: platform.to_owned(), reason: reason.as_str() };
        self.probe_duration.get_or_create(&labels).observe(wall.as_secs_f64());
    }

    /// A probe could not say anything. `component` is a loaded component's name, or empty where none is loaded.
    pub fn fault(&self, component: &str, fault: Fault) {
        let (kind, blame) = (fault.as_str(), fault.blame().as_str());
        let labels = FaultLabels { component: component.to_owned(), kind, blame };
        self.faults.get_or_create(&labels).inc();
    }

    /// A pass ended.
    pub fn pass_ended(&self, wall: Duration, now: Timestamp) {
        self.pass_duration.observe(wall.as_secs_f64());
        self.last_pass.set(now.0);
    }

    /// The egress rules denied a connection.
    pub fn denied(&self, rule: DenyRule) {
        self.denied.get_or_create(&RuleLabels { rule: rule.as_str() }).inc();
    }

    /// The configuration was read and has this many problems.
    pub fn config_read(&self, problems: usize, now: Timestamp) {
        self.problems.set(i64::try_from(problems).unwrap_or(i64::MAX));
        self.read.set(now.0);
    }

    /// The last good generations could not be saved.
    pub fn store_warning(&self) {
        self.store_warnings.inc();
    }

    /// Counts what the conditions of all Bindings say. A reason that no Binding has counts 0.
    pub fn count_conditions<'a>(&self, assessments: impl IntoIterator<Item = &'a Assessment>) {
        let mut counts: BTreeMap<ConditionLabels, i64> = every_condition().map(|labels| (labels, 0)).collect();
        for labels in assessments.into_iter().flat_map(conditions_of) {
            *counts.entry(labels).or_default() += 1;
        }
        for (labels, count) in counts {
            self.conditions.get_or_create(&labels).set(count);
        }
    }

    /// Something happened between the broker and the API server.
    pub fn observe(&self, seen: Observation, now: Timestamp) {
        let of = |kind: Kind| KindLabels { kind: kind.as_str() };
        match seen {
            Observation::Write { result, took } => {
                self.writes.get_or_create(&ResultLabels { result: result.as_str() }).inc();
                self.write_duration.observe(took.as_secs_f64());
            }
            Observation::PutBack => {
                self.put_backs.inc();
            }
            Observation::Pruned => {
                self.pruned.inc();
            }
            Observation::Fight => {
                self.fights.inc();
            }
            Observation::Waiting(number) => {
                self.waiting.set(i64::try_from(number).unwrap_or(i64::MAX));
            }
            Observation::Leading(leads) => {
                self.leader.set(i64::from(leads));
            }
            Observation::Renewed => {
                self.lease_renewed.set(now.0);
            }
            Observation::WatchRestarted(kind) => {
                self.watch_restarts.get_or_create(&of(kind)).inc();
            }
            Observation::Listed(kind) => {
                self.watch_lists.get_or_create(&of(kind)).inc();
            }
            Observation::Fresh(kind) => {
                self.cache_fresh.get_or_create(&of(kind)).set(now.0);
            }
            Observation::EventLost => {
                self.events_lost.inc();
            }
        }
    }

    fn blank() -> Self {
        Self {
            probe_duration: Family::new_with_constructor(|| Histogram::new(PROBE_BUCKETS)),
            in_flight: Family::default(),
            pass_duration: Histogram::new(PASS_BUCKETS),
            last_pass: Gauge::default(),
            conditions: Family::default(),
            faults: Family::default(),
            components: Family::default(),
            component: Family::default(),
            denied: Family::default(),
            problems: Gauge::default(),
            read: Gauge::default(),
            store_warnings: Counter::default(),
            writes: Family::default(),
            write_duration: Histogram::new(WRITE_BUCKETS),
            waiting: Gauge::default(),
            put_backs: Counter::default(),
            pruned: Counter::default(),
            fights: Counter::default(),
            leader: Gauge::default(),
            lease_renewed: Gauge::default(),
            watch_restarts: Family::default(),
            watch_lists: Family::default(),
            cache_fresh: Family::default(),
            events_lost: Counter::default(),
            build: Family::default(),
        }
    }

    fn list_components(&self, components: &Components) {
        let counts = [("loaded", components.loaded().len()), ("refused", components.refused().len())];
        for (state, count) in counts {
            self.components.get_or_create(&StateLabels { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        for loaded in components.loaded() {
            let labels = ComponentLabels {
                component: loaded.name.clone(),
                platform: loaded.platform().unwrap_or_default().to_owned(),
                digest: loaded.component.digest().to_owned(),
            };
            self.component.get_or_create(&labels).set(i64::try_from(loaded.size).unwrap_or(i64::MAX));
        }
    }
}

/// A probe that runs now.
#[derive(Debug)]
#[must_use = "a probe counts as in flight for as long as this value lives"]
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn every_condition() -> impl Iterator<Item = ConditionLabels> {
    let accepted = AcceptedReason::ALL.iter().map(|reason| label(ConditionType::Accepted, reason.status(), reason));
    let backend =
        BackendReason::ALL.iter().map(|reason| label(ConditionType::BackendReachable, reason.status(), reason));
    let channel = ChannelReason::ALL.iter().map(|reason| label(ConditionType::ChannelJoined, reason.status(), reason));
    let ready = every_ready_reason().map(|reason| label(ConditionType::Ready, reason.status(), &reason));
    accepted.chain(backend).chain(channel).chain(ready)
}

fn every_ready_reason() -> impl Iterator<Item = ReadyReason> {
    let accepted = AcceptedReason::ALL.iter().filter(|reason| reason.status() != Status::True);
    let backend = BackendReason::ALL.iter().filter(|reason| reason.status() != Status::True);
    let channel = ChannelReason::ALL.iter().filter(|reason| reason.status() != Status::True);
    [ReadyReason::Ok, ReadyReason::Pending]
        .into_iter()
        .chain(accepted.map(|reason| ReadyReason::Accepted(*reason)))
        .chain(backend.map(|reason| ReadyReason::Backend(*reason)))
        .chain(channel.map(|reason| ReadyReason::Channel(*reason)))
}

fn conditions_of(assessment: &Assessment) -> Vec<ConditionLabels> {
    let of_accepted = |reason: AcceptedReason| label(ConditionType::Accepted, reason.status(), &reason);
    let of_ready = |reason: ReadyReason| label(ConditionType::Ready, reason.status(), &reason);
    match assessment {
        Assessment::Served { accepted, backend, channel, ready } => vec![
            of_accepted(accepted.reason),
            label(ConditionType::BackendReachable, backend.reason.status(), &backend.reason),
            label(ConditionType::ChannelJoined, channel.reason.status(), &channel.reason),
            of_ready(ready.reason),
        ],
        Assessment::NotServed { accepted, ready } => vec![of_accepted(accepted.reason), of_ready(ready.reason)],
    }
}

fn label(kind: ConditionType, status: Status, reason: &impl ToString) -> ConditionLabels {
    ConditionLabels { r#type: kind.as_str(), status: status.as_str(), reason: reason.to_string() }
}

impl Probe {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Chat => "chat",
        }
    }
}

#[cfg(test)]
mod tests;
