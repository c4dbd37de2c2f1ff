//! The table of Bindings, read by the demo as people read it, and waited for.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::expected;
use crate::tell;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(300);
/// The longest that anything in the demo may take to become so. Never waited out when all is well; long, because
/// machines are busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// One Binding, as its status has it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Of the object: another one after each write. Empty without a cluster.
    pub(crate) version: String,
    /// Of Ready; empty without a status.
    pub(crate) reason: String,
    /// Of Ready.
    pub(crate) message: String,
    pub(crate) ready_generation: i64,
    pub(crate) accepted_generation: i64,
    pub(crate) conditions: usize,
}

/// The rows of a List of Bindings in JSON.
///
/// # Errors
///
/// When it is none.
pub(crate) fn read(list: &[u8]) -> anyhow::Result<Vec<Row>> {
    let list: Value = serde_json::from_slice(list)?;
    let items = list["items"].as_array().context("it is no List of Bindings")?;
    Ok(items.iter().map(row).collect())
}

fn row(binding: &Value) -> Row {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &binding["metadata"];
    let conditions = binding["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let of = |kind: &str| conditions.iter().find(|condition| condition["type"] == kind).cloned().unwrap_or_default();
    let (ready, accepted) = (of("Ready"), of("Accepted"));
    Row {
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"]),
        version: text(&metadata["resourceVersion"]),
        reason: text(&ready["reason"]),
        message: text(&ready["message"]),
        ready_generation: ready["observedGeneration"].as_i64().unwrap_or_default(),
        accepted_generation: accepted["observedGeneration"].as_i64().unwrap_or_default(),
        conditions: conditions.len(),
    }
}

/// Looks until there is something to see.
///
/// # Errors
///
/// When there is nothing in time: `what` is named.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<T> {
    let begun = Instant::now();
    let mut last = None;
    while begun.elapsed() < PATIENCE {
        match look() {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(error) => last = Some(error),
        }
        sleep(LOOK);
    }
    let last = last.map_or_else(String::new, |error| format!("; the last error: {error:#}"));
    bail!("not within {} s: {what}{last}", PATIENCE.as_secs())
}

/// Looks at the table until it is so, and yields it.
///
/// # Errors
///
/// As [`until`].
pub(crate) fn wait_for(
    table: impl Fn() -> anyhow::Result<Vec<Row>>,
    what: &str,
    mut so: impl FnMut(&[Row]) -> bool,
) -> anyhow::Result<Vec<Row>> {
    until(what, || Ok(Some(table()?).filter(|rows| so(rows))))
}

/// Waits until every Binding has its result, says now and then how far it is, and yields the table.
///
/// # Errors
///
/// As [`until`].
pub(crate) fn settle(table: impl Fn() -> anyhow::Result<Vec<Row>>) -> anyhow::Result<Vec<Row>> {
    let all = expected::READY.len();
    let begun = Instant::now();
    let mut told = None;
    wait_for(table, "every Binding has its result", |rows| {
        let settled = rows.iter().filter(|row| !row.reason.is_empty() && !row.reason.contains("Pending")).count();
        if told.is_none_or(|told| settled >= told + 4 || (settled == all && told < all)) {
            tell::text(&format!("  after {:>2} s, {settled:>2} of {all} are settled", begun.elapsed().as_secs()));
            told = Some(settled);
        }
        settled == all
    })
}

/// Whether the Binding of this name is so.
pub(crate) fn is(rows: &[Row], name: &str, so: impl Fn(&Row) -> bool) -> bool {
    rows.iter().any(|row| row.name == name && so(row))
}

/// The Binding of this name.
///
/// # Errors
///
/// When there is none.
pub(crate) fn find<'r>(rows: &'r [Row], name: &str) -> anyhow::Result<&'r Row> {
    rows.iter().find(|row| row.name == name).with_context(|| format!("there is no Binding {name}"))
}
