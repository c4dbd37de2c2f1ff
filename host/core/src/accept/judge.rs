//! One Binding against the world.

use std::collections::BTreeMap;

use super::peer::{Found, Peer, PeerSpec, Peers};
use super::{AgentPeer, ChatPeer, Good, Judged, LastGood, Refusal, Rules, Served, Used};
use crate::check;
use crate::id::{Generation, Kind, ObjectKey};
use crate::message::Message;
use crate::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec, Reference};
use crate::reason::AcceptedReason;
use crate::rule::{LABEL, NAME};
use crate::snapshot::{Object, Problem, Snapshot};
use crate::url::BaseUrl;

/// The objects that Bindings name, and which channels are held so far.
pub(super) struct World<'a> {
    pub(super) backends: Peers<'a, AgentBackendSpec>,
    pub(super) connections: Peers<'a, ChatConnectionSpec>,
    rules: &'a Rules,
    /// By ChatConnection and channel: the Binding that is served on it.
    held: BTreeMap<(ObjectKey, String), ObjectKey>,
}

/// Who answers for a Binding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// This broker.
    This,
    /// No broker, so each of them.
    Nobody,
    /// Another broker.
    Other,
}

/// What one spec of a Binding comes to.
#[derive(Default)]
struct Outlook {
    /// The problems of each reason, in the page's order.
    problems: Vec<(AcceptedReason, String)>,
    /// Names for the log only.
    log: Vec<String>,
    /// What is served if this spec counts; none when it cannot be served.
    served: Option<Served>,
}

