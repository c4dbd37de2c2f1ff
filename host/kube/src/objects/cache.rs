//! All objects as last seen, while they change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::plan::Version;

use crate::view::{Stored, View};

/// What is known of all objects. Each change says whether it was one.
#[derive(Debug, Default)]
pub(super) struct Cache {
    objects: BTreeMap<(Kind, ObjectKey), Arc<Stored>>,
    listed: BTreeSet<Kind>,
    schema: String,
}

impl Cache {
    /// The object at this place.
    pub(super) fn at(&self, kind: Kind, key: &ObjectKey) -> Option<&Arc<Stored>> {
        self.objects.get(&(kind, key.clone()))
    }

    /// The version of the object at this place.
    pub(super) fn version(&self, kind: Kind, key: &ObjectKey) -> Option<Version> {
        self.at(kind, key).map(|stored| stored.version.clone())
    }

    /// Takes a whole list of this kind: what is not in it is gone.
    pub(super) fn list(&mut self, kind: Kind, listing: BTreeMap<ObjectKey, Arc<Stored>>) -> bool {
        let first = self.listed.insert(kind);
        let before = self.objects.len();
        self.objects.retain(|(other, key), _| *other != kind || listing.contains_key(key));
        let mut changed = first || self.objects.len() != before;
        for stored in listing.into_values() {
            changed |= self.put(kind, stored);
        }
        changed
    }

    /// Takes an object.
    pub(super) fn put(&mut self, kind: Kind, stored: Arc<Stored>) -> bool {
        let place = (kind, stored.meta.key.clone());
        let changed =
            self.objects.get(&place).is_none_or(|before| !Arc::ptr_eq(before, &stored) && **before != *stored);
        if changed {
            self.objects.insert(place, stored);
        }
        changed
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, kind: Kind, key: &ObjectKey) -> bool {
        self.objects.remove(&(kind, key.clone())).is_some()
    }

    /// Takes the text that changes when the CRDs do.
    pub(super) fn schema(&mut self, schema: String) -> bool {
        let changed = self.schema != schema;
        self.schema = schema;
        changed
    }

    /// All objects; none before each kind was listed.
    pub(super) fn view(&self) -> Option<View> {
        let all = Kind::ALL.iter().all(|kind| self.listed.contains(kind));
        all.then(|| View { objects: self.objects.clone(), schema: self.schema.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use kourier_core::id::{Kind, ObjectKey};
    use serde_json::json;

    use super::Cache;
    use crate::objects::stored;
    use crate::view::Stored;

    fn object(name: &str, version: &str) -> Arc<Stored> {
        let metadata = json!({
            "name": name, "namespace": "a", "uid": format!("u-{name}"), "resourceVersion": version,
            "generation": 1, "creationTimestamp": "2026-01-02T03:04:05Z",
        });
        Arc::new(stored::read(Kind::Binding, json!({ "metadata": metadata })).unwrap())
    }

    fn listing(objects: &[&Arc<Stored>]) -> BTreeMap<ObjectKey, Arc<Stored>> {
        objects.iter().map(|stored| (stored.meta.key.clone(), Arc::clone(stored))).collect()
    }

    #[test]
    fn there_is_no_view_before_each_kind_was_listed() {
        let mut cache = Cache::default();
        for kind in Kind::ALL {
            assert_eq!(cache.view(), None);
            assert!(cache.list(kind, BTreeMap::new()), "the first list of {kind} is news, though nothing is in it");
        }
        assert_eq!(cache.view().unwrap().objects.len(), 0);
    }

    #[test]
    fn what_a_new_list_does_not_hold_is_gone() {
        let (one, two) = (object("one", "1"), object("two", "2"));
        let mut cache = Cache::default();
        cache.list(Kind::Binding, listing(&[&one, &two]));
        cache.list(Kind::AgentBackend, listing(&[&one]));
        assert!(cache.list(Kind::Binding, listing(&[&two])));
        assert_eq!(cache.at(Kind::Binding, &one.meta.key), None);
        assert!(cache.at(Kind::AgentBackend, &one.meta.key).is_some(), "another kind's list says nothing of it");
    }

    #[test]
    fn a_list_of_what_was_known_is_no_change() {
        let one = object("one", "1");
        let mut cache = Cache::default();
        assert!(cache.list(Kind::Binding, listing(&[&one])));
        assert!(!cache.list(Kind::Binding, listing(&[&one])));
        assert!(!cache.put(Kind::Binding, object("one", "1")), "the same, read again");
        assert!(cache.put(Kind::Binding, object("one", "2")));
    }

    #[test]
    fn forgetting_what_is_not_there_is_no_change() {
        let one = object("one", "1");
        let mut cache = Cache::default();
        cache.put(Kind::Binding, Arc::clone(&one));
        assert!(cache.remove(Kind::Binding, &one.meta.key));
        assert!(!cache.remove(Kind::Binding, &one.meta.key));
    }
}
