use super::*;

fn check(text: &str, expected: &[&str]) {
    let error = Settings::parse(text).expect_err(text);
    let found: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn nothing_written_is_the_defaults() {
    for text in ["", "# nothing\n", "{}", "prober:\n", "prober: {passGap: }\n", "egress: {}\n"] {
        assert_eq!(Settings::parse(text), Ok(Settings::default()), "{text}");
    }
}

#[test]
fn the_printed_defaults_are_read_as_the_defaults() {
    assert_eq!(Settings::parse(&yaml(&Settings::default())), Ok(Settings::default()));
}

#[test]
fn what_is_written_is_taken_and_shown_again() {
    let text = "\
broker: east
config: {source: files, dir: ./conf, interval: 500ms}
secrets: {dir: ./secrets}
store: sqlite
storePath: ./store.db
components: {dir: ./probes}
admin: {listen: '[::1]:1'}
egress: {allow: [127.0.0.0/8, fd00::1], deny: [10.0.0.0/8], allowPorts: [2379], denyPorts: [80], allowLoopback: true}
prober: {startDelay: 0s, lookInterval: 1s, passGap: 2s, interval: 1m, concurrency: 8}
probe: {deadline: 5s, request: 4s, memory: 64Mi, body: 4096, requests: 3}
log: {format: json, level: 'debug,hyper=warn'}
";
    let settings = Settings::parse(text).unwrap();
    assert_eq!(settings.broker, "east");
    assert_eq!(settings.config.interval, Duration::from_millis(500));
    assert_eq!(settings.components_dir, Some(PathBuf::from("./probes")));
    assert_eq!(settings.egress.allow.len(), 2);
    assert!(settings.egress.allow_loopback);
    assert_eq!(settings.prober.concurrency.get(), 8);
    assert_eq!((settings.probe.memory, settings.probe.body), (64 << 20, 4096));
    assert_eq!(settings.log.format, LogFormat::Json);
    assert_eq!(Settings::parse(&yaml(&settings)), Ok(settings));
}

#[test]
fn every_problem_is_told_at_once_with_line_and_key() {
    let text = "\
broker: East
prober:
  passGap: 30
  pasGap: 30s
  interval: 2d
probe: 5s
admin: {listen: 9090, port: 1}
metrics: true
";
    check(
        text,
        &[
            "line 1: broker: has to be written otherwise: write a name: small letters, digits and -, with a letter or digit at both ends",
            "line 3: prober.passGap: is no duration: write a duration from 0s to 1h, such as 15s",
            "line 4: prober.pasGap: is no setting: known are startDelay, lookInterval, passGap, interval, concurrency",
            "line 5: prober.interval: is no duration: write a duration from 1s to 24h, such as 15s",
            "line 6: probe: is a string: write the settings below it",
            "line 7: admin.listen: is a number: write a string, in quotes if need be",
            "line 7: admin.port: is no setting: known are listen",
            "line 8: metrics: is no setting: known are broker, config, secrets, store, storePath, components, admin, \
             egress, prober, kubernetes, lease, writer, events, probe, log",
        ],
    );
}

#[test]
fn settings_of_a_cluster_that_contradict_each_other_are_told() {
    for (text, what) in [
        ("store: kubernetes", "store: kubernetes goes with config.source: crds; write sqlite"),
        (
            "lease: {renewDeadline: 14s}",
            "lease: renewDeadline: with a call of 3s and 250ms to spare, 14s does not end before \
         duration, which is 15s",
        ),
        ("writer: {gap: 1h}", "writer.cap: is shorter than writer.gap: write a longer one"),
    ] {
        check(text, &[what]);
    }
}

#[test]
fn each_kind_of_value_says_what_would_be_right() {
    for (text, what) in [
        ("- a", "line 1: is a list: write keys and values"),
        ("a: [", "line 1: the bracket '[' is not closed: close it where it ends, or put the text in quotes"),
        ("{}\n---\nbroker: b", "has more than one document: write one"),
        ("broker: a\nbroker: b", "line 2: broker: stands twice, first in line 1: keep one"),
        ("config: {source: etcd}", "line 1: config.source: is not known: write files or crds"),
        ("store: memory", "line 1: store: is not known: write sqlite or kubernetes"),
        ("storePath: ''", "line 1: storePath: is empty: write a path"),
        (
            "config: {interval: 1h}",
            "line 1: config.interval: is out of range: write a duration from 100ms to 10s, such as 15s",
        ),
        (
            "admin: {listen: ':9090'}",
            "line 1: admin.listen: cannot be read: write an address and a port, such as 0.0.0.0:9090",
        ),
        ("egress: {allow: 10.0.0.0/8}", "line 1: egress.allow: is a string: write a list, such as []"),
        (
            "egress: {deny: [10.0.0.1/8, 10.0.0.0/8, x]}",
            "line 1: egress.deny: entry 1 10.0.0.1/8 has bits set past its prefix; write 10.0.0.0/8, or the address \
             without a prefix; entry 3 \"x\" is not an IP address; write a network such as 10.0.0.0/8 or fd00::/8, or one address",
        ),
        (
            "egress: {denyPorts: [0]}",
            "line 1: egress.denyPorts: entry 1 is out of range: write a whole number from 1 to 65535",
        ),
        ("egress: {allowLoopback: yes}", "line 1: egress.allowLoopback: is a string: write true or false"),
        ("prober: {concurrency: 0}", "line 1: prober.concurrency: is out of range: write a whole number from 1 to 256"),
        ("prober: {concurrency: 1.5}", "line 1: prober.concurrency: is a number: write a whole number from 1 to 256"),
        (
            "probe: {memory: 1Gi}",
            "line 1: probe.memory: is no size: write a number of bytes from 1Mi to 512Mi, such as 512Ki",
        ),
        (
            "probe: {memory: 1}",
            "line 1: probe.memory: is out of range: write a number of bytes from 1Mi to 512Mi, such as 512Ki",
        ),
        ("probe: {request: 20s}", "probe.request: is longer than probe.deadline: write a shorter one"),
        (
            "probe: {deadline: 1s, request: 1s, reserve: 1s}",
            "probe.reserve: leaves nothing of probe.deadline: write a shorter one",
        ),
        (
            "prober: {interval: 5s}",
            "prober.interval: is shorter than prober.passGap, which no pass can keep: write a longer one",
        ),
        (
            "log: {level: 'a=b=c'}",
            "line 1: log.level: is no filter: write error, warn, info, debug or trace, or target=level pairs",
        ),
        (
            "log: {level: 'hyper=warn,warning'}",
            "line 1: log.level: is no filter: write error, warn, info, debug or trace, or target=level pairs",
        ),
    ] {
        check(text, &[what]);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Settings::load(Path::new("/nowhere/kourier.yaml")).unwrap_err();
    assert_eq!(error.to_string(), "/nowhere/kourier.yaml: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn the_page_of_limits_is_the_table() {
    crate::committed::check("docs/limits.md", &markdown());
}