impl<'a> World<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, last_good: &'a LastGood, rules: &'a Rules) -> Self {
        Self {
            backends: Peers::new(&snapshot.backends, &last_good.backends, rules),
            connections: Peers::new(&snapshot.connections, &last_good.connections, rules),
            rules,
            held: BTreeMap::new(),
        }
    }

    /// Judges a Binding, whose elders have been judged before, and lets it hold the channel on which it is served.
    /// None: another broker owns it.
    pub(super) fn judge(&mut self, object: &Object<BindingSpec>, good: Option<&Good<BindingSpec>>) -> Option<Judged> {
        let Object { meta, spec } = object;
        let owner = self.owner(&meta.key, spec.as_ref().ok().or(good.map(|good| &good.spec)));
        if owner == Owner::Other {
            return None;
        }
        let newest = match spec {
            Ok(spec) => self.outlook(&meta.key, meta.generation, spec),
            Err(problems) => Outlook::unreadable(problems),
        };
        let (served, refusal) = if newest.served.is_some() {
            (newest.served.clone(), newest.refusal(None))
        } else {
            let older = good.filter(|good| good.generation < meta.generation);
            let older = older.and_then(|good| self.outlook(&meta.key, good.generation, &good.spec).served);
            let generations = older.as_ref().map(|older| (meta.generation, older.generation));
            (older, newest.refusal(generations))
        };
        if let Some(served) = &served {
            self.held.insert(hold(&served.chat.connection.key, &served.chat.channel), meta.key.clone());
        }
        Some(Judged {
            uid: meta.uid.clone(),
            generation: meta.generation,
            owned: owner == Owner::This || served.is_some(),
            channel: spec.as_ref().ok().map(|spec| spec.chat.channel.clone()),
            refusal,
            served,
        })
    }

    fn owner(&self, key: &ObjectKey, spec: Option<&BindingSpec>) -> Owner {
        let connection = spec.and_then(|spec| self.connections.get(&resolve(key, &spec.chat.connection_ref)));
        match connection {
            None => Owner::Nobody,
            Some(connection) if connection.broker() == self.rules.broker => Owner::This,
            Some(_) => Owner::Other,
        }
    }

    /// What this spec comes to at this generation, beside the channels that are held so far.
    fn outlook(&self, key: &ObjectKey, generation: Generation, spec: &BindingSpec) -> Outlook {
        let mut outlook = Outlook::default();
        let backend_key = resolve(key, &spec.agent.backend_ref);
        let connection_key = resolve(key, &spec.chat.connection_ref);
        let backend = self.backends.find(&backend_key, &key.namespace);
        let connection = self.connections.find(&connection_key, &key.namespace);
        for problem in self.field_problems(spec, &connection) {
            outlook.add(AcceptedReason::InvalidSpec, problem.to_string());
        }
        // Which generation runs is a broker's own memory: of a Binding that every broker answers for, all have to say
        // the same.
        let tells_running = !matches!(connection, Found::Nothing);
        outlook.link(&Link::backend(key, &backend_key, tells_running), &backend);
        outlook.link(&Link::connection(key, &connection_key), &connection);
        self.look_for_conflict(&mut outlook, key, spec, &connection);
        if self.owner(key, Some(spec)) == Owner::This && outlook.can_be_served() {
            outlook.served = self.serve(generation, spec, &backend, &connection);
        }
        outlook
    }

    /// What is wrong with the Binding itself. Its channel is judged by the platform of the connection that runs.
    fn field_problems(&self, spec: &BindingSpec, connection: &Found<'_, '_, ChatConnectionSpec>) -> Vec<Problem> {
        let mut problems = check::binding(spec);
        let platform = connection.running().and_then(|(_, running)| self.rules.platforms.get(&running.platform));
        let channel = platform.and_then(|platform| check::channel(&spec.chat.channel, platform));
        problems.extend(channel.filter(|channel| problems.iter().all(|other| other.path != channel.path)));
        problems
    }

    fn look_for_conflict(
        &self,
        outlook: &mut Outlook,
        key: &ObjectKey,
        spec: &BindingSpec,
        connection: &Found<'_, '_, ChatConnectionSpec>,
    ) {
        let Found::Peer(connection) = connection else { return };
        let channel = &spec.chat.channel;
        let Some(winner) = self.held.get(&hold(&connection.meta.key, channel)) else { return };
        let problem = if winner.namespace == key.namespace {
            format!("already bound by Binding {}", winner.name)
        } else {
            outlook.log.push(format!("channel {channel} is held by Binding {winner}"));
            "already bound by a Binding in another namespace".to_owned()
        };
        outlook.add(AcceptedReason::ChannelConflict, Problem::new("spec.chat.channel", problem).to_string());
    }

    fn serve(
        &self,
        generation: Generation,
        spec: &BindingSpec,
        backend: &Found<'_, '_, AgentBackendSpec>,
        connection: &Found<'_, '_, ChatConnectionSpec>,
    ) -> Option<Served> {
        let (used, running) = backend.used()?;
        let path = spec.agent.path.as_deref().unwrap_or_default();
        let agent = AgentPeer {
            backend: used,
            url: BaseUrl::parse(&running.url).ok()?.join(path),
            card_path: running.card_path.clone(),
            auth: running.auth.clone(),
            tls: running.tls.clone(),
        };
        let (used, running) = connection.used()?;
        let platform = self.rules.platforms.get(&running.platform)?;
        let chat = ChatPeer {
            connection: used,
            platform: running.platform.clone(),
            url: match &running.url {
                Some(url) => BaseUrl::parse(url).ok()?,
                None => platform.default_url.clone()?,
            },
            default_url: running.url.is_none(),
            channel: spec.chat.channel.clone(),
            settings: running.settings.clone(),
            credential: platform.credential.clone(),
            secret_ref: running.secret_ref.clone(),
            tls: running.tls.clone(),
        };
        Some(Served { generation, agent, chat })
    }
}

impl<'a, S: PeerSpec> Found<'_, 'a, S> {
    fn running(&self) -> Option<(Generation, &'a S)> {
        match self {
            Found::Peer(peer) => peer.running,
            Found::Nothing | Found::Forbidden => None,
        }
    }

    fn used(&self) -> Option<(Used, &'a S)> {
        let Found::Peer(Peer { meta, running: Some((generation, spec)), .. }) = self else { return None };
        Some((Used { key: meta.key.clone(), uid: meta.uid.clone(), generation: *generation }, *spec))
    }
}

/// A Binding's reference, and the reasons of what may be wrong with it.
struct Link<'k> {
    path: &'static str,
    kind: Kind,
    not_found: AcceptedReason,
    rejected: AcceptedReason,
    binding: &'k ObjectKey,
    target: &'k ObjectKey,
    tells_running: bool,
}

impl<'k> Link<'k> {
    const fn backend(binding: &'k ObjectKey, target: &'k ObjectKey, tells_running: bool) -> Self {
        Self {
            path: "spec.agent.backendRef",
            kind: Kind::AgentBackend,
            not_found: AcceptedReason::BackendNotFound,
            rejected: AcceptedReason::BackendRejected,
            binding,
            target,
            tells_running,
        }
    }

