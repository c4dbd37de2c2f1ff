//! The story on an API server: the chart, two replicas, and what kubectl tells of Bindings.

mod replicas;
mod terminal;

use std::time::Instant;

use anyhow::{bail, ensure};

use crate::expected;
use crate::objects::{Folder, OBJECTS, SECRETS, sample};
use crate::rows::{self, Row, find, is, until};
use crate::scene::{Scene, programs};
use crate::tell;
use replicas::{Given, Replica};
use terminal::Terminal;

/// Tells it.
///
/// # Errors
///
/// When something is not as promised.
pub(crate) fn play(folder: &Folder) -> anyhow::Result<Scene> {
    tell::chapter(
        "A cluster",
        "etcd and kube-apiserver, the real ones, on loopback. There is no kubelet: what would be the chart's pods are two \
         processes of this machine.",
    );
    let terminal = Terminal::open(folder)?;
    terminal.show("kubectl version")?;
    install(&terminal)?;
    let (leader, standby) = start(&terminal, folder)?;
    apply(&terminal, folder)?;
    edit_and_wait(&terminal, folder)?;
    edit_badly(&terminal, folder)?;
    fail_over(&terminal, leader, &standby)?;
    ask_why(&terminal)?;
    scene(terminal, standby, folder)
}

fn scene(terminal: Terminal, last: Replica, folder: &Folder) -> anyhow::Result<Scene> {
    let kubeconfig = format!("export KUBECONFIG={}", terminal.cluster().kubeconfig().display());
    let metrics = format!("curl -s http://{}/metrics | grep 'agentkourier_binding_conditions.* [1-9]'", last.admin);
    let log = format!("tail -f {}.log", last.name);
    let tries = [
        &kubeconfig,
        "kubectl get akbinding -A",
        "kubectl kourier status --output wide",
        "kubectl kourier why team-a/not-invited",
        "agent-kourier explain ChannelJoined:NotInChannel",
        &metrics,
        "sed -i 's/\"#recipes\"/C031/' objects/edited.yaml  # mends edited-badly; any edit will do",
        "kubectl apply -f objects/edited.yaml",
        "kubectl kourier status team-b/edited-badly --watch",
        &log,
    ];
    let path = format!("{}:{}", terminal.programs()?, programs()?);
    Ok(Scene::new((&path, folder.path()), &tries, Box::new(move || stop(&terminal, last))))
}

fn install(terminal: &Terminal) -> anyhow::Result<()> {
    tell::chapter(
        "The chart",
        "Two teams have a namespace each, and the broker gets one. It may read the Secrets that the values name, and list \
         none.",
    );
    terminal.show("kubectl create namespace team-a")?;
    terminal.show("kubectl create namespace team-b")?;
    tell::typed("cat deploy/samples/values.yaml");
    tell::text(sample("values.yaml")?.trim_end());
    let line = "helm install agent-kourier deploy/chart/agent-kourier --namespace agent-kourier --create-namespace \
                --values deploy/samples/values.yaml";
    tell::typed(line);
    let said = terminal.read(line)?;
    let matters = ["NAME:", "STATUS:", "The broker ", "team-a:"];
    let lines = said.lines().filter(|line| matters.iter().any(|start| line.trim_start().starts_with(start)));
    lines.for_each(tell::text);
    tell::text("(and what to do next)");
    terminal.show("kubectl -n agent-kourier get deployment")
}

/// Starts both replicas, and yields the one that leads, and the other.
fn start(terminal: &Terminal, folder: &Folder) -> anyhow::Result<(Replica, Replica)> {
    tell::chapter(
        "Two replicas",
        "Each bears a token of the chart's service account. settings.yaml is the file of the chart's ConfigMap, as it \
         stands; on the command line is what only this machine has: a folder instead of a volume, two admin ports, and \
         agents on loopback, which the chart lets no broker reach.",
    );
    let given = Given::take(terminal, folder)?;
    let (first, second) = (given.start("agent-kourier-0", folder)?, given.start("agent-kourier-1", folder)?);
    let first_leads = until("one replica leads", || {
        let both = (first.leads()?, second.leads()?);
        Ok((both.0 != both.1).then_some(both.0))
    })?;
    let (leader, standby) = if first_leads { (first, second) } else { (second, first) };
    terminal.show("kubectl -n agent-kourier get lease")?;
    tell::text(&format!(
        "{} leads: it probes and writes. {} reads and judges the same, and waits.",
        leader.name, standby.name
    ));
    Ok((leader, standby))
}

