//! AgentBackends and ChatConnections: what is valid, what runs, and who may use it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::{Good, Rules, Used};
use crate::check;
use crate::id::{Generation, Kind, ObjectKey, Uid};
use crate::object::{AgentBackendSpec, ChatConnectionSpec, DEFAULT_BROKER};
use crate::reason::AcceptedReason;
use crate::rule::LABEL;
use crate::snapshot::{Meta, Object, Problem};
use crate::time::Timestamp;

/// The spec of a kind that Bindings name.
pub(super) trait PeerSpec: Clone + Debug {
    /// The kind.
    const KIND: Kind;
    /// The field of a Binding that names such an object.
    const FIELD: &'static str;
    /// The reason when there is no such object.
    const NOT_FOUND: AcceptedReason;
    /// The reason when the object is invalid.
    const REJECTED: AcceptedReason;
    /// Every problem of the spec.
    fn problems(&self, rules: &Rules) -> Vec<Problem>;
    /// `spec.allowedNamespaces`.
    fn allowed_namespaces(&self) -> &[String];
}

impl PeerSpec for AgentBackendSpec {
    const KIND: Kind = Kind::AgentBackend;
    const FIELD: &'static str = "spec.agent.backendRef";
    const NOT_FOUND: AcceptedReason = AcceptedReason::BackendNotFound;
    const REJECTED: AcceptedReason = AcceptedReason::BackendRejected;

    fn problems(&self, rules: &Rules) -> Vec<Problem> {
        check::backend(self, rules)
    }

    fn allowed_namespaces(&self) -> &[String] {
        &self.allowed_namespaces
    }
}

impl PeerSpec for ChatConnectionSpec {
    const KIND: Kind = Kind::ChatConnection;
    const FIELD: &'static str = "spec.chat.connectionRef";
    const NOT_FOUND: AcceptedReason = AcceptedReason::ConnectionNotFound;
    const REJECTED: AcceptedReason = AcceptedReason::ConnectionRejected;

    fn problems(&self, rules: &Rules) -> Vec<Problem> {
        check::connection(self, rules)
    }

    fn allowed_namespaces(&self) -> &[String] {
        &self.allowed_namespaces
    }
}

/// All objects of one kind that Bindings name.
pub(super) struct Peers<'a, S>(BTreeMap<&'a ObjectKey, Peer<'a, S>>);

/// One object that Bindings name.
pub(super) struct Peer<'a, S> {
    /// Which object it is.
    pub meta: &'a Meta,
    /// The newest spec, if it can be read.
    pub newest: Option<&'a S>,
    /// What is wrong with the newest spec; empty when it is valid.
    pub problems: Vec<Problem>,
    /// The generation that runs: the newest if it is valid, else the last good one if that is valid still.
    pub running: Option<(Generation, &'a S)>,
    /// What was remembered of this object.
    good: Option<&'a Good<S>>,
}

/// What a Binding finds where its reference leads.
pub(super) enum Found<'p, 'a, S> {
    /// No object.
    Nothing,
    /// An object that this Binding may not use: nothing more is looked at.
    Forbidden,
    /// An object that this Binding may use.
    Peer(&'p Peer<'a, S>),
}

impl<'a, S: PeerSpec> Peers<'a, S> {
    /// Judges the objects of a snapshot.
    pub(super) fn new(objects: &'a [Object<S>], good: &'a BTreeMap<ObjectKey, Good<S>>, rules: &Rules) -> Self {
        let judge = |(key, object)| (key, Peer::new(object, good.get(key), rules));
        Self(by_key(objects).into_iter().map(judge).collect())
    }

    /// The object of this key, whoever asks.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Peer<'a, S>> {
        self.0.get(key)
    }

    /// What a Binding of this namespace finds at this key.
    pub(super) fn find(&self, key: &ObjectKey, namespace: &str) -> Found<'_, 'a, S> {
        match self.get(key) {
            None => Found::Nothing,
            Some(peer) if peer.allows(namespace) => Found::Peer(peer),
            Some(_) => Found::Forbidden,
        }
    }

    /// The good specs to remember: of each object the newest if it is valid, else what was remembered.
    pub(super) fn remember(&self) -> BTreeMap<ObjectKey, Good<S>> {
        self.0.values().filter_map(|peer| Some((peer.meta.key.clone(), peer.remember()?))).collect()
    }
}

