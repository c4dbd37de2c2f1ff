use kourier_core::id::{Generation, ObjectKey, Uid};
use kourier_core::plan::{Standing, Version};
use kourier_core::snapshot::Meta;
use kourier_core::time::Timestamp;
use serde_json::{Value, json};

use super::*;

fn stored(kind: Kind, spec: Value) -> (ObjectId, Arc<Stored>) {
    let key = ObjectKey::new("team-a", "chat");
    let meta = Meta {
        key: key.clone(),
        uid: Uid("1".to_owned()),
        generation: Generation(3),
        created: Timestamp(1_700_000_000),
    };
    let (version, standing, managers) = (Version("7".to_owned()), Standing::default(), [].into());
    ((kind, key), Arc::new(Stored { meta, version, spec, standing, managers }))
}

fn view(objects: impl IntoIterator<Item = (ObjectId, Arc<Stored>)>) -> View {
    View { objects: objects.into_iter().collect(), schema: String::new() }
}

fn good() -> Value {
    json!({"agent": {"backendRef": {"name": "a"}}, "chat": {"connectionRef": {"name": "c"}, "channel": "C1"}})
}

#[test]
fn an_object_keeps_the_identity_that_the_cluster_gave_it() {
    let reading = Seen::default().take(&view([stored(Kind::Binding, good())]));
    let [binding] = reading.snapshot.bindings.as_slice() else { panic!("one Binding: {reading:?}") };
    assert_eq!((binding.meta.generation, binding.meta.created), (Generation(3), Timestamp(1_700_000_000)));
    assert_eq!(binding.spec.as_ref().unwrap().chat.channel, "C1");
    assert_eq!(reading.written[&binding.meta.key], good());
}

#[test]
fn a_spec_that_a_schema_of_another_version_let_pass_names_each_problem() {
    let spec = json!({"agent": {"backendRef": {"name": 1}}, "chat": {"channel": "C1"}, "more": true});
    let reading = Seen::default().take(&view([stored(Kind::Binding, spec)]));
    let problems = reading.snapshot.bindings[0].spec.as_ref().unwrap_err();
    let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["spec.agent.backendRef.name", "spec.chat.connectionRef", "spec.more"]);
}

#[test]
fn a_status_that_somebody_writes_is_no_new_reading() {
    let (id, first) = stored(Kind::Binding, good());
    let written = Stored { version: Version("8".to_owned()), ..(*first).clone() };
    let mut seen = Seen::default();
    let before = seen.take(&view([(id.clone(), first)]));
    let after = view([(id, Arc::new(written))]);
    assert!(seen.take_statuses(&after));
    assert_eq!(before, seen.take(&after));
}

#[test]
fn an_edit_an_object_more_and_one_that_was_made_again_are_a_new_reading() {
    let (id, first) = stored(Kind::Binding, good());
    let other = stored(Kind::AgentBackend, json!({"url": "http://a.b"}));
    let again = Stored { meta: Meta { uid: Uid("2".to_owned()), ..first.meta.clone() }, ..(*first).clone() };
    let edited = Stored { spec: json!({}), ..(*first).clone() };
    let mut seen = Seen::default();
    let _ = seen.take(&view([(id.clone(), Arc::clone(&first))]));
    assert!(seen.take_statuses(&view([(id.clone(), Arc::clone(&first))])));
    for stored in [again, edited] {
        assert!(!seen.take_statuses(&view([(id.clone(), Arc::new(stored))])));
    }
    assert!(!seen.take_statuses(&view([(id, first), other.clone()])));
    assert!(!seen.take_statuses(&view([other])));
    assert!(!seen.take_statuses(&view([])));
}

#[tokio::test]
async fn nothing_is_read_before_the_objects_were_listed() {
    let (views, followed) = watch::channel(None);
    let reading = tokio::spawn(follow(followed));
    views.send_replace(Some(Arc::new(view([stored(Kind::AgentBackend, json!({"url": "http://a.b"}))]))));
    let (readings, _) = reading.await.unwrap().unwrap();
    assert_eq!(readings.borrow().snapshot.backends.len(), 1);
}