fn apply(terminal: &Terminal, folder: &Folder) -> anyhow::Result<()> {
    tell::chapter(
        "The objects",
        "The same as in `make demo`: those of deploy/samples. A Binding has no status until the leader has written one.",
    );
    let secrets = SECRETS.map(|(name, key, value)| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{namespace: team-a, name: {name}}}\nstringData: {{{key}: {value}}}\n")
    });
    folder.put("secrets.yaml", &secrets.join("---\n"))?;
    terminal.show("kubectl apply -f secrets.yaml")?;
    let files = OBJECTS.map(|name| format!("-f objects/{name}.yaml")).join(" ");
    let line = format!("kubectl apply {files}");
    tell::typed(&line);
    tell::text(&format!("({} objects created)", terminal.read(&line)?.lines().count()));
    terminal.show("kubectl get akbinding -A")?;
    tell::text("\nFour probes at a time, each for at most ten seconds:");
    let seen = rows::settle(|| terminal.rows())?;
    terminal.show("kubectl get akbinding -A")?;
    expected::check(&seen)
}

/// An edit that works, and one that does not.
fn edit_and_wait(terminal: &Terminal, folder: &Folder) -> anyhow::Result<()> {
    let name = "edited-away";
    tell::chapter(
        "An edit, and a wait for it",
        "team-a/edited-away gets another agent. READY says True of the old spec still; kubectl knows which spec a condition \
         is about, and waits for the new one.",
    );
    let from = "agent: {backendRef: {name: travel}, path: /agents/travel}";
    folder.edit(from, "agent: {backendRef: {name: weather}}")?;
    terminal.read("kubectl apply -f objects/edited.yaml")?;
    let begun = Instant::now();
    terminal.show("kubectl -n team-a wait --for=condition=Ready akbinding/edited-away --timeout=120s")?;
    let row = find(&terminal.rows()?, name)?.clone();
    ensure!(row.ready_generation == 2, "kubectl wait ended at generation {} of {name}", row.ready_generation);
    tell::text(&format!("It took {:.1} s, and Ready is about generation 2.", begun.elapsed().as_secs_f32()));

    tell::chapter(
        "An edit that is taken, and does not work",
        "Somebody moves it to a path at which no agent lives: the broker cannot know that before it has looked.",
    );
    folder.edit("agent: {backendRef: {name: weather}}", "agent: {backendRef: {name: travel}, path: /agents/moved}")?;
    terminal.read("kubectl apply -f objects/edited.yaml")?;
    let line = "kubectl -n team-a get akbinding edited-away";
    // Unless a pass began in the meantime: then there is nothing to show between the two.
    if is(&terminal.rows()?, name, |row| row.ready_generation == 2) {
        tell::text("At once, READY is still about the old spec:");
        terminal.show(line)?;
    }
    rows::wait_for(
        || terminal.rows(),
        "the probe of generation 3",
        |rows| is(rows, name, |row| row.ready_generation == 3 && row.reason == "BackendReachable:AgentNotFound"),
    )?;
    tell::text("After the next pass:");
    terminal.show(line)?;
    let events = "kubectl -n team-a get events --field-selector involvedObject.name=edited-away";
    until("an Event tells of it", || Ok(terminal.read(events)?.contains("AgentNotFound").then_some(())))?;
    tell::text("\nWho describes it, or watches Events, was told:");
    terminal.show(events)
}

fn edit_badly(terminal: &Terminal, folder: &Folder) -> anyhow::Result<()> {
    let name = "edited-badly";
    tell::chapter(
        "An edit that is refused",
        "team-b/edited-badly works. Somebody writes the channel's name in place of its id, which no schema can know.",
    );
    folder.edit("channel: C031", "channel: \"#recipes\"")?;
    terminal.read("kubectl apply -f objects/edited.yaml")?;
    let rows = rows::wait_for(
        || terminal.rows(),
        "the refusal of generation 2",
        |rows| is(rows, name, |row| row.accepted_generation == 2 && row.ready_generation == 2),
    )?;
    terminal.show("kubectl -n team-b get akbinding edited-badly")?;
    let row = find(&rows, name)?;
    ensure!(row.message.contains("serving generation 1"), "{name}: its message is {:?}", row.message);
    ensure!(row.conditions == 4, "{name} is no longer served: it has {} conditions", row.conditions);
    tell::text("Its channel is served on as it was: generation 1 is kept beside it.");
    terminal.show("kubectl -n team-b get controllerrevisions")
}

