//! Each sentence of the page is said by a test: `tests/statements.md` says by which.

use std::fs;
use std::path::{Path, PathBuf};

/// The sentences that nothing shows yet. This list only ever becomes shorter.
const GAPS: [usize; 0] = [];

/// What shows that a sentence is so.
#[derive(Debug, PartialEq, Eq)]
enum Proof<'a> {
    /// A test: its package, and its path in it.
    Test { package: &'a str, path: &'a str },
    /// A recorded case of a probe, by its sentence.
    Case { probe: &'a str, sentence: &'a str },
    /// A hostile case, by the part of its name that its table has.
    Hostile(&'a str),
    /// Nothing, so far.
    Gap,
}

struct Statement<'a> {
    number: usize,
    proofs: Vec<&'a str>,
}

/// Where a package has its sources.
fn sources(package: &str) -> Option<PathBuf> {
    let folder = match package {
        "kourier-core" => "host/core/src",
        "kourier-sandbox" => "host/sandbox/src",
        "agent-kourier" => "host/src",
        "suite" => "tests/suite",
        "kourier-test-cluster" => "tests/cluster/tests/crds",
        "agent-card" => "probes/agent-card/src",
        "slack" => "probes/slack/src",
        _ => return None,
    };
    Some(root().join(folder))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Numbered lines, each followed by the list of what shows it.
fn statements(list: &str) -> Vec<Statement<'_>> {
    let mut statements: Vec<Statement<'_>> = Vec::new();
    for line in list.lines().map(str::trim) {
        if let Some((number, _)) = line.split_once(". \"").or_else(|| line.split_once(". `")) {
            let Ok(number) = number.parse() else { continue };
            statements.push(Statement { number, proofs: vec![] });
        } else if let (Some(proof), Some(statement)) = (line.strip_prefix("- "), statements.last_mut()) {
            statement.proofs.push(proof);
        }
    }
    statements
}

fn read(proof: &str) -> Option<Proof<'_>> {
    if proof == "not shown yet" {
        return Some(Proof::Gap);
    }
    let (package, path) = proof.strip_prefix('`')?.strip_suffix('`')?.split_once(' ')?;
    match path.strip_prefix("case: ") {
        Some(name) if package == "hostile" => Some(Proof::Hostile(name)),
        Some(sentence) => Some(Proof::Case { probe: package, sentence }),
        None => Some(Proof::Test { package, path }),
    }
}

/// What is missing of a proof, if anything.
fn missing(proof: &Proof<'_>) -> Option<String> {
    match proof {
        Proof::Gap => None,
        Proof::Test { package, path } => {
            let Some(sources) = sources(package) else { return Some(format!("no package {package}")) };
            (!has_test(&sources, path)).then(|| format!("no test {path} in {}", sources.display()))
        }
        Proof::Case { probe, sentence } => {
            let folder = root().join("probes").join(probe).join("cases");
            (!has_case(&folder, sentence)).then(|| format!("no case {sentence:?} in {}", folder.display()))
        }
        Proof::Hostile(name) => (!has_row(&root().join("tests/hostile"), name)).then(|| format!("no case {name:?}")),
    }
}

/// Whether the module that a path names has a test of this name. A module is a file, or stands within one.
fn has_test(sources: &Path, path: &str) -> bool {
    let mut modules: Vec<&str> = path.split("::").collect();
    let Some(name) = modules.pop() else { return false };
    let mut inline: Vec<&str> = Vec::new();
    loop {
        if let Some(text) = module_text(sources, &modules) {
            let has_modules = inline.iter().all(|module| text.contains(&format!("mod {module} {{")));
            return has_modules && is_test(&text, name);
        }
        let Some(module) = modules.pop() else { return false };
        inline.push(module);
    }
}

fn module_text(sources: &Path, modules: &[&str]) -> Option<String> {
    let folder = modules.iter().fold(sources.to_owned(), |folder, module| folder.join(module));
    let files = match modules {
        [] => vec![sources.join("lib.rs"), sources.join("main.rs")],
        _ => vec![folder.with_extension("rs"), folder.join("mod.rs")],
    };
    files.into_iter().find_map(|file| fs::read_to_string(file).ok())
}

/// Whether a function of this name stands right below an attribute that makes it a test.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_function = |line: &str| line.trim_start_matches("async ").starts_with(&format!("fn {name}("));
    lines.iter().enumerate().filter(|(_, line)| is_function(line)).any(|(at, _)| {
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with('#'));
        above.into_iter().any(|line| line.contains("test"))
    })
}

fn has_case(folder: &Path, sentence: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let files = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    files.into_iter().any(|text| text.lines().any(|line| line == format!("case: {sentence}")))
}

/// Whether a table below this folder has a row of this name.
fn has_row(folder: &Path, name: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.filter_map(Result::ok).map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            has_row(&path, name)
        } else {
            fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("\"{name}\"")))
        }
    })
}

#[test]
fn each_sentence_of_the_page_has_a_test_that_exists() {
    let list = fs::read_to_string(root().join("tests/statements.md")).unwrap();
    let statements = statements(&list);
    let numbers: Vec<usize> = statements.iter().map(|statement| statement.number).collect();
    assert_eq!(numbers, (1..=94).collect::<Vec<_>>(), "the page has 94 statements");
    let mut faults = Vec::new();
    for Statement { number, proofs } in &statements {
        if proofs.is_empty() {
            faults.push(format!("{number}: nothing shows it"));
        }
        for proof in proofs {
            let fault = read(proof).map_or_else(|| Some(format!("cannot read {proof:?}")), |proof| missing(&proof));
            faults.extend(fault.map(|fault| format!("{number}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let is_gap = |statement: &&Statement<'_>| statement.proofs.contains(&"not shown yet");
    assert_eq!(statements.iter().filter(is_gap).map(|statement| statement.number).collect::<Vec<_>>(), GAPS);
}

#[test]
fn a_test_is_found_where_it_is_and_nowhere_else() {
    let here = "each_sentence_of_the_page_has_a_test_that_exists";
    for (package, path, is_there) in [
        ("suite", format!("statements::{here}"), true),
        ("suite", format!("statements::inner::{here}"), false),
        ("suite", here.to_owned(), false),
        ("suite", "statements::has_test".to_owned(), false),
        ("kourier-core", format!("statements::{here}"), false),
        ("kourier-core", "message::tests::a_message_is_one_line".to_owned(), true),
    ] {
        assert_eq!(missing(&Proof::Test { package, path: &path }).is_none(), is_there, "{package} {path}");
    }
    assert!(missing(&Proof::Test { package: "nobody", path: "a" }).is_some());
    assert!(missing(&Proof::Case { probe: "slack", sentence: "A case that nobody wrote" }).is_some());
    assert!(missing(&Proof::Hostile("one-byte-more")).is_none());
    assert!(missing(&Proof::Hostile("a case that nobody wrote")).is_some());
    assert_eq!(read("TODO"), None);
}
