//! What the chart says of metrics, alerts, settings and kinds, compared with what the program and its documentation say.

use std::collections::BTreeSet;
use std::fs;

use kourier_test_cluster::or_skip;
use serde_json::Value;

use crate::chart::{folder, objects, only, read, repository, yaml};

/// Settings that the chart decides, so that its values may not.
const CHART_OWNED: [&str; 7] = [
    "admin.listen",
    "components.dir",
    "config.dir",
    "kubernetes.kubeconfig",
    "lease.namespace",
    "secrets.dir",
    "storePath",
];

const ALERTS: &str = "prometheusRule: {enabled: true, runbook: 'https://wiki.example/alerts'}";

/// With `UPDATE_COMMITTED=1` in the environment the copies are made anew.
#[test]
fn the_chart_has_the_generated_crds() {
    let (generated, copies) = (repository("deploy/crds"), folder().join("files/crds"));
    let names =
        |folder| -> BTreeSet<_> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    if std::env::var_os("UPDATE_COMMITTED").is_some_and(|value| value == "1") {
        for name in names(&generated) {
            fs::copy(generated.join(&name), copies.join(&name)).unwrap();
        }
    }
    assert_eq!(names(&generated), names(&copies));
    for name in names(&generated) {
        let same = fs::read(generated.join(&name)).unwrap() == fs::read(copies.join(&name)).unwrap();
        assert!(
            same,
            "{} of the chart is not the generated one: run this test with UPDATE_COMMITTED=1",
            name.display()
        );
    }
}

/// The metrics that a text names, without the endings of a histogram's series.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("agentkourier_")).map(metric).collect()
}

/// The metric that a series is of.
fn metric(series: &str) -> &str {
    ["_bucket", "_count", "_sum"].iter().find_map(|end| series.strip_suffix(end)).unwrap_or(series)
}

#[test]
fn each_metric_of_the_alerts_and_the_dashboard_is_documented() {
    let pages = read("docs/metrics.md");
    let documented: BTreeSet<&str> = metrics(&pages);
    for file in ["templates/prometheusrule.yaml", "files/dashboard.json"] {
        let text = fs::read_to_string(folder().join(file)).unwrap();
        let named = metrics(&text);
        assert!(named.len() > 5, "{file} names hardly any metric");
        let unknown: Vec<_> = named.difference(&documented).collect();
        assert!(unknown.is_empty(), "{file} names metrics that docs/metrics.md does not: {unknown:?}");
    }
}

#[test]
fn each_alert_has_a_severity_a_summary_and_a_section_in_the_runbook() {
    let Some(objects) = or_skip("each_alert_has_a_severity_a_summary_and_a_section_in_the_runbook", objects(ALERTS))
    else {
        return;
    };
    let rules = only(&objects, "PrometheusRule")["spec"]["groups"][0]["rules"].as_array().unwrap();
    let mut alerts = BTreeSet::new();
    for rule in rules {
        let name = rule["alert"].as_str().unwrap();
        let severity = rule["labels"]["severity"].as_str().unwrap();
        assert!(["critical", "warning"].contains(&severity), "{name}: {severity}");
        assert!(rule["annotations"]["summary"].as_str().unwrap().ends_with('.'), "{name} has no summary");
        let address = format!("https://wiki.example/alerts#{}", name.to_lowercase());
        assert_eq!(rule["annotations"]["runbook_url"], address, "{name}");
        assert_balanced(name, rule["expr"].as_str().unwrap());
        alerts.insert(name.to_owned());
    }
    let page = read("docs/alerts.md");
    let sections = page.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
    assert_eq!(alerts, sections, "docs/alerts.md has one section for each alert");
}

