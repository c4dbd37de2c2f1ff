//! The real API server takes what the chart makes.

use kourier_test_cluster::{Cluster, or_skip};
use serde_json::{Value, json};

use crate::chart::{RELEASE, template};

/// Sets of values. Those kinds that only the Prometheus operator knows are off.
const SETS: [&str; 4] = [
    "",
    "settings: {store: sqlite, broker: second}",
    "
settings: {config: {source: files}, store: sqlite}
files: {configMap: m}
persistence: {enabled: false}
",
    "
replicas: 3
secrets: {clusterWide: true}
components: {volume: {persistentVolumeClaim: {claimName: probes}}}
dashboard: {enabled: true}
priorityClassName: system-cluster-critical
networkPolicy: {scrapers: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
settings: {events: {enabled: false}, lease: {duration: 60s, renewDeadline: 40s, retryPeriod: 8s}}
podLabels: {team: chat}
tolerations: [{operator: Exists}]
nodeSelector: {kubernetes.io/os: linux}
affinity: {nodeAffinity: {}}
image: {digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', pullSecrets: [registry]}
",
];

/// Applies the chart without its CRDs, of which all tests share one set, and says what kubectl prints.
pub(crate) fn apply(cluster: &Cluster, namespace: &str, values: &str) -> String {
    let text = template(namespace, RELEASE, &format!("{values}\ncrds: {{enabled: false}}")).unwrap();
    cluster.kubectl().apply(&text.unwrap_or_else(|refused| panic!("{values}: {refused}"))).unwrap()
}

/// Removes what belongs to no namespace.
pub(crate) fn clean(cluster: &Cluster, namespace: &str) {
    let name = format!("{RELEASE}.{namespace}");
    let (view, edit) = (format!("{name}-view"), format!("{name}-edit"));
    let args = ["delete", "clusterrole,clusterrolebinding", &name, &view, &edit, "--ignore-not-found"];
    cluster.kubectl().ok(&args).unwrap();
}

#[test]
fn the_api_server_takes_all_that_the_chart_makes() {
    let Some(cluster) = or_skip("the_api_server_takes_all_that_the_chart_makes", Cluster::shared()) else { return };
    for values in SETS {
        let namespace = cluster.namespace().unwrap();
        let said = apply(cluster, &namespace, values);
        assert!(said.contains("deployment.apps/agent-kourier created"), "{said}");
        clean(cluster, &namespace);
    }
}

#[test]
fn the_api_server_takes_the_crds_of_the_chart() {
    let Some(cluster) = or_skip("the_api_server_takes_the_crds_of_the_chart", Cluster::shared()) else { return };
    let text = template("kourier", RELEASE, "").unwrap().unwrap();
    let crds: Vec<&str> =
        text.split("\n---").filter(|document| document.contains("kind: CustomResourceDefinition")).collect();
    assert_eq!(crds.len(), 3);
    let args = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--filename=-"];
    let output = cluster.kubectl().run_with(&args, &crds.join("\n---")).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_namespace_that_restricts_pods_takes_the_pods_of_the_chart() {
    let Some(cluster) = or_skip("a_namespace_that_restricts_pods_takes_the_pods_of_the_chart", Cluster::shared())
    else {
        return;
    };
    let namespace = cluster.namespace().unwrap();
    let kubectl = cluster.kubectl();
    kubectl.ok(&["label", "namespace", &namespace, "pod-security.kubernetes.io/enforce=restricted"]).unwrap();
    apply(cluster, &namespace, "settings: {store: sqlite}");
    let deployment = kubectl.ok(&["get", "deployment", RELEASE, "--namespace", &namespace, "--output=json"]).unwrap();
    let deployment: Value = serde_json::from_str(&deployment).unwrap();
    let mut spec = deployment["spec"]["template"]["spec"].clone();
    let pod = |spec: &Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace}, "spec": spec});
    kubectl.apply(&pod(&spec).to_string()).unwrap();
    // And it would not take another one.
    spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = json!(true);
    let mut other = pod(&spec);
    other["metadata"]["name"] = json!("q");
    let refused = kubectl.apply(&other.to_string()).unwrap_err().to_string();
    assert!(refused.contains("allowPrivilegeEscalation"), "{refused}");
    clean(cluster, &namespace);
}
