//! What the chart makes of values, and which it refuses.

use kourier_test_cluster::or_skip;
use serde_json::{Value, json};

use crate::chart::{RELEASE, has, objects, only, template, yaml};

/// Values, and what they become, as a check on the objects.
fn check(test: &str, values: &str, check: impl FnOnce(&[Value])) {
    if let Some(objects) = or_skip(test, objects(values)) {
        check(&objects);
    }
}

/// The settings file that the broker gets.
fn settings(objects: &[Value]) -> Value {
    let name = format!("{RELEASE}-settings");
    let map = objects.iter().find(|object| object["metadata"]["name"] == name.as_str()).unwrap();
    yaml(map["data"]["settings.yaml"].as_str().unwrap())
}

fn pod(objects: &[Value]) -> &Value {
    &only(objects, "Deployment")["spec"]["template"]["spec"]
}

#[test]
fn without_values_two_replicas_elect_and_read_the_cluster() {
    check("without_values_two_replicas_elect_and_read_the_cluster", "", |objects| {
        let deployment = &only(objects, "Deployment")["spec"];
        assert_eq!(deployment["replicas"], 2);
        assert_eq!(deployment["strategy"]["type"], "RollingUpdate");
        assert_eq!(only(objects, "PodDisruptionBudget")["spec"]["maxUnavailable"], 1);
        assert_eq!(only(objects, "Role")["rules"][0]["resourceNames"], json!(["agent-kourier-default"]));
        let settings = settings(objects);
        assert_eq!(settings["config"]["source"], "crds");
        assert_eq!(settings["store"], "kubernetes");
        assert_eq!(settings["admin"]["listen"], "0.0.0.0:9090");
        for kind in ["ServiceMonitor", "PrometheusRule", "PersistentVolumeClaim"] {
            assert!(!has(objects, kind), "{kind} is made unasked");
        }
    });
}

#[test]
fn the_crds_outlive_the_release_unless_values_say_otherwise() {
    let test = "the_crds_outlive_the_release_unless_values_say_otherwise";
    let policies = |objects: &[Value]| -> Vec<Value> {
        let crds = objects.iter().filter(|object| object["kind"] == "CustomResourceDefinition");
        crds.map(|crd| crd["metadata"]["annotations"]["helm.sh/resource-policy"].clone()).collect()
    };
    check(test, "", |objects| assert_eq!(policies(objects), ["keep", "keep", "keep"]));
    check(test, "crds: {keep: false}", |objects| {
        assert_eq!(policies(objects), [Value::Null, Value::Null, Value::Null]);
    });
    check(test, "crds: {enabled: false}", |objects| assert!(policies(objects).is_empty()));
}

#[test]
fn with_sqlite_one_replica_has_a_volume_and_elects_nothing() {
    let test = "with_sqlite_one_replica_has_a_volume_and_elects_nothing";
    check(test, "settings: {store: sqlite}", |objects| {
        let deployment = &only(objects, "Deployment")["spec"];
        assert_eq!(deployment["replicas"], 1);
        assert_eq!(deployment["strategy"], json!({"type": "Recreate"}));
        assert!(has(objects, "PersistentVolumeClaim"));
        assert!(!has(objects, "Role"), "there is nothing to elect");
        assert!(!has(objects, "PodDisruptionBudget"));
        assert_eq!(settings(objects)["storePath"], "/var/lib/agent-kourier/store.db");
    });
    check(test, "{settings: {store: sqlite}, persistence: {enabled: false}}", |objects| {
        assert!(!has(objects, "PersistentVolumeClaim"));
        assert!(pod(objects)["volumes"].as_array().unwrap().contains(&json!({"name": "store", "emptyDir": {}})));
    });
}

#[test]
fn with_files_the_broker_has_no_right_and_no_token() {
    let values = "
settings: {config: {source: files}, store: sqlite}
files: {configMap: manifests, secrets: [{namespace: team-a, name: bot, secret: team-a-bot}]}
";
    check("with_files_the_broker_has_no_right_and_no_token", values, |objects| {
        for kind in ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"] {
            assert!(!has(objects, kind), "{kind}");
        }
        let pod = pod(objects);
        assert_eq!(pod["automountServiceAccountToken"], false);
        let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
        let path = "/etc/agent-kourier/secrets/team-a/bot";
        assert!(mounts.contains(&json!({"name": "secret-0", "mountPath": path, "readOnly": true})));
    });
}

