//! Which component gets a place, with real components.

use std::fs;

use agent_kourier::builtin;
use agent_kourier::components::Components;
use kourier_sandbox::{Limits, Sandbox};

/// The built-in probe of Slack, as a file somebody else may have made.
fn slack() -> &'static [u8] {
    builtin::ALL.iter().find(|built_in| built_in.name == "slack").unwrap().wasm
}

/// Loads a folder of these files, and says what became of each component: `name of platform`, and why the rest is not
/// loaded.
fn loaded(files: &[(&str, &[u8])]) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let components = Components::load(&sandbox, Some(folder.path()));
    let path = folder.path().display().to_string();
    let loaded = components.loaded().iter().map(|loaded| {
        let replaces = loaded.replaces.as_ref().map(|name| format!(" instead of {name}"));
        format!("{} for {}{}", loaded.name, loaded.platform().unwrap_or("agents"), replaces.unwrap_or_default())
    });
    let refused = components.refused().iter().map(|it| format!("{}: {}", it.name, it.reason.replace(&path, "DIR")));
    (loaded.collect(), refused.collect())
}

#[test]
fn the_built_in_components_need_no_folder() {
    assert_eq!(loaded(&[]), (vec!["agent-card for agents".to_owned(), "slack for slack".to_owned()], vec![]));
}

#[test]
fn a_file_takes_the_place_of_a_built_in_component() {
    let (names, refused) = loaded(&[("our-slack.wasm", slack())]);
    assert_eq!(names, ["agent-card for agents", "our-slack for slack instead of slack"]);
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn of_two_files_for_one_platform_the_second_is_refused_and_both_are_named() {
    let (names, refused) = loaded(&[("b.wasm", slack()), ("a.wasm", slack())]);
    assert_eq!(names, ["a for slack instead of slack", "agent-card for agents"]);
    assert_eq!(refused, ["b: DIR/a.wasm already probes the platform slack: remove one of the two files"]);
}

#[test]
fn a_file_that_is_refused_leaves_the_built_in_component_running() {
    let (names, refused) = loaded(&[("slack.wasm", b"no component"), (".hidden.wasm", b"no"), ("README.md", b"no")]);
    assert_eq!(names, ["agent-card for agents", "slack for slack"]);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].starts_with("slack: not a WebAssembly component"), "{refused:?}");
}

#[test]
fn a_file_that_was_not_written_to_its_end_is_refused_in_these_words() {
    let cut = |length: usize| &slack()[..length];
    let files = [("a.wasm", cut(0)), ("b.wasm", cut(slack().len() / 2)), ("c.wasm", cut(3)), ("d.wasm", cut(7))];
    let (_, refused) = loaded(&files);
    let again = "build it, or copy it again";
    assert_eq!(
        refused,
        [
            format!("a: it is empty: {again}"),
            format!("b: it ends in the middle of a section: {again}"),
            format!("c: it ends in the middle of its header: {again}"),
            format!("d: it ends in the middle of its header: {again}"),
        ]
    );
}

#[test]
fn what_is_no_file_or_has_no_end_is_refused_and_the_rest_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.wasm")).unwrap();
    fs::create_dir(folder.path().join("folder.wasm")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("fifo.wasm")).status().unwrap();
    assert!(made.success(), "mkfifo is part of coreutils");
    let components = Components::load(&Sandbox::new(Limits::default()).unwrap(), Some(folder.path()));
    assert_eq!(components.loaded().len(), 2);
    for refused in components.refused() {
        assert_eq!(refused.reason, "it is not a file", "{}", refused.name);
    }
    assert_eq!(components.refused().len(), 3);
}
