//! `make demo`: the broker on one machine, with real agents, a Slack, a platform of somebody else's, and what goes wrong.
//!
//! It writes to a temporary folder only, prints a story and not a log, and ends with 1 when something that should be
//! in the table is not.

mod broker;
mod expected;
mod objects;
mod peers;
mod pigeon;
mod tell;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;

use broker::{Broker, Row};
use objects::Files;
use peers::Peers;

/// The longest that anything in the demo may take to become so.
const PATIENCE: Duration = Duration::from_secs(90);

fn main() -> ExitCode {
    let folder = match tempfile::Builder::new().prefix("agent-kourier-demo-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return failed(&error.into()),
    };
    match play(folder.path()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let kept = folder.keep();
            tell::text(&format!("\nThe broker's log, its files and settings are kept in {}", kept.display()));
            failed(&error)
        }
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("\nFAILED: {error:#}");
    ExitCode::FAILURE
}

fn play(folder: &std::path::Path) -> anyhow::Result<()> {
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let _inside = runtime.enter();

    tell::chapter("The peers", "Agents made with the official A2A SDKs, two Slack workspaces and a pigeon post.");
    let peers = runtime.block_on(Peers::start())?;
    tell::table(&peers.describe());

    tell::chapter(
        "A platform that the broker has never seen",
        "Pigeon Post is somebody else's platform. Its probe is one file of Rust (probes/examples/pigeon-post), built to \
         one component, put into the broker's folder of components. Nothing of the broker changes.",
    );
    let component = pigeon::build()?;
    let files = Files::write(folder, &peers, &component)?;
    broker::show(&["components", "--components", &files.components()])?;

    tell::chapter(
        "The broker starts",
        "It reads the objects of deploy/samples and says at once which Bindings it takes. What it takes is Pending until \
         its probes have looked.",
    );
    let broker = Broker::start(&files)?;
    broker.wait_for(PATIENCE, "every Binding is listed", |rows| rows.len() == expected::READY.len())?;
    broker.show(&["status"])?;

    tell::text("\nFour probes at a time, each for at most ten seconds:");
    settle(&broker)?;
    broker.show(&["status"])?;

    tell::chapter("What a reason means", "The same words as in the statuses, and what to do about it.");
    broker::show(&["explain", "BackendReachable:AgentNotFound"])?;
    broker::show(&["explain", "ChannelJoined:NotInChannel"])?;

    let seen = broker.rows()?;
    edits(&broker, &files)?;

    tell::chapter("What there was to see", "Each Binding, and the reason that its file promises.");
    expected::check(&seen)?;
    broker.stop()?;
    let took = begun.elapsed().as_secs();
    let (all, kinds) = (seen.len(), expected::kinds());
    tell::text(&format!(
        "{all} Bindings are as promised, with {kinds} different outcomes. The broker stopped cleanly."
    ));
    tell::text(&format!("{took} s in all."));
    Ok(())
}

/// Waits until nothing is Pending, and says now and then how far it is.
fn settle(broker: &Broker) -> anyhow::Result<()> {
    let begun = Instant::now();
    let mut told = usize::MAX;
    broker.wait_for(PATIENCE, "every Binding has its result", |rows| {
        let pending = rows.iter().filter(|row| row.reason.contains("Pending")).count();
        if pending < told && (told == usize::MAX || told - pending >= 4 || pending == 0) {
            tell::text(&format!(
                "  after {:>2} s, {:>2} of {} are settled",
                begun.elapsed().as_secs(),
                rows.len() - pending,
                rows.len()
            ));
            told = pending;
        }
        pending == 0
    })
}

/// One edit that is refused, and one that is taken and does not work.
fn edits(broker: &Broker, files: &Files) -> anyhow::Result<()> {
    let (badly, away) = ("edited-badly", "edited-away");
    tell::chapter(
        "An edit that is refused",
        "team-b/edited-badly works. Somebody writes the channel's name in place of its id.",
    );
    files.edit("channel: C031", "channel: \"#recipes\"")?;
    broker.wait_for(PATIENCE, "the refusal of generation 2", |rows| {
        is(rows, badly, |row| row.accepted_generation == 2)
    })?;
    broker.show(&["status", badly, "--output", "wide"])?;
    let row = find(&broker.rows()?, badly)?;
    anyhow::ensure!(row.message.contains("serving generation 1"), "{badly}: its message is {:?}", row.message);
    anyhow::ensure!(row.conditions == 4, "{badly} is no longer served: it has {} conditions", row.conditions);
    tell::text("It is told what is wrong, and its channel is served on as it was.");

    tell::chapter(
        "An edit that is taken, and does not work",
        "team-a/edited-away works. Somebody moves it to a path at which no agent lives: the broker cannot know that before \
         it has looked.",
    );
    files.edit("path: /agents/travel", "path: /agents/moved")?;
    broker.wait_for(PATIENCE, "the acceptance of generation 2", |rows| {
        is(rows, away, |row| row.accepted_generation == 2)
    })?;
    // Unless a pass began in the meantime: then there is nothing to show between the two.
    if is(&broker.rows()?, away, |row| row.ready_generation == 1) {
        tell::text("At once, the new spec is accepted, and the rest is still about the old one:");
        broker.show(&["status", away])?;
    }
    broker.wait_for(PATIENCE, "the probe of generation 2", |rows| {
        is(rows, away, |row| row.ready_generation == 2 && row.reason == "BackendReachable:AgentNotFound")
    })?;
    tell::text("After the next pass:");
    broker.show(&["status", away, "--output", "wide"])
}

fn is(rows: &[Row], name: &str, so: impl Fn(&Row) -> bool) -> bool {
    rows.iter().any(|row| row.name == name && so(row))
}

fn find(rows: &[Row], name: &str) -> anyhow::Result<Row> {
    rows.iter().find(|row| row.name == name).cloned().with_context(|| format!("there is no Binding {name}"))
}