#[test]
fn other_settings_are_other_pods() {
    let test = "other_settings_are_other_pods";
    let sum = |values| {
        let objects = or_skip(test, objects(values))?;
        let annotations = &only(&objects, "Deployment")["spec"]["template"]["metadata"]["annotations"];
        Some(annotations["agentkourier.io/settings-checksum"].as_str().unwrap().to_owned())
    };
    let (Some(one), Some(same), Some(other)) =
        (sum(""), sum("resources: {}"), sum("settings: {prober: {interval: 1m}}"))
    else {
        return;
    };
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn secrets_are_read_by_namespace_and_name() {
    let values = "secrets: {access: [{namespace: team-a, names: [bot, ca]}, {namespace: team-b, names: [bot]}]}";
    check("secrets_are_read_by_namespace_and_name", values, |objects| {
        let roles = objects.iter().filter(|object| object["kind"] == "Role");
        let secrets: Vec<&Value> = roles.filter(|role| role["rules"][0]["resources"] == json!(["secrets"])).collect();
        assert_eq!(secrets.len(), 2);
        assert_eq!(secrets[0]["metadata"]["namespace"], "team-a");
        let rule = json!([{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["bot", "ca"], "verbs": ["get", "watch"]}]);
        assert_eq!(secrets[0]["rules"], rule);
    });
}

#[test]
fn components_come_from_one_volume() {
    let values = "components: {volume: {image: {reference: 'registry.example/probes:1'}}, path: wasm}";
    check("components_come_from_one_volume", values, |objects| {
        assert_eq!(settings(objects)["components"]["dir"], "/etc/agent-kourier/components/wasm");
        let volume = json!({"name": "components", "image": {"reference": "registry.example/probes:1"}});
        assert!(pod(objects)["volumes"].as_array().unwrap().contains(&volume));
    });
}

#[test]
fn a_size_in_bytes_stays_a_whole_number() {
    check("a_size_in_bytes_stays_a_whole_number", "settings: {probe: {memory: 33554432}}", |objects| {
        assert_eq!(settings(objects)["probe"]["memory"].as_u64(), Some(33_554_432));
    });
}

/// Values that are refused, and what the refusal says.
const REFUSED: [(&str, &str); 16] = [
    ("replica: 3", "additional properties 'replica' not allowed"),
    ("replicas: two", "at '/replicas': got string, want"),
    ("{replicas: 2, settings: {store: sqlite}}", "replicas: with settings.store sqlite one replica holds the file"),
    ("settings: {store: postgres}", "at '/settings/store': value must be one of 'kubernetes', 'sqlite'"),
    ("settings: {config: {source: files}}", "settings.store: kubernetes keeps last good specs beside the Bindings"),
    ("settings: {config: {source: files}, store: sqlite}", "files.configMap: with settings.config.source files, name"),
    ("files: {configMap: m}", "files: is only read with settings.config.source files"),
    ("settings: {prober: {interval: 5}}", "at '/settings/prober/interval': got number, want string"),
    ("settings: {writer: {gap: 10 s}}", "at '/settings/writer/gap': '10 s' does not match"),
    ("settings: {admin: {listen: '0.0.0.0:1'}}", "at '/settings': additional properties 'admin' not allowed"),
    ("settings: {egress: {allowLoopback: true}}", "at '/settings/egress/allowLoopback': value must be false"),
    ("image: {digest: latest}", "at '/image/digest': 'latest' does not match"),
    ("secrets: {access: [{namespace: team-a, names: ['*']}]}", "at '/secrets/access/0/names/0': '*' does not match"),
    ("serviceAccount: {create: false}", "serviceAccount.name: name the account that exists"),
    ("prometheusRule: {enabled: true}", "prometheusRule.runbook: write the address at which you keep docs/alerts.md"),
    ("components: {path: wasm}", "components.path: is a folder in components.volume"),
];

#[test]
fn wrong_values_are_refused_with_the_place_and_what_is_wrong() {
    for (values, why) in REFUSED {
        let test = "wrong_values_are_refused_with_the_place_and_what_is_wrong";
        let Some(rendered) = or_skip(test, template("kourier", RELEASE, values)) else { return };
        let refused = rendered.expect_err(values);
        assert!(refused.contains(why), "{values}: {refused}");
    }
}
