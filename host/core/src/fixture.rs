//! Small worlds for the tests of this crate.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use crate::accept::{Accepted, Judged, LastGood, Rules, accept};
use crate::id::{Generation, ObjectKey, Uid};
use crate::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec};
use crate::platform::{CredentialPlace, Platform, Setting};
use crate::snapshot::{Meta, Object, Problem, Snapshot};
use crate::time::Timestamp;
use crate::url::BaseUrl;

/// The rules of the broker `default`: Slack, and a platform without an API base of its own; hosts as in a cluster.
pub(crate) fn rules() -> Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(make_rules);
    RULES.clone()
}

fn make_rules() -> Rules {
    let setting = |required, pattern: Option<&str>, summary: &str| Setting {
        required,
        pattern: pattern.map(|p| Regex::new(p).unwrap()),
        summary: summary.into(),
    };
    let slack = Platform {
        default_url: Some(BaseUrl::parse("https://slack.com/api").unwrap()),
        channel_pattern: Regex::new("^(?:[CDG][A-Z0-9]+)$").unwrap(),
        credential: CredentialPlace::Bearer,
        settings: BTreeMap::from([("teamId".into(), setting(false, Some("^(?:T[A-Z0-9]+)$"), "The workspace's id."))]),
    };
    let zulip = Platform {
        default_url: None,
        channel_pattern: Regex::new("^(?:[0-9]+)$").unwrap(),
        credential: CredentialPlace::Basic { setting: "botEmail".into() },
        settings: BTreeMap::from([("botEmail".into(), setting(true, None, "The bot's address."))]),
    };
    let platforms = BTreeMap::from([("slack".into(), slack), ("zulip".into(), zulip)]);
    Rules { broker: "default".into(), platforms, single_label_hosts: false }
}

/// `agents` of the given namespace, as a valid spec.
pub(crate) fn backend_spec() -> Value {
    json!({"url": "https://agents.example/a"})
}

/// A Slack connection, as a valid spec.
pub(crate) fn connection_spec() -> Value {
    json!({"platform": "slack", "secretRef": {"name": "bot", "key": "token"}})
}

/// A spec that binds `channel`, with references like `name` or `namespace/name`.
pub(crate) fn binding_spec(backend: &str, connection: &str, channel: &str) -> Value {
    let reference = |text: &str| match text.split_once('/') {
        Some((namespace, name)) => json!({"name": name, "namespace": namespace}),
        None => json!({"name": text}),
    };
    json!({"agent": {"backendRef": reference(backend)}, "chat": {"connectionRef": reference(connection), "channel": channel}})
}

/// A key written as `namespace/name`.
pub(crate) fn key(text: &str) -> ObjectKey {
    let (namespace, name) = text.split_once('/').unwrap();
    ObjectKey::new(namespace, name)
}

/// `base` with the members of `change` in place of its own; null removes one.
pub(crate) fn with(mut base: Value, change: Value) -> Value {
    let (Some(base_members), Value::Object(change)) = (base.as_object_mut(), change) else { panic!("no objects") };
    for (name, value) in change {
        if value.is_null() {
            base_members.remove(&name);
        } else {
            base_members.insert(name, value);
        }
    }
    base
}

/// A snapshot in the making. Of objects that are put twice the generation goes up, as with an edit.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    pub(crate) last_good: LastGood,
    made: i64,
}

impl World {
    /// `team-a/agents` and `team-a/chat`, both valid.
    pub(crate) fn new() -> Self {
        let mut world = Self::default();
        world.backend("team-a/agents", backend_spec()).connection("team-a/chat", connection_spec());
        world
    }

    pub(crate) fn binding(&mut self, at: &str, spec: Value) -> &mut Self {
        let made = self.tick();
        put(&mut self.snapshot.bindings, at, made, read::<BindingSpec>(spec));
        self
    }

    /// A Binding of `agents` and `chat` in its own namespace.
    pub(crate) fn binds(&mut self, at: &str, channel: &str) -> &mut Self {
        self.binding(at, binding_spec("agents", "chat", channel))
    }

    pub(crate) fn backend(&mut self, at: &str, spec: Value) -> &mut Self {
        let made = self.tick();
        put(&mut self.snapshot.backends, at, made, read::<AgentBackendSpec>(spec));
        self
    }

    pub(crate) fn connection(&mut self, at: &str, spec: Value) -> &mut Self {
        let made = self.tick();
        put(&mut self.snapshot.connections, at, made, read::<ChatConnectionSpec>(spec));
        self
    }

    pub(crate) fn remove(&mut self, at: &str) -> &mut Self {
        let at = key(at);
        self.snapshot.bindings.retain(|object| object.meta.key != at);
        self.snapshot.backends.retain(|object| object.meta.key != at);
        self.snapshot.connections.retain(|object| object.meta.key != at);
        self
    }

    /// Judges the world as it is and remembers what was good.
    pub(crate) fn accept(&mut self) -> Accepted {
        self.accept_as(&rules())
    }

    pub(crate) fn accept_as(&mut self, rules: &Rules) -> Accepted {
        let accepted = accept(&self.snapshot, &self.last_good, rules);
        self.last_good = accepted.last_good.clone();
        accepted
    }

    /// The Binding as judged now.
    pub(crate) fn judge(&mut self, at: &str) -> Judged {
        self.accept().bindings.remove(&key(at)).unwrap_or_else(|| panic!("{at} is not in the result"))
    }

    fn tick(&mut self) -> i64 {
        self.made += 1;
        self.made
    }
}

fn read<S: serde::de::DeserializeOwned>(spec: Value) -> Result<S, Vec<Problem>> {
    serde_json::from_value(spec).map_err(|_| vec![Problem::new("spec", "cannot be read")])
}

fn put<S>(objects: &mut Vec<Object<S>>, at: &str, made: i64, spec: Result<S, Vec<Problem>>) {
    let key = key(at);
    if let Some(object) = objects.iter_mut().find(|object| object.meta.key == key) {
        object.meta.generation.0 += 1;
        object.spec = spec;
        return;
    }
    let meta = Meta { key, uid: Uid(format!("uid-{made}")), generation: Generation(1), created: Timestamp(made) };
    objects.push(Object { meta, spec });
}

/// What became of a Binding, on one line: the reason and message, and which generations are served.
pub(crate) fn told(judged: &Judged) -> String {
    let served = judged.served.as_ref().map_or("not served".to_owned(), |s| {
        format!("serves {} on {}/{}", s.generation, s.agent.backend.generation, s.chat.connection.generation)
    });
    match &judged.refusal {
        None => format!("OK; {served}"),
        Some(refusal) => format!("{}: {}; {served}", refusal.reason, refusal.message),
    }
}
