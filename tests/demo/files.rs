//! The story without a cluster: one broker, and a folder of manifests.

use anyhow::ensure;

use crate::broker::{self, Broker};
use crate::expected;
use crate::objects::Folder;
use crate::rows::{self, find, is};
use crate::scene::{Scene, programs};
use crate::tell;

/// Tells it.
///
/// # Errors
///
/// When something is not as promised.
pub(crate) fn play(folder: &Folder) -> anyhow::Result<Scene> {
    tell::chapter(
        "The broker starts",
        "It reads the objects of deploy/samples and says at once which Bindings it takes. What it takes is Pending until \
         its probes have looked.",
    );
    let broker = Broker::start(folder)?;
    broker.wait_for("every Binding is listed", |rows| rows.len() == expected::READY.len())?;
    broker.show(&["status"])?;

    tell::text("\nFour probes at a time, each for at most ten seconds:");
    let seen = rows::settle(|| broker.rows())?;
    broker.show(&["status"])?;
    expected::check(&seen)?;

    tell::chapter("What a reason means", "The same words as in the statuses, and what to do about it.");
    broker::show(folder, &["explain", "BackendReachable:AgentNotFound"])?;
    broker::show(folder, &["explain", "ChannelJoined:NotInChannel"])?;

    edits(&broker, folder)?;
    scene(broker, folder)
}

fn scene(broker: Broker, folder: &Folder) -> anyhow::Result<Scene> {
    let address = format!("export AGENT_KOURIER_ADMIN={}", broker.admin());
    let tries = [
        &address,
        "agent-kourier status",
        "agent-kourier status team-a/not-invited --output wide",
        "agent-kourier explain ChannelJoined:NotInChannel",
        "curl -s http://$AGENT_KOURIER_ADMIN/metrics | grep 'agentkourier_binding_conditions.* [1-9]'",
        "sed -i 's/\"#recipes\"/C031/' objects/edited.yaml  # mends edited-badly; any edit will do",
        "agent-kourier status edited-badly --watch",
        "tail -f broker.log",
    ];
    Ok(Scene::new((&programs()?, folder.path()), &tries, Box::new(|| broker.stop())))
}

/// One edit that is refused, and one that is taken and does not work.
fn edits(broker: &Broker, folder: &Folder) -> anyhow::Result<()> {
    let (badly, away) = ("edited-badly", "edited-away");
    tell::chapter(
        "An edit that is refused",
        "team-b/edited-badly works. Somebody writes the channel's name in place of its id.",
    );
    folder.edit("channel: C031", "channel: \"#recipes\"")?;
    let rows =
        broker.wait_for("the refusal of generation 2", |rows| is(rows, badly, |row| row.accepted_generation == 2))?;
    broker.show(&["status", badly, "--output", "wide"])?;
    let row = find(&rows, badly)?;
    ensure!(row.message.contains("serving generation 1"), "{badly}: its message is {:?}", row.message);
    ensure!(row.conditions == 4, "{badly} is no longer served: it has {} conditions", row.conditions);
    tell::text("It is told what is wrong, and its channel is served on as it was.");

    tell::chapter(
        "An edit that is taken, and does not work",
        "team-a/edited-away works. Somebody moves it to a path at which no agent lives: the broker cannot know that before \
         it has looked.",
    );
    folder.edit("path: /agents/travel", "path: /agents/moved")?;
    broker.wait_for("the acceptance of generation 2", |rows| is(rows, away, |row| row.accepted_generation == 2))?;
    // Unless a pass began in the meantime: then there is nothing to show between the two.
    if is(&broker.rows()?, away, |row| row.ready_generation == 1) {
        tell::text("At once, the new spec is accepted, and the rest is still about the old one:");
        broker.show(&["status", away])?;
    }
    broker.wait_for("the probe of generation 2", |rows| {
        is(rows, away, |row| row.ready_generation == 2 && row.reason == "BackendReachable:AgentNotFound")
    })?;
    tell::text("After the next pass:");
    broker.show(&["status", away, "--output", "wide"])
}
