use std::fs;
use std::os::unix::fs::symlink;

use kourier_core::id::{Kind, ObjectKey};
use kourier_core::message::Message;
use kourier_core::object::BindingSpec;
use kourier_core::snapshot::{Object, Problem};

use super::*;

/// A Binding of this name, to this channel.
fn binding(name: &str, channel: &str) -> String {
    format!(
        "apiVersion: agentkourier.io/v1alpha1\nkind: Binding\nmetadata: {{namespace: a, name: {name}}}\nspec:\n  \
         agent: {{backendRef: {{name: agents}}}}\n  chat: {{connectionRef: {{name: slack}}, channel: {channel}}}\n"
    )
}

struct World {
    root: tempfile::TempDir,
    folder: Folder,
    clock: i64,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("config")).unwrap();
        let folder = Self::open(root.path());
        Self { root, folder, clock: 0 }
    }

    fn open(root: &Path) -> Folder {
        let store = Store::open(&root.join("store.db")).unwrap();
        Folder::new(root.join("config"), Arc::new(store))
    }

    /// Another process, with the same store.
    fn restart(&mut self) {
        self.folder = Folder::new(PathBuf::new(), Arc::new(Store::in_memory()));
        self.folder = Self::open(self.root.path());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("config").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// `name generation created: channel` of each Binding, or `refused` in place of its channel.
    fn bindings(&mut self) -> Vec<String> {
        let reading = self.read();
        let line = |object: &Object<BindingSpec>| {
            let spec = object.spec.as_ref().map_or("refused", |spec| spec.chat.channel.as_str());
            format!("{} {} {}: {spec}", object.meta.key.name, object.meta.generation, object.meta.created.0)
        };
        reading.snapshot.bindings.iter().map(line).collect()
    }

    /// Every problem, files by their name.
    fn problems(&mut self) -> Vec<String> {
        let config = format!("{}/", self.root.path().join("config").display());
        self.read().problems.iter().map(|problem| problem.to_string().replace(&config, "")).collect()
    }

    fn uid(&mut self, name: &str) -> String {
        let bindings = self.read().snapshot.bindings;
        bindings.into_iter().find(|object| object.meta.key.name == name).unwrap().meta.uid.0
    }

    fn read(&mut self) -> Reading {
        self.clock += 1;
        self.folder.read(Timestamp(self.clock))
    }
}

#[test]
fn manifests_of_the_folder_itself_are_read_and_nothing_else() {
    let mut world = World::new();
    world.write("a.yaml", binding("a", "C1"));
    world.write("b.yml", format!("{}---\n{}", binding("b", "C2"), binding("c", "C3")));
    world.write(
        "d.json",
        r#"{"apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding", "metadata": {"namespace": "a", "name": "d"},
            "spec": {"agent": {"backendRef": {"name": "x"}}, "chat": {"connectionRef": {"name": "y"}, "channel": "C4"}}}"#,
    );
    for name in [".hidden.yaml", "notes.txt", "e.yaml.bak", "yaml", "f.YAML"] {
        world.write(name, binding("hidden", "C9"));
    }
    fs::create_dir(world.path("deeper")).unwrap();
    world.write("deeper/g.yaml", binding("deeper", "C9"));
    assert_eq!(world.bindings(), ["a 1 1: C1", "b 1 1: C2", "c 1 1: C3", "d 1 1: C4"]);
    assert_eq!(world.problems(), Vec::<String>::new());
    let reading = world.read();
    assert_eq!(reading.written[&ObjectKey::new("a", "c")]["chat"]["channel"], "C3");
    let origin = &reading.origins[&(Kind::Binding, ObjectKey::new("a", "c"))];
    assert_eq!(
        (origin.line, origin.line_of("spec.chat.channel"), origin.line_of("spec.agent.path")),
        (Some(8), Some(13), Some(12))
    );
}

