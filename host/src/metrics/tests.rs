use std::collections::BTreeSet;
use std::fmt::Write;

use kourier_core::condition::Finding;
use kourier_core::id::Generation;
use kourier_core::message::Message;

use super::*;

/// Metrics of which each has at least one series.
fn used() -> Metrics {
    let metrics = Metrics::new(&Components::default());
    metrics.agent_probed(BackendReason::Ok, Duration::from_millis(3));
    metrics.channel_probed("slack", ChannelReason::RateLimited, Duration::from_secs(11));
    metrics.fault("slack", Fault::CpuBudget);
    metrics.denied(DenyRule::Metadata);
    metrics.pass_ended(Duration::from_secs(2), Timestamp(1_700_000_000));
    metrics.config_read(2, Timestamp(1_700_000_001));
    metrics.store_warning();
    let write = Observation::Write { result: WriteResult::Changed, took: Duration::from_millis(7) };
    for seen in [write, Observation::PutBack, Observation::Leading(true), Observation::Renewed] {
        metrics.observe(seen, Timestamp(1_700_000_002));
    }
    metrics.observe(Observation::Fresh(Kind::Binding), Timestamp(1_700_000_003));
    let labels =
        ComponentLabels { component: "slack".to_owned(), platform: "slack".to_owned(), digest: "d".to_owned() };
    metrics.component.get_or_create(&labels).set(1);
    metrics
}

/// The samples of these metrics, as `name{label,...}`, without the parts of a histogram.
fn series(text: &str) -> BTreeSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let series = samples.filter_map(|line| {
        let (name, rest) = line.split_once(['{', ' '])?;
        let labels = rest.rsplit_once('}').map_or("", |(labels, _)| labels);
        let names = labels.split(',').filter_map(|label| Some(label.split_once('=')?.0)).filter(|name| *name != "le");
        let name = ["_bucket", "_sum", "_count"].iter().fold(name, |name, part| name.trim_end_matches(part));
        Some(format!("{name}{{{}}}", names.collect::<Vec<_>>().join(",")))
    });
    series.collect()
}

fn documented() -> BTreeSet<String> {
    CATALOGUE.iter().map(|entry| format!("{}{{{}}}", entry.name, entry.labels.join(","))).collect()
}

#[test]
fn what_is_scraped_is_what_is_documented() {
    assert_eq!(series(&used().encode()), documented());
}

#[test]
fn each_metric_has_its_help_and_its_kind() {
    let text = used().encode();
    for Entry { name, kind, help, .. } in CATALOGUE {
        let family = name.trim_end_matches("_total");
        for line in [format!("# HELP {family} {help}.\n"), format!("# TYPE {family} {kind}\n")] {
            assert!(text.contains(&line), "{line} is missing from\n{text}");
        }
    }
}

#[test]
fn values_land_in_their_series() {
    let text = used().encode();
    let lines = [
        r#"agentkourier_binding_probe_duration_seconds_count{probe="agent",platform="",reason="OK"} 1"#,
        r#"agentkourier_binding_probe_duration_seconds_bucket{le="10.0",probe="chat",platform="slack",reason="RateLimited"} 0"#,
        r#"agentkourier_component_faults_total{component="slack",kind="cpu-budget",blame="guest"} 1"#,
        r#"agentkourier_egress_denied_total{rule="metadata"} 1"#,
        "agentkourier_last_pass_end_timestamp_seconds 1700000000",
        "agentkourier_config_problems 2",
        "agentkourier_store_warnings_total 1",
        r#"agentkourier_status_writes_total{result="changed"} 1"#,
        r#"agentkourier_status_writes_total{result="stale"} 0"#,
        "agentkourier_status_put_backs_total 1",
        "agentkourier_status_pruned_total 0",
        "agentkourier_status_fights_total 0",
        "agentkourier_leader 1",
        "agentkourier_lease_renewed_timestamp_seconds 1700000002",
        r#"agentkourier_cache_fresh_timestamp_seconds{kind="Binding"} 1700000003"#,
        r#"agentkourier_watch_restarts_total{kind="ChatConnection"} 0"#,
    ];
    for line in lines {
        assert!(text.lines().any(|found| found == line), "{line} is missing from\n{text}");
    }
}

#[test]
fn a_probe_is_in_flight_until_it_is_dropped() {
    let metrics = Metrics::new(&Components::default());
    let has = |line: &str| metrics.encode().lines().any(|found| found == line);
    let in_flight = metrics.probe_starts(Probe::Chat);
    assert!(has(r#"agentkourier_binding_probes_in_flight{probe="chat"} 1"#));
    drop(in_flight);
    assert!(has(r#"agentkourier_binding_probes_in_flight{probe="chat"} 0"#));
}

#[test]
fn a_condition_that_nobody_has_any_more_counts_zero() {
    let metrics = Metrics::new(&Components::default());
    let refused = AcceptedReason::ChannelConflict;
    let (message, observed_generation) = (Message::default(), Generation(1));
    let assessment = Assessment::NotServed {
        accepted: Finding { reason: refused, message: message.clone(), observed_generation },
        ready: Finding { reason: ReadyReason::Accepted(refused), message, observed_generation },
    };
    let ready = r#"agentkourier_binding_conditions{type="Ready",status="False",reason="Accepted:ChannelConflict"}"#;
    let count = || {
        let text = metrics.encode();
        text.lines().find_map(|line| line.strip_prefix(ready)).map(|value| value.trim().to_owned())
    };
    metrics.count_conditions([&assessment]);
    assert_eq!(count().as_deref(), Some("1"));
    metrics.count_conditions([]);
    assert_eq!(count().as_deref(), Some("0"));
}

#[test]
fn the_page_of_the_metrics_is_the_catalogue() {
    let mut page = String::from(
        "# Metrics\n\n\
         Served as OpenMetrics text at `/metrics` of the admin port. This page is generated from the program.\n\n\
         Each label is of a closed set: an enumeration of the program, or the names, platforms and digests of the \
         components that it has loaded. No label names a Binding, a namespace or a host, and none holds text that a \
         peer sent: which Binding it is says `agent-kourier status` or the log.\n\n\
         | Metric | Kind | Labels | What it says |\n|---|---|---|---|\n",
    );
    for Entry { name, kind, labels, help } in CATALOGUE {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(page, "| `{name}` | {kind} | {} | {help}. |", labels.join(", "));
    }
    page.push_str(
        "\n`reason`, `type` and `status` are those of [the conditions](binding-not-ready.md). `probe` is `agent` or `chat`; \
         `platform` is empty for agents. `blame` is `guest` for a fault of the component and `host` for one of the \
         broker or its operator.\n",
    );
    crate::committed::check("docs/metrics.md", &page);
}