/// The expression chooses series by the release, and closes what it opens.
fn assert_balanced(alert: &str, expression: &str) {
    for (open, close) in [('(', ')'), ('{', '}'), ('[', ']')] {
        assert_eq!(expression.matches(open).count(), expression.matches(close).count(), "{alert}: {expression}");
    }
    let series = expression.matches("agentkourier_").count();
    let chosen = expression.matches("{job=\"agent-kourier\",namespace=\"kourier\"").count();
    assert_eq!(series, chosen, "{alert}: {expression}");
}

/// The queries of the dashboard, by the titles of their panels.
fn panels(values: &str) -> anyhow::Result<Vec<(String, String)>> {
    let objects = objects(values)?;
    let named = |object: &&Value| object["metadata"]["name"] == "agent-kourier-dashboard";
    let map = objects.iter().find(named).unwrap();
    let dashboard: Value = serde_json::from_str(map["data"]["agent-kourier.json"].as_str().unwrap())?;
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Ok(panels.map(|panel| (text(&panel["title"]), text(&panel["targets"][0]["expr"]))).collect())
}

#[test]
fn the_dashboard_asks_the_leader_where_there_is_one() {
    let test = "the_dashboard_asks_the_leader_where_there_is_one";
    for (store, asks) in [("kubernetes", true), ("sqlite", false)] {
        let values = format!("{{dashboard: {{enabled: true}}, settings: {{store: {store}}}}}");
        let Some(panels) = or_skip(test, panels(&values)) else { return };
        assert!(panels.len() >= 10);
        let (_, query) = panels.iter().find(|(title, _)| title == "Bindings by what Ready says").unwrap();
        assert_eq!(query.contains("agentkourier_leader"), asks, "{store}: {query}");
    }
}

#[test]
fn a_pass_is_old_after_two_of_the_intervals_that_are_set() {
    let values = format!("{ALERTS}\nsettings: {{prober: {{interval: 90s}}}}");
    let Some(objects) = or_skip("a_pass_is_old_after_two_of_the_intervals_that_are_set", objects(&values)) else {
        return;
    };
    let rules = only(&objects, "PrometheusRule")["spec"]["groups"][0]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["alert"] == "AgentKourierPassOld").unwrap();
    assert!(rule["expr"].as_str().unwrap().contains(" > 180 "), "{}", rule["expr"]);
}

/// The keys of the table in docs/limits.md.
fn settings() -> BTreeSet<String> {
    let page = read("docs/limits.md");
    let table = page.split("## Fixed").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned()).collect()
}

/// The keys below a schema of settings, with dots.
fn keys(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if schema["properties"].is_object() {
            keys(schema, &path, found);
        } else {
            found.insert(path);
        }
    }
}

#[test]
fn the_values_take_each_setting_of_the_program_that_is_not_the_charts_own() {
    let schema: Value = serde_json::from_str(&read("deploy/chart/agent-kourier/values.schema.json")).unwrap();
    let mut taken = BTreeSet::new();
    keys(&schema["properties"]["settings"], "", &mut taken);
    let known = settings();
    assert!(known.len() > 30, "docs/limits.md has no table of settings");
    let owned = CHART_OWNED.iter().map(|key| (*key).to_owned()).collect();
    let wanted: BTreeSet<_> = known.difference(&owned).cloned().collect();
    assert_eq!(taken, wanted, "left: the settings of values.schema.json; right: those of docs/limits.md");
}

#[test]
fn each_value_has_a_default_that_the_schema_knows() {
    let schema: Value = serde_json::from_str(&read("deploy/chart/agent-kourier/values.schema.json")).unwrap();
    let values = yaml(&read("deploy/chart/agent-kourier/values.yaml"));
    let keys = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    let mut known = keys(&schema["properties"]);
    // Helm puts it into the values of every chart.
    known.remove("global");
    assert_eq!(keys(&values), known);
    for (section, default) in values.as_object().unwrap().iter().filter(|(name, _)| *name != "settings") {
        if schema["properties"][section]["properties"].is_object() {
            assert_eq!(keys(default), keys(&schema["properties"][section]["properties"]), "{section}");
        }
    }
}
