//! The rules that other programs run, each on its own interpreter or grammar: the health rules for Argo CD and Flux, and
//! the queries for Prometheus. What a query yields is not tried.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use kourier_test_cluster::or_skip;
use serde_json::Value;

use crate::chart::{objects, only, read, repository};

/// The exit code of `tests/rules/run` when the interpreters cannot be installed.
const MISSING: i32 = 3;

/// Runs a check on an input; it fails the test with what it prints.
fn check(test: &str, name: &str, input: &str) {
    let mut command = Command::new(repository("tests/rules/run"));
    command.arg(name).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A check that reads nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(MISSING) {
        let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!ci, "{test}: {said}");
        // Not `eprintln!`, which the test runner keeps to itself when a test passes.
        let _ = writeln!(io::stderr(), "SKIPPED: {test}: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
}

#[test]
fn argo_and_flux_tell_how_a_binding_is() {
    check("argo_and_flux_tell_how_a_binding_is", "health", "");
}

#[test]
fn prometheus_can_read_each_alert() {
    let test = "prometheus_can_read_each_alert";
    for store in ["kubernetes", "sqlite"] {
        let values = format!(
            "settings: {{store: {store}}}\nprometheusRule: {{enabled: true, runbook: 'https://wiki.example/alerts'}}"
        );
        let Some(objects) = or_skip(test, objects(&values)) else { return };
        let rules = only(&objects, "PrometheusRule")["spec"]["groups"][0]["rules"].as_array().unwrap();
        let queries: Vec<&Value> = rules.iter().map(|rule| &rule["expr"]).collect();
        check(test, "queries", &serde_json::to_string(&queries).unwrap());
    }
}

#[test]
fn prometheus_can_read_each_panel() {
    let dashboard: Value = serde_json::from_str(&read("deploy/chart/agent-kourier/files/dashboard.json")).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<&Value> = targets.map(|target| &target["expr"]).collect();
    check("prometheus_can_read_each_panel", "queries", &serde_json::to_string(&queries).unwrap());
}
