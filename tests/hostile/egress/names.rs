//! Names: the system's resolver, asking a name server of our own.
//!
//! What the resolver reads (`/etc/resolv.conf`) is the machine's, so these cases run in a process of their own, in
//! namespaces of its own: a network in which nothing but itself can be reached, addresses of which some are denied by
//! the default rules and are listened at nevertheless, and the name server on port 53. The process runs all cases at the
//! same time and prints how each ended.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use futures::{StreamExt as _, stream};
use kourier_core::egress::{DenyRule, EgressRules};
use kourier_sandbox::{Transport, Trust};
use simple_dns::RCODE;
use suite::dns::{NameServer, Say, Zone};
use suite::peer::{Act, Peer, Seen, answer};
use tokio::net::TcpListener;

use super::{check_absent, check_denied};
use crate::case::{Case, Checked};
use crate::peers::honest_document;
use crate::published;
use crate::world::{Judged, Probe, RUNTIME, connector, probe, warm_up};

/// The variable that tells the process that it is inside.
pub(crate) const INSIDE: &str = "HOSTILE_NAMES_INSIDE";
/// Where an agent may live. The network around it is this machine, too.
const GOOD: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
/// Where it listens; the port is the same everywhere.
const PORT: u16 = 8080;

/// The rules as they are by default. One for each probe, so that no pass ends the connections of another's.
static NETWORKS: LazyLock<[Arc<dyn Transport>; 2]> =
    LazyLock::new(|| Probe::ALL.map(|_| connector(EgressRules::default())));

/// What a name comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The peer is asked.
    Asked,
    /// A rule denies it.
    Denied(DenyRule),
    /// As if it did not exist.
    Absent,
}

/// A name, what is said of it, and what it comes to.
struct Row {
    name: &'static str,
    say: Vec<Say>,
    end: End,
    port: u16,
}

fn row(name: &'static str, end: End, say: impl Into<Vec<Say>>) -> Row {
    Row { name, say: say.into(), end, port: PORT }
}

fn addresses(list: &[&str]) -> Say {
    Say::Addresses(list.iter().map(|text| text.parse().expect("an address")).collect())
}

/// So many addresses of the network in which the peer is, the peer's first.
fn many(count: u32) -> Vec<IpAddr> {
    (0..count).map(|number| IpAddr::from(Ipv4Addr::from_bits(GOOD.to_bits() + number))).collect()
}

fn rows() -> Vec<Row> {
    let mut rows = one_address();
    rows.extend(several_addresses());
    rows.extend(aliases());
    rows.extend(failures());
    rows
}

fn one_address() -> Vec<Row> {
    use DenyRule as Rule;
    let denied = [
        ("to-loopback", Rule::Loopback, "127.0.0.1"),
        ("to-loopback-of-ipv6", Rule::Loopback, "::1"),
        ("to-metadata", Rule::Metadata, "169.254.169.254"),
        ("to-mapped-metadata", Rule::Metadata, "::ffff:169.254.169.254"),
        ("to-metadata-behind-nat64", Rule::Metadata, "64:ff9b::a9fe:a9fe"),
        ("to-metadata-behind-6to4", Rule::Metadata, "2002:a9fe:a9fe::1"),
        ("to-metadata-of-ipv6", Rule::Metadata, "fd00:ec2::254"),
        ("to-a-compatible-address", Rule::Loopback, "::127.0.0.1"),
        ("to-link-local", Rule::LinkLocal, "169.254.7.7"),
        ("to-link-local-of-ipv6", Rule::LinkLocal, "fe80::1"),
        ("to-nowhere", Rule::Unspecified, "0.0.0.0"),
        ("to-nowhere-of-ipv6", Rule::Unspecified, "::"),
        ("to-all", Rule::Broadcast, "255.255.255.255"),
        ("to-many", Rule::Multicast, "224.0.0.251"),
        ("to-many-of-ipv6", Rule::Multicast, "ff02::fb"),
        ("to-documentation", Rule::Documentation, "192.0.2.7"),
        ("to-a-reserved-address", Rule::Reserved, "240.0.0.7"),
    ];
    let mut rows: Vec<_> =
        denied.into_iter().map(|(name, rule, address)| row(name, End::Denied(rule), [addresses(&[address])])).collect();
    rows.push(row("honest", End::Asked, [addresses(&["10.99.0.1"])]));
    rows.push(Row { port: 10250, ..row("to-the-kubelet", End::Denied(Rule::Port), [addresses(&["10.99.0.1"])]) });
    rows
}

