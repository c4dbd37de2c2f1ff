use std::fs;
use std::path::Path;

use super::*;

fn args(dir: &Path) -> Args {
    Args { dir: dir.to_owned(), component: None, filter: None, list: false, output: Output::Text }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

const TWO: &str = "case: An agent without a card is not found
exchanges:
  - {request: GET /.well-known/agent-card.json, answer: {status: 404}}
  - {request: GET /.well-known/agent.json, answer: {status: 404}}
verdict: agent-not-found
---
case: A sleeping agent is unreachable
exchanges:
  - {request: GET /.well-known/agent-card.json, fault: unreachable}
verdict: ok
";

#[test]
fn results_say_which_case_failed_and_why() {
    let dir = folder(&[("probe.yaml", "component: agent-card"), ("a.yaml", TWO)]);
    let (text, passed) = tested(&args(dir.path())).unwrap();
    assert!(!passed);
    assert!(text.contains("ok      An agent without a card is not found\n"), "{text}");
    assert!(text.contains("    recorded  ok\n    said      unreachable\n"), "{text}");
    assert!(text.contains("\n2 cases, 1 passed, 1 failed in "), "{text}");
}

#[test]
fn results_are_also_told_to_programs() {
    let dir = folder(&[("a.yaml", TWO)]);
    let component = Some("agent-card".to_owned());
    let (text, _) = tested(&Args { component, output: Output::Json, ..args(dir.path()) }).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["passed"], &json["failed"]), (&1.into(), &1.into()));
    assert_eq!(json["cases"][1]["differences"][0]["difference"], "verdict");
    assert_eq!(json["cases"][0]["requests"][1], "GET /.well-known/agent.json");
}

#[test]
fn a_filter_chooses_and_a_list_runs_nothing() {
    let dir = folder(&[("a.yaml", TWO)]);
    let chosen = Args { filter: Some("sleeping".to_owned()), list: true, ..args(dir.path()) };
    let (text, passed) = tested(&chosen).unwrap();
    assert!(passed);
    assert_eq!(text, format!("{}/a.yaml:7  A sleeping agent is unreachable\n", dir.path().display()));
    let (text, _) = tested(&Args { output: Output::Json, ..chosen }).unwrap();
    let file = dir.path().join("a.yaml");
    let listed = serde_json::json!([{"case": "A sleeping agent is unreachable", "file": file, "line": 7}]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), listed);
}

#[test]
fn what_cannot_be_used_is_told_to_the_caller() {
    let check = |files: &[(&str, &str)], component: Option<&str>, part: &str| {
        let dir = folder(files);
        let component = component.map(ToOwned::to_owned);
        match tested(&Args { component, filter: Some("A".to_owned()), ..args(dir.path()) }) {
            Err(Failure::Input(error)) => assert!(error.to_string().contains(part), "{error} lacks {part}"),
            other => panic!("{other:?}, expected {part}"),
        }
    };
    let cases = ("a.yaml", TWO);
    check(&[], None, "holds no case");
    check(&[cases], None, "which component?");
    check(&[cases, ("probe.yaml", "component: nobody.wasm")], None, "nobody.wasm: it cannot be read: No such file");
    check(&[cases], Some("/nobody.wasm"), "one of the built-in ones: agent-card");
    check(&[("a.yaml", "case: other\nverdict: ok\n")], Some("agent-card"), "no case contains \"A\"");
    check(&[("a.yaml", "case: A\nverdict: not-in-channel\n")], Some("agent-card"), "cannot say not-in-channel");
    check(&[("a.yaml", "case: A\ntarget: {channel: C1}\nverdict: ok\n")], Some("agent-card"), "cardPath only");
    let misfits = "case: A\ntarget: {channel: general, settings: {a: b}, cardPath: /a}\nverdict: agent-not-found\n";
    for part in [
        "a.yaml:1: target.cardPath: a chat probe knows channel and settings only: remove it\n",
        "a.yaml:1: target.channel: is no id of the component's platform",
        "a.yaml:1: target.settings.a: is no setting of this platform: it knows teamId\n",
        "a.yaml:1: verdict: a chat probe cannot say agent-not-found: write one of ok, ",
    ] {
        check(&[("a.yaml", misfits)], Some("slack"), part);
    }
    check(
        &[cases, ("not.wasm", "text"), ("probe.yaml", "component: not.wasm")],
        None,
        "not.wasm: not a WebAssembly component: ",
    );
}

#[test]
fn the_page_for_authors_shows_what_happens() {
    let page = include_str!("../../../../docs/probe-cases.md");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let dir = folder(&[("probe.yaml", "component: agent-card"), ("recipes.yaml", block("yaml"))]);
    let (text, _) = tested(&args(dir.path())).unwrap();
    let text = text.replace(&format!("{}", dir.path().display()), "cases");
    let steady = |text: &str| -> Vec<String> {
        // The digest and the time are another machine's.
        let lines = text.lines().map(|line| line.split(" in ").next().unwrap_or_default());
        lines.filter(|line| !line.contains("sha256")).map(ToOwned::to_owned).collect()
    };
    assert_eq!(steady(&text), steady(block("text")), "{text}");
}
