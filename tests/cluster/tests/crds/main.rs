//! The CRDs of deploy/crds on a real API server, and what kubectl and helm make of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod columns;
mod rows;
mod schema;
mod status;
mod wait;

use kourier_test_cluster::{Cluster, Kubectl, or_skip};
use serde_json::{Value, json};

/// A namespace of one test.
struct Place {
    cluster: &'static Cluster,
    namespace: String,
}

/// The shared cluster with the CRDs, and a namespace there; none when the programs cannot be had.
fn place(test: &str) -> Option<Place> {
    let cluster = or_skip(test, Cluster::shared())?;
    cluster.crds().expect("the CRDs");
    let namespace = cluster.namespace().expect("a namespace");
    Some(Place { cluster, namespace })
}

impl Place {
    fn kubectl(&self) -> &Kubectl {
        self.cluster.kubectl()
    }

    /// What kubectl prints for these arguments in the namespace.
    fn ok(&self, args: &[&str]) -> String {
        let namespaced = [args, &["--namespace", &self.namespace]].concat();
        self.kubectl().ok(&namespaced).expect("kubectl")
    }

    /// Applies a Binding with this channel, and whatever else `more` holds.
    fn bind(&self, name: &str, channel: &str, more: &Value) {
        let mut binding = binding(&self.namespace, name, channel);
        if let (Value::Object(fields), Value::Object(more)) = (&mut binding, more) {
            fields.extend(more.clone());
        }
        self.kubectl().apply(&binding.to_string()).expect("the Binding");
    }

    /// One value of a Binding, by its JSONPath.
    fn read(&self, name: &str, path: &str) -> String {
        self.ok(&["get", "akbinding", name, &format!("--output=jsonpath={{{path}}}")])
    }

    /// Writes a status as the broker would: all of it.
    fn write_status(&self, name: &str, status: &Value) {
        let patch = json!({"status": status}).to_string();
        self.ok(&["patch", "akbinding", name, "--subresource=status", "--type=merge", "--patch", &patch]);
    }
}

fn binding(namespace: &str, name: &str, channel: &str) -> Value {
    json!({
        "apiVersion": "agentkourier.io/v1alpha1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "agent": {"backendRef": {"name": "agents"}},
            "chat": {"connectionRef": {"name": "slack"}, "channel": channel},
        },
    })
}

/// A status of which Ready has this status and reason, and describes this generation.
fn ready(status: &str, reason: &str, generation: i64) -> Value {
    json!({
        "observedGeneration": generation,
        "conditions": [{
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
            "observedGeneration": generation,
        }],
    })
}