fn several_addresses() -> Vec<Row> {
    use DenyRule as Rule;
    let good = "10.99.0.1";
    let mut hidden = many(63);
    hidden.insert(31, Ipv4Addr::new(169, 254, 169, 254).into());
    vec![
        row("good-and-loopback", End::Denied(Rule::Loopback), [addresses(&[good, "127.0.0.1"])]),
        row("loopback-and-good", End::Denied(Rule::Loopback), [addresses(&["127.0.0.1", good])]),
        row("good-and-metadata", End::Denied(Rule::Metadata), [addresses(&[good, "169.254.169.254"])]),
        row("good-and-loopback-of-ipv6", End::Denied(Rule::Loopback), [addresses(&[good, "::1"])]),
        row("good-and-mapped-metadata", End::Denied(Rule::Metadata), [addresses(&[good, "::ffff:a9fe:a9fe"])]),
        row("metadata-among-64", End::Denied(Rule::Metadata), [Say::Addresses(hidden)]),
        row("64-addresses", End::Asked, [Say::Addresses(many(64))]),
        // None goes unjudged, so a name with more than can be looked at is none.
        row("65-addresses", End::Absent, [Say::Addresses(many(65))]),
        row("1000-addresses", End::Absent, [Say::Addresses(many(1000))]),
        // The second question of a run needs a new connection, and with it a new look-up, which is judged again.
        row("rebind-to-metadata", End::Denied(Rule::Metadata), [addresses(&[good]), addresses(&["169.254.169.254"])]),
        row("rebind-to-loopback", End::Denied(Rule::Loopback), [addresses(&[good]), addresses(&["127.0.0.1"])]),
        // The run needs one look-up, so the second answer is never asked for.
        row("rebind-unused", End::Asked, [addresses(&[good]), addresses(&["127.0.0.1"])]),
    ]
}

fn aliases() -> Vec<Row> {
    use DenyRule as Rule;
    let alias = |name: &str| [Say::Alias(name.to_owned())];
    vec![
        row("alias-of-good", End::Asked, alias("target-good.example")),
        row("alias-of-metadata", End::Denied(Rule::Metadata), alias("target-metadata.example")),
        row("alias-of-loopback", End::Denied(Rule::Loopback), alias("target-loopback.example")),
        row("alias-of-10-aliases-of-metadata", End::Denied(Rule::Metadata), alias("chain-0.example")),
        row("alias-of-itself", End::Absent, alias("alias-of-itself.agent-card.example")),
        row("alias-of-what-is-not-there", End::Absent, alias("nobody.example")),
    ]
}

fn failures() -> Vec<Row> {
    vec![
        row("that-is-not-there", End::Absent, [Say::Error(RCODE::NameError)]),
        row("whose-server-fails", End::Absent, [Say::Error(RCODE::ServerFailure)]),
        row("whose-server-refuses", End::Absent, [Say::Error(RCODE::Refused)]),
        row("without-addresses", End::Absent, [Say::Addresses(Vec::new())]),
        row("whose-server-is-silent", End::Absent, [Say::Nothing]),
        row("whose-server-talks-nonsense", End::Absent, [Say::Bytes(vec![0xff; 100])]),
        row("whose-server-sends-a-head-alone", End::Absent, [Say::Bytes(vec![0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])]),
        row("whose-server-answers-somebody-else", End::Absent, [Say::OtherId(many(1))]),
    ]
}

/// The name as one probe asks for it: each has its own, so that the answers come in turn for each.
fn full_name(name: &str, which: Probe) -> String {
    format!("{name}.{}.example", which.name())
}

fn zone() -> Zone {
    let mut zone = Zone::new();
    for which in Probe::ALL {
        zone.extend(rows().into_iter().map(|row| (full_name(row.name, which), row.say)));
    }
    zone.insert("target-good.example".to_owned(), vec![addresses(&["10.99.0.1"])]);
    zone.insert("target-metadata.example".to_owned(), vec![addresses(&["169.254.169.254"])]);
    zone.insert("target-loopback.example".to_owned(), vec![addresses(&["127.0.0.1"])]);
    for number in 0..9 {
        zone.insert(format!("chain-{number}.example"), vec![Say::Alias(format!("chain-{}.example", number + 1))]);
    }
    zone.insert("chain-9.example".to_owned(), vec![Say::Alias("target-metadata.example".to_owned())]);
    zone
}

pub(super) fn cases() -> Vec<Case> {
    let case = |name: &str, which: Probe| {
        let name = format!("{name}::{}", which.name());
        Case::new(format!("egress::name::{name}"), move || async move { told(&name) })
    };
    rows().iter().flat_map(|row| Probe::ALL.map(|which| case(row.name, which))).collect()
}

/// How a case ended inside.
fn told(name: &str) -> Checked {
    published::by_itself();
    match &*OUTCOMES {
        Ok(outcomes) => outcomes.get(name).cloned().unwrap_or_else(|| Err("it did not run".to_owned())),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => Err(why.clone()),
        Err(why) => {
            println!("SKIPPED: egress::name::{name}: {why}");
            Ok(())
        }
    }
}

