//! `make demo` and `make demo-kubernetes`: the broker on one machine, with real agents, a Slack, a platform of somebody
//! else's, and what goes wrong. Its objects are files, or in a cluster.
//!
//! It writes to a temporary folder only, prints a story and not a log, and ends with 1 when something is not as the
//! story says. What the story was about is gone then, unless it is to be kept up.

mod broker;
mod expected;
mod files;
mod kubernetes;
mod objects;
mod peers;
mod pigeon;
mod process;
mod rows;
mod scene;
mod tell;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use objects::Folder;
use peers::Peers;
use scene::Scene;

/// What is told once the peers are there.
type Story = fn(&Folder) -> anyhow::Result<Scene>;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    /// On an API server.
    cluster: bool,
    /// What stands at the end stays up until Ctrl-C.
    keep: bool,
}

impl Asked {
    fn of(arguments: &[&str]) -> Option<Self> {
        let (cluster, rest) = match arguments {
            ["kubernetes", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        match rest {
            [] => Some(Self { cluster, keep: false }),
            ["keep"] => Some(Self { cluster, keep: true }),
            _ => None,
        }
    }

    fn story(&self) -> Story {
        if self.cluster { kubernetes::play } else { files::play }
    }

    /// The command that keeps up what stands at the end.
    fn to_keep(&self) -> &'static str {
        if self.cluster { "make demo-kubernetes KEEP=1" } else { "make demo KEEP=1" }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(asked) = Asked::of(&arguments) else {
        eprintln!("usage: demo [kubernetes] [keep]");
        return ExitCode::from(2);
    };
    let folder = match tempfile::Builder::new().prefix("agent-kourier-demo-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return failed(&error.into()),
    };
    // What the harness puts into a temporary folder is a key or a token, too: it ends with this one.
    if tempfile::env::override_temp_dir(folder.path()).is_err() {
        return failed(&anyhow::anyhow!("another temporary folder is in use"));
    }
    match play(folder.path(), &asked) {
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

fn play(folder: &Path, asked: &Asked) -> anyhow::Result<()> {
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let _inside = runtime.enter();
    let interrupted = runtime.spawn(end_when_interrupted(folder.to_owned()));

    tell::chapter("The peers", "Agents made with the official A2A SDKs, two Slack workspaces and a pigeon post.");
    let peers = runtime.block_on(Peers::start())?;
    tell::table(&Peers::describe());

    tell::chapter(
        "A platform that the broker has never seen",
        "Pigeon Post is somebody else's platform. Its probe is one file of Rust (probes/examples/pigeon-post), built to \
         one component, put into the broker's folder of components. Nothing of the broker changes.",
    );
    let folder = Folder::write(folder, &peers, &pigeon::build()?)?;
    broker::show(&folder, &["components", "--components", "components"])?;

    let scene = asked.story()(&folder)?;
    let (scene, ended) = if asked.keep {
        (Some(scene), "")
    } else {
        scene.end()?;
        (None, " The broker stopped cleanly.")
    };

    tell::chapter("What there was to see", "Each Binding, and the reason that its file promises.");
    let (all, kinds) = (expected::READY.len(), expected::kinds());
    tell::text(&format!("{all} Bindings are as promised, with {kinds} different outcomes.{ended}"));
    tell::text(&format!("{} s in all.", begun.elapsed().as_secs()));
    let Some(scene) = scene else {
        tell::text(&format!("Nothing of it runs any more: `{}` keeps it up, to try more.", asked.to_keep()));
        return Ok(());
    };
    tell::chapter("It stays up", "Until Ctrl-C. These are the peers, and what to try in another terminal:");
    tell::table(&peers.addresses());
    interrupted.abort();
    runtime.block_on(scene.stay())
}

/// Ends the program when it is interrupted, with its children, and leaves no credential behind.
async fn end_when_interrupted(folder: PathBuf) {
    if process::interrupted().await.is_err() {
        return;
    }
    tell::text("\nIt was interrupted.");
    process::end_children();
    // A child that ends may write once more.
    while folder.exists() && std::fs::remove_dir_all(&folder).is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    std::process::exit(130);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_is_of_files_or_of_a_cluster_and_may_be_kept() {
        let asked = |cluster, keep| Some(Asked { cluster, keep });
        assert_eq!(Asked::of(&[]), asked(false, false));
        assert_eq!(Asked::of(&["keep"]), asked(false, true));
        assert_eq!(Asked::of(&["kubernetes"]), asked(true, false));
        assert_eq!(Asked::of(&["kubernetes", "keep"]), asked(true, true));
        assert_eq!(Asked::of(&["keep", "kubernetes"]), None);
    }
}
