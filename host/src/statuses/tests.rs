use std::collections::BTreeSet;

use kourier_core::accept::{LastGood, Rules, accept};
use kourier_core::id::{Generation, Uid};
use kourier_core::plan::{Standing, Version};
use kourier_core::snapshot::{Meta, Object, Problem, Snapshot};
use kourier_core::time::Timestamp;
use serde_json::json;

use super::*;
use crate::source::Reading;

const SPEC: &str =
    r#"{"agent": {"backendRef": {"name": "a"}}, "chat": {"connectionRef": {"name": "nowhere"}, "channel": "C1"}}"#;

fn meta(uid: &str) -> Meta {
    let key = ObjectKey::new("team-a", "chat");
    Meta { key, uid: Uid(uid.to_owned()), generation: Generation(1), created: Timestamp(0) }
}

fn view(uid: &str, conditions: Vec<Condition>) -> Arc<View> {
    views_of([stored(uid, conditions)])
}

fn views_of(stored: impl IntoIterator<Item = Arc<Stored>>) -> Arc<View> {
    let objects = stored.into_iter().map(|stored| ((Kind::Binding, stored.meta.key.clone()), stored)).collect();
    Arc::new(View { objects, schema: "s".to_owned() })
}

fn stored(uid: &str, conditions: Vec<Condition>) -> Arc<Stored> {
    let standing = Standing { conditions, observed_generation: Some(Generation(1)) };
    let (version, managers) = (Version("7".to_owned()), BTreeSet::new());
    Arc::new(Stored { meta: meta(uid), version, spec: json!({}), standing, managers })
}

/// A Binding without a connection, which is every broker's to answer.
fn judgement(uid: &str) -> Arc<Judgement> {
    let spec = serde_json::from_str(SPEC).map_err(|error| vec![Problem::new("spec", error.to_string())]);
    let snapshot = Snapshot { bindings: vec![Object { meta: meta(uid), spec }], ..Snapshot::default() };
    let rules = Rules { broker: "default".to_owned(), platforms: [].into(), single_label_hosts: false };
    let accepted = Arc::new(accept(&snapshot, &LastGood::default(), &rules));
    Arc::new(Judgement { reading: Arc::new(Reading { snapshot, ..Reading::default() }), accepted })
}

fn statuses(view: Option<Arc<View>>, judgement: Option<Arc<Judgement>>) -> Statuses {
    let (views, judgements, results) =
        (watch::channel(view).1, watch::channel(judgement).1, watch::channel(Found::default()).1);
    Statuses::new(views, judgements, results)
}

#[test]
fn nothing_is_to_be_written_before_the_objects_were_read_and_judged() {
    assert!(statuses(None, Some(judgement("1"))).all().is_empty());
    assert!(statuses(Some(view("1", vec![])), None).all().is_empty());
    assert_eq!(statuses(Some(view("1", vec![])), Some(judgement("1"))).all().len(), 1);
}

#[test]
fn an_object_made_again_has_no_case_until_it_was_judged() {
    let statuses = statuses(Some(view("2", vec![])), Some(judgement("1")));
    assert!(statuses.all().is_empty());
    assert!(statuses.one(&meta("2").key).is_none());
}

#[test]
fn a_binding_that_no_broker_owns_is_left_to_who_said_the_same_first() {
    let wanted =
        statuses(Some(view("1", vec![])), Some(judgement("1"))).one(&meta("1").key).unwrap().assessment.clone();
    let said: Vec<Condition> = wanted.words().into_iter().map(|words| words.since(Timestamp(5))).collect();
    let mut otherwise = said.clone();
    otherwise[0].message = "in other words".to_owned();
    assert!(statuses(Some(view("1", said)), Some(judgement("1"))).all().is_empty());
    assert_eq!(statuses(Some(view("1", otherwise)), Some(judgement("1"))).all().len(), 1);
}

#[test]
fn cases_are_derived_once_from_the_same_values() {
    let statuses = statuses(Some(view("1", vec![])), Some(judgement("1")));
    assert!(Arc::ptr_eq(&statuses.all(), &statuses.clone().all()));
}

#[test]
fn a_case_of_which_nothing_changed_is_the_very_same() {
    let named = |stored: &Arc<Stored>, name: &str| {
        let meta = Meta { key: ObjectKey::new("team-a", name), ..stored.meta.clone() };
        Arc::new(Stored { meta, ..(**stored).clone() })
    };
    let (one, two) = (stored("1", vec![]), named(&stored("1", vec![]), "other"));
    let mut judged = judgement("1");
    let accepted = Arc::make_mut(&mut Arc::get_mut(&mut judged).unwrap().accepted);
    accepted.bindings.insert(two.meta.key.clone(), accepted.bindings[&one.meta.key].clone());
    let (views, seen) = watch::channel(Some(views_of([Arc::clone(&one), Arc::clone(&two)])));
    let (judgements, judged) = watch::channel(Some(judged));
    let (results, found) = watch::channel(Found::default());
    let statuses = Statuses::new(seen, judged, found);
    let cases = || {
        let all = statuses.all();
        [&one, &two].map(|stored| Arc::clone(&all[&stored.meta.key]))
    };
    let same = |before: &[Arc<Case>; 2], after: &[Arc<Case>; 2]| {
        [Arc::ptr_eq(&before[0], &after[0]), Arc::ptr_eq(&before[1], &after[1])]
    };
    let first = cases();
    let written = Arc::new(Stored { version: Version("8".to_owned()), ..(*two).clone() });
    views.send_replace(Some(views_of([Arc::clone(&one), written])));
    let second = cases();
    assert_eq!(same(&first, &second), [true, false]);
    assert_eq!(second[1].version, Version("8".to_owned()));
    let other = Results { uid: Uid("1".to_owned()), backend: None, channel: None };
    results.send_replace(Arc::new([(one.meta.key.clone(), other)].into()));
    let third = cases();
    assert_eq!(same(&second, &third), [false, true]);
    let again = judgements.borrow().clone().unwrap();
    judgements.send_replace(Some(Arc::new(Judgement {
        reading: Arc::clone(&again.reading),
        accepted: Arc::clone(&again.accepted),
    })));
    assert_eq!(same(&third, &cases()), [true, true]);
}
