//! Acceptance: from a snapshot to what is served and what is refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{Generation, ObjectKey, Uid};
use crate::message::Message;
use crate::object::{AgentBackendSpec, Auth, BindingSpec, ChatConnectionSpec, SecretRef, Tls};
use crate::platform::{CredentialPlace, Platforms};
use crate::reason::AcceptedReason;
use crate::snapshot::{Meta, Object, Problem, Snapshot};
use crate::url::BaseUrl;

mod judge;
mod outlook;
mod peer;

use judge::World;

/// What acceptance depends on beside the objects.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The broker that judges: it takes the Bindings whose ChatConnection names it.
    pub broker: String,
    /// The platforms for which a probe component is loaded.
    pub platforms: Platforms,
    /// Whether a URL's host may be a name without a dot. Not with objects from a cluster: such a name would be looked
    /// up in the broker's own namespace.
    pub single_label_hosts: bool,
}

/// The newest spec of each object that was found good, by object. It survives a restart in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastGood {
    /// Of Bindings: the newest spec that was served as it was the newest.
    pub bindings: BTreeMap<ObjectKey, Good<BindingSpec>>,
    /// Of AgentBackends: the newest valid spec.
    pub backends: BTreeMap<ObjectKey, Good<AgentBackendSpec>>,
    /// Of ChatConnections: the newest valid spec.
    pub connections: BTreeMap<ObjectKey, Good<ChatConnectionSpec>>,
}

impl LastGood {
    /// Takes over what `other` knows better: objects that are not known here, and newer generations of those that are.
    /// Of two objects of one name this one's stays.
    pub fn take_newer(&mut self, other: Self) {
        take_newer(&mut self.bindings, other.bindings);
        take_newer(&mut self.backends, other.backends);
        take_newer(&mut self.connections, other.connections);
    }
}

fn take_newer<S>(known: &mut BTreeMap<ObjectKey, Good<S>>, other: BTreeMap<ObjectKey, Good<S>>) {
    for (key, good) in other {
        let keep = known.get(&key).is_some_and(|old| old.uid != good.uid || old.generation >= good.generation);
        if !keep {
            known.insert(key, good);
        }
    }
}

/// A spec that was good at one generation of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Good<S> {
    /// The object: one that was made again under the same name has no last good spec.
    pub uid: Uid,
    /// The generation.
    pub generation: Generation,
    /// The spec.
    pub spec: S,
}

/// What acceptance makes of a snapshot: every Binding that this broker answers for, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// By Binding. One whose ChatConnection names another broker is not here.
    pub bindings: BTreeMap<ObjectKey, Judged>,
    /// The good specs to remember from now on.
    pub last_good: LastGood,
}

/// One Binding as judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Which object it is.
    pub uid: Uid,
    /// The newest generation that was looked at.
    pub generation: Generation,
    /// Whether this broker owns the Binding. One whose ChatConnection does not exist, or cannot be told, is owned by
    /// none: every broker answers for it, and one that finds the Binding already answered for leaves it.
    pub owned: bool,
    /// `spec.chat.channel` as written, if it could be read: for tables.
    pub channel: Option<String>,
    /// Why the newest spec was refused; none when it was taken.
    pub refusal: Option<Refusal>,
    /// What is served, perhaps of an older generation; none when nothing is.
    pub served: Option<Served>,
}

impl Judged {
    /// Whether this generation is what is served.
    #[must_use]
    pub fn serves(&self, generation: Generation) -> bool {
        self.served.as_ref().is_some_and(|served| served.generation == generation)
    }
}

/// Why a Binding was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The first reason that applies, in the page's order.
    pub reason: AcceptedReason,
    /// The problems of every reason that applies, in the page's order.
    pub message: Message,
    /// The same, one by one and not cut, each with its field: for who checks objects before they are used.
    pub problems: Vec<(AcceptedReason, Problem)>,
    /// For the operator's log only: names that the message must not hold.
    pub log: Option<String>,
}

