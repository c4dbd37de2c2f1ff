//! The pure part alone: acceptance and conditions of many Bindings.

use std::collections::BTreeMap;
use std::time::Instant;

use kourier_core::accept::{LastGood, Rules, accept};
use kourier_core::condition::{Results, advance, assess};
use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::outcome::Outcome;
use kourier_core::platform::{CredentialPlace, Platform};
use kourier_core::reason::{BackendReason, ChannelReason};
use kourier_core::snapshot::{Meta, Object, Snapshot};
use kourier_core::time::Timestamp;
use kourier_core::url::BaseUrl;
use regex::Regex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::report::Report;

const BINDINGS: usize = 10_000;
const BACKENDS: usize = 1000;
const CONNECTIONS: usize = 100;

/// Judges ten thousand Bindings from nothing, again with what was remembered, and makes their conditions.
pub(crate) fn bindings(report: &mut Report) {
    report.section("the pure part: 10,000 Bindings, 1,000 agents, 100 connections");
    let (snapshot, rules) = (snapshot(), rules());
    let (accepted, first) = timed(|| accept(&snapshot, &LastGood::default(), &rules));
    assert_eq!(accepted.bindings.values().filter(|judged| judged.served.is_some()).count(), BINDINGS);
    report.add("10,000 Bindings judged for the first time, ms", first);
    let (again, later) = timed(|| accept(&snapshot, &accepted.last_good, &rules));
    assert_eq!(again.bindings.len(), BINDINGS);
    report.add("10,000 Bindings judged again, ms", later);
    let (made, took) = timed(|| {
        let conditions = accepted.bindings.values().map(|judged| {
            let results = Results {
                uid: judged.uid.clone(),
                backend: Some((judged.generation, Outcome::of(BackendReason::Ok))),
                channel: Some((judged.generation, Outcome::of(ChannelReason::NotInChannel))),
            };
            advance(&[], &assess(judged, Some(&results), &[]), Timestamp(1)).len()
        });
        conditions.sum::<usize>()
    });
    assert_eq!(made, 4 * BINDINGS);
    report.add("conditions of 10,000 Bindings, ms", took);
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed().as_secs_f64() * 1e3)
}

fn snapshot() -> Snapshot {
    let backend = |number| object("agent", number, json!({"url": format!("https://agents.example/{number}")}));
    let connection =
        |number| object("chat", number, json!({"platform": "slack", "secretRef": {"name": "bot", "key": "token"}}));
    let binding = |number| {
        let (agent, chat) = (format!("agent-{}", number % BACKENDS), format!("chat-{}", number % CONNECTIONS));
        let channel = format!("C{number}");
        let spec = json!({"agent": {"backendRef": {"name": agent}}, "chat": {"connectionRef": {"name": chat}, "channel": channel}});
        object("binding", number, spec)
    };
    Snapshot {
        bindings: (0..BINDINGS).map(binding).collect(),
        backends: (0..BACKENDS).map(backend).collect(),
        connections: (0..CONNECTIONS).map(connection).collect(),
    }
}

fn object<S: DeserializeOwned>(kind: &str, number: usize, spec: Value) -> Object<S> {
    let meta = Meta {
        key: ObjectKey::new("team-a", format!("{kind}-{number}")),
        uid: Uid(format!("{kind}-uid-{number}")),
        generation: Generation(1),
        created: Timestamp(i64::try_from(number).unwrap()),
    };
    Object { meta, spec: Ok(serde_json::from_value(spec).unwrap()) }
}

fn rules() -> Rules {
    let slack = Platform {
        default_url: Some(BaseUrl::parse("https://slack.com/api").unwrap()),
        channel_pattern: Regex::new("^(?:[CG][A-Z0-9]+)$").unwrap(),
        credential: CredentialPlace::Bearer,
        settings: BTreeMap::new(),
    };
    Rules { broker: "default".into(), platforms: BTreeMap::from([("slack".into(), slack)]), single_label_hosts: false }
}
