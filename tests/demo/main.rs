//! `make demo` and `make demo-kubernetes`: the broker on one machine, with real agents, a Slack, a platform of somebody
//! else's, and what goes wrong. Its objects are files, or in a cluster.
//!
//! It writes to a temporary folder only, prints a story and not a log, and ends with 1 when something is not as the
//! story says.

mod broker;
mod expected;
mod files;
mod kubernetes;
mod objects;
mod peers;
mod pigeon;
mod process;
mod rows;
mod tell;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use objects::Folder;
use peers::Peers;

/// What is told once the scene is set.
type Story = fn(&Folder) -> anyhow::Result<()>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let story: Story = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => files::play,
        ["kubernetes"] => kubernetes::play,
        _ => {
            eprintln!("usage: demo [kubernetes]");
            return ExitCode::from(2);
        }
    };
    let folder = match tempfile::Builder::new().prefix("agent-kourier-demo-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return failed(&error.into()),
    };
    match play(folder.path(), story) {
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

fn play(folder: &Path, story: Story) -> anyhow::Result<()> {
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
    let folder = Folder::write(folder, &peers, &pigeon::build()?)?;
    broker::show(&["components", "--components", &folder.file("components")])?;

    story(&folder)?;

    tell::chapter("What there was to see", "Each Binding, and the reason that its file promises.");
    let (all, kinds) = (expected::READY.len(), expected::kinds());
    tell::text(&format!(
        "{all} Bindings are as promised, with {kinds} different outcomes. The broker stopped cleanly."
    ));
    tell::text(&format!("{} s in all.", begun.elapsed().as_secs()));
    Ok(())
}
