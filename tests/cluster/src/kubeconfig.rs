//! Kubeconfig files, in JSON, which is YAML too.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::certificates::Certificates;

/// Writes the kubeconfig of a user who may do everything.
pub(crate) fn write_admin(file: &Path, server: &str, certificates: &Certificates) -> anyhow::Result<()> {
    let cluster = json!({"server": server, "certificate-authority": certificates.authority()});
    let user = json!({
        "client-certificate": certificates.certificate("admin"),
        "client-key": certificates.key("admin"),
    });
    write(file, &cluster, &user, "default")
}

/// Writes a kubeconfig for the bearer of `token`, to the server of `admin`: what `kubectl config view` says in JSON.
pub(crate) fn write_bearer(file: &Path, admin: &Value, token: &str, namespace: &str) -> anyhow::Result<()> {
    let cluster = admin.pointer("/clusters/0/cluster").context("the kubeconfig names no cluster")?;
    write(file, cluster, &json!({"token": token}), namespace)
}

fn write(file: &Path, cluster: &Value, user: &Value, namespace: &str) -> anyhow::Result<()> {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}],
        "current-context": "test",
    });
    fs::write(file, config.to_string()).with_context(|| file.display().to_string())
}
