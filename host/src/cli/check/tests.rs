use std::collections::BTreeMap;

use kourier_core::object::DEFAULT_BROKER;
use kourier_core::platform::{CredentialPlace, Platform};
use kourier_core::url::BaseUrl;

use super::*;

fn rules() -> Rules {
    let slack = Platform {
        default_url: Some(BaseUrl::parse("https://slack.com/api").unwrap()),
        channel_pattern: regex::Regex::new("^[CG][A-Z0-9]+$").unwrap(),
        credential: CredentialPlace::Bearer,
        settings: BTreeMap::new(),
    };
    let platforms = [("slack".to_owned(), slack)].into();
    Rules { broker: DEFAULT_BROKER.to_owned(), platforms, single_label_hosts: true }
}

fn check(files: &[(&str, &str)], expected: &str) {
    let mut named = Named::default();
    for (file, text) in files {
        named.add(PathBuf::from(file), Ok((*text).to_owned()));
    }
    assert_eq!(Report::of(&named, &named.read(), &rules()).text(), expected);
}

const GOOD: &str = include_str!("tests/good.yaml");

#[test]
fn good_manifests_have_no_problem() {
    check(&[("good.yaml", GOOD)], "3 objects, 0 problems\n");
    check(&[], "0 objects, 0 problems\n");
}

#[test]
fn a_problem_of_each_kind_is_told_with_its_line() {
    check(&[("good.yaml", GOOD), ("bad.yaml", include_str!("tests/bad.yaml"))], include_str!("tests/bad.txt"));
}

#[test]
fn what_is_there_twice_is_told_in_both_places() {
    check(
        &[("a.yaml", GOOD), ("b.yaml", GOOD)],
        "\
a.yaml:2: AgentBackend team-a/agents: stands also in line 2 of b.yaml: keep one
a.yaml:8: ChatConnection team-a/slack: stands also in line 8 of b.yaml: keep one
a.yaml:15: Binding team-a/chat: stands also in line 15 of b.yaml: keep one
b.yaml:2: AgentBackend team-a/agents: stands also in line 2 of a.yaml: keep one
b.yaml:8: ChatConnection team-a/slack: stands also in line 8 of a.yaml: keep one
b.yaml:15: Binding team-a/chat: stands also in line 15 of a.yaml: keep one
3 objects, 6 problems
",
    );
}

#[test]
fn json_has_the_same_problems_as_fields() {
    let mut named = Named::default();
    named.add(PathBuf::from("x.yaml"), Ok(GOOD.replace("url:", "uri:")));
    let report = serde_json::to_value(Report::of(&named, &named.read(), &rules())).unwrap();
    assert_eq!(
        report["problems"][0],
        serde_json::json!({
            "file": "x.yaml",
            "line": 5,
            "kind": "AgentBackend",
            "namespace": "team-a",
            "name": "agents",
            "path": "spec.url",
            "what": "is missing",
        })
    );
}

#[test]
fn the_command_line_takes_folders_files_and_refuses_what_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.yaml"), GOOD).unwrap();
    fs::write(folder.path().join("readme.txt"), "not a manifest").unwrap();
    let mut named = Named::default();
    take(&mut named, folder.path()).unwrap();
    assert_eq!(named.read().snapshot.bindings.len(), 1);
    let mut named = Named::default();
    take(&mut named, &folder.path().join("readme.txt")).unwrap();
    assert_eq!(named.read().problems.len(), 1);
    assert!(take(&mut named, &folder.path().join("nothing.yaml")).is_err());
}

/// A block of manifests that a page shows as an example is one that the broker takes.
#[test]
fn the_manifests_of_the_pages_are_good() {
    let docs = crate::committed::root().join("docs");
    let mut found = 0;
    for entry in fs::read_dir(docs).unwrap() {
        let page = entry.unwrap().path();
        let text = fs::read_to_string(&page).unwrap_or_default();
        for block in text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            if block.contains("apiVersion: agentkourier.io/") {
                found += 1;
                let mut named = Named::default();
                named.add(page.clone(), Ok(block.to_owned()));
                let told = Report::of(&named, &named.read(), &rules()).text();
                assert!(told.ends_with(" 0 problems\n"), "{told}");
            }
        }
    }
    assert!(found > 0);
}

#[test]
fn what_is_named_twice_is_read_once_and_two_links_to_one_file_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let (real, other) = (folder.path().join("real"), folder.path().join("other"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &other).unwrap();
    fs::write(real.join("good.yaml"), GOOD).unwrap();
    let mut named = Named::default();
    for path in [real.join("good.yaml"), real.join("../real/./good.yaml"), real.clone(), other.join("good.yaml"), other]
    {
        take(&mut named, &path).unwrap();
    }
    assert_eq!(named.read().problems, []);
    std::os::unix::fs::symlink("good.yaml", real.join("link.yaml")).unwrap();
    take(&mut named, &real).unwrap();
    assert_eq!(named.read().problems.len(), 6);
}

#[test]
fn a_line_of_a_problem_stays_one_line() {
    let mut named = Named::default();
    named.add(PathBuf::from("a\n0 problems\u{1b}[1A.yaml"), Err("is not a file".to_owned()));
    let text = Report::of(&named, &named.read(), &rules()).text();
    assert_eq!(text, "a\\n0 problems\\u{1b}[1A.yaml: is not a file\n0 objects, 1 problem\n");
}

#[test]
fn a_broker_is_a_name() {
    assert_eq!(broker("east-1"), Ok("east-1".to_owned()));
    assert!(broker("A B").unwrap_err().contains("write a name"));
}

#[test]
fn a_misshapen_field_hides_no_other_problem() {
    let text = "\
apiVersion: agentkourier.io/v1alpha1
kind: AgentBackend
metadata: {namespace: team-a, name: agents}
spec:
  url: ftp://agents.example.com
  cardpath: /card.json
  auth: {scheme: Magic, secretRef: 5}
";
    let (copy, head) = (text.replace("ftp:", "gopher:"), "AgentBackend team-a/agents");
    let mut named = Named::default();
    named.add(PathBuf::from("a.yaml"), Ok(text.to_owned()));
    named.add(PathBuf::from("b.yaml"), Ok(copy));
    let told = Report::of(&named, &named.read(), &rules()).text();
    for file in ["a.yaml", "b.yaml"] {
        for (line, field) in
            [(5, "spec.url"), (6, "spec.cardpath"), (7, "spec.auth.scheme"), (7, "spec.auth.secretRef")]
        {
            let line = format!("{file}:{line}: {head}: {field}: ");
            assert_eq!(told.matches(&line).count(), 1, "{line} in\n{told}");
        }
    }
}
