//! One Binding against the world.

use std::collections::BTreeMap;

use super::outlook::{Link, Outlook};
use super::peer::{Found, Peers};
use super::{AgentPeer, ChatPeer, Good, Judged, LastGood, Rules, Served};
use crate::check;
use crate::id::{Generation, ObjectKey};
use crate::object::{AgentBackendSpec, BindingSpec, ChatConnectionSpec, Reference};
use crate::reason::AcceptedReason;
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
            outlook.add(AcceptedReason::InvalidSpec, problem);
        }
        // Which generation runs is a broker's own memory: of a Binding that every broker answers for, all have to say
        // the same.
        let tells_running = !matches!(connection, Found::Nothing);
        outlook.link(&Link { binding: key, target: &backend_key, tells_running }, &backend);
        outlook.link(&Link { binding: key, target: &connection_key, tells_running }, &connection);
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
        if let Some(winner) = self.held.get(&hold(&connection.meta.key, channel)) {
            outlook.conflict(key, winner, channel);
        }
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

fn resolve(binding: &ObjectKey, reference: &Reference) -> ObjectKey {
    let namespace = reference.namespace.as_ref().unwrap_or(&binding.namespace);
    ObjectKey::new(namespace, &reference.name)
}

fn hold(connection: &ObjectKey, channel: &str) -> (ObjectKey, String) {
    (connection.clone(), channel.to_owned())
}
