//! How often something is written: never without a change, and never sooner than a gap after the last time.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use suite::cluster::{QUICK, World};

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

#[test]
fn in_a_steady_state_a_watch_sees_no_event() {
    let Some(world) = World::or_skip("in_a_steady_state_a_watch_sees_no_event") else { return };
    for number in 1..=9 {
        world.binding(&format!("chat-{number}"), "agents", &format!("C{number}"));
    }
    // A probe of each Binding is made each second: 10 minutes of the usual rhythm pass in two seconds.
    let quick = QUICK.replace("passGap: 500ms", "passGap: 500ms, interval: 1s");
    let replica = world.replica(&world.admin(), &quick);
    let mut broker = replica.start();
    for number in 1..=9 {
        world.wait_for_reason(&format!("chat-{number}"), "OK");
    }
    let watched = Watched::new(&world);
    // The watch is known to see what happens: an edit of another Binding, before and after.
    world.binding("before", "nowhere", "C1");
    let _ = watched.until(|event| event.contains(" before ") && event.contains("BackendNotFound"));
    let probes = |broker: &suite::broker::Broker| -> u64 {
        let (_, metrics) = broker.get("/metrics").unwrap_or_default();
        let counts =
            metrics.lines().filter(|line| line.starts_with("agentkourier_binding_probe_duration_seconds_count"));
        counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
    };
    let begun = probes(&broker);
    broker.wait("each Binding was probed three times more", |broker| (probes(broker) >= begun + 3 * 18).then_some(()));
    world.binding("after", "nowhere", "C1");
    let seen = watched.until(|event| event.contains(" after ") && event.contains("BackendNotFound"));
    let of_chats = |event: &str| event.split(' ').nth(1).is_some_and(|name| name.starts_with("chat-"));
    let others: Vec<_> = seen.iter().filter(|(_, event)| of_chats(event)).collect();
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
    let edited = Instant::now();
    world.wait("the edit is accepted", || {
        (world.condition("chat", "Accepted")["observedGeneration"] == 2).then_some(())
    });
    let took = edited.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(took > Duration::from_secs(5), "{took:?}: the gap was not kept, or the first write was not seen in time");
}
