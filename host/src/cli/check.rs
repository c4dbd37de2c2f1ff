//! `agent-kourier check`: everything that is wrong with manifests, by the broker's own rules.
//!
//! The manifests are taken as a whole: a reference to an object that is in none of them is a problem, and so is a
//! channel that two Bindings want. What is absent: an identity of objects, so that of two Bindings that want one channel
//! the first by namespace and name is taken for the older one, and the other one is told so.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use kourier_core::accept::{LastGood, Rules, accept};
use kourier_core::check;
use kourier_core::id::{Kind, ObjectId, ObjectKey};
use kourier_core::line::escaped;
use kourier_core::reason::AcceptedReason;
use kourier_core::rule::LABEL;
use kourier_core::snapshot::Problem;
use kourier_sandbox::Sandbox;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::{self, Failure, Outcome};
use crate::components::{self, Components, Refused};
use crate::config::ConfigSource;
use crate::shown::Shown;
use crate::source::files::{Named, Written};
use crate::source::{FileProblem, Origin, Reading};

/// Checks manifests by the broker's own rules: every problem at once, with file and line.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and folders of manifests, checked together; `-` is the standard input.
    #[arg(required = true, value_name = "FILE|DIR|-")]
    paths: Vec<PathBuf>,
    /// The file of settings (YAML) of the broker; an option below takes the place of what it says.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A folder of `*.wasm` files beside the built-in components, whose platforms are known: `components.dir`.
    #[arg(long, value_name = "DIR")]
    components: Option<PathBuf>,
    /// The broker whose rules count: `broker`. ChatConnections of others are read, but not served by it.
    #[arg(long, value_name = "NAME", value_parser = broker)]
    broker: Option<String>,
    /// Refuse URLs whose host has no dot, as with `config.source: crds`.
    #[arg(long)]
    full_names: bool,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// How problems are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One line a problem: `file:line: Kind namespace/name: path: what is wrong`.
    #[default]
    Text,
    /// A JSON document, for programs.
    Json,
}

/// Prints every problem. Problems make it `ExitCode::FAILURE`.
///
/// # Errors
///
/// When a path or the settings cannot be read, no path holds an object, the sandbox cannot be started, or the output cannot
/// be written.
pub fn run(args: &Args) -> Outcome {
    let mut named = Named::default();
    for path in &args.paths {
        take(&mut named, path).with_context(|| format!("cannot read {}", Shown(path))).map_err(Failure::Input)?;
    }
    let (rules, components) = rules(args)?;
    let mut reading = named.read();
    reading.problems.extend(components.refused().iter().map(not_loaded));
    let report = Report::of(&named, &reading, &rules);
    if report.objects == 0 && report.problems.is_empty() {
        let what = "what is named holds no object to check; of a folder, the files *.yaml, *.yml and *.json are read";
        return Err(Failure::input(anyhow!(what)));
    }
    match args.output {
        Format::Json => cli::print_json(&report)?,
        Format::Text => cli::print(&report.text())?,
    }
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn broker(text: &str) -> Result<String, String> {
    LABEL.fault(text).map_or_else(|| Ok(text.to_owned()), Err)
}

/// The rules of the broker that is to take the manifests, and its components.
fn rules(args: &Args) -> Result<(Rules, Components), Failure> {
    let settings = cli::settings(args.config.as_deref())?;
    if let Some(dir) = &args.components {
        fs::read_dir(dir)
            .with_context(|| format!("--components: cannot read {}", Shown(dir)))
            .map_err(Failure::Input)?;
    }
    let sandbox = Sandbox::new(settings.probe).map_err(Failure::internal)?;
    let dir = args.components.as_ref().or(settings.components_dir.as_ref());
    let components = Components::load(&sandbox, dir.map(PathBuf::as_path));
    let rules = Rules {
        broker: args.broker.clone().unwrap_or(settings.broker),
        platforms: components.platforms(),
        single_label_hosts: !args.full_names && settings.config.source == ConfigSource::Files,
    };
    Ok((rules, components))
}

fn not_loaded(refused: &Refused) -> FileProblem {
    let file = match &refused.origin {
        components::Origin::File(file) => file.clone(),
        components::Origin::BuiltIn => PathBuf::from(&refused.name),
    };
    let what = format!("is no probe component that can be used: {}", refused.reason);
    FileProblem { file, line: None, object: None, path: String::new(), what }
}

fn take(named: &mut Named, path: &Path) -> io::Result<()> {
    if path == Path::new("-") {
        let mut content = Vec::new();
        io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut content)?;
        let too_long = content.len() as u64 > MAX_INPUT;
        let text = String::from_utf8(content).map_err(|_| "is not UTF-8 text".to_owned());
        let text = if too_long { Err("has more than 16 MiB".to_owned()) } else { text };
        named.add(path.to_owned(), text);
        Ok(())
    } else if path.is_dir() {
        named.add_folder(path)
    } else {
        named.add_file(path)
    }
}

/// The longest standard input, in bytes: what a rendered chart or a `kubectl get -o yaml` of thousands has.
const MAX_INPUT: u64 = 16 << 20;

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Report {
    /// How many objects were checked.
    objects: usize,
    /// By file and line.
    problems: Vec<Row>,
}

/// One problem.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Row {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    what: String,
}

