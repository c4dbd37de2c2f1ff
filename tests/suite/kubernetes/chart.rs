//! The chart's own account runs the broker: what the chart gives it is enough, and nothing of it is idle.
//!
//! The API server's audit log says what was asked. So the scenario makes everything happen that a right is for.

use kourier_test_cluster::{Call, Cluster, Kubectl, Tools, or_skip};
use serde_json::{Value, json};
use suite::broker::Broker;
use suite::cluster::{BOT, QUICK, World, condition_of};
use suite::release::{HOME, NAME, Release};

use super::leaders::leads;

mod rights;

/// A cluster, where there is a helm for it.
fn with_helm() -> anyhow::Result<Cluster> {
    Tools::find()?.helm()?;
    Cluster::start()
}

/// Values that open the world's Secret, for a broker of the world's name that is quick.
fn values(world: &World) -> Value {
    let mut settings: Value = serde_saphyr::from_str(QUICK).unwrap();
    settings["broker"] = json!(world.broker);
    // A change of the channel itself is seen at the next look, which by default is minutes away.
    settings["prober"]["interval"] = json!("1s");
    json!({"settings": settings, "secrets": {"access": [{"namespace": world.namespace, "names": ["slack"]}]}})
}

#[test]
fn the_rights_of_the_chart_suffice_and_each_of_them_is_used() {
    let test = "the_rights_of_the_chart_suffice_and_each_of_them_is_used";
    let Some(cluster) = or_skip(test, with_helm()) else { return };
    let release = Release::install(&cluster);
    let world = World::on(&cluster);
    let notes = release.upgrade(&values(&world));
    let account = release.account();
    until_in_force(&world, &cluster.kubectl().with(&account));

    let (first, second) = (release.replica(&account), release.replica(&account));
    let mut leader = first.start();
    leader.wait("the first leads", |broker| leads(broker).then_some(()));
    let mut standby = second.start();
    standby.wait("the standby is ready", |broker| broker.get("/ready").filter(|(status, _)| *status == 200));

    world.binding("chat", "agents", "C1");
    world.wait_for_reason("chat", "OK");
    the_notes_name_commands_that_work(&world, &notes);
    edit(&world);
    refuse(&world);
    leave_and_return(&world);
    meddle(&world);
    make_again(&world);
    drop(leader); // SIGKILL.
    standby.wait("the standby leads", |broker| leads(broker).then_some(()));
    // In the place of the killed one comes another. It knows of nothing but what is kept.
    let third = release.replica(&account);
    let mut successor = third.start();
    successor.wait("the successor is ready", |broker| broker.get("/ready").filter(|(status, _)| *status == 200));
    assert!(standby.terminate().success());
    successor.wait("the successor leads", |broker| leads(broker).then_some(()));
    follow(&world, successor);

    the_log_has_a_use_of_each_right_and_no_refusal(&cluster, &release);
}

fn the_log_has_a_use_of_each_right_and_no_refusal(cluster: &Cluster, release: &Release) {
    let all = cluster.audit().unwrap();
    let is_of_viewer =
        |call: &Call| call.user.ends_with(":viewer") && (call.verb.as_str(), call.code) == ("delete", 403);
    assert!(all.iter().any(is_of_viewer), "the log has no refusals");
    let user = release.user();
    let calls: Vec<Call> = all.into_iter().filter(|call| call.user == user).collect();
    let refused: Vec<_> = calls.iter().filter(|call| matches!(call.code, 401 | 403)).collect();
    assert!(refused.is_empty(), "a right is missing: {refused:#?}");
    let rights = rights::of_account(cluster.kubectl(), HOME, NAME);
    assert!(rights.len() > 20, "the chart's roles are not bound to its account: {rights:?}");
    let unused: Vec<_> = rights.iter().filter(|right| !calls.iter().any(|call| right.covers(call))).collect();
    assert!(unused.is_empty(), "nothing uses these rights: {unused:#?}");
}