    const fn connection(binding: &'k ObjectKey, target: &'k ObjectKey) -> Self {
        Self {
            path: "spec.chat.connectionRef",
            kind: Kind::ChatConnection,
            not_found: AcceptedReason::ConnectionNotFound,
            rejected: AcceptedReason::ConnectionRejected,
            binding,
            target,
            tells_running: true,
        }
    }

    /// A reference that cannot be a name is not repeated.
    fn not_found(&self) -> String {
        let Self { kind, target, .. } = self;
        if NAME.fault(&target.name).is_none() && LABEL.fault(&target.namespace).is_none() {
            format!("there is no {kind} {target}, create it or mend the reference")
        } else {
            format!("names no {kind}")
        }
    }

    fn forbidden(&self) -> String {
        let Self { kind, binding, .. } = self;
        let namespace = &binding.namespace;
        format!(
            "the {kind} is in another namespace and does not allow {namespace}, ask its owner to add that to allowedNamespaces"
        )
    }
}

impl Outlook {
    fn unreadable(problems: &[Problem]) -> Self {
        let mut outlook = Self::default();
        for problem in problems {
            outlook.add(AcceptedReason::InvalidSpec, problem.to_string());
        }
        outlook
    }

    fn add(&mut self, reason: AcceptedReason, problem: String) {
        self.problems.push((reason, problem));
    }

    fn link<S: PeerSpec>(&mut self, link: &Link<'_>, found: &Found<'_, '_, S>) {
        let (reason, what) = match found {
            Found::Nothing => (link.not_found, link.not_found()),
            Found::Forbidden => (AcceptedReason::NamespaceNotAllowed, link.forbidden()),
            Found::Peer(peer) if peer.problems.is_empty() => return,
            Found::Peer(peer) => return self.rejected(link, peer),
        };
        self.add(reason, Problem::new(link.path, what).to_string());
    }

    /// An object's own problems are told in its namespace only.
    fn rejected<S>(&mut self, link: &Link<'_>, peer: &Peer<'_, S>) {
        let kind = link.kind;
        let mut what = match peer.running {
            Some((running, _)) if link.tells_running => {
                let newest = peer.meta.generation;
                format!("generation {newest} of its {kind} is invalid, running generation {running}")
            }
            Some(_) | None => format!("its {kind} is invalid"),
        };
        let problems: Vec<String> = peer.problems.iter().map(ToString::to_string).collect();
        let problems = problems.join("; ");
        if link.target.namespace == link.binding.namespace {
            what = format!("{what} ({problems})");
        } else {
            self.log.push(format!("{kind} {}: {problems}", link.target));
        }
        self.add(link.rejected, what);
    }

    /// Whether nothing is wrong but that a peer runs an older generation.
    fn can_be_served(&self) -> bool {
        let is_rejected =
            |reason| matches!(reason, AcceptedReason::BackendRejected | AcceptedReason::ConnectionRejected);
        self.problems.iter().all(|(reason, _)| is_rejected(*reason))
    }

    /// The refusal, if there is a problem. `serving`: the refused generation, and the older one that is served.
    fn refusal(mut self, serving: Option<(Generation, Generation)>) -> Option<Refusal> {
        self.problems.sort_by_key(|(reason, _)| *reason);
        let (reason, _) = self.problems.first()?;
        let reason = *reason;
        let problems: Vec<String> = self.problems.into_iter().map(|(_, problem)| problem).collect();
        let mut message = problems.join("; ");
        if let Some((refused, served)) = serving {
            message = format!("generation {refused} is invalid, serving generation {served}: {message}");
        }
        let log = (!self.log.is_empty()).then(|| self.log.join("; "));
        Some(Refusal { reason, message: Message::new(&message), log })
    }
}

fn resolve(binding: &ObjectKey, reference: &Reference) -> ObjectKey {
    let namespace = reference.namespace.as_ref().unwrap_or(&binding.namespace);
    ObjectKey::new(namespace, &reference.name)
}

fn hold(connection: &ObjectKey, channel: &str) -> (ObjectKey, String) {
    (connection.clone(), channel.to_owned())
}
