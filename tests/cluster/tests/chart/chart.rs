//! The chart, rendered by the real helm.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kourier_test_cluster::Tools;
use serde_json::Value;

/// The name of the release in all tests that do not need another one.
pub(crate) const RELEASE: &str = "agent-kourier";

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The text of a file of the repository.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A document of YAML.
pub(crate) fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// The folder of the chart.
pub(crate) fn folder() -> PathBuf {
    repository("deploy/chart/agent-kourier")
}

/// Helm, with nobody's own settings.
pub(crate) fn helm() -> anyhow::Result<Command> {
    let mut helm = Command::new(Tools::find()?.helm()?);
    helm.env_remove("KUBECONFIG").env("HELM_DRIVER", "secret");
    Ok(helm)
}

/// What `helm template` makes of these values, as text, or what it says when it refuses them.
pub(crate) fn template(namespace: &str, release: &str, values: &str) -> anyhow::Result<Result<String, String>> {
    let mut helm = helm()?;
    helm.args(["template", release]).arg(folder()).args(["--namespace", namespace, "--values", "-"]);
    helm.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = helm.spawn().map_err(|error| anyhow::anyhow!("helm: {error}"))?;
    child.stdin.take().unwrap().write_all(values.as_bytes())?;
    let output = child.wait_with_output()?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    Ok(if output.status.success() { Ok(out) } else { Err(err) })
}

/// The objects that the chart makes of these values.
pub(crate) fn objects(values: &str) -> anyhow::Result<Vec<Value>> {
    let text = template("kourier", RELEASE, values)?.unwrap_or_else(|refused| panic!("{values}: {refused}"));
    Ok(text.split("\n---").map(|document| yaml(document.trim_start_matches("---"))).filter(Value::is_object).collect())
}

/// The one object of a kind.
pub(crate) fn only<'o>(objects: &'o [Value], kind: &str) -> &'o Value {
    let mut found = objects.iter().filter(|object| object["kind"] == kind);
    let object = found.next().unwrap_or_else(|| panic!("there is no {kind}"));
    assert!(found.next().is_none(), "there is more than one {kind}");
    object
}

/// Whether there is an object of a kind.
pub(crate) fn has(objects: &[Value], kind: &str) -> bool {
    objects.iter().any(|object| object["kind"] == kind)
}