/// The API server knows of new roles a moment after they are made.
fn until_in_force(world: &World, account: &Kubectl) {
    let args = ["auth", "can-i", "get", "secret/slack", "--namespace", &world.namespace];
    world.wait("the roles are in force", || account.ok(&args).is_ok().then_some(()));
}

/// The revision of the last good spec of an object as it is now, once it is there.
fn kept(world: &World, kind: &str, name: &str) -> Value {
    let object: Value = serde_json::from_str(&world.kubectl(&["get", kind, name, "--output=json"])).unwrap();
    let is_of_it = |revision: &Value| {
        revision["metadata"]["ownerReferences"][0]["uid"] == object["metadata"]["uid"]
            && revision["revision"] == object["metadata"]["generation"]
    };
    world.wait(&format!("the spec of {kind} {name} is kept"), || revisions(world).into_iter().find(is_of_it))
}

fn revisions(world: &World) -> Vec<Value> {
    let list: Value = serde_json::from_str(&world.kubectl(&["get", "controllerrevisions", "--output=json"])).unwrap();
    list["items"].as_array().unwrap().clone()
}

/// Makes a revision as it is, but for what the API server adds.
fn make(world: &World, revision: &Value) {
    let mut revision = revision.clone();
    for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        revision["metadata"].as_object_mut().unwrap().remove(key);
    }
    let made = world.cluster.kubectl().run_with(&["create", "--filename=-"], &revision.to_string()).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// An edit, of which another replica, that led and died since this one looked, has made the revision. It is taken for
/// what it is, and the one before it is removed.
fn edit(world: &World) {
    let first = kept(world, "akbinding", "chat");
    let name = first["metadata"]["name"].as_str().unwrap().to_owned();
    let mut second = first.clone();
    second["metadata"]["name"] = json!(format!("{}-2", name.strip_suffix("-1").unwrap()));
    second["revision"] = json!(2);
    second["data"]["spec"]["chat"]["channel"] = json!("C2");
    make(world, &second);
    let before =
        revisions(world).into_iter().find(|revision| revision["metadata"]["name"] == second["metadata"]["name"]);
    world.binding("chat", "agents", "C2");
    world.wait_for_reason("chat", "OK");
    world.wait("the older revision is removed", || {
        (!revisions(world).iter().any(|revision| revision["metadata"]["name"] == first["metadata"]["name"]))
            .then_some(())
    });
    assert_eq!(kept(world, "akbinding", "chat"), before.unwrap(), "it was made again");
}

/// An edit that is refused, and one that mends it.
fn refuse(world: &World) {
    world.binding("chat", "agents", "#general");
    world.wait("the edit is refused", || {
        let accepted = world.condition("chat", "Accepted");
        accepted["message"].as_str()?.contains("generation 3 is invalid, serving generation 2").then_some(())
    });
    world.binding("chat", "agents", "C2");
    world.wait_for_reason("chat", "OK");
}

/// The bot leaves the channel and is invited again, twice: the second time is a repetition of an Event.
fn leave_and_return(world: &World) {
    for _ in 0..2 {
        assert!(world.slack.kick("C2", BOT));
        world.wait_for_reason("chat", "ChannelJoined:NotInChannel");
        assert!(world.slack.invite("C2", BOT));
        world.wait_for_reason("chat", "OK");
    }
    world.wait("the Event was repeated", || {
        let list: Value =
            serde_json::from_str(&world.kubectl(&["get", "events.events.k8s.io", "--output=json"])).unwrap();
        let events = list["items"].as_array().unwrap().iter();
        let mut of_it = events.filter(|event| event["reason"] == "ChannelJoined:NotInChannel");
        of_it.any(|event| event["series"]["count"] == 2).then_some(())
    });
}

/// Somebody else removes the conditions.
fn meddle(world: &World) {
    let patch = json!({"status": {"conditions": [], "observedGeneration": 0}}).to_string();
    let args = ["patch", "akbinding", "chat", "--subresource=status", "--type=merge", "--patch", &patch];
    let _ = world.kubectl(&args);
    world.wait_for_reason("chat", "OK");
}

