//! `kubectl wait` and `helm --wait` judge a Binding by the generation that its Ready condition describes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kourier_test_cluster::or_skip;
use serde_json::Value;

use crate::{Place, place, ready};

/// Longer than a wait that has an end takes.
const LONG: &str = "120s";

/// Long enough to see that a wait goes on: one that has an end takes less than half a second.
const SHORT: &str = "3s";

#[test]
fn kubectl_wait_goes_on_while_ready_is_of_an_older_generation_and_ends_when_it_is_of_the_new_one() {
    let Some(place) = place("kubectl wait") else { return };
    place.bind("b", "C1", &Value::Null);
    assert!(wait(&place, SHORT).contains("timed out waiting for the condition"), "without a status");
    place.write_status("b", &ready("True", "OK", 1));
    assert!(wait(&place, LONG).contains("condition met"), "Ready of the only generation");
    place.bind("b", "C2", &Value::Null);
    assert!(wait(&place, SHORT).contains("timed out waiting for the condition"), "Ready of the old generation");

    let waiting = wait_command(&place, LONG).stdout(Stdio::piped()).spawn().unwrap();
    place.write_status("b", &ready("True", "OK", 2));
    let ended = waiting.wait_with_output().unwrap();
    assert!(ended.status.success(), "Ready of the new generation: {ended:?}");
}

#[test]
fn a_wait_that_ignores_generations_returns_at_once_on_the_old_true() {
    let Some(place) = place("an ignorant wait") else { return };
    place.bind("b", "C1", &Value::Null);
    place.write_status("b", &ready("True", "OK", 1));
    place.bind("b", "C2", &Value::Null);
    let status = r#"--for=jsonpath={.status.conditions[?(@.type=="Ready")].status}=True"#;
    place.ok(&["wait", status, "akbinding/b", "--timeout=10s"]);
    assert_eq!(place.read("b", ".status.conditions[0].observedGeneration"), "1");
    assert_eq!(place.read("b", ".metadata.generation"), "2");
}

#[test]
fn helm_waits_for_a_binding_without_a_status_and_for_one_whose_ready_is_of_an_older_generation() {
    let Some(place) = place("helm --wait") else { return };
    let Some(_) = or_skip("helm --wait", place.cluster.tools().helm().map_err(Into::into)) else { return };
    let chart = tempfile::tempdir().unwrap();
    write_chart(chart.path(), &place.namespace);

    let first = helm(&place, chart.path(), "C1", SHORT).output().unwrap();
    assert!(is_timeout(&first), "without a status: {first:?}");
    let waiting = helm(&place, chart.path(), "C1", LONG).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.write_status("b", &ready("True", "OK", 1));
    let ended = waiting.wait_with_output().unwrap();
    assert!(ended.status.success(), "Ready of the only generation: {ended:?}");

    let edited = helm(&place, chart.path(), "C2", SHORT).output().unwrap();
    assert!(is_timeout(&edited), "Ready of the old generation: {edited:?}");
    assert_eq!(place.read("b", ".metadata.generation"), "2");
    place.write_status("b", &ready("True", "OK", 2));
    let ended = helm(&place, chart.path(), "C2", LONG).output().unwrap();
    assert!(ended.status.success(), "Ready of the new generation: {ended:?}");
}

fn wait_command(place: &Place, timeout: &str) -> Command {
    let timeout = format!("--timeout={timeout}");
    place.kubectl().command(&[
        "wait",
        "--for=condition=Ready",
        "akbinding/b",
        &timeout,
        "--namespace",
        &place.namespace,
    ])
}

/// What it says in the end.
fn wait(place: &Place, timeout: &str) -> String {
    let output = wait_command(place, timeout).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn helm(place: &Place, chart: &Path, channel: &str, timeout: &str) -> Command {
    let mut command = place.cluster.helm().unwrap();
    command.args(["upgrade", "--install", "release"]).arg(chart).args(["--namespace", &place.namespace]);
    command.args(["--wait", "--timeout", timeout, "--set", &format!("channel={channel}")]);
    command
}

fn is_timeout(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    !output.status.success() && (said.contains("InProgress") || said.contains("context deadline exceeded"))
}

/// A chart of one Binding.
fn write_chart(folder: &Path, namespace: &str) {
    let mut object = crate::binding(namespace, "b", "");
    object["spec"]["chat"]["channel"] = "{{ .Values.channel }}".into();
    fs::create_dir(folder.join("templates")).unwrap();
    fs::write(folder.join("Chart.yaml"), "{apiVersion: v2, name: waits, version: 1.0.0}").unwrap();
    fs::write(folder.join("templates/binding.yaml"), object.to_string()).unwrap();
}