#[test]
fn identity_survives_edits_restarts_and_files_that_do_not_parse() {
    let mut world = World::new();
    world.write("a.yaml", binding("a", "C1"));
    assert_eq!(world.bindings(), ["a 1 1: C1"]);
    let uid = world.uid("a");
    world.write("a.yaml", format!("# A comment.\n{}", binding("a", "C1")));
    assert_eq!(world.bindings(), ["a 1 1: C1"]);
    world.write("a.yaml", binding("a", "C2"));
    assert_eq!(world.bindings(), ["a 2 1: C2"]);
    world.restart();
    assert_eq!(world.bindings(), ["a 2 1: C2"]);
    world.write("a.yaml", "a: [");
    assert_eq!(world.bindings(), ["a 2 1: C2"]);
    world.restart();
    assert_eq!(world.bindings(), ["a 2 1: C2"]);
    assert_eq!(
        world.problems(),
        [
            "a.yaml:1: is not YAML that can be read: the bracket '[' is not closed: close it where it ends, or put the text in quotes; what the file last held stays as it was"
        ]
    );
    world.write("a.yaml", binding("a", "C3"));
    assert_eq!(world.bindings(), ["a 3 1: C3"]);
    assert_eq!(world.uid("a"), uid);
    world.remove("a.yaml");
    assert_eq!(world.bindings(), Vec::<String>::new());
    world.write("a.yaml", binding("a", "C3"));
    world.clock = 100;
    assert_eq!(world.bindings(), ["a 1 101: C3"]);
    assert_ne!(world.uid("a"), uid);
}

#[test]
fn a_part_that_cannot_be_read_keeps_what_it_held_and_hides_nothing() {
    let mut world = World::new();
    let join = |parts: &[&str]| parts.join("---\n");
    world.write("a.yaml", join(&[&binding("a", "C1"), &binding("b", "C1"), &binding("c", "C1")]));
    world.write("z.yaml", binding("z", "C1"));
    world.read();
    world.write("a.yaml", join(&[&binding("a", "C2"), "b: [\n", &binding("d", "C1")]));
    assert_eq!(world.bindings(), ["a 2 1: C2", "b 1 1: C1", "c 1 1: C1", "d 1 2: C1", "z 1 1: C1"]);
    // It is written elsewhere now: what can be read counts.
    world.write("z.yaml", join(&[&binding("z", "C1"), &binding("b", "C5")]));
    assert_eq!(world.bindings()[1], "b 2 1: C5");
    world.write("a.yaml", binding("a", "C2"));
    assert_eq!(world.bindings(), ["a 2 1: C2", "b 2 1: C5", "z 1 1: C1"]);
}

#[test]
fn a_refused_document_is_there_with_its_problems() {
    let mut world = World::new();
    world.write("a.yaml", binding("a", "C1"));
    world.read();
    world.write("a.yaml", binding("a", "C1") + "status: {}\n");
    assert_eq!(world.bindings(), ["a 2 1: refused"]);
    assert_eq!(world.problems(), ["a.yaml:7: Binding a/a: status: a file may not set it, remove it"]);
    let spec = world.read().snapshot.bindings.remove(0).spec;
    assert_eq!(spec.unwrap_err(), [Problem::new("status", "a file may not set it, remove it")]);
    world.restart();
    assert_eq!(world.bindings(), ["a 2 1: refused"]);
    world.write("a.yaml", binding("a", "C1"));
    assert_eq!(world.bindings(), ["a 3 1: C1"]);
    for kind in ["AgentBackend", "ChatConnection"] {
        world.write(
            "b.yaml",
            format!("apiVersion: agentkourier.io/v1alpha1\nkind: {kind}\nmetadata: {{namespace: a, name: b}}\n"),
        );
        assert_eq!(world.problems(), [format!("b.yaml:1: {kind} a/b: spec: is missing")]);
    }
    let snapshot = world.read().snapshot;
    assert_eq!(snapshot.connections[0].spec, Err(vec![Problem::new("spec", "is missing")]));
}