/// Kills the leader, and looks at the statuses until the other replica has found out everything by itself.
fn fail_over(terminal: &Terminal, leader: Replica, standby: &Replica) -> anyhow::Result<()> {
    tell::chapter(
        "The leader dies",
        "It is killed, and can release nothing. Until its Lease has run out nobody leads, and the statuses stay as they are.",
    );
    let before = terminal.rows()?;
    tell::typed(&format!("kill -KILL {}  # {}", leader.process.id(), leader.name));
    leader.process.kill()?;
    let begun = Instant::now();
    let mut looks = 0;
    let quiet = until("the other replica leads", || {
        let rows = terminal.rows()?;
        if standby.leads()? {
            return Ok(Some(true));
        }
        // Nobody led when these were read.
        looks += 1;
        Ok(touched(&before, &rows).next().is_some().then_some(false))
    })?;
    ensure!(quiet, "a status was written while nobody led");
    ensure!(looks > 0, "there was no time without a leader");
    tell::text(&format!(
        "After {:.1} s {} leads. Until then all {} statuses were looked at {looks} times: none was written.",
        begun.elapsed().as_secs_f32(),
        standby.name,
        before.len()
    ));
    terminal.show("kubectl -n agent-kourier get lease")?;
    tell::text("\nIt lets a good status stand while it probes, and begins every other one anew, at Pending:");
    let after = rows::wait_for(
        || terminal.rows(),
        "the new leader has looked at all that does not work",
        |rows| {
            before
                .iter()
                .filter(|row| is_probed_and_not_ready(row))
                .all(|was| is(rows, &was.name, |row| row.version != was.version && row.reason == was.reason))
        },
    )?;
    let stood = before.iter().filter(|row| !is_probed_and_not_ready(row)).count();
    if let Some(row) = touched(&before, &after).find(|row| !is_probed_and_not_ready(row)) {
        bail!("{}/{} was {} and has been written", row.namespace, row.name, row.reason);
    }
    tell::text(&format!(
        "All {} Bindings say what they said, and of {stood} of them not a byte was written.",
        after.len()
    ));
    Ok(())
}

/// The Bindings that were written since, as they were.
fn touched<'r>(before: &'r [Row], now: &'r [Row]) -> impl Iterator<Item = &'r Row> {
    before.iter().filter(|was| !is(now, &was.name, |row| row.version == was.version))
}

/// Whether probes found that it does not work, or could not tell.
fn is_probed_and_not_ready(row: &Row) -> bool {
    row.reason.starts_with("BackendReachable:") || row.reason.starts_with("ChannelJoined:")
}

fn ask_why(terminal: &Terminal) -> anyhow::Result<()> {
    tell::chapter(
        "Why?",
        "The program is a plugin of kubectl too: it is in the PATH under the name kubectl-kourier. It says what holds a \
         Binding back, what to do, and who writes its status.",
    );
    for name in ["team-a/too-late", "team-a/not-invited", "team-b/edited-badly"] {
        let status = terminal.run(&format!("kubectl kourier why {name}"))?;
        ensure!(status.code() == Some(1), "why {name} ended with {status}, as if it were Ready");
    }
    terminal.show("kubectl kourier why team-a/recipes")
}

fn stop(terminal: &Terminal, last: Replica) -> anyhow::Result<()> {
    tell::chapter(
        "A clean end",
        "The last replica is told to stop: it releases the Lease, so that nobody has to wait.",
    );
    tell::typed(&format!("kill -TERM {}  # {}", last.process.id(), last.name));
    last.process.stop()?;
    terminal.show("kubectl -n agent-kourier get lease")?;
    let holder =
        terminal.read("kubectl -n agent-kourier get lease agent-kourier-default -o jsonpath={.spec.holderIdentity}")?;
    ensure!(holder.is_empty(), "{holder} holds the Lease still");
    Ok(())
}
