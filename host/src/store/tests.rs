use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use kourier_core::object::{Agent, BindingSpec, Chat, Reference};
use rusqlite::Connection;
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp(1_000);
const LATER: Timestamp = Timestamp(2_000);

fn seen(name: &str, says: &str) -> Seen {
    let id = (Kind::Binding, ObjectKey::new("team-a", name));
    Seen { id, file: format!("{name}.yaml"), document: json!({"spec": says}) }
}

/// `name generation created` of each object, and the uid of the first.
fn identify(store: &Store, documents: Vec<Seen>, now: Timestamp) -> (Vec<String>, String) {
    let metas = store.identify(documents, now);
    let lines =
        metas.values().map(|meta| format!("{} {} {}", meta.key.name, meta.generation, meta.created.0)).collect();
    (lines, metas.values().next().map(|meta| meta.uid.0.clone()).unwrap_or_default())
}

fn good(generation: i64) -> LastGood {
    let reference = |name: &str| Reference { name: name.to_owned(), namespace: None };
    let spec = BindingSpec {
        agent: Agent { backend_ref: reference("backend"), path: Some("/a".to_owned()) },
        chat: Chat { connection_ref: reference("slack"), channel: "C1".to_owned() },
    };
    let good = Good { uid: Uid("u".to_owned()), generation: Generation(generation), spec };
    let bindings = [(ObjectKey::new("team-a", "a"), good)].into();
    LastGood { bindings, ..LastGood::default() }
}

#[test]
fn generations_count_the_changes_and_an_object_that_returns_is_a_new_one() {
    let store = Store::in_memory();
    let (lines, first) = identify(&store, vec![seen("a", "1"), seen("b", "1")], NOW);
    assert_eq!(lines, ["a 1 1000", "b 1 1000"]);
    let (lines, uid) = identify(&store, vec![seen("b", "1"), seen("a", "2")], LATER);
    assert_eq!((lines, &uid), (vec!["a 2 1000".to_owned(), "b 1 1000".to_owned()], &first));
    let moved = Seen { file: "other.yaml".to_owned(), ..seen("a", "2") };
    assert_eq!(identify(&store, vec![moved], LATER), (vec!["a 2 1000".to_owned()], first.clone()));
    identify(&store, vec![], LATER);
    let (lines, again) = identify(&store, vec![seen("a", "2")], LATER);
    assert_eq!(lines, ["a 1 2000"]);
    assert_ne!(again, first);
}

#[test]
fn everything_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made/store.db");
    let store = Store::open(&file).unwrap();
    identify(&store, vec![seen("a", "1")], NOW);
    let (_, uid) = identify(&store, vec![seen("a", "2")], NOW);
    assert!(store.save_last_good(&good(1)));
    drop(store);

    let store = Store::open(&file).unwrap();
    assert_eq!(store.last_good(), good(1));
    assert_eq!(store.remembered(), [seen("a", "2")]);
    assert_eq!(identify(&store, vec![seen("a", "2")], LATER), (vec!["a 2 1000".to_owned()], uid));
    assert!(store.save_last_good(&LastGood::default()));
    identify(&store, vec![], LATER);
    drop(store);

    let store = Store::open(&file).unwrap();
    assert_eq!((store.last_good(), store.remembered()), (LastGood::default(), vec![]));
}

#[test]
fn the_file_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let _store = Store::open(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_second_broker_does_not_get_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let first = Store::open(&file).unwrap();
    assert_eq!(Store::open(&file).unwrap_err(), StoreError::Locked { file: file.clone() });
    drop(first);
    drop(Store::open(&file).unwrap());
    let _reopened = Store::open(&file).unwrap();
    assert_eq!(
        Store::open(&file).unwrap_err().to_string(),
        format!("the store {} is in use by another broker: each broker needs a `storePath` of its own", file.display())
    );
}

#[test]
fn a_damaged_or_newer_or_foreign_file_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let store = Store::open(&file).unwrap();
    for number in 0..200 {
        identify(&store, (0..=number).map(|name| seen(&format!("b{name}"), "1")).collect(), NOW);
    }
    drop(store);
    let intact = fs::read(&file).unwrap();

    fs::write(&file, "this is not a database, however long it may be; it is text").unwrap();
    assert!(matches!(Store::open(&file), Err(StoreError::Damaged { .. })));
    fs::write(&file, &intact[..intact.len() / 2]).unwrap();
    assert!(matches!(Store::open(&file), Err(StoreError::Damaged { .. })));
    let mut scribbled = intact.clone();
    let middle = scribbled.len() / 2;
    scribbled[middle..middle + 4096].fill(0x55);
    fs::write(&file, scribbled).unwrap();
    assert!(matches!(Store::open(&file), Err(StoreError::Damaged { .. })));

    fs::write(&file, &intact).unwrap();
    let connection = Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let newer = StoreError::Newer { file: file.clone(), found: 2, known: sqlite::SCHEMA };
    assert_eq!(Store::open(&file).unwrap_err(), newer);

    fs::remove_file(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let error = Store::open(&file).unwrap_err().to_string();
    assert!(error.contains("is damaged (it is the database of another program)"), "{error}");

    let error = Store::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("is damaged (it is not a file)"), "{error}");
}

