//! Every kind of fault that a broker comes to, in the program itself, each in a Binding of its own beside honest ones.
//!
//! The log and a metric tell them apart: what it was, and whose doing. The honest ones are judged as if nobody else were
//! there. To one kind, that no component is loaded, a broker does not come: see [`Cause::NotServed`].

use std::process::Command;

use kourier_core::outcome::Fault;
use serde_json::Value;
use suite::broker::{Broker, Setup};
use suite::guests;
use suite::leak::series;
use suite::peer::{Act, Peer, answer};

use crate::case::{Case, Pace};
use crate::peers::honest_document;
use crate::published::{self, Text};
use crate::world::{CHANNEL, PEERS, SECRET};

pub(super) fn cases() -> Vec<Case> {
    vec![Case::paced(Pace::Together, "guest::faults::each-is-told-apart-and-honest-bindings-do-not-notice", || async {
        let texts = tokio::task::spawn_blocking(told_apart).await.map_err(|error| error.to_string())?;
        texts.into_iter().for_each(published::text);
        Ok(())
    })]
}

/// Bindings whose component is paused, or about to be: 5 faults pause it, and at most 3 more runs have begun by then.
const PAUSED: usize = 12;

/// What stands between a fault and its Binding.
#[derive(Clone, Copy)]
enum Cause {
    /// The guest's channel: what it does.
    Behaviour(&'static str),
    /// So many Bindings of one namespace whose guests trap.
    Repeated(usize),
    /// There is no Secret.
    NoSecret,
    /// The process may not have more memory: in a broker of its own.
    NoMemory,
    /// No component is loaded. A broker does not come to that: it serves no Binding whose platform has none, and the
    /// agents' is built in. So here the Binding is refused; what a prober says of the fault is in its own tests.
    NotServed,
}

/// A kind of fault.
struct Row {
    /// How it comes about.
    cause: Cause,
    /// Whose it is, as the log and the metric have it.
    blame: &'static str,
    /// What the log says more of it.
    words: &'static str,
}

const fn row(fault: Fault) -> Row {
    let (cause, blame, words) = match fault {
        Fault::Deadline => (Cause::Behaviour("ask-forever"), "guest", "the run was older than its wall time"),
        Fault::CpuBudget => (Cause::Behaviour("spin"), "guest", "the probe used up its CPU time"),
        Fault::Memory => (Cause::Behaviour("fill-memory"), "guest", "memory: "),
        Fault::Stack => (Cause::Behaviour("recurse"), "guest", "call stack exhausted"),
        Fault::Panic => (Cause::Behaviour("panic"), "guest", "this probe gives up"),
        Fault::Trap => (Cause::Behaviour("trap"), "guest", "unreachable"),
        Fault::BadAnswer => (Cause::Behaviour("lie-about-a-text"), "guest", "utf-8"),
        Fault::Paused => (Cause::Repeated(PAUSED), "guest", "the component is paused after faults in a row"),
        Fault::NotLoaded => (Cause::NotServed, "host", ""),
        Fault::Host => (Cause::NoMemory, "host", "Cannot allocate memory"),
        Fault::Credential => (Cause::NoSecret, "host", "there is no such Secret"),
    };
    Row { cause, blame, words }
}

/// A Binding to the honest agent, with a connection of its own to this platform.
fn objects(namespace: &str, name: &str, [agent, chat]: [&Peer; 2], platform: &str, channel: &str) -> String {
    let meta = format!("metadata: {{namespace: {namespace}, name: {name}}}");
    format!(
        "---\napiVersion: agentkourier.io/v1alpha1\nkind: AgentBackend\n{meta}\nspec: {{url: \"{}\"}}\n\
         ---\napiVersion: agentkourier.io/v1alpha1\nkind: ChatConnection\n{meta}\n\
         spec: {{platform: {platform}, url: \"{}\", secretRef: {{name: chat, key: token}}}}\n\
         ---\napiVersion: agentkourier.io/v1alpha1\nkind: Binding\n{meta}\n\
         spec: {{agent: {{backendRef: {{name: {name}}}}}, chat: {{connectionRef: {{name: {name}}}, channel: {channel}}}}}\n",
        agent.url(),
        chat.url(),
    )
}

/// A broker's folder with the rogue component.
fn folder(more: &str) -> Setup {
    let setup = Setup::new();
    setup.settings(&format!(
        "prober: {{startDelay: 0s, lookInterval: 1s, passGap: 1s, interval: 1h}}\negress: {{allowLoopback: true}}\n{more}"
    ));
    setup.component("rogue.wasm", guests::ROGUE);
    setup
}

/// Honest Bindings, one for each built-in probe and one for the very component that misbehaves elsewhere.
fn honest(setup: &Setup, peer: &Peer) -> String {
    setup.secret("honest", "chat", "token", SECRET);
    objects("honest", "slack", [peer; 2], "slack", CHANNEL) + &objects("honest", "rogue", [peer; 2], "rogue", "fetch")
}

/// What the program said.
fn told_apart() -> [Text; 3] {
    let peers = PEERS.block_on(async {
        let honest = Peer::start(|_| vec![answer("200 OK", "", honest_document("").as_bytes())]);
        [honest.await.expect("a port"), Peer::start(|_| vec![Act::Hang]).await.expect("a port")]
    });
    let setup = folder("probe: {deadline: 4s, request: 3s}");
    let mut text = honest(&setup, &peers[0]);
    text.extend(Fault::ALL.map(|fault| faulty(&setup, fault, &peers)));
    setup.manifest("all.yaml", &text);
    let mut broker = setup.start();
    let passes = broker.wait("the honest ones are ready", |broker| is_honest_well(broker).then(|| broker.passes()));
    assert!(passes <= 1, "the honest ones were judged in pass {passes}");

    for fault in Fault::ALL {
        match row(fault).cause {
            Cause::Behaviour(_) | Cause::Repeated(_) | Cause::NoSecret => {
                expect_line(&mut broker, fault, "chat");
            }
            Cause::NoMemory => lacking_memory(&peers[0]),
            Cause::NotServed => drop(broker.wait_for_reason((fault.as_str(), "b0"), "Accepted:ConnectionRejected")),
        }
    }
    expect_metrics(&broker);
    assert!(is_honest_well(&broker));
    expect_honest_lines(&broker);
    let said = |path: &str| broker.get(path).expect("it answers").1;
    let log: Vec<String> = broker.lines().iter().map(ToString::to_string).collect();
    [
        Text::Public("the statuses", said("/bindings")),
        Text::Public("the labels of the metrics", series(&said("/metrics"))),
        Text::Log("the log", log.join("\n")),
    ]
}

/// The objects of the namespace of a fault, with their Secret.
fn faulty(setup: &Setup, fault: Fault, [honest, silent]: &[Peer; 2]) -> String {
    let (bindings, platform, channel) = match row(fault).cause {
        Cause::Behaviour(behaviour) => (1, "rogue", behaviour),
        Cause::Repeated(number) => (number, "rogue", "trap"),
        Cause::NoSecret => (1, "rogue", "fetch"),
        Cause::NotServed => (1, "unheard-of", "fetch"),
        Cause::NoMemory => (0, "", ""),
    };
    if fault != Fault::Credential {
        setup.secret(fault.as_str(), "chat", "token", SECRET);
    }
    let chat = if fault == Fault::Deadline { silent } else { honest };
    let binding = |number| objects(fault.as_str(), &format!("b{number}"), [honest, chat], platform, channel);
    (0..bindings).map(binding).collect()
}

fn is_honest_well(broker: &Broker) -> bool {
    ["slack", "rogue"].iter().all(|name| broker.ready("honest", name).is_some_and(|ready| ready["reason"] == "OK"))
}

/// Waits for the line of the log that says that this fault befell the Binding of its namespace.
fn expect_line(broker: &mut Broker, fault: Fault, probe: &str) {
    let Row { blame, words, .. } = row(fault);
    let of_fault = |line: &Value| {
        let is_it = line["message"] == "verdict changed" && line["probe"] == probe && line["fault"] == fault.as_str();
        is_it && is_of(line, fault)
    };
    let line = broker.wait(&format!("the log tells of {fault}"), |broker| broker.lines().into_iter().find(of_fault));
    assert_eq!(line["blame"], blame, "{line}");
    assert_eq!(line["reason"], fault.channel_reason().as_str(), "{line}");
    assert!(line["cause"].as_str().is_some_and(|cause| cause.contains(words)), "{words:?} is not in {line}");
    if fault != Fault::Paused {
        let is_other = |line: &Value| line["fault"].is_string() && line["fault"] != fault.as_str();
        let other = broker.lines().into_iter().find(|line| is_of(line, fault) && is_other(line));
        assert_eq!(other, None, "another fault befell {fault}/b0");
    }
}

/// Whether a line is about a Binding of the namespace of this fault.
fn is_of(line: &Value, fault: Fault) -> bool {
    line["binding"].as_str().is_some_and(|name| name.starts_with(&format!("{fault}/")))
}

/// A broker whose address space is too small for a pool of instances, and is then made too small for an instance.
fn lacking_memory(peer: &Peer) {
    const GIB_IN_KIB: u64 = 1 << 20;
    let fault = Fault::Host;
    let setup = folder("");
    setup.secret(fault.as_str(), "chat", "token", SECRET);
    setup.manifest("all.yaml", &(honest(&setup, peer)));
    let mut broker = setup.start_within(32 * GIB_IN_KIB);
    broker.wait("the honest ones are ready", |broker| is_honest_well(broker).then_some(()));
    broker.wait("nothing runs", |broker| {
        let in_flight = |probe| broker.metric(&format!("agentkourier_binding_probes_in_flight{{probe=\"{probe}\"}}"));
        ["agent", "chat"].into_iter().all(|probe| in_flight(probe) == Some(0)).then_some(())
    });
    // What is left is plenty for everything but an instance, which reserves 4 GiB.
    limit_address_space(&broker, broker.memory("VmSize").expect("the kernel tells it") + GIB_IN_KIB);
    setup.manifest("host.yaml", &objects(fault.as_str(), "b0", [peer; 2], "rogue", "fetch"));
    expect_line(&mut broker, fault, "chat");
    expect_line(&mut broker, fault, "agent");
    limit_address_space(&broker, 32 * GIB_IN_KIB);
    // Another channel, so that it is probed anew.
    setup.manifest("host.yaml", &objects(fault.as_str(), "b0", [peer; 2], "rogue", "keep-a-global"));
    broker.wait_for_reason((fault.as_str(), "b0"), "OK");
    assert_eq!((faults(&broker, "rogue", fault), faults(&broker, "agent-card", fault)), (1, 1));
    expect_honest_lines(&broker);
}

fn limit_address_space(broker: &Broker, kib: u64) {
    let limit = format!("--as={}:", kib << 10);
    let limited = Command::new("prlimit").args(["--pid", &broker.id().to_string(), &limit]).status();
    assert!(limited.is_ok_and(|status| status.success()), "prlimit, of util-linux, cannot be run");
}

/// How many there were of a component, by the metrics.
fn faults(broker: &Broker, component: &str, fault: Fault) -> usize {
    let labels = format!("component=\"{component}\",kind=\"{fault}\",blame=\"{}\"", row(fault).blame);
    broker.metric(&format!("agentkourier_component_faults_total{{{labels}}}")).unwrap_or(0)
}

/// Each fault is counted as what it is, as often as it was.
fn expect_metrics(broker: &Broker) {
    let counts = Fault::ALL.map(|fault| (fault, faults(broker, "rogue", fault)));
    for (fault, count) in counts {
        match fault {
            Fault::Trap => assert_eq!(count + faults(broker, "rogue", Fault::Paused), 1 + PAUSED),
            Fault::Paused => assert!((PAUSED - 8..=PAUSED - 5).contains(&count), "{count} were paused"),
            Fault::NotLoaded | Fault::Host => assert_eq!(count, 0, "{fault}"),
            Fault::Deadline
            | Fault::CpuBudget
            | Fault::Memory
            | Fault::Stack
            | Fault::Panic
            | Fault::BadAnswer
            | Fault::Credential => assert_eq!(count, 1, "{fault}"),
        }
    }
    let metrics = broker.get("/metrics").expect("it answers").1;
    let series = metrics.lines().filter(|line| line.starts_with("agentkourier_component_faults_total{")).count();
    assert_eq!(series, counts.iter().filter(|(_, count)| *count > 0).count(), "other faults than these: {metrics}");
}

/// Each honest probe was judged once, and nothing but that it is well was ever said of it.
fn expect_honest_lines(broker: &Broker) {
    let is_honest = |line: &Value| line["binding"].as_str().is_some_and(|name| name.starts_with("honest/"));
    let lines: Vec<Value> = broker.lines().into_iter().filter(is_honest).collect();
    let verdicts = lines.iter().filter(|line| line["message"] == "verdict changed").count();
    let is_well =
        |line: &Value| line["reason"].as_str().is_some_and(|reason| reason == "OK" || reason.ends_with("Pending"));
    assert!(verdicts == 4 && lines.iter().all(is_well), "{lines:#?}");
}