/// The effective configuration of a Binding. Equal values ask the same questions of the same peers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Served {
    /// The generation that is served.
    pub generation: Generation,
    /// The agent.
    pub agent: AgentPeer,
    /// The channel.
    pub chat: ChatPeer,
}

/// Which generation of which object is in use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Used {
    /// Where the object is.
    pub key: ObjectKey,
    /// Which object it is.
    pub uid: Uid,
    /// Its generation in use.
    pub generation: Generation,
}

/// The agent that a Binding leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentPeer {
    /// The AgentBackend.
    pub backend: Used,
    /// Its URL joined with the Binding's path.
    pub url: BaseUrl,
    /// The only place of the card below `url`; none: the well-known ones.
    pub card_path: Option<String>,
    /// The credential, in a Secret of the AgentBackend's namespace.
    pub auth: Option<Auth>,
    /// Trust, in a Secret of the AgentBackend's namespace.
    pub tls: Option<Tls>,
}

/// The channel that a Binding is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChatPeer {
    /// The ChatConnection.
    pub connection: Used,
    /// The platform, which selects the component.
    pub platform: String,
    /// The API's base.
    pub url: BaseUrl,
    /// Whether `url` is the component's default one: its host is then looked up as an absolute name.
    pub default_url: bool,
    /// The channel's id.
    pub channel: String,
    /// The settings.
    pub settings: BTreeMap<String, String>,
    /// Where the credential goes.
    pub credential: CredentialPlace,
    /// The credential, in a Secret of the ChatConnection's namespace.
    pub secret_ref: SecretRef,
    /// Trust, in a Secret of the ChatConnection's namespace.
    pub tls: Option<Tls>,
}

/// Judges a snapshot. The result does not depend on the order within the snapshot's lists.
///
/// Bindings are taken by age: a channel of a connection belongs to the first that can be served on it. Of objects that
/// stand twice under one key, the one made last counts.
#[must_use]
pub fn accept(snapshot: &Snapshot, last_good: &LastGood, rules: &Rules) -> Accepted {
    let mut world = World::new(snapshot, last_good, rules);
    let mut accepted = Accepted::default();
    for object in by_age(&snapshot.bindings) {
        let key = &object.meta.key;
        let good = last_good.bindings.get(key).filter(|good| good.uid == object.meta.uid);
        let judged = world.judge(object, good);
        if let Some(good) = newest_good(object, judged.as_ref(), good) {
            accepted.last_good.bindings.insert(key.clone(), good);
        }
        let Some(judged) = judged else { continue };
        accepted.bindings.insert(key.clone(), judged);
    }
    accepted.last_good.backends = world.backends.remember();
    accepted.last_good.connections = world.connections.remember();
    accepted
}

/// What to remember of a Binding: its newest spec if that is what is served, else what was remembered of it. Of a
/// Binding that went to another broker nothing: were it to come back, this broker would know an old spec only.
fn newest_good(
    object: &Object<BindingSpec>,
    judged: Option<&Judged>,
    good: Option<&Good<BindingSpec>>,
) -> Option<Good<BindingSpec>> {
    let Meta { uid, generation, .. } = &object.meta;
    match (&object.spec, judged) {
        (Ok(_), None) => None,
        (Ok(spec), Some(judged)) if judged.serves(*generation) => {
            Some(Good { uid: uid.clone(), generation: *generation, spec: spec.clone() })
        }
        // What cannot be read belongs where the remembered spec belongs, so that is kept whoever it is.
        (Ok(_) | Err(_), _) => good.cloned(),
    }
}

/// The Bindings, each key once, in the order of creationTimestamp, namespace and name.
fn by_age(bindings: &[Object<BindingSpec>]) -> Vec<&Object<BindingSpec>> {
    let mut by_age: Vec<_> = peer::by_key(bindings).into_values().collect();
    by_age.sort_by_key(|object| (object.meta.created, &object.meta.key));
    by_age
}

#[cfg(test)]
mod tests;
