//! The whole program on a folder: what it serves, what it says of what it cannot serve, and how it stops.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use suite::broker::{Broker, Setup, exchange, program};

/// An AgentBackend at this URL.
fn backend(name: &str, url: &str) -> String {
    format!(
        "apiVersion: agentkourier.io/v1alpha1\nkind: AgentBackend\nmetadata: {{namespace: team-a, name: {name}}}\n\
         spec: {{url: \"{url}\"}}\n"
    )
}

/// A Slack connection whose API nobody serves.
fn connection(name: &str) -> String {
    format!(
        "apiVersion: agentkourier.io/v1alpha1\nkind: ChatConnection\nmetadata: {{namespace: team-a, name: {name}}}\n\
         spec: {{platform: slack, url: \"http://127.0.0.1:9\", secretRef: {{name: slack, key: token}}}}\n"
    )
}

/// A Binding of this channel.
fn binding(name: &str, backend: &str, channel: &str) -> String {
    format!(
        "apiVersion: agentkourier.io/v1alpha1\nkind: Binding\nmetadata: {{namespace: team-a, name: {name}}}\n\
         spec: {{agent: {{backendRef: {{name: {backend}}}}}, \
         chat: {{connectionRef: {{name: slack}}, channel: {channel}}}}}\n"
    )
}

/// A folder with a Slack connection, its credential and a backend.
fn setup() -> Setup {
    let setup = Setup::new();
    setup.settings("prober: {startDelay: 0s, lookInterval: 1s, passGap: 1s}\negress: {allowLoopback: true}");
    setup.manifest("slack.yaml", &connection("slack"));
    setup.secret("team-a", "slack", "token", "xoxb-not-a-token\n");
    setup.manifest("agents.yaml", &backend("agents", "http://127.0.0.1:9"));
    setup
}

fn ready_within(broker: &mut Broker, name: &str) -> serde_json::Value {
    broker.wait(&format!("{name} has a status"), |broker| broker.ready("team-a", name))
}

#[test]
fn the_first_statuses_are_there_long_before_the_first_probe() {
    let setup = setup();
    setup.settings("prober: {startDelay: 10m}");
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    setup.manifest("lost.yaml", &binding("lost", "nowhere", "C3"));
    let mut broker = setup.start();
    assert_eq!(ready_within(&mut broker, "chat")["reason"], "Pending");
    let lost = ready_within(&mut broker, "lost");
    assert_eq!(lost["reason"], "Accepted:BackendNotFound");
    assert_eq!(lost["status"], "False");
    assert_eq!(broker.get("/ready").map(|(status, _)| status), Some(200));
    assert_eq!(broker.get("/live").map(|(status, _)| status), Some(200));
}

#[test]
fn what_is_broken_is_told_and_the_rest_is_served() {
    let setup = setup();
    setup.component("broken.wasm", b"not a component");
    setup.manifest("broken.yaml", "kind: [");
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    let ready = broker.wait_for_reason(("team-a", "chat"), "BackendReachable:Unreachable");
    assert_eq!(ready["status"], "False");
    let channel = broker.wait("the channel was probed", |broker| {
        broker.condition("team-a", "chat", "ChannelJoined").filter(|channel| channel["reason"] != "Pending")
    });
    assert_eq!((&channel["status"], &channel["reason"]), (&"Unknown".into(), &"PlatformUnavailable".into()));
    let components = broker.get("/components").map(|(_, body)| body).unwrap_or_default();
    let components: serde_json::Value = serde_json::from_str(&components).unwrap();
    assert_eq!(components["refused"][0]["name"], "broken");
    assert!(components["loaded"].as_array().unwrap().iter().any(|loaded| loaded["platform"] == "slack"));
    let told = |what: &str| broker.lines().iter().any(|line| line.to_string().contains(what));
    assert!(told("broken.wasm"), "the log does not name the component");
    assert!(told("broken.yaml"), "the log does not name the file");
    for series in ["agentkourier_components{state=\"refused\"}", "agentkourier_config_problems"] {
        assert_eq!(broker.metric(series), Some(1), "{series}");
    }
    let status = suite::broker::run(&["status", "--admin", &broker.admin()]);
    let said = "the files have a problem: `agent-kourier check` names them, and so does the broker's log\n";
    assert_eq!(String::from_utf8_lossy(&status.stderr), said);
    let probed =
        "agentkourier_binding_probe_duration_seconds_count{probe=\"agent\",platform=\"\",reason=\"Unreachable\"}";
    assert!(broker.metric(probed) >= Some(1), "{probed}");
}

#[test]
fn a_connection_whose_platform_no_component_serves_is_logged_once_though_no_binding_names_it() {
    let setup = setup();
    setup.manifest("irc.yaml", &connection("irc").replace("platform: slack", "platform: irc"));
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    ready_within(&mut broker, "chat");
    setup.manifest("more.yaml", &binding("more", "agents", "C3"));
    ready_within(&mut broker, "more");
    let mut told = broker.lines();
    told.retain(|line| line["message"] == "no probe component is loaded for the platform of the ChatConnection");
    let fields: Vec<_> =
        told.iter().map(|line| [&line["level"], &line["connection"], &line["platform"], &line["loaded"]]).collect();
    assert_eq!(fields, [["WARN", "team-a/irc", "irc", "slack"]]);
}

