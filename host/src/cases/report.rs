//! What differed, for people and for programs.

use std::fmt::Write;

use serde::Serialize;

use super::case::{Asked, Case, verb};
use super::recorded::{Made, Mismatch, NOT_RECORDED};
use super::run::Ran;

/// One thing in which a run is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "difference")]
pub enum Difference {
    /// A request that is not the recorded one. The run ends there, so there is no verdict to compare.
    Request {
        /// Which, from 1.
        number: usize,
        /// What is recorded; none when nothing is.
        recorded: Option<String>,
        /// What was made.
        made: String,
    },
    /// A request that is recorded and was not made.
    NotMade {
        /// Which, from 1.
        number: usize,
        /// What is recorded.
        recorded: String,
    },
    /// Another verdict.
    Verdict {
        /// What is recorded.
        recorded: String,
        /// What the run ended with.
        said: String,
    },
    /// No cause contains this.
    Cause {
        /// What is recorded.
        recorded: String,
    },
}

/// Compares a run with its case. Empty: the case passed.
#[must_use]
pub fn differences(case: &Case, ran: &Ran) -> Vec<Difference> {
    if let Some((index, made)) = ran.made.iter().enumerate().find(|(_, made)| made.mismatch.is_some()) {
        return vec![of_request(index, case.exchanges.get(index).map(|it| &it.request), made)];
    }
    let missing = case.exchanges.iter().enumerate().skip(ran.made.len());
    let mut differences: Vec<_> = missing
        .map(|(index, it)| Difference::NotMade { number: index + 1, recorded: it.request.to_string() })
        .collect();
    if case.verdict != ran.verdict {
        differences.push(Difference::Verdict { recorded: case.verdict.to_string(), said: ran.verdict.to_string() });
    }
    if let Some(cause) = &case.cause
        && !ran.causes.iter().any(|it| it.contains(cause))
    {
        differences.push(Difference::Cause { recorded: cause.clone() });
    }
    differences
}

fn of_request(index: usize, recorded: Option<&Asked>, made: &Made) -> Difference {
    let line = format!("{} {}", verb(made.method), made.path);
    let (recorded, made) = match (recorded, &made.mismatch) {
        (Some(asked), Some(Mismatch::Header(name))) => {
            let wanted = asked.headers.get(name).map_or("", String::as_str);
            let has = made.headers.iter().find(|(it, _)| it == name);
            let has = has.map_or_else(|| "is missing".to_owned(), |(_, value)| value.clone());
            (Some(format!("{name}: {wanted}")), format!("{name}: {has}"))
        }
        (Some(asked), Some(Mismatch::Body)) => {
            let body = made.body.as_deref().unwrap_or_default();
            (asked.body.clone(), String::from_utf8_lossy(body).into_owned())
        }
        (recorded, _) => (recorded.map(ToString::to_string), line),
    };
    Difference::Request { number: index + 1, recorded, made }
}

/// One case for people: a line when it passed, and everything that helps to mend it when it failed.
#[must_use]
pub fn text(case: &Case, ran: &Ran) -> String {
    let differences = differences(case, ran);
    if differences.is_empty() {
        return format!("ok      {}\n", case.sentence);
    }
    let mut text = format!("FAILED  {}\n        {}\n", case.sentence, case.place);
    let matched = ran.made.iter().take_while(|made| made.mismatch.is_none());
    for (index, made) in matched.enumerate() {
        let _ = writeln!(text, "  request {} is as recorded: {} {}", index + 1, verb(made.method), made.path);
    }
    for difference in &differences {
        text.push_str(&difference.text());
    }
    for (what, lines) in [("cause", &ran.causes), ("advice", &ran.advice)] {
        for line in lines.iter().take_while(|line| !line.contains(NOT_RECORDED)) {
            let _ = writeln!(text, "  journal, {what}: {line}");
        }
    }
    text
}

impl Difference {
    fn text(&self) -> String {
        match self {
            Self::Request { number, recorded: None, made } => {
                format!("  request {number} is not recorded, and the run was stopped there: {}\n", escaped(made))
            }
            Self::Request { number, recorded: Some(recorded), made } => {
                format!(
                    "  request {number} differs, and the run was stopped there:\n{}",
                    pair(recorded, ("made", made))
                )
            }
            Self::NotMade { number, recorded } => format!("  request {number} was not made: {recorded}\n"),
            Self::Verdict { recorded, said } => format!("  the verdict differs:\n{}", pair(recorded, ("said", said))),
            Self::Cause { recorded } => format!("  no cause in the journal contains: {recorded}\n"),
        }
    }
}

/// Two lines, and a mark below the first character in which they differ.
fn pair(recorded: &str, (name, other): (&str, &str)) -> String {
    let (recorded, other) = (escaped(recorded), escaped(other));
    let same = recorded.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    format!("    recorded  {recorded}\n    {name:<8}  {other}\n              {:same$}^\n", "")
}

fn escaped(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// One case for programs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Json {
    case: String,
    file: String,
    line: u64,
    passed: bool,
    verdict: String,
    requests: Vec<String>,
    differences: Vec<Difference>,
    causes: Vec<String>,
    advice: Vec<String>,
    clock_milliseconds: u64,
}

/// One case for programs.
#[must_use]
pub fn json(case: &Case, ran: &Ran) -> Json {
    let differences = differences(case, ran);
    Json {
        case: case.sentence.clone(),
        file: case.place.file.display().to_string(),
        line: case.place.line,
        passed: differences.is_empty(),
        verdict: ran.verdict.to_string(),
        requests: ran.made.iter().map(|made| format!("{} {}", verb(made.method), made.path)).collect(),
        differences,
        causes: ran.causes.clone(),
        advice: ran.advice.clone(),
        clock_milliseconds: ran.clock.as_millis().try_into().unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests;
