//! What the chart lets the broker and people do, as the API server itself tells: this and nothing else.

use std::collections::BTreeSet;

use kourier_test_cluster::{Cluster, or_skip};
use serde_json::{Value, json};

use crate::chart::RELEASE;
use crate::server::{apply, clean};

/// One right, as `verb group/resource` or `verb group/resource name`.
type Rights = BTreeSet<String>;

fn rights(list: &[&str]) -> Rights {
    list.iter().map(|right| (*right).to_owned()).collect()
}

/// What the broker may do in every namespace.
const EVERYWHERE: [&str; 16] = [
    "get agentkourier.io/bindings",
    "list agentkourier.io/bindings",
    "watch agentkourier.io/bindings",
    "get agentkourier.io/agentbackends",
    "list agentkourier.io/agentbackends",
    "watch agentkourier.io/agentbackends",
    "get agentkourier.io/chatconnections",
    "list agentkourier.io/chatconnections",
    "watch agentkourier.io/chatconnections",
    "patch agentkourier.io/bindings/status",
    "get apps/controllerrevisions",
    "list apps/controllerrevisions",
    "create apps/controllerrevisions",
    "delete apps/controllerrevisions",
    "create events.k8s.io/events",
    "patch events.k8s.io/events",
];

/// What it may do besides, in its own namespace.
const AT_HOME: [&str; 3] = [
    "create coordination.k8s.io/leases",
    "get coordination.k8s.io/leases agent-kourier-default",
    "update coordination.k8s.io/leases agent-kourier-default",
];

/// What it may do besides, where `secrets.access` names a Secret.
const WITH_SECRETS: [&str; 2] = ["get /secrets bot", "watch /secrets bot"];

/// Every right that the chart's account has in a namespace, without those that each account has there.
fn granted(cluster: &Cluster, home: &str, place: &str) -> Rights {
    &listed(cluster, home, RELEASE, place) - &listed(cluster, home, "nobody", place)
}

/// Every right of an account in a namespace, as the API server lists them.
fn listed(cluster: &Cluster, home: &str, account: &str, place: &str) -> Rights {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": place},
    });
    let account = format!("--as=system:serviceaccount:{home}:{account}");
    let args = ["create", "--raw=/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "--filename=-", &account];
    let output = cluster.kubectl().run_with(&args, &review.to_string()).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"]["incomplete"], false);
    answer["status"]["resourceRules"].as_array().unwrap().iter().flat_map(spread).collect()
}