#[test]
fn a_secret_of_a_peer_is_in_no_log_and_no_answer() {
    let setup = setup();
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    broker.wait_for_reason(("team-a", "chat"), "BackendReachable:Unreachable");
    let paths = ["/bindings", "/metrics", "/components"];
    let mut all: String = paths.iter().filter_map(|path| Some(broker.get(path)?.1)).collect();
    all.extend(broker.lines().iter().map(ToString::to_string));
    assert!(all.contains("team-a"));
    assert!(!all.contains("xoxb-not-a-token"));
}

#[test]
fn a_refused_edit_keeps_serving_the_last_good_generation_even_after_a_restart() {
    let setup = setup();
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    broker.wait_for_reason(("team-a", "chat"), "BackendReachable:Unreachable");
    setup.manifest("chat.yaml", &binding("chat", "agents", "\"\""));
    let refused = broker.wait_for_reason(("team-a", "chat"), "Accepted:InvalidSpec");
    let message = "generation 2 is invalid, serving generation 1";
    assert!(refused["message"].as_str().unwrap().contains(message), "{refused}");
    assert_eq!(broker.terminate().code(), Some(0));

    let mut broker = setup.start();
    let refused = broker.wait_for_reason(("team-a", "chat"), "Accepted:InvalidSpec");
    assert!(refused["message"].as_str().unwrap().contains(message), "{refused}");
    assert_eq!(refused["observedGeneration"], 2);
    // It is still probed: as generation 1.
    let backend = broker.wait("the agent was probed", |broker| {
        broker.condition("team-a", "chat", "BackendReachable").filter(|backend| backend["reason"] == "Unreachable")
    });
    assert_eq!(backend["observedGeneration"], 1);
}

#[test]
fn an_edit_a_new_file_and_a_removed_one_show_without_a_restart() {
    let setup = setup();
    setup.settings("prober: {startDelay: 10m}");
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    broker.wait_for_reason(("team-a", "chat"), "Pending");
    setup.manifest("late.yaml", &binding("late", "agents", "C2"));
    broker.wait_for_reason(("team-a", "late"), "Accepted:ChannelConflict");
    std::fs::remove_file(setup.path("manifests").join("chat.yaml")).unwrap();
    broker.wait("the removed Binding is gone", |broker| broker.ready("team-a", "chat").is_none().then_some(()));
    broker.wait_for_reason(("team-a", "late"), "Pending");
}

#[test]
fn sigterm_ends_it_with_exit_code_0_also_while_a_probe_waits_for_its_peer() {
    let setup = setup();
    // Connections are taken by the machine, and nobody ever answers them.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    setup.manifest("agents.yaml", &backend("agents", &format!("http://{}", silent.local_addr().unwrap())));
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    broker.wait("a probe is in flight", |broker| {
        (broker.metric("agentkourier_binding_probes_in_flight{probe=\"agent\"}") == Some(1)).then_some(())
    });
    let begun = Instant::now();
    assert_eq!(broker.terminate().code(), Some(0));
    // The probe itself would have waited for 8 s.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn sigterm_ends_it_also_while_it_starts() {
    let setup = setup();
    // Enough to compile for a while, on any machine.
    for number in 0..30 {
        for built_in in agent_kourier::builtin::ALL {
            setup.component(&format!("{}-{number}.wasm", built_in.name), built_in.wasm);
        }
    }
    let broker = setup.start();
    let log = setup.path("log");
    assert_eq!(broker.terminate().code(), Some(0));
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("stopping") && !log.contains("a probe is loaded"), "{log}");
}

#[test]
fn a_folder_that_cannot_be_read_is_told_by_ready_and_status() {
    let setup = setup();
    std::fs::remove_dir_all(setup.path("manifests")).unwrap();
    let mut broker = setup.start();
    let said = broker.wait("the folder is told", |broker| {
        broker.get("/ready").filter(|(status, said)| *status == 503 && said.contains("cannot be read"))
    });
    assert!(said.1.contains("manifests: the folder cannot be read: No such file"), "{said:?}");
    let status = suite::broker::run(&["status", "--admin", &broker.admin()]);
    assert_eq!(status.status.code(), Some(2));
    let words = String::from_utf8_lossy(&status.stderr);
    assert!(words.contains("manifests: the folder cannot be read: No such file"), "{words}");
    std::fs::create_dir(setup.path("manifests")).unwrap();
    broker.wait("ready", |broker| broker.get("/ready").filter(|(status, _)| *status == 200));
}

