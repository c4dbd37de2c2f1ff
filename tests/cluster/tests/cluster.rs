//! The cluster keeps what it promises to tests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kourier_test_cluster::{Cluster, Tools, or_skip};
use serde_json::Value;

/// The longest that anything here may take to happen.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn a_process_that_is_killed_leaves_neither_server_nor_folder_behind() {
    let Some(_) = or_skip("a killed process", Tools::find().map_err(Into::into)) else { return };
    let program = env!("CARGO_BIN_EXE_test-cluster");
    let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut kubeconfig = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut kubeconfig).unwrap();
    let kubeconfig = PathBuf::from(kubeconfig.trim());
    let config: Value = serde_json::from_str(&fs::read_to_string(&kubeconfig).unwrap()).unwrap();
    let address =
        config["clusters"][0]["cluster"]["server"].as_str().unwrap().trim_start_matches("https://").to_owned();
    TcpStream::connect(&address).expect("the API server listens");

    process.kill().unwrap();
    process.wait().unwrap();
    until("the API server to be gone", || TcpStream::connect(&address).is_err());
    until("the folder to be gone", || !kubeconfig.parent().unwrap().exists());
}

#[test]
fn a_frozen_server_is_silent_while_another_one_on_the_same_data_goes_on() {
    let Some(cluster) = or_skip("a frozen server", Cluster::start()) else { return };
    let second = cluster.second_server().unwrap();
    let namespace = cluster.namespace().unwrap();
    let get = ["get", "namespace", &namespace, "--output=name", "--request-timeout=2s"];
    let name = format!("namespace/{namespace}\n");

    cluster.server().unwrap().freeze().unwrap();
    assert_eq!(second.kubectl().ok(&get).unwrap(), name);
    assert!(cluster.kubectl().ok(&get).is_err(), "a frozen server answered");
    cluster.server().unwrap().thaw().unwrap();
    until("the first server to answer", || cluster.kubectl().ok(&get).is_ok_and(|said| said == name));
}

#[test]
fn a_service_account_may_do_what_rbac_gives_it_and_nothing_else() {
    let Some(cluster) = or_skip("a service account", Cluster::shared()) else { return };
    let namespace = cluster.namespace().unwrap();
    let kubeconfig = cluster.service_account(&namespace, "broker").unwrap();
    let account = cluster.kubectl().with(&kubeconfig);
    let user = account.ok(&["auth", "whoami", "--output=jsonpath={.status.userInfo.username}"]).unwrap();
    assert_eq!(user, format!("system:serviceaccount:{namespace}:broker"));
    let list = ["get", "secrets", "--output=name"];
    let refused = account.ok(&list).unwrap_err();
    assert!(format!("{refused:#}").contains("Forbidden"), "{refused:#}");

    let namespaced = format!("--namespace={namespace}");
    let admin = cluster.kubectl();
    admin.ok(&["create", "role", "reader", "--verb=list", "--resource=secrets", &namespaced]).unwrap();
    let subject = format!("--serviceaccount={namespace}:broker");
    admin.ok(&["create", "rolebinding", "reader", "--role=reader", &subject, &namespaced]).unwrap();
    until("the role to count", || account.ok(&list).is_ok());
    assert!(account.ok(&["get", "configmaps"]).is_err(), "a role for Secrets gave ConfigMaps");
}

fn until(what: &str, happened: impl Fn() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