#[test]
fn an_object_that_stands_twice_is_refused_in_both_places() {
    let mut world = World::new();
    world.write("a.yaml", binding("a", "C1"));
    world.read();
    world.write("b.yaml", format!("# A copy.\n{}---\n{}", binding("a", "C1"), binding("a", "C2")));
    assert_eq!(world.bindings(), ["a 2 1: refused"]);
    assert_eq!(
        world.problems(),
        [
            "a.yaml:1: Binding a/a: stands also in line 2 of b.yaml and line 9 of b.yaml: keep one",
            "b.yaml:2: Binding a/a: stands also in line 1 of a.yaml and line 9 of b.yaml: keep one",
            "b.yaml:9: Binding a/a: stands also in line 1 of a.yaml and line 2 of b.yaml: keep one",
        ]
    );
    // A status says it as it is.
    for problem in world.problems() {
        let (_, what) = problem.split_once("Binding a/a: ").unwrap();
        assert_eq!(Message::new(what).as_str(), what);
    }
    // Other places of the same two are no new generation.
    world.write("b.yaml", format!("\n\n\n\n{}", binding("a", "C1")));
    assert_eq!(world.bindings(), ["a 2 1: refused"]);
    world.remove("b.yaml");
    assert_eq!(world.bindings(), ["a 3 1: C1"]);
}

/// Makes something that is no file of manifests.
type Make = fn(&Path);

