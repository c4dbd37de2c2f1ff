//! What stands in a status, and what kubectl shows of it.

use serde_json::{Value, json};
use suite::cluster::{QUICK, World, condition_of};

#[test]
fn the_owner_of_a_binding_reads_with_kubectl_what_became_of_it() {
    let Some(world) = World::or_skip("the_owner_of_a_binding_reads_with_kubectl_what_became_of_it") else { return };
    world.binding("team-a-chat", "agents", "C2");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    world.wait_for_reason("team-a-chat", "OK");
    // It comes later by its name too, because the API server's creation times have whole seconds.
    world.binding("team-b-chat", "agents", "C2");
    world.wait_for_reason("team-b-chat", "Accepted:ChannelConflict");
    let table = world.kubectl(&["get", "akbinding"]);
    let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["NAME", "READY", "REASON", "CHANNEL", "AGE"]);
    assert_eq!(words[1][..4], ["team-a-chat", "True", "OK", "C2"]);
    assert_eq!(words[2][..4], ["team-b-chat", "False", "Accepted:ChannelConflict", "C2"]);
}

#[test]
fn a_served_binding_has_four_conditions_and_a_refused_one_two() {
    let Some(world) = World::or_skip("a_served_binding_has_four_conditions_and_a_refused_one_two") else { return };
    world.binding("good", "agents", "C1");
    world.binding("lost", "nowhere", "C2");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    world.wait_for_reason("good", "OK");
    world.wait_for_reason("lost", "Accepted:BackendNotFound");
    let types = |name: &str| -> Vec<String> {
        let binding = world.get(name);
        let conditions = binding["status"]["conditions"].as_array().cloned().unwrap_or_default();
        for condition in &conditions {
            let fields: Vec<&String> = condition.as_object().unwrap().keys().collect();
            let all = ["lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"];
            assert_eq!(fields, all, "{condition}");
        }
        conditions.iter().map(|condition| condition["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types("good"), ["Accepted", "BackendReachable", "ChannelJoined", "Ready"]);
    assert_eq!(types("lost"), ["Accepted", "Ready"]);
    assert_eq!(world.get("good")["status"]["observedGeneration"], 1, "what tools built on kstatus read");
    let written = world.kubectl(&["get", "akbinding", "good", "--show-managed-fields", "--output=json"]);
    let written: Value = serde_json::from_str(&written).unwrap();
    let managers = written["metadata"]["managedFields"].as_array().unwrap();
    let ours = managers.iter().find(|entry| entry["subresource"] == "status").unwrap();
    assert_eq!((&ours["manager"], &ours["operation"]), (&json!("agent-kourier"), &json!("Apply")));
}

#[test]
fn each_reason_of_a_refusal_is_written_with_its_message() {
    let Some(world) = World::or_skip("each_reason_of_a_refusal_is_written_with_its_message") else { return };
    let other = world.cluster.namespace().unwrap();
    let backend = json!({
        "apiVersion": "agentkourier.io/v1alpha1", "kind": "AgentBackend",
        "metadata": {"namespace": other, "name": "closed"}, "spec": {"url": "http://agents.example"},
    });
    world.cluster.kubectl().apply(&backend.to_string()).unwrap();
    // The schema cannot know that a host without a dot would be looked up in the broker's own namespace.
    world.backend("dotless", "http://agents");
    world.apply(
        "ChatConnection",
        "unknown",
        &json!({
            "platform": "pigeon", "broker": world.broker, "url": "http://127.0.0.1:9",
            "secretRef": {"name": "slack", "key": "token"},
        }),
    );
    let bind = |name: &str, backend: Value, connection: &str, channel: &str| {
        let chat = json!({"connectionRef": {"name": connection}, "channel": channel});
        world.apply("Binding", name, &json!({"agent": {"backendRef": backend}, "chat": chat}));
    };
    bind("invalid", json!({"name": "agents"}), "slack", "#general");
    bind("no-backend", json!({"name": "nowhere"}), "slack", "C1");
    bind("bad-backend", json!({"name": "dotless"}), "slack", "C2");
    bind("no-connection", json!({"name": "agents"}), "nowhere", "C3");
    bind("bad-connection", json!({"name": "agents"}), "unknown", "C4");
    bind("not-allowed", json!({"name": "closed", "namespace": other}), "slack", "C5");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    let cases = [
        ("invalid", "InvalidSpec", "spec.chat.channel: "),
        ("no-backend", "BackendNotFound", "nowhere"),
        ("bad-backend", "BackendRejected", "write NAME.NAMESPACE.svc"),
        ("no-connection", "ConnectionNotFound", "nowhere"),
        ("bad-connection", "ConnectionRejected", "spec.platform: "),
        ("not-allowed", "NamespaceNotAllowed", "allowedNamespaces"),
    ];
    for (name, reason, says) in cases {
        world.wait_for_reason(name, &format!("Accepted:{reason}"));
        let accepted = world.condition(name, "Accepted");
        assert_eq!((&accepted["status"], &accepted["reason"]), (&json!("False"), &json!(reason)), "{name}");
        assert!(accepted["message"].as_str().unwrap().contains(says), "{name}: {accepted}");
    }
}

#[test]
fn a_status_is_pending_before_the_prober_has_listed_the_binding_and_until_its_probes_end() {
    let test = "a_status_is_pending_before_the_prober_has_listed_the_binding_and_until_its_probes_end";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    // The agent does not answer while the test looks.
    let silent = world.runtime.block_on(suite::peer::Peer::start(|_| vec![suite::peer::Act::Hang])).unwrap();
    world.backend("agents", &silent.url());
    let slow = QUICK.replace("startDelay: 0s", "startDelay: 4s");
    let replica = world.replica(&world.admin(), &slow);
    let _broker = replica.start();
    let ready = world.wait_for_reason("chat", "Pending");
    assert_eq!(ready["status"], "Unknown");
    let ready = world.wait_for_reason("chat", "BackendReachable:Pending");
    assert_eq!(ready["status"], "Unknown");
}

#[test]
fn a_condition_says_nothing_of_hosts_addresses_and_ports() {
    let Some(world) = World::or_skip("a_condition_says_nothing_of_hosts_addresses_and_ports") else { return };
    world.backend("agents", "http://127.0.0.1:9/private");
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let mut broker = replica.start();
    world.wait_for_reason("chat", "BackendReachable:Unreachable");
    let status = world.get("chat")["status"].to_string();
    for secret in ["127.0.0.1", ":9", "private", suite::cluster::TOKEN] {
        assert!(!status.contains(secret), "{secret} is in {status}");
    }
    assert!(status.contains("the operator's log has the cause"), "{status}");
    broker.wait("the log has the cause", |broker| {
        broker.lines().into_iter().find(|line| line["cause"].is_string() && line["binding"].is_string())
    });
    assert!(
        !broker.lines().iter().any(|line| line.to_string().contains(suite::cluster::TOKEN)),
        "a secret is in the log"
    );
}

#[test]
fn a_broker_without_a_right_says_so_and_serves_the_rest() {
    let Some(world) = World::or_skip("a_broker_without_a_right_says_so_and_serves_the_rest") else { return };
    let account = world.cluster.service_account(&world.namespace, "broker").unwrap();
    // Everything that a broker does but Secrets and Events.
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
    "metadata": {"name": format!("broker-{}", world.namespace)},
    "rules": [
        {"apiGroups": ["agentkourier.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["agentkourier.io"], "resources": ["bindings/status"], "verbs": ["patch"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
        {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["get", "list", "create", "delete"]},
    ]});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("broker-{}", world.namespace)},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": format!("broker-{}", world.namespace)},
        "subjects": [{"kind": "ServiceAccount", "name": "broker", "namespace": world.namespace}]});
    world.cluster.kubectl().apply(&role.to_string()).unwrap();
    world.cluster.kubectl().apply(&binding.to_string()).unwrap();
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&account, QUICK);
    let mut broker = replica.start();
    world.wait_for_reason("chat", "ChannelJoined:CredentialUnavailable");
    assert_eq!(condition_of(&world.get("chat"), "BackendReachable")["reason"], "OK");
    broker.wait("the log says which right is missing", |broker| {
        broker.lines().into_iter().find(|line| line.to_string().contains("may not read it"))
    });
}

