//! What many Bindings on a real API server cost a broker with its default settings: until all is said of them, and at
//! rest. Kubernetes' own programs run on the same machine, so the times say little and the rest more.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kourier_test_cluster::Cluster;
use serde_json::{Value, json};
use suite::broker::{Broker, program};
use suite::cluster::{BOT, World};
use suite::process;
use suite::slack::Channel;

use crate::report::Report;

const BINDINGS: usize = 2000;
/// Bindings of one AgentBackend.
const OF_ONE_AGENT: usize = 10;
/// Objects that are applied at a time.
const APPLIED: usize = 500;
/// Between two looks at all Bindings, each of which takes kubectl half a second of CPU time. The times are as exact as this.
const LOOK: Duration = Duration::from_secs(2);
/// The longest until all are Ready.
const PATIENCE: Duration = Duration::from_secs(900);
/// How long it is watched at rest: one interval of the prober, so that each Binding is probed once.
const REST: Duration = Duration::from_secs(300);

/// Measures it, which takes ten minutes with the default numbers.
#[expect(clippy::cast_precision_loss, reason = "counts of calls and MiB are small")]
pub(crate) fn bindings(report: &mut Report) {
    let cluster = Cluster::start().expect("an API server of its own");
    let world = World::on(&cluster);
    println!("making {BINDINGS} Bindings");
    make(&world);
    // A user of its own, so that the audit log tells what it asked.
    let account = format!("{}:broker", world.namespace);
    let kubeconfig = cluster.service_account(&world.namespace, "broker").expect("a service account");
    let subject = format!("--serviceaccount={account}");
    let may_all = ["create", "clusterrolebinding", "bench", "--clusterrole=cluster-admin", &subject];
    cluster.kubectl().ok(&may_all).expect("a role");
    let calls = || calls(&cluster, &format!("system:serviceaccount:{account}"));
    let replica = world.replica(&kubeconfig, "");
    // It is built now, and not when its time runs.
    program();
    let begun = Instant::now();
    let broker = replica.start();
    report.section(&format!("{BINDINGS} Bindings, {} agents, one Slack, default settings", BINDINGS / OF_ONE_AGENT));
    let steps = [
        ("first status s", 1, "Accepted"),
        ("all accepted s", BINDINGS, "Accepted"),
        ("all Ready s", BINDINGS, "Ready"),
    ];
    for (name, count, condition) in steps {
        wait_for(&world, begun, count, condition);
        report.add(name, begun.elapsed().as_secs_f64());
    }
    let on_the_way = cpu(&broker);
    report.add("until then, CPU s", on_the_way.as_secs_f64());
    let before = calls();
    println!("watching it at rest for {} minutes", REST.as_secs() / 60);
    let rest = Instant::now();
    std::thread::sleep(REST);
    let minutes = rest.elapsed().as_secs_f64() / 60.0;
    report.add("at rest, CPU % of a core", (cpu(&broker) - on_the_way).as_secs_f64() / minutes / 60.0 * 100.0);
    for (what, count) in calls() {
        let more = count - before.get(&what).copied().unwrap_or(0);
        if more > 0 {
            report.add(format!("at rest, calls a minute: {what}"), more as f64 / minutes);
        }
    }
    let memory = |name: &str| broker.memory(name).unwrap_or_default() as f64 / 1024.0;
    report.add("memory MiB", memory("VmRSS"));
    report.add("memory at most MiB", memory("VmHWM"));
}

/// AgentBackends, channels, and a Binding for each channel.
fn make(world: &World) {
    let agents = (0..BINDINGS / OF_ONE_AGENT).map(|number| {
        object(world, "AgentBackend", number, &json!({"url": format!("{}/{number}", world.agent.url())}))
    });
    let bindings = (0..BINDINGS).map(|number| {
        let agent = json!({"backendRef": {"name": name("AgentBackend", number / OF_ONE_AGENT)}});
        let chat = json!({"connectionRef": {"name": "slack"}, "channel": channel(number)});
        object(world, "Binding", number, &json!({"agent": agent, "chat": chat}))
    });
    world.slack.change(|workspace| {
        for number in 0..BINDINGS {
            workspace.channels.insert(channel(number), Channel::of(&[BOT]));
        }
    });
    for objects in agents.chain(bindings).collect::<Vec<_>>().chunks(APPLIED) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        world.cluster.kubectl().apply(&list.to_string()).expect("the objects are taken");
    }
}

fn object(world: &World, kind: &str, number: usize, spec: &Value) -> Value {
    let meta = json!({"namespace": world.namespace, "name": name(kind, number)});
    json!({"apiVersion": "agentkourier.io/v1alpha1", "kind": kind, "metadata": meta, "spec": spec})
}

fn name(kind: &str, number: usize) -> String {
    format!("{}-{number}", kind.to_ascii_lowercase())
}

fn channel(number: usize) -> String {
    format!("C9{number:04}")
}

/// Until so many Bindings have this condition, and it is True.
fn wait_for(world: &World, begun: Instant, count: usize, condition: &str) {
    let status = format!("--output=jsonpath={{.items[*].status.conditions[?(@.type=='{condition}')].status}}");
    loop {
        let there = world.kubectl(&["get", "akbinding", &status]).split_whitespace().filter(|is| *is == "True").count();
        if there >= count {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{there} of {count} Bindings have {condition}=True after {PATIENCE:?}");
        std::thread::sleep(LOOK);
    }
}

fn cpu(broker: &Broker) -> Duration {
    process::cpu(broker.id()).expect("the kernel tells")
}

/// How often this user has asked the API server for what.
fn calls(cluster: &Cluster, user: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for call in cluster.audit().expect("the audit log can be read").iter().filter(|call| call.user == user) {
        let resource = if call.resource.is_empty() { "(no resource)" } else { &call.resource };
        *counts.entry(format!("{} {resource}", call.verb)).or_default() += 1;
    }
    counts
}