impl<'a, S: PeerSpec> Found<'_, 'a, S> {
    /// The generation that runs, if this Binding may use the object.
    pub(super) fn running(&self) -> Option<(Generation, &'a S)> {
        match self {
            Found::Peer(peer) => peer.running,
            Found::Nothing | Found::Forbidden => None,
        }
    }

    /// The same, as it is served.
    pub(super) fn used(&self) -> Option<(Used, &'a S)> {
        let Found::Peer(Peer { meta, running: Some((generation, spec)), .. }) = self else { return None };
        Some((Used { key: meta.key.clone(), uid: meta.uid.clone(), generation: *generation }, *spec))
    }
}

impl<'a, S: PeerSpec> Peer<'a, S> {
    fn new(object: &'a Object<S>, good: Option<&'a Good<S>>, rules: &Rules) -> Self {
        let Object { meta, spec } = object;
        let good = good.filter(|good| good.uid == meta.uid);
        let problems = spec.as_ref().map_or_else(Clone::clone, |spec| spec.problems(rules));
        let newest = spec.as_ref().ok();
        let running = match newest {
            Some(spec) if problems.is_empty() => Some((meta.generation, spec)),
            Some(_) | None => good
                .filter(|good| good.generation < meta.generation && good.spec.problems(rules).is_empty())
                .map(|good| (good.generation, &good.spec)),
        };
        Self { meta, newest, problems, running, good }
    }

    /// Whether Bindings of this namespace may use the object: the newest spec has to allow them, so that a permission
    /// ends at once, and so has the spec that runs, if that is an older one.
    fn allows(&self, namespace: &str) -> bool {
        let running = self.running.map(|(_, spec)| spec);
        let mut specs = self.newest.into_iter().chain(running).peekable();
        self.meta.key.namespace == namespace
            || (specs.peek().is_some() && specs.all(|spec| is_listed(spec.allowed_namespaces(), namespace)))
    }

    fn remember(&self) -> Option<Good<S>> {
        match self.newest {
            Some(spec) if self.problems.is_empty() => {
                let Meta { uid, generation, .. } = self.meta;
                Some(Good { uid: uid.clone(), generation: *generation, spec: spec.clone() })
            }
            Some(_) | None => self.good.cloned(),
        }
    }
}

impl Peer<'_, ChatConnectionSpec> {
    /// The broker that owns the connection. A newest spec whose `broker` cannot be read, or cannot be a broker's name,
    /// leaves it with the broker that it had.
    pub(super) fn broker(&self) -> &str {
        let is_name = |spec: &&ChatConnectionSpec| LABEL.fault(spec.broker()).is_none();
        let newest = self.newest.filter(is_name);
        newest.or(self.good.map(|good| &good.spec)).map_or(DEFAULT_BROKER, ChatConnectionSpec::broker)
    }
}

/// `*` counts only where it stands alone, as it has to.
fn is_listed(allowed: &[String], namespace: &str) -> bool {
    match allowed {
        [only] if only == "*" => true,
        names => names.iter().any(|name| name == namespace),
    }
}

/// Each key once: of objects that stand twice, the one made last counts.
pub(super) fn by_key<S: Debug>(objects: &[Object<S>]) -> BTreeMap<&ObjectKey, &Object<S>> {
    let mut by_key: BTreeMap<&ObjectKey, &Object<S>> = BTreeMap::new();
    for object in objects {
        let kept = by_key.entry(&object.meta.key).or_insert(object);
        if !std::ptr::eq(*kept, object) && rank(object) > rank(kept) {
            *kept = object;
        }
    }
    by_key
}

/// A total order of objects of one key. The text of the spec is only there for objects that differ in nothing else.
fn rank<S: Debug>(object: &Object<S>) -> (Timestamp, Generation, &Uid, String) {
    let Meta { created, generation, uid, .. } = &object.meta;
    (*created, *generation, uid, format!("{:?}", object.spec))
}
