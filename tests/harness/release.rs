//! A release of the chart in a test's own cluster. No controller is there that makes pods of it, so the program is started
//! as a pod would start it.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use kourier_test_cluster::Cluster;
use serde_json::{Value, json};
use tempfile::TempPath;

use crate::broker::Setup;

/// The name of the release, and so of its objects.
pub const NAME: &str = "agent-kourier";

/// The namespace of the release.
pub const HOME: &str = "kourier";

/// The chart, installed.
pub struct Release<'c> {
    cluster: &'c Cluster,
}

impl<'c> Release<'c> {
    /// Installs the chart without any value, with its CRDs.
    ///
    /// # Panics
    ///
    /// When helm does not.
    #[must_use]
    pub fn install(cluster: &'c Cluster) -> Self {
        let release = Self { cluster };
        let _ = release.helm("install", &json!({}));
        release
    }

    /// Upgrades it to these values, and yields what helm prints: the notes, too.
    ///
    /// # Panics
    ///
    /// When helm refuses.
    #[must_use]
    pub fn upgrade(&self, values: &Value) -> String {
        self.helm("upgrade", values)
    }

    /// Who the broker is for the API server.
    #[must_use]
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{HOME}:{NAME}")
    }

    /// The kubeconfig of the release's service account. The file is gone when the answer is dropped.
    ///
    /// # Panics
    ///
    /// When there is no such account.
    #[must_use]
    pub fn account(&self) -> TempPath {
        let token = self.cluster.kubectl().ok(&["create", "token", NAME, "--namespace", HOME]);
        let token = token.expect("the account is there");
        self.cluster.kubeconfig_for(token.trim(), HOME).expect("a kubeconfig can be written")
    }

    /// A replica with the settings of the release, not started yet. Only what a pod is given is other: who it is, its
    /// port, its folder, and that its peers are on this machine.
    ///
    /// # Panics
    ///
    /// When the release has no settings.
    #[must_use]
    pub fn replica(&self, account: &Path) -> Setup {
        let map = format!("{NAME}-settings");
        let text = ["get", "configmap", &map, "--namespace", HOME, "--output=jsonpath={.data.settings\\.yaml}"];
        let text = self.cluster.kubectl().ok(&text).expect("the settings are there");
        let mut settings: Value = serde_saphyr::from_str(&text).expect("the settings are YAML");
        let setup = Setup::new();
        settings["admin"]["listen"] = json!("127.0.0.1:0");
        settings["components"]["dir"] = json!(setup.path("components"));
        settings["kubernetes"]["kubeconfig"] = json!(account);
        settings["egress"]["allowLoopback"] = json!(true);
        fs::write(setup.path("settings.yaml"), settings.to_string()).expect("a file can be written");
        setup
    }

    fn helm(&self, verb: &str, values: &Value) -> String {
        let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/chart/agent-kourier");
        let mut helm = self.cluster.helm().expect("helm is there");
        helm.args([verb, NAME]).arg(chart).args(["--namespace", HOME, "--values", "-"]);
        if verb == "install" {
            helm.arg("--create-namespace");
        }
        helm.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = helm.spawn().expect("helm can be started");
        let mut input = child.stdin.take().expect("it has an input");
        input.write_all(values.to_string().as_bytes()).expect("helm reads the values");
        drop(input);
        let output = child.wait_with_output().expect("helm ends");
        assert!(output.status.success(), "helm {verb}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("helm prints text")
    }
}