#[test]
fn a_store_that_is_removed_under_the_broker_is_written_anew() {
    let setup = setup();
    setup.settings("prober: {startDelay: 10m}");
    setup.manifest("chat.yaml", &binding("chat", "agents", "C2"));
    let mut broker = setup.start();
    broker.wait_for_reason(("team-a", "chat"), "Pending");
    std::fs::remove_file(setup.path("store.db")).unwrap();
    broker.wait("the store is there again", |_| setup.path("store.db").exists().then_some(()));
    setup.manifest("chat.yaml", &binding("chat", "agents", "\"\""));
    broker.wait_for_reason(("team-a", "chat"), "Accepted:InvalidSpec");
    assert_eq!(broker.terminate().code(), Some(0));
    let mut broker = setup.start();
    let refused = broker.wait_for_reason(("team-a", "chat"), "Accepted:InvalidSpec");
    assert!(refused["message"].as_str().unwrap().contains("serving generation 1"), "{refused}");
}

#[test]
fn a_head_that_is_too_large_is_refused_and_the_admin_port_lives_on() {
    let setup = setup();
    let mut broker = setup.start();
    broker.wait("ready", |broker| broker.get("/ready").filter(|(status, _)| *status == 200));
    let address = broker.admin().parse().unwrap();
    let large = format!("GET /live HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "x".repeat(20 << 10));
    let answer = exchange(address, &large).map(|(status, _)| status);
    assert!(matches!(answer, None | Some(431)), "{answer:?}");
    let post =
        exchange(address, "POST /bindings HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(post.map(|(status, _)| status), Some(405));
    assert_eq!(broker.get("/live").map(|(status, _)| status), Some(200));
}

#[test]
fn a_store_that_is_damaged_stops_the_start_with_a_clear_error() {
    let setup = setup();
    std::fs::write(setup.path("store.db"), "this is no database, and it is long enough to be looked at as one")
        .unwrap();
    let settings = setup.path("settings.yaml").display().to_string();
    let ended = suite::broker::run(&["run", "--config", &settings]);
    assert_eq!(ended.status.code(), Some(3));
    let words = String::from_utf8_lossy(&ended.stderr);
    assert!(words.contains("store.db") && words.contains("damaged"), "{words}");
}

#[test]
fn a_port_that_is_taken_stops_the_start_with_a_clear_error() {
    let setup = setup();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let settings = setup.path("settings.yaml").display().to_string();
    let ended = suite::broker::run(&["run", "--config", &settings, "--admin", &address]);
    assert_eq!(ended.status.code(), Some(3));
    let words = String::from_utf8_lossy(&ended.stderr);
    assert!(words.contains(&address) && words.contains("admin.listen"), "{words}");
}

#[test]
fn status_shows_what_the_broker_says_and_waits_for_it() {
    let setup = setup();
    setup.manifest("lost.yaml", &binding("lost", "nowhere", "C3"));
    let mut broker = setup.start();
    broker.wait_for_reason(("team-a", "lost"), "Accepted:BackendNotFound");
    let admin = broker.admin();
    let output = suite::broker::run(&["status", "--admin", &admin]);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("NAMESPACE   NAME   READY   REASON                     CHANNEL   AGE"));
    let row = lines.next().unwrap_or_default();
    assert!(row.starts_with("team-a      lost   False   Accepted:BackendNotFound   C3        "), "{text}");
    let json = suite::broker::run(&["status", "--admin", &admin, "-n", "team-a", "lost", "--output", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["status"]["conditions"][0]["type"], "Accepted");
    let none = suite::broker::run(&["status", "--admin", &admin, "nobody"]);
    assert_eq!(none.status.code(), Some(1));
    let begun = Instant::now();
    let unready = suite::broker::run(&["status", "--admin", &admin, "--wait", "--timeout", "1s"]);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(unready.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unready.stderr).contains("team-a/lost (Accepted:BackendNotFound)"));
}

#[test]
fn a_watch_prints_the_table_and_then_each_row_that_changes() {
    let setup = setup();
    setup.manifest("lost.yaml", &binding("lost", "nowhere", "C3"));
    let mut broker = setup.start();
    broker.wait_for_reason(("team-a", "lost"), "Accepted:BackendNotFound");
    let mut command = Command::new(program());
    command.args(["status", "--watch", "--namespace", "team-a", "--admin", &broker.admin()]).stdout(Stdio::piped());
    let mut watch = command.spawn().unwrap();
    let output = BufReader::new(watch.stdout.take().unwrap());
    let (send, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    let cells = || {
        let line = lines.recv_timeout(Duration::from_secs(60)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(cells(), ["NAME", "READY", "REASON", "CHANNEL", "AGE"]);
    assert_eq!(cells()[..4], ["lost", "False", "Accepted:BackendNotFound", "C3"]);
    setup.manifest("late.yaml", &binding("late", "nowhere", "C4"));
    assert_eq!(cells()[..4], ["late", "False", "Accepted:BackendNotFound", "C4"]);
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_watch_goes_on_when_the_broker_does_not_answer_and_ends_when_nobody_reads() {
    let mut command = Command::new(program());
    command.args(["status", "--watch", "--admin", "127.0.0.1:9"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watch = command.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(watch.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("no broker answers at 127.0.0.1:9"), "{said}");
    assert_eq!(watch.try_wait().unwrap(), None);
    // As `| head` does when it has seen enough. Nothing is printed from here on.
    drop(watch.stdout.take());
    let begun = Instant::now();
    while watch.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}
