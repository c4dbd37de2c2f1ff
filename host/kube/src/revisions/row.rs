//! A good spec as a ControllerRevision, and back.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use kourier_core::accept::{Good, LastGood};
use kourier_core::id::{Generation, Kind, ObjectKey, Uid};
use kourier_core::object::API_VERSION;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::ObjectId;

const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "agent-kourier");
const BROKER: &str = "agentkourier.io/broker";
const KIND: &str = "agentkourier.io/kind";

/// Bytes of the object's name in its revision's: with the rest it stays below the 253 that a name may have.
const NAME: usize = 180;

/// A good spec.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) uid: Uid,
    pub(super) generation: Generation,
    pub(super) spec: Value,
}

/// A good spec that is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Revision {
    pub(super) name: String,
    /// Of the revision itself.
    pub(super) own_uid: String,
    pub(super) row: Row,
}

/// What selects the revisions of this broker.
pub(super) fn selector(broker: &str) -> String {
    format!("{}={},{BROKER}={broker}", MANAGED_BY.0, MANAGED_BY.1)
}

/// All good specs, by object.
pub(super) fn rows(last_good: &LastGood) -> BTreeMap<ObjectId, Row> {
    let mut rows = BTreeMap::new();
    rows.extend(rows_of(&last_good.bindings, Kind::Binding));
    rows.extend(rows_of(&last_good.backends, Kind::AgentBackend));
    rows.extend(rows_of(&last_good.connections, Kind::ChatConnection));
    rows
}

fn rows_of<S: Serialize>(good: &BTreeMap<ObjectKey, Good<S>>, kind: Kind) -> impl Iterator<Item = (ObjectId, Row)> {
    good.iter().map(move |(key, good)| {
        // A spec is strings, lists and maps of strings: it always has a spelling in JSON.
        let spec = serde_json::to_value(&good.spec).unwrap_or_default();
        ((kind, key.clone()), Row { uid: good.uid.clone(), generation: good.generation, spec })
    })
}

/// Whether two revisions hold the same of the same object.
pub(super) fn says_the_same(there: &ControllerRevision, new: &ControllerRevision) -> bool {
    match (Revision::read(there), Revision::read(new)) {
        (Ok((id, there)), Ok((wanted, new))) => id == wanted && there.row == new.row,
        _ => false,
    }
}

impl Row {
    /// The revision that holds it.
    pub(super) fn object(&self, broker: &str, (kind, key): &ObjectId) -> ControllerRevision {
        let labels = [(MANAGED_BY.0, MANAGED_BY.1), (BROKER, broker), (KIND, kind.as_str())];
        let owner = OwnerReference {
            api_version: API_VERSION.to_owned(),
            kind: kind.as_str().to_owned(),
            name: key.name.clone(),
            uid: self.uid.0.clone(),
            controller: None,
            block_owner_deletion: Some(false),
        };
        let metadata = ObjectMeta {
            name: Some(name(broker, *kind, &key.name, self)),
            namespace: Some(key.namespace.clone()),
            labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        };
        let data = RawExtension(json!({ "uid": self.uid, "spec": self.spec }));
        ControllerRevision { data: Some(data), metadata, revision: self.generation.0 }
    }

    /// Puts it among the last good specs.
    ///
    /// # Errors
    ///
    /// When this program cannot read it, because another version wrote it.
    pub(super) fn remember(&self, (kind, key): &ObjectId, last_good: &mut LastGood) -> Result<(), String> {
        match kind {
            Kind::Binding => self.insert(key, &mut last_good.bindings),
            Kind::AgentBackend => self.insert(key, &mut last_good.backends),
            Kind::ChatConnection => self.insert(key, &mut last_good.connections),
        }
    }

    fn insert<S: DeserializeOwned>(
        &self,
        key: &ObjectKey,
        good: &mut BTreeMap<ObjectKey, Good<S>>,
    ) -> Result<(), String> {
        let spec = serde_json::from_value(self.spec.clone()).map_err(|_| "its spec is none of its kind".to_owned())?;
        good.insert(key.clone(), Good { uid: self.uid.clone(), generation: self.generation, spec });
        Ok(())
    }
}

impl Revision {
    /// What a ControllerRevision holds, and of which object.
    ///
    /// # Errors
    ///
    /// What it lacks.
    pub(super) fn read(stored: &ControllerRevision) -> Result<(ObjectId, Self), String> {
        let ControllerRevision { data, metadata, revision } = stored;
        let owners = metadata.owner_references.iter().flatten().filter(|owner| owner.api_version == API_VERSION);
        let mut of_ours = owners.filter_map(|owner| Some((kind(&owner.kind)?, owner)));
        let (kind, owner) = of_ours.next().ok_or("it has no owner of the three kinds")?;
        let namespace = metadata.namespace.clone().ok_or("it has no namespace")?;
        let data = &data.as_ref().ok_or("it has no data")?.0;
        if data.get("uid").and_then(Value::as_str) != Some(&owner.uid) {
            return Err("its data is not of its owner".to_owned());
        }
        let spec = data.get("spec").cloned().ok_or("its data has no spec")?;
        let row = Row { uid: Uid(owner.uid.clone()), generation: Generation(*revision), spec };
        let name = metadata.name.clone().unwrap_or_default();
        let own_uid = metadata.uid.clone().unwrap_or_default();
        Ok(((kind, ObjectKey::new(namespace, &owner.name)), Self { name, own_uid, row }))
    }
}

fn kind(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
}

/// The revision's name: for people the kind, the object's name and the generation; and a part that tells apart brokers,
/// objects made again, and long names that begin alike.
fn name(broker: &str, kind: Kind, object: &str, row: &Row) -> String {
    let digest = Sha256::digest([broker, kind.as_str(), object, &row.uid.0].join("\n"));
    let hash = digest.iter().take(5).fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    // Names of objects are ASCII; one that is not is no one's.
    let start = object.get(..NAME.min(object.len())).unwrap_or_default().trim_end_matches(['.', '-']);
    format!("agent-kourier-{}-{start}-{hash}-{}", kind.as_str().to_ascii_lowercase(), row.generation)
}

#[cfg(test)]
mod tests;