/// How each case ended; the error: the namespaces cannot be had.
static OUTCOMES: LazyLock<Result<BTreeMap<String, Checked>, String>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map(|()| path).map_err(|error| error.to_string())
    };
    let resolver = write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")?;
    let order = write("nsswitch.conf", "hosts: files dns\n")?;
    let script = "ip link set lo up && ip address add 10.99.0.1/16 dev lo && ip address add 169.254.169.254/32 dev lo \
                  && mount --bind \"$1\" /etc/resolv.conf && mount --bind \"$2\" /etc/nsswitch.conf && exec \"$3\"";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "--net", "sh", "-c", script, "sh"]);
    command.args([resolver, order, std::env::current_exe().map_err(|error| error.to_string())?]);
    let output = command.env(INSIDE, "1").output().map_err(|error| format!("unshare cannot be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("namespaces of its own cannot be had: {}", words.trim()));
    }
    let outcome = |line: &str| {
        let (name, error) = line.split_once('\t')?;
        Some((name.to_owned(), if error.is_empty() { Ok(()) } else { Err(error.to_owned()) }))
    };
    Ok(text.lines().filter_map(outcome).collect())
});

/// Runs every case and prints how each ended.
pub(crate) fn inside() {
    warm_up();
    LazyLock::force(&NETWORKS);
    RUNTIME.block_on(async {
        let server = NameServer::start((Ipv4Addr::LOCALHOST, 53).into(), zone()).await.expect("port 53 is free");
        let server = Arc::new(server);
        let _good = listen(GOOD.into(), honest).await;
        let denied = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into(), Ipv4Addr::new(169, 254, 169, 254).into()];
        let denied = futures::future::join_all(denied.map(|address: IpAddr| listen(address, honest))).await;
        let mut running = Vec::new();
        for which in Probe::ALL {
            let (dead, _) = published::of(ask(which, &format!("http://{GOOD}:1"))).await;
            let dead = Arc::new(dead);
            for row in rows() {
                let name = format!("{}::{}", row.name, which.name());
                let run = run(Arc::new(row), which, Arc::clone(&dead), Arc::clone(&server));
                running.push(async move {
                    let (checked, published) = tokio::spawn(published::of(run)).await.expect("no panic");
                    (name, published.judge(checked))
                });
            }
        }
        // A few at a time: a resolver that has to wait for a thread gives up.
        let ended: Vec<_> = stream::iter(running).buffer_unordered(8).collect().await;
        for (name, checked) in ended {
            let came: usize = denied.iter().map(Peer::connections).sum();
            let checked = if came == 0 { checked } else { Err("somebody came to a denied address".to_owned()) };
            println!("{name}\t{}", checked.err().unwrap_or_default().replace(['\n', '\t'], " "));
        }
    });
}

async fn listen(address: IpAddr, script: fn(&Seen) -> Vec<Act>) -> Peer {
    let listener = TcpListener::bind(SocketAddr::new(address, PORT)).await.expect("a port");
    Peer::on(listener, script).expect("an address")
}

/// Honest, but to names that change: there the first question is answered with no, and the connection ends.
fn honest(seen: &Seen) -> Vec<Act> {
    let is_first = seen.path() == "/.well-known/agent-card.json" || seen.path().starts_with("/users.conversations");
    let rebinds = seen.header("host").is_some_and(|host| host.starts_with("rebind-to"));
    match (rebinds && is_first, seen.path().starts_with("/users")) {
        (true, true) => vec![answer("200 OK", "connection: close\r\n", br#"{"ok":true,"channels":[]}"#), Act::Close],
        (true, false) => vec![answer("404 Not Found", "connection: close\r\n", b""), Act::Close],
        (false, _) => vec![answer("200 OK", "", honest_document("").as_bytes())],
    }
}

async fn run(row: Arc<Row>, which: Probe, dead: Arc<Judged>, server: Arc<NameServer>) -> Checked {
    let host = full_name(row.name, which);
    let judged = ask(which, &format!("http://{host}:{}", row.port)).await;
    check(&row, &judged, &dead, server.asked(&host))
}

async fn ask(which: Probe, url: &str) -> Judged {
    let network = &NETWORKS[usize::from(which == Probe::Slack)];
    probe(which, url, Trust::System, Arc::clone(network)).await
}

fn check(row: &Row, judged: &Judged, dead: &Judged, asked: usize) -> Checked {
    match row.end {
        // A name that changes is looked up once. A resolver may ask for the others more than once: also over TCP.
        End::Asked if judged.reason == "OK" && judged.denied.is_empty() && (asked <= 1 || row.say.len() == 1) => Ok(()),
        End::Asked => Err(format!("not asked after one look-up ({asked}): {judged:?}")),
        // There the first question was answered.
        End::Denied(rule) if row.say.len() > 1 => {
            check_denied(&Judged { requests: dead.requests, ..judged.clone() }, dead, rule)
        }
        End::Denied(rule) => check_denied(judged, dead, rule),
        End::Absent if judged.denied.is_empty() => check_absent(judged, dead),
        End::Absent => Err(format!("denied: {judged:?}")),
    }
}
