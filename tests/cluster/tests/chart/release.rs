//! A release from its installation to its end, by the real helm.

use std::process::Output;

use kourier_test_cluster::{Cluster, or_skip};

use crate::chart::{RELEASE, folder, helm};

const BINDING: &str = "
apiVersion: agentkourier.io/v1alpha1
kind: Binding
metadata: {name: kept, namespace: default}
spec:
  agent: {backendRef: {name: a}}
  chat: {connectionRef: {name: b}, channel: C1}
";

/// Runs helm on the release.
fn run(cluster: &Cluster, verb: &str, more: &[&str]) -> Output {
    let mut helm = helm().unwrap();
    helm.arg("--kubeconfig").arg(cluster.kubeconfig()).args([verb, RELEASE]);
    if verb != "uninstall" {
        helm.arg(folder());
    }
    helm.args(["--namespace", "kourier"]).args(more).output().unwrap()
}

/// What helm prints.
fn ok(cluster: &Cluster, verb: &str, more: &[&str]) -> String {
    let output = run(cluster, verb, more);
    assert!(output.status.success(), "helm {verb}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_release_takes_over_crds_and_leaves_bindings_behind() {
    // Of its own: this one is about the CRDs.
    let test = "a_release_takes_over_crds_and_leaves_bindings_behind";
    let Some(cluster) = or_skip(test, Cluster::start()) else { return };
    let kubectl = cluster.kubectl();
    cluster.crds().unwrap();
    kubectl.apply(BINDING).unwrap();
    let refused = run(&cluster, "install", &["--create-namespace"]);
    assert!(!refused.status.success(), "helm took over what is somebody else's");
    let said = ok(&cluster, "install", &["--create-namespace", "--take-ownership"]);
    assert!(said.contains("THE BROKER MAY NOT READ ANY SECRET YET"), "{said}");

    let said =
        ok(&cluster, "upgrade", &["--set", "secrets.access[0].namespace=default,secrets.access[0].names[0]=bot"]);
    assert!(said.contains("default: bot"), "{said}");
    kubectl.ok(&["get", "role", "agent-kourier.kourier-secrets", "--namespace=default"]).unwrap();

    ok(&cluster, "uninstall", &[]);
    let gone = kubectl.run(&["get", "deployment", RELEASE, "--namespace=kourier"]).unwrap();
    assert!(String::from_utf8_lossy(&gone.stderr).contains("NotFound"));
    kubectl.ok(&["get", "akbinding", "kept", "--namespace=default"]).unwrap();

    ok(&cluster, "install", &[]);
    kubectl.ok(&["get", "akbinding", "kept", "--namespace=default"]).unwrap();
}