#[test]
fn the_route_of_files_writes_no_status_and_leaves_the_one_that_stands() {
    let test = "the_route_of_files_writes_no_status_and_leaves_the_one_that_stands";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    let replica = world.replica(&world.admin(), QUICK);
    let broker = replica.start();
    world.wait_for_reason("chat", "OK");
    assert!(broker.terminate().success());
    let before = world.get("chat");
    // The same objects as files, of which one says that it does not work, and the same way to the cluster.
    let files = suite::broker::Setup::new();
    let more = format!("{QUICK}broker: {}\nkubernetes: {{kubeconfig: {}}}", world.broker, world.admin().display());
    files.settings(&more);
    let all = world.kubectl(&["get", "akbackend,akconnection,akbinding", "--output=json"]);
    let mut all: Value = serde_json::from_str(&all).unwrap();
    for object in all["items"].as_array_mut().unwrap() {
        object.as_object_mut().unwrap().remove("status");
        object["spec"]["chat"]["channel"] = match &object["spec"]["chat"]["channel"] {
            Value::Null => continue,
            _ => json!("#general"),
        };
    }
    files.manifest("all.json", &all.to_string());
    let mut broker = files.start();
    broker.wait("the file is refused", |broker| {
        broker.ready(&world.namespace, "chat").filter(|ready| ready["reason"] == "Accepted:InvalidSpec")
    });
    assert_eq!(world.get("chat"), before);
}