/// The rights of a rule, one by one.
fn spread(rule: &Value) -> Vec<String> {
    let texts = |key: &str| -> Vec<String> {
        let list = rule[key].as_array().into_iter().flatten();
        list.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let names = match texts("resourceNames") {
        names if names.is_empty() => vec![String::new()],
        names => names.into_iter().map(|name| format!(" {name}")).collect(),
    };
    let mut spread = Vec::new();
    for group in texts("apiGroups") {
        for resource in texts("resources") {
            for verb in texts("verbs") {
                spread.extend(names.iter().map(|name| format!("{verb} {group}/{resource}{name}")));
            }
        }
    }
    spread
}

#[test]
fn the_broker_may_do_what_it_does_and_nothing_else() {
    let Some(cluster) = or_skip("the_broker_may_do_what_it_does_and_nothing_else", Cluster::shared()) else { return };
    let [home, team, other] = [(); 3].map(|()| cluster.namespace().unwrap());
    apply(cluster, &home, &format!("secrets: {{access: [{{namespace: {team}, names: [bot]}}]}}"));
    assert_eq!(granted(cluster, &home, &other), rights(&EVERYWHERE));
    assert_eq!(granted(cluster, &home, &home), &rights(&EVERYWHERE) | &rights(&AT_HOME));
    assert_eq!(granted(cluster, &home, &team), &rights(&EVERYWHERE) | &rights(&WITH_SECRETS));
    clean(cluster, &home);
}

#[test]
fn values_take_rights_away_and_open_secrets() {
    let Some(cluster) = or_skip("values_take_rights_away_and_open_secrets", Cluster::shared()) else { return };
    let home = cluster.namespace().unwrap();
    apply(cluster, &home, "settings: {store: sqlite, events: {enabled: false}}\nsecrets: {clusterWide: true}");
    let mut expected = rights(&["get /secrets", "watch /secrets"]);
    expected
        .extend(EVERYWHERE.iter().filter(|right| right.contains("agentkourier.io")).map(|right| (*right).to_owned()));
    assert_eq!(granted(cluster, &home, &home), expected);
    clean(cluster, &home);
}

/// What `kubectl auth can-i` answers to the broker's account.
fn can(cluster: &Cluster, home: &str, question: &str, namespace: &str) -> bool {
    let account = format!("--as=system:serviceaccount:{home}:{RELEASE}");
    let mut args = vec!["auth", "can-i", "--namespace", namespace, &account];
    args.extend(question.split(' '));
    let output = cluster.kubectl().run(&args).unwrap();
    match String::from_utf8_lossy(&output.stdout).trim() {
        "yes" => true,
        "no" => false,
        _ => panic!("{question}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn can_i_answers_the_questions_that_an_auditor_asks() {
    let Some(cluster) = or_skip("can_i_answers_the_questions_that_an_auditor_asks", Cluster::shared()) else { return };
    cluster.crds().unwrap();
    let [home, team] = [(); 2].map(|()| cluster.namespace().unwrap());
    apply(cluster, &home, &format!("secrets: {{access: [{{namespace: {team}, names: [bot]}}]}}"));
    let yes = [
        ("patch bindings.agentkourier.io --subresource=status", &team),
        ("get secret/bot", &team),
        ("watch secret/bot", &team),
        ("update lease.coordination.k8s.io/agent-kourier-default", &home),
    ];
    for (question, namespace) in yes {
        assert!(can(cluster, &home, question, namespace), "may not {question}");
    }
    let no = [
        ("list secrets", &team),
        ("list secrets", &home),
        ("get secret/other", &team),
        ("get secret/bot", &home),
        ("update bindings.agentkourier.io", &team),
        ("patch bindings.agentkourier.io", &team),
        ("delete bindings.agentkourier.io", &team),
        ("update bindings.agentkourier.io --subresource=status", &team),
        ("update lease.coordination.k8s.io/agent-kourier-other", &home),
        ("delete lease.coordination.k8s.io/agent-kourier-default", &home),
        ("create leases.coordination.k8s.io", &team),
        ("update controllerrevisions.apps", &team),
        ("create pods", &home),
    ];
    for (question, namespace) in no {
        assert!(!can(cluster, &home, question, namespace), "may {question}");
    }
    clean(cluster, &home);
}

/// The verbs that a role of the chart adds to the cluster's own roles, and which.
fn for_people(cluster: &Cluster, role: &str) -> (Vec<String>, Rights) {
    let role = cluster.kubectl().ok(&["get", "clusterrole", role, "--output=json"]).unwrap();
    let role: Value = serde_json::from_str(&role).unwrap();
    let labels = role["metadata"]["labels"].as_object().unwrap();
    let prefix = "rbac.authorization.k8s.io/aggregate-to-";
    let to = labels.keys().filter_map(|label| label.strip_prefix(prefix)).map(str::to_owned).collect();
    (to, role["rules"].as_array().unwrap().iter().flat_map(spread).collect())
}

#[test]
fn people_may_change_objects_and_nobody_a_status() {
    let Some(cluster) = or_skip("people_may_change_objects_and_nobody_a_status", Cluster::shared()) else { return };
    let home = cluster.namespace().unwrap();
    apply(cluster, &home, "");
    let (view, read) = for_people(cluster, &format!("{RELEASE}.{home}-view"));
    let (edit, change) = for_people(cluster, &format!("{RELEASE}.{home}-edit"));
    assert_eq!((view, edit), (vec!["admin".into(), "edit".into(), "view".into()], vec!["admin".into(), "edit".into()]));
    let of = |verbs: &[&str]| -> Rights {
        let kinds = ["bindings", "agentbackends", "chatconnections"];
        verbs.iter().flat_map(|verb| kinds.map(|kind| format!("{verb} agentkourier.io/{kind}"))).collect()
    };
    assert_eq!(read, of(&["get", "list", "watch"]));
    assert_eq!(change, of(&["create", "update", "patch", "delete", "deletecollection"]));
    clean(cluster, &home);
}
