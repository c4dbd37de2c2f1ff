//! How often something is written: never without a change, and never sooner than a gap after the last time.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use kourier_kube::api::parse_rfc3339;
use serde_json::json;
use suite::cluster::{BOT, QUICK, World};
use suite::slack::Channel;

/// Everything that a watch on the Bindings of the world's namespace sees, with the time.
struct Watched {
    child: std::process::Child,
    events: mpsc::Receiver<(Instant, String)>,
}

impl Watched {
    fn new(world: &World) -> Self {
        let args = [
            "--namespace",
            &world.namespace,
            "get",
            "akbinding",
            "--watch-only",
            "--output-watch-events",
            "--output=jsonpath={.type} {.object.metadata.name} {.object.status}{'\\n'}",
        ];
        let mut child = world.cluster.kubectl().command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, events) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Self { child, events }
    }

    /// The events up to the next one that `is` one, that one included.
    ///
    /// # Panics
    ///
    /// When it does not come.
    fn until(&self, is: impl Fn(&str) -> bool) -> Vec<(Instant, String)> {
        let mut seen = Vec::new();
        loop {
            let event = self.events.recv_timeout(Duration::from_secs(60)).expect("the watch sees the event");
            let found = is(&event.1);
            seen.push(event);
            if found {
                return seen;
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bindings of the steady state.
const CROWD: usize = 200;

/// Makes many Bindings, each with a channel of its own.
fn crowd(world: &World) {
    let names = || (0..CROWD).map(|number| (format!("chat-{number}"), format!("C9{number:03}")));
    world.slack.change(|workspace| {
        for (_, channel) in names() {
            workspace.channels.insert(channel, Channel::of(&[BOT]));
        }
    });
    let binding = |(name, channel): (String, String)| {
        json!({
            "apiVersion": "agentkourier.io/v1alpha1", "kind": "Binding",
            "metadata": {"namespace": world.namespace, "name": name},
            "spec": {"agent": {"backendRef": {"name": "agents"}},
                "chat": {"connectionRef": {"name": "slack"}, "channel": channel}},
        })
    };
    let list = json!({"apiVersion": "v1", "kind": "List", "items": names().map(binding).collect::<Vec<_>>()});
    world.cluster.kubectl().apply(&list.to_string()).unwrap();
}

#[test]
fn in_a_steady_state_a_watch_sees_no_event() {
    let Some(world) = World::or_skip("in_a_steady_state_a_watch_sees_no_event") else { return };
    crowd(&world);
    // Each Binding is probed in each pass: ten minutes of the usual rhythm, in which it is probed twice, take seconds.
    let quick = QUICK
        .replace("passGap: 500ms", "passGap: 500ms, interval: 1s")
        .replace("gap: 500ms, cap", "spacing: 5ms, gap: 500ms, cap");
    let replica = world.replica(&world.admin(), &quick);
    let mut broker = replica.start();
    world.wait("all are Ready", || {
        let reasons = "--output=jsonpath={.items[*].status.conditions[?(@.type=='Ready')].reason}";
        let reasons = world.kubectl(&["get", "akbinding", reasons]);
        let ready = reasons.split_whitespace().filter(|reason| *reason == "OK").count();
        (ready == CROWD).then_some(())
    });
    let watched = Watched::new(&world);
    // The watch is known to see what happens: an edit of another Binding, before and after.
    world.binding("before", "nowhere", "C1");
    watched.until(|event| event.contains(" before ") && event.contains("BackendNotFound"));
    let probes = |broker: &suite::broker::Broker| -> usize {
        let (_, metrics) = broker.get("/metrics").unwrap_or_default();
        let counts =
            metrics.lines().filter(|line| line.starts_with("agentkourier_binding_probe_duration_seconds_count"));
        counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok()).sum()
    };
    let begun = probes(&broker);
    broker.wait("each Binding was probed twice more", |broker| (probes(broker) >= begun + 2 * 2 * CROWD).then_some(()));
    world.binding("after", "nowhere", "C2");
    let seen = watched.until(|event| event.contains(" after ") && event.contains("BackendNotFound"));
    let of_crowd = |event: &str| event.split(' ').nth(1).is_some_and(|name| name.starts_with("chat-"));
    let others: Vec<_> = seen.iter().filter(|(_, event)| of_crowd(event)).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn no_two_writes_of_a_binding_are_within_the_gap_of_the_first() {
    let Some(world) = World::or_skip("no_two_writes_of_a_binding_are_within_the_gap_of_the_first") else { return };
    let replica = world.replica(&world.admin(), &QUICK.replace("gap: 500ms", "gap: 2s"));
    let _broker = replica.start();
    let watched = Watched::new(&world);
    world.binding("chat", "agents", "C1");
    let mut writes: Vec<(Instant, String)> = Vec::new();
    while writes.len() < 4 {
        // An edit of the spec is an event as well, with the status that stood.
        let known = writes.last().map(|(_, status)| status.clone()).unwrap_or_default();
        let is_write = |event: &str| event.contains("lastTransitionTime") && event != known;
        writes.extend(watched.until(is_write).pop());
        // So that the next write has something to say.
        world.binding("chat", "agents", &format!("C{}", writes.len() + 1));
    }
    for pair in writes.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        // The watch tells of a write a little after its end.
        assert!(gap > Duration::from_millis(1800), "{gap:?} between {pair:?}");
    }
}

#[test]
fn an_edit_is_accepted_within_20_seconds_by_the_usual_rhythm() {
    let Some(world) = World::or_skip("an_edit_is_accepted_within_20_seconds_by_the_usual_rhythm") else { return };
    world.binding("chat", "nowhere", "C1");
    let replica = world.replica(&world.admin(), "");
    let _broker = replica.start();
    // Right after a write, the next one has the whole gap to wait.
    world.wait_for_reason("chat", "Accepted:BackendNotFound");
    world.binding("chat", "agents", "C1");
    world.wait("the edit is accepted", || {
        (world.condition("chat", "Accepted")["observedGeneration"] == 2).then_some(())
    });
    let took = last_written(&world, "status") - last_written(&world, "");
    assert!(took < 20, "{took} s");
    assert!(took > 5, "{took} s: the gap was not kept, or the first write was not seen in time");
}

/// When the API server last took a change of this part of the Binding, in seconds since 1970: by the managed fields.
fn last_written(world: &World, subresource: &str) -> i64 {
    let text = world.kubectl(&["get", "akbinding", "chat", "--show-managed-fields", "--output=json"]);
    let binding: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entries = binding["metadata"]["managedFields"].as_array().unwrap();
    let of_part = entries.iter().filter(|entry| entry["subresource"].as_str().unwrap_or_default() == subresource);
    of_part.map(|entry| parse_rfc3339(entry["time"].as_str().unwrap()).unwrap().0).max().unwrap()
}
