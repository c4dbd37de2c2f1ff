//! The table of settings.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use kourier_core::egress::Network;
use kourier_core::rule::LABEL;
use kourier_manifest::yaml::Node;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::config::value::{
    boolean, bytes, count, duration, list, parsed, path, show_bytes, show_list, show_text, text, word,
};
use crate::config::{ConfigSource, LogFormat, Settings, StoreKind};
use crate::duration;

/// One setting.
pub struct Setting {
    /// The key, with dots: `prober.passGap`.
    pub key: &'static str,
    /// What its value is: a unit, or what kind of text.
    pub unit: &'static str,
    /// What it is for and why its default is what it is.
    pub why: &'static str,
    /// The value in these settings, as YAML.
    pub show: fn(&Settings) -> String,
    /// Takes a value that is written.
    pub(super) set: fn(&mut Settings, &Node) -> Result<(), String>,
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const MILLI: Duration = Duration::from_millis(1);
const MI: usize = 1 << 20;

/// A row whose value is a duration.
macro_rules! duration {
    ($key:literal, $($field:ident).+, $least:expr, $most:expr, $why:literal) => {
        Setting {
            key: $key,
            unit: "duration",
            why: $why,
            show: |s| duration::show(s.$($field).+),
            set: |s, node| { s.$($field).+ = duration(node, $least, $most)?; Ok(()) },
        }
    };
}

/// A row whose value is a number of bytes.
macro_rules! bytes {
    ($key:literal, $($field:ident).+, $least:expr, $most:expr, $why:literal) => {
        Setting {
            key: $key,
            unit: "bytes",
            why: $why,
            show: |s| show_bytes(s.$($field).+),
            set: |s, node| { s.$($field).+ = bytes(node, $least, $most)?; Ok(()) },
        }
    };
}

/// A row whose value counts something.
macro_rules! count {
    ($key:literal, $($field:ident).+, $least:expr, $most:expr, $why:literal) => {
        Setting {
            key: $key,
            unit: "count",
            why: $why,
            show: |s| s.$($field).+.to_string(),
            set: |s, node| { s.$($field).+ = count(node, $least, $most)?; Ok(()) },
        }
    };
}

/// A row whose value counts something that is there at least once.
macro_rules! nonzero {
    ($key:literal, $($field:ident).+, $most:expr, $why:literal) => {
        Setting {
            key: $key,
            unit: "count",
            why: $why,
            show: |s| s.$($field).+.to_string(),
            set: |s, node| {
                s.$($field).+ = NonZeroUsize::new(count(node, 1, $most)?).unwrap_or(NonZeroUsize::MIN);
                Ok(())
            },
        }
    };
}

/// A row whose value is a path.
macro_rules! path {
    ($key:literal, $($field:ident).+, $why:literal) => {
        Setting {
            key: $key,
            unit: "path",
            why: $why,
            show: |s| show_text(&s.$($field).+.display().to_string()),
            set: |s, node| { s.$($field).+ = path(node)?; Ok(()) },
        }
    };
}

/// A row whose value is a list of networks.
macro_rules! networks {
    ($key:literal, $($field:ident).+, $why:literal) => {
        Setting {
            key: $key,
            unit: "list of networks",
            why: $why,
            show: |s| show_list(&s.$($field).+),
            set: |s, node| { s.$($field).+ = list(node, network)?; Ok(()) },
        }
    };
}

/// A row whose value is a list of ports.
macro_rules! ports {
    ($key:literal, $($field:ident).+, $why:literal) => {
        Setting {
            key: $key,
            unit: "list of ports",
            why: $why,
            show: |s| format!("{:?}", s.$($field).+),
            set: |s, node| { s.$($field).+ = list(node, |node| count(node, 1_u16, u16::MAX))?; Ok(()) },
        }
    };
}

/// Every setting, in the order of the documentation. Those of one section stand together.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "broker",
        unit: "name",
        why: "The name by which ChatConnections choose this broker (`spec.broker`).",
        show: |s| show_text(&s.broker),
        set: |s, node| {
            s.broker = name(node)?;
            Ok(())
        },
    },
    Setting {
        key: "config.source",
        unit: "`files` or `crds`",
        why: "Where the objects come from: a folder of manifests, or the custom resources of a cluster.",
        show: |s| match s.config.source {
            ConfigSource::Files => "files".to_owned(),
            ConfigSource::Crds => "crds".to_owned(),
        },
        set: |s, node| {
            s.config.source = word(node, &[("files", ConfigSource::Files), ("crds", ConfigSource::Crds)])?;
            Ok(())
        },
    },
    path!("config.dir", config.dir, "The folder of manifests: *.yaml, *.yml and *.json in the folder itself."),
    duration!(
        "config.interval",
        config.interval,
        Duration::from_millis(100),
        SECOND * 10,
        "From one look at the folder to the next: a change is known within about 10 s, and a look reads little."
    ),
    path!("secrets.dir", secrets_dir, "The folder of Secrets: NAMESPACE/NAME/KEY, as mounted Secrets have it."),
    Setting {
        key: "store",
        unit: "`sqlite` or `kubernetes`",
        why: "What remembers last good specs over a restart: a file, for one replica; or the cluster, for replicas that \
              elect a leader (with `config.source: crds`).",
        show: |s| match s.store {
            StoreKind::Sqlite => "sqlite".to_owned(),
            StoreKind::Kubernetes => "kubernetes".to_owned(),
        },
        set: |s, node| {
            s.store = word(node, &[("sqlite", StoreKind::Sqlite), ("kubernetes", StoreKind::Kubernetes)])?;
            Ok(())
        },
    },
    path!("storePath", store_path, "The store's file, on a disk that outlives the process."),
    Setting {
        key: "components.dir",
        unit: "path",
        why: "A folder of probe components (*.wasm) beside the built-in ones; empty: only those.",
        show: |s| show_optional(s.components_dir.as_ref().map(|dir| dir.display().to_string())),
        set: |s, node| {
            s.components_dir = Some(text(node)?).filter(|dir| !dir.is_empty()).map(PathBuf::from);
            Ok(())
        },
    },
    Setting {
        key: "admin.listen",
        unit: "address and port",
        why: "Where metrics, health and Bindings are served. Loopback, because whoever reaches it reads all statuses.",
        show: |s| show_text(&s.admin_listen.to_string()),
        set: |s, node| {
            s.admin_listen = parsed::<SocketAddr>(node, "an address and a port, such as 0.0.0.0:9090")?;
            Ok(())
        },
    },
    networks!("egress.allow", egress.allow, "Networks that probes may reach though a default rule denies them."),
    networks!("egress.deny", egress.deny, "Networks that probes may not reach in any case."),
    ports!("egress.allowPorts", egress.allow_ports, "Ports that are allowed though a default rule denies them."),
    ports!("egress.denyPorts", egress.deny_ports, "Ports that are denied in any case."),
    Setting {
        key: "egress.allowLoopback",
        unit: "boolean",
        why: "Whether probes may reach this machine's own loopback: for work on one machine, never in a cluster.",
        show: |s| s.egress.allow_loopback.to_string(),
        set: |s, node| {
            s.egress.allow_loopback = boolean(node)?;
            Ok(())
        },
    },
    duration!(
        "prober.startDelay",
        prober.start_delay,
        Duration::ZERO,
        MINUTE * 10,
        "From the start to the first look: the first reading settles, so that nothing is probed on half of it."
    ),
    duration!(
        "prober.lookInterval",
        prober.look_interval,
        MILLI * 100,
        HOUR,
        "From one look for work to the next: an edit is not kept waiting by the look, which sends nothing."
    ),
    duration!(
        "prober.passGap",
        prober.pass_gap,
        Duration::ZERO,
        HOUR,
        "From the start of one pass to the next: editing again and again does not make the broker ask again and again."
    ),
    duration!(
        "prober.interval",
        prober.interval,
        SECOND,
        DAY,
        "The age at which a probe is made again: a peer that fails shows within it."
    ),
    nonzero!(
        "prober.concurrency",
        prober.concurrency,
        256,
        "Probes that run at a time: a pass over a few slow peers ends soon, and a burst is small for everyone."
    ),
    Setting {
        key: "kubernetes.kubeconfig",
        unit: "path",
        why: "The way to the API server; empty: KUBECONFIG, ~/.kube/config, or the pod's service account.",
        show: |s| show_optional(s.kubernetes.kubeconfig.as_ref().map(|file| file.display().to_string())),
        set: |s, node| {
            s.kubernetes.kubeconfig = Some(text(node)?).filter(|file| !file.is_empty()).map(PathBuf::from);
            Ok(())
        },
    },
    Setting {
        key: "lease.namespace",
        unit: "name",
        why: "Where the Lease is by which replicas elect a leader; empty: the pod's own namespace.",
        show: |s| show_optional(s.lease_namespace.clone()),
        set: |s, node| {
            let given = Some(text(node)?).filter(|given| !given.is_empty());
            s.lease_namespace = given.map(|_| name(node)).transpose()?;
            Ok(())
        },
    },
    duration!(
        "lease.duration",
        lease.duration,
        SECOND,
        MINUTE * 5,
        "How long a leader that falls silent keeps others from leading."
    ),
    duration!(
        "lease.renewDeadline",
        lease.renew_deadline,
        MILLI * 500,
        MINUTE * 5,
        "How long after its last renewal a leader leads: shorter than lease.duration by a call and some slack."
    ),
    duration!(
        "lease.retryPeriod",
        lease.retry,
        MILLI * 50,
        MINUTE,
        "From one attempt to lead, or to renew, to the next."
    ),
    duration!(
        "lease.call",
        lease.call,
        MILLI * 50,
        MINUTE,
        "How long one call for the Lease may take: one that hangs leaves time for others within lease.renewDeadline."
    ),
    duration!(
        "writer.lookInterval",
        writer.look_interval,
        MILLI * 100,
        MINUTE,
        "From one look for work of the writer to the next: a comparison costs nothing."
    ),
    duration!(
        "writer.gap",
        writer.gap,
        MILLI * 100,
        HOUR,
        "From the end of one write of a Binding to its next: every write wakes everyone who watches Bindings."
    ),
    duration!(
        "writer.cap",
        writer.cap,
        SECOND,
        DAY,
        "The longest wait after failed writes, and between put-backs in a fight."
    ),
    nonzero!(
        "writer.fightPutBacks",
        writer.fight_put_backs,
        100,
        "Put-backs of one Binding within writer.fightWindow that make a fight: two are a person who tries twice."
    ),
    duration!(
        "writer.fightWindow",
        writer.fight_window,
        SECOND,
        DAY,
        "See writer.fightPutBacks; a fight is over when nobody interfered for as long."
    ),
    nonzero!(
        "writer.concurrency",
        writer.concurrency,
        64,
        "Writes that are under way at a time: more gain little on an API server."
    ),
    duration!(
        "writer.spacing",
        writer.spacing,
        Duration::ZERO,
        SECOND * 10,
        "From the start of one write to the next, of any Binding: a change that concerns all of them is no burst."
    ),
    duration!(
        "writer.patience",
        writer.patience,
        SECOND,
        HOUR,
        "For how long the watch may not show what a write told of, before the object is read: the watch may have lost it."
    ),
    Setting {
        key: "events.enabled",
        unit: "boolean",
        why: "Whether the leader sends an Event when a Binding's Ready turns.",
        show: |s| s.events.to_string(),
        set: |s, node| {
            s.events = boolean(node)?;
            Ok(())
        },
    },
    duration!(
        "probe.deadline",
        probe.deadline,
        MILLI * 100,
        MINUTE,
        "Wall time of one run of a probe, from its start."
    ),
    duration!("probe.request", probe.request, MILLI * 50, MINUTE, "Wall time of one request of a probe."),
    duration!(
        "probe.reserve",
        probe.reserve,
        Duration::ZERO,
        SECOND * 10,
        "Kept back from the last request of a run, so that the probe can still say what it saw."
    ),
    duration!("probe.cpu", probe.cpu, MILLI * 10, SECOND * 10, "CPU time of a run: a probe needs 1 to 20 ms."),
    bytes!("probe.memory", probe.memory, MI, 512 * MI, "Memory of a run: Rust needs 1-2 Mi, JavaScript 12, Python 14."),
    count!("probe.tableElements", probe.table_elements, 100, 1_000_000, "Elements of all tables of a run."),
    bytes!("probe.stack", probe.stack, 64 << 10, 4 * MI, "Stack of a run."),
    bytes!("probe.body", probe.body, 1 << 10, 64 * MI, "The longest answer: a longer one reads as too large."),
    bytes!("probe.requestBody", probe.request_body, 1 << 10, MI, "The longest body of a request."),
    count!("probe.requests", probe.requests, 1, 10_000, "Requests of a run: a listing in pages needs a few."),
    count!("probe.journalLines", probe.journal_lines, 0, 1_000, "Lines that a run may write to the operator's log."),
    bytes!("probe.journalLine", probe.journal_line, 64, 8 << 10, "The longest line of the journal."),
    bytes!("probe.component", probe.component, 64 << 10, 256 * MI, "The largest component file."),
    Setting {
        key: "log.format",
        unit: "`text` or `json`",
        why: "Text for people, JSON (one object a line) for machines.",
        show: |s| match s.log.format {
            LogFormat::Json => "json".to_owned(),
            LogFormat::Text => "text".to_owned(),
        },
        set: |s, node| {
            s.log.format = word(node, &[("text", LogFormat::Text), ("json", LogFormat::Json)])?;
            Ok(())
        },
    },
    Setting {
        key: "log.level",
        unit: "filter",
        why: "What is logged, such as info,agent_kourier::prober=debug.",
        show: |s| show_text(&s.log.level),
        set: |s, node| {
            s.log.level = filter(node)?;
            Ok(())
        },
    },
];

/// A text that may be left out, as an empty one.
fn show_optional(text: Option<String>) -> String {
    text.map_or_else(|| "\"\"".to_owned(), |text| show_text(&text))
}

fn name(node: &Node) -> Result<String, String> {
    let name = text(node)?;
    LABEL.fault(name).map_or_else(|| Ok(name.to_owned()), Err)
}

fn network(node: &Node) -> Result<Network, String> {
    text(node)?.parse().map_err(|error| format!("{error}"))
}

fn filter(node: &Node) -> Result<String, String> {
    let level = text(node)?;
    // A word alone may be a target too, so that a misspelt level would silence everything else.
    let is_level = |part: &str| LevelFilter::from_str(part.trim()).is_ok();
    let all_known = level.split(',').all(|part| part.contains(['=', '[']) || is_level(part));
    if all_known && EnvFilter::try_new(level).is_ok() {
        Ok(level.to_owned())
    } else {
        Err("is no filter: write error, warn, info, debug or trace, or target=level pairs".to_owned())
    }
}
