//! `probe test`: runs a component against a folder of recorded cases.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use kourier_sandbox::{Component, Limits, ProbeKind, Sandbox};
use serde::Serialize;

use super::{Failure, Outcome, print};
use crate::builtin;
use crate::cases::folder::{self, Folder};
use crate::cases::run::Ran;
use crate::cases::{Case, Problem, report, run as runner};
use crate::components::{self, Loaded};

/// Run a probe component against recorded cases, without a network.
///
/// docs/probe-cases.md says how a case is written. Exit codes: 0 every case passed, 1 a case failed, 2 the folder or the
/// component cannot be used.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder that holds the cases: *.yaml, and probe.yaml, which names the component.
    dir: PathBuf,
    /// A built-in component's name or a file; takes the place of what probe.yaml says.
    #[arg(long, value_name = "FILE_OR_NAME")]
    component: Option<String>,
    /// Run only the cases whose sentence contains this.
    #[arg(long, value_name = "SUBSTRING")]
    filter: Option<String>,
    /// Print the cases instead of running them.
    #[arg(long)]
    list: bool,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Output {
    /// For people: a line a case, and what differs in those that failed.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// All that `--output json` says.
#[derive(Serialize)]
struct Json<'a> {
    component: &'a str,
    digest: &'a str,
    cases: Vec<report::Json>,
    passed: usize,
    failed: usize,
    seconds: f64,
}

/// What `--list --output json` says of one case.
#[derive(Serialize)]
struct Listed<'a> {
    case: &'a str,
    file: Cow<'a, str>,
    line: u64,
}

impl<'a> Listed<'a> {
    fn of(case: &'a Case) -> Self {
        Self { case: &case.sentence, file: case.place.file.to_string_lossy(), line: case.place.line }
    }
}

/// Runs the subcommand.
///
/// # Errors
///
/// The folder or the component cannot be used, or the machine cannot run the sandbox.
pub fn run(args: &Args) -> Outcome {
    let (text, passed) = tested(args)?;
    print(&text)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Does the work: the report, and whether every case passed.
fn tested(args: &Args) -> Result<(String, bool), Failure> {
    let mut folder = folder::read(&args.dir).map_err(|problems| lines(&problems))?;
    if let Some(part) = &args.filter {
        folder.cases.retain(|case| case.sentence.contains(part));
        if folder.cases.is_empty() {
            return Err(unusable(format!("no case contains {part:?}; --list prints them")));
        }
    }
    if args.list {
        return Ok((list(&folder.cases, args.output)?, true));
    }
    let name = component(args, &folder)?;
    let sandbox = Sandbox::new(Limits::default()).map_err(Failure::Internal)?;
    let Loaded { name, component, .. } = components::load_one(&sandbox, &name).map_err(Failure::Input)?;
    let misfits: Vec<_> = folder.cases.iter().flat_map(|case| case.misfits(component.kind())).collect();
    if !misfits.is_empty() {
        return Err(lines(&misfits));
    }
    let start = Instant::now();
    let ran = runner::all(&sandbox, &component, &folder.cases).map_err(Failure::Internal)?;
    let report = Report { name: &name, component: &component, cases: &folder.cases, ran: &ran, took: start.elapsed() };
    let text = match args.output {
        Output::Text => report.text(),
        Output::Json => serde_json::to_string_pretty(&report.json()).map_err(Failure::internal)? + "\n",
    };
    Ok((text, report.failed() == 0))
}

fn unusable(words: String) -> Failure {
    Failure::Input(anyhow::Error::msg(words))
}

fn lines(problems: &[Problem]) -> Failure {
    unusable(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn list(cases: &[Case], output: Output) -> Result<String, Failure> {
    match output {
        Output::Text => Ok(cases.iter().map(|case| format!("{}  {}\n", case.place, case.sentence)).collect()),
        Output::Json => {
            let listed: Vec<Listed<'_>> = cases.iter().map(Listed::of).collect();
            Ok(serde_json::to_string_pretty(&listed).map_err(Failure::internal)? + "\n")
        }
    }
}

/// The component that the caller or the folder names. A file of `probe.yaml` is relative to the folder.
fn component(args: &Args, folder: &Folder) -> Result<String, Failure> {
    match (&args.component, &folder.component) {
        (Some(name), _) => Ok(name.clone()),
        (None, Some(name)) if builtin::ALL.iter().any(|it| it.name == name) => Ok(name.clone()),
        (None, Some(file)) => Ok(args.dir.join(file).display().to_string()),
        (None, None) => {
            let words = "which component? give --component, or write `component: NAME` into probe.yaml";
            Err(unusable(words.to_owned()))
        }
    }
}

struct Report<'a> {
    name: &'a str,
    component: &'a Component,
    cases: &'a [Case],
    ran: &'a [Ran],
    took: Duration,
}

impl Report<'_> {
    fn pairs(&self) -> impl Iterator<Item = (&Case, &Ran)> {
        self.cases.iter().zip(self.ran)
    }

    fn failed(&self) -> usize {
        self.pairs().filter(|(case, ran)| !report::differences(case, ran).is_empty()).count()
    }

    fn text(&self) -> String {
        let kind = match self.component.kind() {
            ProbeKind::Agent => "probes agents".to_owned(),
            ProbeKind::Chat { platform, .. } => format!("probes the platform {platform}"),
        };
        let mut text = format!("{}, sha256 {:.12}, {kind}\n", self.name, self.component.digest());
        for (case, ran) in self.pairs() {
            text.push_str(&report::text(case, ran));
        }
        let (all, failed) = (self.cases.len(), self.failed());
        let took = self.took.as_secs_f64();
        let cases = if all == 1 { "case" } else { "cases" };
        let _ = writeln!(text, "{all} {cases}, {} passed, {failed} failed in {took:.2} s", all - failed);
        text
    }

    fn json(&self) -> Json<'_> {
        let failed = self.failed();
        Json {
            component: self.name,
            digest: self.component.digest(),
            cases: self.pairs().map(|(case, ran)| report::json(case, ran)).collect(),
            passed: self.cases.len() - failed,
            failed,
            seconds: self.took.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests;
