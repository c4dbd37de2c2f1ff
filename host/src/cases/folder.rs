//! A folder of cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::case::{Case, Place, Problem};
use super::format;
use crate::file;

/// The file that says which component a folder is about.
const PROBE_FILE: &str = "probe.yaml";

/// What a folder holds.
#[derive(Debug)]
pub struct Folder {
    /// What `probe.yaml` names: a built-in component, or a file relative to the folder.
    pub component: Option<String>,
    /// The cases, in the order of the file names and then as written.
    pub cases: Vec<Case>,
}

/// Reads the `*.yaml` files of a folder, but for names that begin with a dot.
///
/// # Errors
///
/// Every problem of every file, sorted by place: what is not a case, a sentence that stands twice, and a folder that
/// holds no case at all.
pub fn read(dir: &Path) -> Result<Folder, Vec<Problem>> {
    let mut folder = Folder { component: None, cases: Vec::new() };
    let mut problems = Vec::new();
    for file in files(dir).map_err(|problem| vec![problem])? {
        if let Err(more) = folder.add(&file) {
            problems.extend(more);
        }
    }
    problems.extend(repeated(&folder.cases));
    if folder.cases.is_empty() && problems.is_empty() {
        problems.push(of_file(dir, "holds no case: a case is a document of a *.yaml file".to_owned()));
    }
    problems.sort();
    if problems.is_empty() { Ok(folder) } else { Err(problems) }
}

impl Folder {
    fn add(&mut self, file: &Path) -> Result<(), Vec<Problem>> {
        let text = file::text(file, file::MAX_TEXT).map_err(|unread| vec![of_file(file, unread.to_string())])?;
        if file.file_name().is_some_and(|name| name == PROBE_FILE) {
            self.component = Some(format::component(file, &text)?);
        } else {
            self.cases.extend(format::cases(file, &text)?);
        }
        Ok(())
    }
}

fn files(dir: &Path) -> Result<Vec<PathBuf>, Problem> {
    let unreadable = |error: std::io::Error| of_file(dir, error.to_string());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn repeated(cases: &[Case]) -> Vec<Problem> {
    let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
    let mut problems = Vec::new();
    for case in cases {
        if let Some(before) = first.get(case.sentence.as_str()) {
            problems.push(Problem {
                place: case.place.clone(),
                what: format!("case: the same sentence stands at {before}; say what is different"),
            });
        } else {
            first.insert(&case.sentence, &case.place);
        }
    }
    problems
}

fn of_file(file: &Path, what: String) -> Problem {
    Problem { place: Place { file: file.to_owned(), line: 0 }, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> Result<Folder, Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        read(dir.path()).map_err(|problems| {
            let prefix = format!("{}", dir.path().display());
            problems.iter().map(|problem| problem.to_string().replace(&prefix, "DIR")).collect()
        })
    }

    #[test]
    fn cases_come_in_the_order_of_the_files_and_probe_yaml_names_the_component() {
        let folder = folder(&[
            ("b.yaml", "case: three\nverdict: ok\n"),
            ("a.yaml", "case: one\nverdict: ok\n---\ncase: two\nverdict: ok\n"),
            ("probe.yaml", "component: agent-card\n"),
            (".hidden.yaml", "nonsense"),
            ("notes.txt", "nonsense"),
        ]);
        let folder = folder.unwrap();
        let sentences: Vec<_> = folder.cases.iter().map(|case| case.sentence.as_str()).collect();
        assert_eq!(sentences, ["one", "two", "three"]);
        assert_eq!(folder.component.as_deref(), Some("agent-card"));
    }

    #[test]
    fn one_bad_file_does_not_hide_the_problems_of_the_others() {
        let problems = folder(&[
            ("a.yaml", "case: one\nverdict: ok\n"),
            ("b.yaml", "case: one\nverdict: ok\n"),
            ("c.yaml", "case: two\nverdict: ok\nextra: 1\n"),
        ])
        .unwrap_err();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(problems[0], "DIR/b.yaml:1: case: the same sentence stands at DIR/a.yaml:1; say what is different");
        assert!(problems[1].starts_with("DIR/c.yaml:3: "), "{problems:?}");
        assert!(problems[1].contains("extra"), "{problems:?}");
    }

    #[test]
    fn an_empty_folder_is_a_problem_and_so_is_one_that_is_not_there() {
        assert_eq!(folder(&[]).unwrap_err(), ["DIR: holds no case: a case is a document of a *.yaml file"]);
        assert_eq!(read(Path::new("/nonexistent")).unwrap_err().len(), 1);
    }
}