/// Where there is no place for the file, as on a disk that is read-only, the broker serves from memory.
#[test]
fn a_file_that_cannot_be_made_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    fs::write(&place, "in the way").unwrap();
    let file = place.join("store.db");
    let store = Store::open(&file).unwrap();
    let (_, uid) = identify(&store, vec![seen("a", "1")], NOW);
    assert!(!store.save_last_good(&good(1)));
    assert_eq!(store.last_good(), good(1));
    assert_eq!(identify(&store, vec![seen("a", "1")], LATER), (vec!["a 1 1000".to_owned()], uid.clone()));

    fs::remove_file(&place).unwrap();
    assert!(store.save_last_good(&good(1)));
    drop(store);
    let store = Store::open(&file).unwrap();
    assert_eq!(store.last_good(), good(1));
    assert_eq!(identify(&store, vec![seen("a", "1")], LATER), (vec!["a 1 1000".to_owned()], uid));
}

/// A disk that becomes full or read-only while the broker runs.
#[test]
fn a_file_that_cannot_be_written_is_tried_again() {
    for (pragma, value) in [("max_page_count", 1), ("query_only", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.db")).unwrap();
        let many = || (0..500).map(|name| seen(&format!("b{name}"), "long enough for a page or two")).collect();
        identify(&store, vec![seen("a", "1")], NOW);
        let set = |store: &Store| {
            let state = store.lock();
            let connection = &state.disk.as_ref().unwrap().opened.as_ref().unwrap().connection;
            connection.pragma_update_and_check(None, pragma, value, |_| Ok(())).or_else(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                error => Err(error),
            })
        };
        set(&store).unwrap();
        identify(&store, many(), NOW);
        {
            let state = store.lock();
            let disk = state.disk.as_ref().unwrap();
            assert!(disk.trouble.is_some() && disk.opened.is_none(), "{pragma}");
            assert_eq!((disk.stored.identities.len(), state.wanted.identities.len()), (1, 500), "{pragma}");
        }
        assert!(store.save_last_good(&good(1)), "{pragma}");
        assert!(store.lock().disk.as_ref().unwrap().trouble.is_none(), "{pragma}");
    }
}

/// Removes a store's file, or puts another one in its place.
type Lose = fn(&Path);

#[test]
fn a_file_that_is_removed_or_replaced_is_written_anew_with_everything() {
    let losses: [Lose; 3] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::rename(file, file.with_extension("old")).unwrap(),
        |file| {
            let other = file.with_extension("new");
            let store = Store::open(&other).unwrap();
            identify(&store, vec![seen("other", "1")], NOW);
            drop(store);
            fs::rename(other, file).unwrap();
        },
    ];
    for lose in losses {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.db");
        let store = Store::open(&file).unwrap();
        let (_, uid) = identify(&store, vec![seen("a", "1")], NOW);
        assert!(store.save_last_good(&good(1)));
        lose(&file);
        // Nothing changed, and the loss is made good all the same.
        assert_eq!(identify(&store, vec![seen("a", "1")], LATER).1, uid);
        drop(store);
        let store = Store::open(&file).unwrap();
        assert_eq!((store.last_good(), store.remembered()), (good(1), vec![seen("a", "1")]));
        assert_eq!(identify(&store, vec![seen("a", "1")], LATER).1, uid);
    }
}

/// The child of the next test: writes, and says what is stored.
#[test]
fn a_broker_that_is_killed_child() {
    let Some(file) = std::env::var_os("KOURIER_TEST_STORE") else { return };
    let store = Store::open(Path::new(&file)).unwrap();
    for generation in 1.. {
        assert!(store.save_last_good(&good(generation)));
        println!("stored {generation}");
    }
}

#[test]
fn a_broker_that_is_killed_loses_nothing_that_was_reported_as_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let mut reported = 0;
    for round in 1..=3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::tests::a_broker_that_is_killed_child", "--nocapture"])
            .env("KOURIER_TEST_STORE", &file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            if let Some(generation) = line.strip_prefix("stored ") {
                reported = generation.parse::<i64>().unwrap();
            }
            if reported >= 5 * round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(reported >= 5 * round, "the child said too little");
        let found = Store::open(&file).unwrap().last_good().bindings.into_values().next().unwrap().generation.0;
        // It may have stored one more before it was killed.
        assert!(found == reported || found == reported + 1, "{found} of {reported}");
    }
}