const KINDS: [(&str, &str); 3] = [("akbinding", "chat"), ("akbackend", "agents"), ("akconnection", "slack")];

/// Everything is deleted and made again, and nobody collects the revisions of what was. Here is no garbage collector; but
/// the leader may have removed them itself, sooner than one that is slow.
fn make_again(world: &World) {
    let of_before: Vec<Value> = KINDS.iter().map(|(kind, name)| kept(world, kind, name)).collect();
    for (kind, name) in KINDS {
        let _ = world.kubectl(&["delete", kind, name]);
    }
    world.connection("slack", &world.slack.url());
    world.backend("agents", &world.agent.url());
    world.binding("chat", "agents", "C1");
    world.wait_for_reason("chat", "OK");
    for (kind, name) in KINDS {
        let _ = kept(world, kind, name);
    }
    let left = revisions(world);
    let is_left =
        |revision: &&Value| left.iter().any(|there| there["metadata"]["name"] == revision["metadata"]["name"]);
    for revision in of_before.iter().filter(|revision| !is_left(revision)) {
        make(world, revision);
    }
}

/// A leader that found revisions of two objects of one name goes by those of the one that lives.
fn follow(world: &World, leader: Broker) {
    world.binding("chat", "agents", "#general");
    world.wait("the edit is refused", || {
        let binding = world.get("chat");
        let says = condition_of(&binding, "Accepted")["message"].as_str()?.to_owned();
        says.contains("generation 2 is invalid, serving generation 1").then_some(())
    });
    world.binding("chat", "agents", "C3");
    world.wait_for_reason("chat", "OK");
    assert!(leader.terminate().success());
}

/// What helm says to type next works, for somebody who may look and nothing else where that is enough.
fn the_notes_name_commands_that_work(world: &World, notes: &str) {
    let account = world.cluster.service_account(&world.namespace, "viewer").unwrap();
    let admin = world.cluster.kubectl();
    aggregate_view(admin);
    let viewer = format!("--serviceaccount={}:viewer", world.namespace);
    admin.ok(&["create", "clusterrolebinding", "viewer", "--clusterrole=view", &viewer]).unwrap();

    let typed = notes.lines().filter_map(|line| line.trim().strip_prefix("kubectl "));
    let typed: Vec<Vec<&str>> = typed.map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(typed.len(), 3, "{notes}");
    // No controller makes pods: whether the names are right is all that can be seen.
    admin.ok(&[typed[0].as_slice(), &["--watch=false"]].concat()).unwrap();
    admin.ok(&typed[1]).unwrap();
    let viewer = admin.with(&account);
    let table = world.wait("who may view sees the Bindings", || viewer.ok(&typed[2]).ok());
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..5], [&world.namespace, "chat", "True", "OK", "C1"], "{table}");
    assert!(viewer.ok(&["delete", "akbinding", "chat", "--namespace", &world.namespace]).is_err());
}

/// Fills the role `view` as a cluster's own controller does: with the rules of all roles that its selectors choose.
fn aggregate_view(kubectl: &Kubectl) {
    let view: Value =
        serde_json::from_str(&kubectl.ok(&["get", "clusterrole", "view", "--output=json"]).unwrap()).unwrap();
    let selectors = view["aggregationRule"]["clusterRoleSelectors"].as_array().unwrap();
    let is_chosen = |role: &Value| {
        let has = |(key, value): (&String, &Value)| role["metadata"]["labels"][key] == *value;
        selectors.iter().any(|selector| selector["matchLabels"].as_object().unwrap().iter().all(has))
    };
    let roles = rights::listed(kubectl, "clusterroles");
    let rules: Vec<&Value> =
        roles.iter().filter(|role| is_chosen(role)).flat_map(|role| role["rules"].as_array().unwrap()).collect();
    let patch = json!({"rules": rules}).to_string();
    kubectl.ok(&["patch", "clusterrole", "view", "--type=merge", "--patch", &patch]).unwrap();
}