#[test]
fn files_that_are_none_are_told_and_keep_what_they_held() {
    let mut world = World::new();
    fs::write(world.root.path().join("outside.yaml"), binding("outside", "C1")).unwrap();
    let stays = "; what the file last held stays as it was";
    let cases: [(&str, Make); 7] = [
        ("has more than 1 MiB: split it", |path| fs::write(path, "#".repeat((1 << 20) + 1)).unwrap()),
        ("is not UTF-8 text", |path| fs::write(path, b"a: \xff").unwrap()),
        ("is a link that leads out of the folder", |path| symlink("../outside.yaml", path).unwrap()),
        ("is a link that leads nowhere", |path| symlink("nowhere.yaml", path).unwrap()),
        ("is not a file", |path| fs::create_dir(path).unwrap()),
        ("is not a file", |path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("is a link that leads out of the folder", |path| symlink("/dev/zero", path).unwrap()),
    ];
    for (what, make) in cases {
        world.write("x.yaml", binding("x", "C1"));
        assert_eq!(world.bindings().len(), 1, "{what}");
        world.remove("x.yaml");
        make(&world.path("x.yaml"));
        assert_eq!(world.problems(), [format!("x.yaml: {what}{stays}")]);
        assert_eq!(world.bindings().len(), 1, "{what}");
        world.remove_any("x.yaml");
        assert_eq!((world.bindings(), world.problems()), (vec![], vec![]), "{what}");
    }
    symlink("loop.yaml", world.path("loop.yaml")).unwrap();
    assert!(world.problems()[0].starts_with("loop.yaml: cannot be read: "));
}

impl World {
    fn remove_any(&self, name: &str) {
        let path = self.path(name);
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            fs::remove_dir(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn a_folder_that_cannot_be_read_is_not_an_empty_one() {
    let mut world = World::new();
    world.write("a.yaml", binding("a", "C1"));
    world.read();
    let (config, away) = (world.root.path().join("config"), world.root.path().join("away"));
    fs::rename(&config, &away).unwrap();
    assert_eq!(world.bindings(), ["a 1 1: C1"]);
    let problems = world.problems();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("the folder cannot be read: No such file"), "{problems:?}");
    world.restart();
    assert_eq!(world.bindings(), ["a 1 1: C1"]);
    fs::write(&config, "a file in its place").unwrap();
    assert_eq!(world.bindings(), ["a 1 1: C1"]);
    fs::remove_file(&config).unwrap();
    fs::create_dir(&config).unwrap();
    assert_eq!((world.bindings(), world.problems()), (vec![], vec![]));
}

#[test]
fn a_folder_that_could_never_be_read_says_why_nothing_is_known() {
    let mut world = World::new();
    let (config, away) = (world.root.path().join("config"), world.root.path().join("away"));
    fs::rename(&config, &away).unwrap();
    let unread = world.read().unread.unwrap();
    assert!(unread.contains("config: the folder cannot be read: No such file"), "{unread}");
    assert!(!unread.contains("what it last held"), "{unread}");
    fs::rename(&away, &config).unwrap();
    assert_eq!(world.read().unread, None);
    // It was empty, and so it stays.
    fs::rename(&config, &away).unwrap();
    assert_eq!(world.read().unread, None);
    // What the store remembers is what is known after a restart.
    fs::rename(&away, &config).unwrap();
    world.write("a.yaml", binding("a", "C1"));
    world.read();
    fs::rename(&config, &away).unwrap();
    world.restart();
    assert_eq!((world.read().unread, world.bindings().len()), (None, 1));
}

#[test]
fn a_file_with_many_copies_of_one_object_costs_no_more_than_it_is_long() {
    let mut world = World::new();
    let copy = "apiVersion: agentkourier.io/v1alpha1\nkind: Binding\nmetadata: {namespace: a, name: a}\n---\n";
    world.write("a.yaml", copy.repeat(5000));
    let reading = world.read();
    let text: usize = reading.problems.iter().map(|problem| problem.what.len()).sum();
    assert!(text < 5000 * 200, "{text} bytes are told of 5000 copies");
    let copies = reading.problems.iter().filter(|problem| problem.what.ends_with("and 4996 more places: keep one"));
    assert_eq!(copies.count(), 5000);
}

#[test]
fn a_file_name_cannot_forge_a_line() {
    let mut world = World::new();
    world.write("a\nWARN forged\u{1b}[2J.yaml", "a: 1");
    let problems = world.problems();
    assert!(problems[0].starts_with("a\\nWARN forged\\u{1b}[2J.yaml:1: apiVersion: is missing"), "{problems:?}");
}

#[test]
fn a_mounted_config_map_is_followed_through_its_swap() {
    let mut world = World::new();
    let config = world.path("");
    let mount = |version: &str, files: &[(&str, &str)]| {
        fs::create_dir(config.join(version)).unwrap();
        for (name, channel) in files {
            fs::write(config.join(version).join(format!("{name}.yaml")), binding(name, channel)).unwrap();
        }
        symlink(version, config.join("..data_tmp")).unwrap();
        fs::rename(config.join("..data_tmp"), config.join("..data")).unwrap();
    };
    mount("..1", &[("a", "C1"), ("b", "C1")]);
    for name in ["a", "b"] {
        symlink(format!("..data/{name}.yaml"), world.path(&format!("{name}.yaml"))).unwrap();
    }
    assert_eq!(world.bindings().len(), 2);
    mount("..2", &[("a", "C2"), ("b", "C2")]);
    fs::remove_dir_all(world.path("..1")).unwrap();
    assert_eq!(world.bindings(), ["a 2 1: C2", "b 2 1: C2"]);
    assert_eq!(world.problems(), Vec::<String>::new());
}

#[tokio::test]
async fn a_change_is_announced_and_the_same_again_is_not() {
    let world = World::new();
    world.write("a.yaml", binding("a", "C1"));
    let World { root, folder, .. } = world;
    let (mut readings, task) = folder.follow(Duration::from_millis(20)).await;
    assert_eq!(readings.borrow_and_update().snapshot.bindings.len(), 1);
    let silence = tokio::time::timeout(Duration::from_millis(200), readings.changed()).await;
    assert!(silence.is_err(), "a reading that equals the last one was announced");
    fs::write(root.path().join("config/b.yaml"), binding("b", "C1")).unwrap();
    let wait = readings.wait_for(|reading| reading.snapshot.bindings.len() == 2);
    assert!(tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap().is_ok());
    drop(readings);
    tokio::time::timeout(Duration::from_secs(30), task).await.unwrap().unwrap();
}