impl Report {
    fn of(named: &Named, reading: &Reading, rules: &Rules) -> Self {
        let mut problems: BTreeSet<FileProblem> = reading.problems.iter().cloned().collect();
        problems.extend(named.documents().flat_map(|document| of_document(&document, rules)));
        problems.extend(refused(reading, rules));
        let snapshot = &reading.snapshot;
        let objects = snapshot.bindings.len() + snapshot.backends.len() + snapshot.connections.len();
        Self { objects, problems: problems.into_iter().map(Row::of).collect() }
    }

    fn text(&self) -> String {
        let lines: String = self.problems.iter().map(Row::text).collect();
        let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        format!("{lines}{}, {}\n", count(self.objects, "object"), count(self.problems.len(), "problem"))
    }
}

impl Row {
    fn of(problem: FileProblem) -> Self {
        let (kind, key) = problem.object.unzip();
        let (namespace, name) = key.map(|key| (key.namespace, key.name)).unzip();
        Self {
            file: problem.file.display().to_string(),
            line: problem.line,
            kind: kind.map(Kind::as_str),
            namespace,
            name,
            path: problem.path,
            what: problem.what,
        }
    }

    fn text(&self) -> String {
        let mut text = escaped(&self.file);
        if let Some(line) = self.line {
            text += &format!(":{line}");
        }
        if let (Some(kind), Some(namespace), Some(name)) = (self.kind, &self.namespace, &self.name) {
            text += &format!(": {kind} {namespace}/{name}");
        }
        if !self.path.is_empty() {
            text += &format!(": {}", self.path);
        }
        text + ": " + &escaped(&self.what) + "\n"
    }
}

/// The problems of a document beside its shape: of the fields of its spec that have the right one, so that one that is
/// misspelt hides no other.
fn of_document(document: &Written<'_>, rules: &Rules) -> Vec<FileProblem> {
    let mut spec = document.spec.clone();
    let misshapen: BTreeSet<&str> = document.misshapen.iter().filter_map(|path| field_of(path)).collect();
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|name, _| !misshapen.contains(name.as_str()));
    }
    let mut problems = of_spec(document.id.0, &spec, rules);
    problems.retain(|problem| field_of(&problem.path).is_none_or(|field| !misshapen.contains(field)));
    problems.iter().map(|problem| told(document.id, Some(&document.origin), problem)).collect()
}

/// The field of the spec that a path leads to or into.
fn field_of(path: &str) -> Option<&str> {
    path.strip_prefix("spec.")?.split(['.', '[']).next()
}

fn of_spec(kind: Kind, spec: &Value, rules: &Rules) -> Vec<Problem> {
    fn read<S: DeserializeOwned>(spec: &Value, check: impl Fn(&S) -> Vec<Problem>) -> Vec<Problem> {
        serde_json::from_value(spec.clone()).map(|spec| check(&spec)).unwrap_or_default()
    }
    match kind {
        Kind::Binding => read(spec, check::binding),
        Kind::AgentBackend => read(spec, |spec| check::backend(spec, rules)),
        Kind::ChatConnection => read(spec, |spec| check::connection(spec, rules)),
    }
}

/// What only acceptance can tell: references, permissions, conflicts, channels of a platform.
fn refused(reading: &Reading, rules: &Rules) -> Vec<FileProblem> {
    let accepted = accept(&reading.snapshot, &LastGood::default(), rules);
    let mut problems = Vec::new();
    for object in &reading.snapshot.bindings {
        let key = &object.meta.key;
        let told: Vec<Problem> = match &object.spec {
            Ok(spec) => check::binding(spec),
            Err(problems) => problems.clone(),
        };
        let refusal = accepted.bindings.get(key).and_then(|judged| judged.refusal.as_ref());
        let found = refusal.into_iter().flat_map(|refusal| &refusal.problems);
        let news = found.filter_map(|(reason, problem)| news(*reason, problem, &told));
        problems.extend(news.map(|problem| at(reading, Kind::Binding, key, &problem)));
    }
    problems
}

/// A problem of a Binding as `check` tells it; none if it is told elsewhere. Of a conflict it adds what files cannot say.
fn news(reason: AcceptedReason, problem: &Problem, told: &[Problem]) -> Option<Problem> {
    match reason {
        // Its problems are told where it stands, and not of each Binding that names it.
        AcceptedReason::BackendRejected | AcceptedReason::ConnectionRejected => None,
        AcceptedReason::InvalidSpec if told.contains(problem) => None,
        AcceptedReason::ChannelConflict => {
            let what = format!("{}, unless this one is older: files tell no age", problem.what);
            Some(Problem::new(problem.path.clone(), what))
        }
        AcceptedReason::Ok
        | AcceptedReason::InvalidSpec
        | AcceptedReason::BackendNotFound
        | AcceptedReason::ConnectionNotFound
        | AcceptedReason::NamespaceNotAllowed => Some(problem.clone()),
    }
}

fn at(reading: &Reading, kind: Kind, key: &ObjectKey, problem: &Problem) -> FileProblem {
    let object = (kind, key.clone());
    told(&object, reading.origins.get(&object), problem)
}

fn told(object: &ObjectId, origin: Option<&Origin>, problem: &Problem) -> FileProblem {
    FileProblem {
        file: origin.map(|origin| origin.file.clone()).unwrap_or_default(),
        line: origin.and_then(|origin| origin.line_of(&problem.path)),
        object: Some(object.clone()),
        path: problem.path.clone(),
        what: problem.what.clone(),
    }
}

#[cfg(test)]
mod tests;
