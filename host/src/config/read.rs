//! From a text to checked settings: every problem, each with its line and key.

use std::collections::BTreeMap;

use kourier_manifest::yaml::{self, Node, Tree};

use crate::config::table::SETTINGS;
use crate::config::{ConfigProblem, ConfigSource, Setting, Settings, StoreKind};

/// How many problems are told: as many as a person may want to read at once.
const MAX_PROBLEMS: usize = 100;

pub(super) fn read(text: &str) -> Result<Settings, Vec<ConfigProblem>> {
    let mut settings = Settings::default();
    let mut problems = Vec::new();
    let mut documents = yaml::documents(text);
    match documents.next() {
        None => {}
        Some(Ok(root)) => {
            Reader { settings: &mut settings, problems: &mut problems, seen: BTreeMap::new() }.root(&root);
        }
        Some(Err(error)) => {
            problems.push(ConfigProblem { line: Some(error.line), key: String::new(), what: error.what });
        }
    }
    if documents.next().is_some() {
        problems.push(ConfigProblem::whole("has more than one document: write one".to_owned()));
    }
    if problems.is_empty() {
        problems.extend(contradictions(&settings));
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

struct Reader<'r> {
    settings: &'r mut Settings,
    problems: &'r mut Vec<ConfigProblem>,
    /// The lines of the keys read so far.
    seen: BTreeMap<String, u64>,
}

impl Reader<'_> {
    fn root(&mut self, root: &Node) {
        match root.tree {
            Tree::Map(_) => self.section("", root),
            _ => self.refuse(root.line, "", format!("is {}: write keys and values", root.article())),
        }
    }

    fn section(&mut self, path: &str, section: &Node) {
        for entry in section.entries() {
            let key = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
            if let Some(first) = self.seen.insert(key.clone(), entry.line) {
                self.refuse(entry.line, &key, format!("stands twice, first in line {first}: keep one"));
            }
            self.entry(&key, entry.line, &entry.node);
        }
    }

    fn entry(&mut self, key: &str, line: u64, node: &Node) {
        if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
            self.set(setting, line, node);
        } else if SETTINGS.iter().any(|setting| is_below(setting.key, key)) {
            match node.tree {
                Tree::Map(_) => self.section(key, node),
                Tree::Null => {}
                _ => self.refuse(line, key, format!("is {}: write the settings below it", node.article())),
            }
        } else {
            self.refuse(line, key, format!("is no setting: known are {}", known_beside(key)));
        }
    }

    /// A setting without a value keeps its default, as it does in a manifest.
    fn set(&mut self, setting: &Setting, line: u64, node: &Node) {
        if !node.is_null()
            && let Err(what) = (setting.set)(self.settings, node)
        {
            self.refuse(line, setting.key, what);
        }
    }

    fn refuse(&mut self, line: u64, key: &str, what: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(ConfigProblem { line: Some(line), key: key.to_owned(), what });
        }
    }
}

fn is_below(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

/// What may stand where an unknown key stands.
fn known_beside(key: &str) -> String {
    let section = key.rsplit_once('.').map(|(section, _)| section);
    let mut known: Vec<&str> = SETTINGS
        .iter()
        .filter_map(|setting| match section {
            Some(section) => setting.key.strip_prefix(section)?.strip_prefix('.'),
            None => Some(setting.key),
        })
        .map(|rest| rest.split('.').next().unwrap_or(rest))
        .collect();
    known.dedup();
    known.join(", ")
}

/// What is wrong with settings that are each fine alone.
fn contradictions(settings: &Settings) -> Vec<ConfigProblem> {
    let probe = &settings.probe;
    let mut found = Vec::new();
    let mut refuse = |key: &str, what: &str| {
        found.push(ConfigProblem { line: None, key: key.to_owned(), what: what.to_owned() });
    };
    if probe.request > probe.deadline {
        refuse("probe.request", "is longer than probe.deadline: write a shorter one");
    }
    if probe.reserve >= probe.deadline {
        refuse("probe.reserve", "leaves nothing of probe.deadline: write a shorter one");
    }
    if settings.prober.interval < settings.prober.pass_gap {
        refuse("prober.interval", "is shorter than prober.passGap, which no pass can keep: write a longer one");
    }
    if settings.store == StoreKind::Kubernetes && settings.config.source == ConfigSource::Files {
        refuse("store", "kubernetes goes with config.source: crds; write sqlite");
    }
    if let Err(error) = settings.lease.check() {
        refuse("lease", &error.to_string());
    }
    if settings.writer.cap < settings.writer.gap {
        refuse("writer.cap", "is shorter than writer.gap: write a longer one");
    }
    found
}
