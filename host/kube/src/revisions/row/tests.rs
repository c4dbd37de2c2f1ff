use super::*;

fn row(uid: &str, generation: i64) -> Row {
    Row { uid: Uid(uid.to_owned()), generation: Generation(generation), spec: json!({ "url": "https://x.example" }) }
}

fn id(name: &str) -> ObjectId {
    (Kind::AgentBackend, ObjectKey::new("a", name))
}

#[test]
fn a_revision_is_read_as_it_was_written() {
    let row = row("u", 7);
    let mut object = row.object("east", &id("support"));
    object.metadata.uid = Some("own".to_owned());
    let (read, revision) = Revision::read(&object).unwrap();
    assert_eq!((read, revision.row, revision.own_uid.as_str()), (id("support"), row, "own"));
    assert_eq!(object.revision, 7);
    assert_eq!(selector("east"), "app.kubernetes.io/managed-by=agent-kourier,agentkourier.io/broker=east");
    let labels = serde_json::to_value(object.metadata.labels).unwrap();
    assert_eq!(
        labels,
        json!({
            "app.kubernetes.io/managed-by": "agent-kourier",
            "agentkourier.io/broker": "east",
            "agentkourier.io/kind": "AgentBackend",
        })
    );
    let owner = serde_json::to_value(object.metadata.owner_references).unwrap();
    let expected = json!([{
        "apiVersion": "agentkourier.io/v1alpha1", "kind": "AgentBackend", "name": "support", "uid": "u",
        "blockOwnerDeletion": false,
    }]);
    assert_eq!(owner, expected);
}

#[test]
fn each_broker_object_and_generation_has_a_name_of_its_own_and_it_is_a_name() {
    let long = format!("{}.{}", "a".repeat(NAME - 1), "b".repeat(70));
    let twin = format!("{}.{}", "a".repeat(NAME - 1), "c".repeat(70));
    let names: Vec<_> = [
        ("east", "support", "u", 1),
        ("west", "support", "u", 1),
        ("east", "support", "v", 1),
        ("east", "support", "u", 2),
        ("east", long.as_str(), "u", i64::MAX),
        ("east", twin.as_str(), "u", i64::MAX),
    ]
    .into_iter()
    .map(|(broker, object, uid, generation)| name(broker, Kind::ChatConnection, object, &row(uid, generation)))
    .collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:#?}");
    assert!(names[0].starts_with("agent-kourier-chatconnection-support-"), "{names:#?}");
    for name in names {
        assert!(name.len() <= 253 && !name.contains(".-"), "{name}");
    }
}

#[test]
fn what_is_not_a_revision_of_ours_says_why() {
    let good = row("u", 1).object("east", &id("support"));
    let check = |spoil: fn(&mut ControllerRevision), expected: &str| {
        let mut object = good.clone();
        spoil(&mut object);
        assert_eq!(Revision::read(&object).unwrap_err(), expected);
    };
    check(|object| object.metadata.owner_references = None, "it has no owner of the three kinds");
    check(
        |object| object.metadata.owner_references.iter_mut().flatten().for_each(|owner| owner.kind = "Pod".into()),
        "it has no owner of the three kinds",
    );
    check(|object| object.data = None, "it has no data");
    check(|object| object.data = Some(RawExtension(json!({ "uid": "u" }))), "its data has no spec");
    check(|object| object.data = Some(RawExtension(json!({ "uid": "v", "spec": {} }))), "its data is not of its owner");
    let mut last_good = LastGood::default();
    let unread = Row { spec: json!({ "url": 7 }), ..row("u", 1) };
    assert_eq!(unread.remember(&id("support"), &mut last_good), Err("its spec is none of its kind".to_owned()));
    assert_eq!(last_good, LastGood::default());
}