#[test]
fn the_program_reads_a_cluster_as_kubectl_does_and_says_what_holds_a_binding_back() {
    let test = "the_program_reads_a_cluster_as_kubectl_does_and_says_what_holds_a_binding_back";
    let Some(world) = World::or_skip(test) else { return };
    world.binding("chat", "agents", "C1");
    world.binding("alone", "agents", "C10");
    let config = world.admin().display().to_string();
    let run = |arguments: &[&str]| {
        let output = suite::broker::run(&[arguments, &["--kubeconfig", &config]].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let alone = format!("{}/alone", world.namespace);
    let (code, said) = run(&["why", &alone]);
    assert_eq!(code, Some(1), "{said}");
    let never = format!("No broker called {:?} has ever run in this cluster", world.broker);
    assert!(said.contains("has no status yet") && said.contains(&never), "{said}");
    let replica = world.replica(&world.admin(), QUICK);
    let _broker = replica.start();
    world.wait_for_reason("chat", "OK");
    world.wait_for_reason("alone", "ChannelJoined:NotInChannel");
    let (code, said) = run(&["why", &alone]);
    assert_eq!(code, Some(1), "{said}");
    for part in ["Ready is False (ChannelJoined:NotInChannel)", "is led by", "1 of 1"] {
        assert!(said.contains(part), "{part} is missing from\n{said}");
    }
    assert_eq!(run(&["why", &format!("{}/chat", world.namespace)]).0, Some(0));
    assert_eq!(run(&["why", "nobody/nothing"]).0, Some(2));
    let (code, list) = run(&["status", "--namespace", &world.namespace, "--output", "json"]);
    assert_eq!(code, Some(0));
    let list: Value = serde_json::from_str(&list).unwrap();
    let statuses: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|binding| &binding["status"]).collect();
    assert_eq!(statuses, [&world.get("alone")["status"], &world.get("chat")["status"]]);
}
