//! What to send so that what is stored becomes what is wanted.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectId;
use super::row::{Revision, Row};

/// What to do for one object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) id: ObjectId,
    /// First this is made.
    pub(super) make: Option<Row>,
    /// Then these are removed.
    pub(super) remove: Vec<Revision>,
}

/// The changes that lead from what is known to be stored to what is wanted.
///
/// Of an object that is wanted only its own older generations are removed: a newer one was made by another replica, and
/// the revisions of an object that lived before under that name go with it.
pub(super) fn changes(known: &BTreeMap<ObjectId, Vec<Revision>>, wanted: &BTreeMap<ObjectId, Row>) -> Vec<Change> {
    let ids: BTreeSet<_> = known.keys().chain(wanted.keys()).collect();
    let change = |id: &ObjectId| {
        let revisions = known.get(id).map(Vec::as_slice).unwrap_or_default();
        let Some(row) = wanted.get(id) else {
            return Change { id: id.clone(), make: None, remove: revisions.to_vec() };
        };
        let make = (!revisions.iter().any(|revision| revision.row == *row)).then(|| row.clone());
        let older = |revision: &&Revision| revision.row.uid == row.uid && revision.row.generation < row.generation;
        Change { id: id.clone(), make, remove: revisions.iter().filter(older).cloned().collect() }
    };
    let changes = ids.into_iter().map(change);
    changes.filter(|change| change.make.is_some() || !change.remove.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use kourier_core::id::{Generation, Kind, ObjectKey, Uid};
    use serde_json::json;

    use super::*;

    fn row(text: &str) -> Row {
        let (uid, generation) = text.split_once('/').unwrap();
        let spec = json!({ "at": generation });
        Row { uid: Uid(uid.to_owned()), generation: Generation(generation.parse().unwrap()), spec }
    }

    /// What is done for one object with these revisions stored, when this one is wanted, each as `uid/generation`.
    fn check(stored: &[&str], wanted: Option<&str>, expected: &str) {
        let id = (Kind::Binding, ObjectKey::new("a", "one"));
        let revision = |text: &&str| Revision { name: (*text).to_owned(), own_uid: String::new(), row: row(text) };
        let known = BTreeMap::from([(id.clone(), stored.iter().map(revision).collect())]);
        let wanted = wanted.map(|text| (id, row(text))).into_iter().collect();
        let said: Vec<_> = changes(&known, &wanted).into_iter().map(say).collect();
        assert_eq!(said.join("; "), expected, "{stored:?}");
    }

    fn say(change: Change) -> String {
        let make = change.make.map(|row| format!("make {}/{}", row.uid.0, row.generation));
        let remove = change.remove.into_iter().map(|revision| format!("remove {}", revision.name));
        make.into_iter().chain(remove).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn only_the_difference_is_sent_and_the_new_comes_before_the_old_goes() {
        check(&[], Some("u/1"), "make u/1");
        check(&["u/1"], Some("u/1"), "");
        check(&["u/1"], Some("u/2"), "make u/2, remove u/1");
        check(&["u/1", "u/2"], Some("u/2"), "remove u/1");
        check(&["u/1"], None, "remove u/1");
        check(&[], None, "");
    }

    #[test]
    fn what_another_replica_knows_better_stays() {
        check(&["u/1", "u/3"], Some("u/2"), "make u/2, remove u/1");
        check(&["before/7"], Some("u/1"), "make u/1");
    }

    #[test]
    fn a_spec_that_is_spelled_otherwise_is_made_again() {
        let id = (Kind::Binding, ObjectKey::new("a", "one"));
        let other = Row { spec: json!({}), ..row("u/1") };
        let known = Revision { name: String::new(), own_uid: String::new(), row: other };
        let changes = changes(&BTreeMap::from([(id.clone(), vec![known])]), &BTreeMap::from([(id, row("u/1"))]));
        assert_eq!(changes.into_iter().map(say).collect::<Vec<_>>(), ["make u/1"]);
    }
}
