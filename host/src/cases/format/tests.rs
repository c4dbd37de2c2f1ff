use super::*;

fn read(text: &str) -> Result<Vec<Case>, Vec<String>> {
    cases(Path::new("f.yaml"), text).map_err(told)
}

/// The problems, as a folder sorts them.
fn told(mut problems: Vec<Problem>) -> Vec<String> {
    problems.sort();
    problems.iter().map(ToString::to_string).collect()
}

fn exchange(rest: &str) -> Result<Exchange, String> {
    let text = format!("case: one\nverdict: ok\nexchanges:\n  - request: GET /a\n{rest}");
    read(&text).map(|mut cases| cases.remove(0).exchanges.remove(0)).map_err(|mut problems| problems.remove(0))
}

#[test]
fn a_whole_case_is_read() {
    let text = r#"
case: A private channel that the bot is not in reads as not found
target: {channel: C0000000001, settings: {teamId: T0001}}
exchanges:
  - request: GET /conversations.info?channel=C0000000001
    headers: {Accept: application/json}
    answer:
      headers: {Retry-After: "30"}
      json: {ok: false, error: channel_not_found}
      delay: 3s
  - request: POST /auth.test
    body: text
    fault: timed-out
verdict: {rate-limited: 30}
cause: missing_scope
"#;
    let case = read(text).unwrap().remove(0);
    assert_eq!(case.place.to_string(), "f.yaml:2");
    assert_eq!(case.target.settings["teamId"], "T0001");
    assert_eq!(case.exchanges[0].request.to_string(), "GET /conversations.info?channel=C0000000001");
    assert_eq!(case.exchanges[0].request.headers["accept"], "application/json");
    let expected = Reply::Answer {
        status: 200,
        headers: vec![("retry-after".to_owned(), "30".to_owned())],
        body: r#"{"error":"channel_not_found","ok":false}"#.into(),
        delay: Duration::from_secs(3),
    };
    assert_eq!(case.exchanges[0].reply, expected);
    assert_eq!(case.exchanges[1].request.body.as_deref(), Some("text"));
    assert_eq!(case.exchanges[1].reply, Reply::TimedOut);
    assert_eq!(case.verdict, Verdict::named("rate-limited", Some(30)));
    assert_eq!(case.cause.as_deref(), Some("missing_scope"));
}

#[test]
fn bodies_are_written_in_four_ways() {
    let check = |body: &str, expected: &[u8]| {
        let exchange = exchange(&format!("    answer: {{{body}}}\n")).unwrap();
        let Reply::Answer { body, .. } = exchange.reply else { panic!("not an answer") };
        assert_eq!(body, expected);
    };
    check("", b"");
    check("json: null", b"null");
    check("json: [1, yes, true]", br#"[1,"yes",true]"#);
    check("text: '{'", b"{");
    check("base64: AP8=", &[0, 255]);
    check("fill: {byte: x, size: 4, prefix: '{}'}", b"{}xx");
}

#[test]
fn verdicts_are_names_or_one_of_three_maps() {
    let check = |verdict: &str, expected: &str| {
        let read = read(&format!("case: one\nverdict: {verdict}\n"));
        assert_eq!(read.unwrap()[0].verdict.to_string(), expected);
    };
    check("channel-not-found", "channel-not-found");
    check("rate-limited", "rate-limited: 30");
    check("{agent-busy: 5}", "agent-busy: 5");
    check("{fault: deadline}", "fault: deadline");
}

#[test]
fn what_is_not_a_case_is_refused_with_its_line() {
    let check = |text: &str, line: u64, part: &str| {
        let problems = read(text).unwrap_err();
        assert!(problems[0].starts_with(&format!("f.yaml:{line}: ")), "{problems:?}");
        assert!(problems[0].contains(part), "{problems:?} lacks {part}");
    };
    check("case: one\nverdict: ok\nextra: 1\n", 3, "extra");
    check("case: one\nverdict: ok\ncase: two\n", 3, "case");
    check("case: one\n", 1, "verdict");
    check("case: one\nverdict: ok\n---\ncase: ''\nverdict: ok\n", 4, "one sentence");
    check("case: one\nverdict: {ok: 3}\n", 2, "rate-limited: SECONDS");
    check("case: one\nverdict: {fault: hunger}\n", 2, "verdict.fault: is not known: write one of deadline, cpu-budget");
    check("case: one\nverdict: {rate-limited: soon}\n", 2, "verdict.rate-limited: is a string: write whole seconds");
    check("case: one\nverdict: [ok]\n", 2, "verdict: is a list: write a name");
    check("[one]\n", 1, "is a list: write keys and values");
    check("case: one\nverdict: ok\ntarget: {chanel: C1}\n", 3, "chanel");
    check("case: one\nverdict: {\n", 2, "is not YAML that can be read: the bracket '{' is not closed");
}

#[test]
fn every_problem_of_a_file_is_told_with_its_field() {
    let text = "\
case: one
target: {channel: 5, chanel: C1}
exchanges:
  - request: GET a
    answer: {status: 99, json: {a: 1, a: 2}, headers: {x: 1}}
  - {answer: {}, fault: hunger}
verdict: [ok]
---
case: [
---
verdict: ok
cause: {}
";
    assert_eq!(
        read(text).unwrap_err(),
        [
            "f.yaml:2: target.chanel: is no field here: known are channel, settings, cardPath",
            "f.yaml:2: target.channel: is a number: write a string, in quotes",
            "f.yaml:4: exchanges[0].request: the path begins with / and has no white space: write %20 for a blank",
            "f.yaml:5: exchanges[0].answer.headers.x: is a number: write a string, in quotes",
            "f.yaml:5: exchanges[0].answer.json.a: stands twice, first in line 5: keep one",
            "f.yaml:5: exchanges[0].answer.status: 99 is out of range: write a number between 200 and 599",
            "f.yaml:6: exchanges[1].request: is missing: write GET or POST, a space, and the path",
            "f.yaml:6: exchanges[1]: has both answer and fault: write one of them",
            "f.yaml:7: verdict: is a list: write a name of wit/probe.wit, {rate-limited: SECONDS}, {agent-busy: SECONDS} or \
             {fault: NAME}",
            "f.yaml:9: is not YAML that can be read: the bracket '[' is not closed: close it where it ends, or put the \
             text in quotes",
            "f.yaml:11: case: is missing: write one sentence on one line",
            "f.yaml:12: cause: is an object: write a string",
        ]
    );
}

#[test]
fn probe_yaml_names_one_component() {
    let check = |text: &str, words: &[&str]| {
        assert_eq!(component(Path::new("probe.yaml"), text).map_err(told).unwrap_err(), words, "{text}");
    };
    assert_eq!(component(Path::new("probe.yaml"), "component: slack\n").as_deref(), Ok("slack"));
    check("", &["probe.yaml: has 0 documents: write component: NAME_OR_FILE, and nothing else"]);
    check("component: [a]\n", &["probe.yaml:1: component: is a list: write a string"]);
    let unclosed = "probe.yaml:1: is not YAML that can be read: the bracket '{' is not closed: close it where it ends, or \
                    put the text in quotes";
    check("component: {a\n", &[unclosed]);
    check(
        "name: slack\n",
        &[
            "probe.yaml:1: component: is missing: write the name of a built-in one, or a file",
            "probe.yaml:1: name: is no field here: known are component",
        ],
    );
}

#[test]
fn what_is_not_an_exchange_is_refused() {
    let check = |rest: &str, part: &str| {
        let problem = exchange(rest).unwrap_err();
        assert!(problem.contains(part), "{problem} lacks {part}");
    };
    check("", "has neither answer nor fault");
    check("    answer: {}\n    fault: unreachable\n", "has both answer and fault");
    check("    fault: hunger\n", "exchanges[0].fault: is not known: write unreachable, timed-out or too-large");
    check("    body: text\n    answer: {}\n", "a GET has none");
    check("    answer: {status: 101}\n", "between 200 and 599");
    check("    answer: {json: 1, text: a}\n", "at most one of");
    check("    answer: {base64: '*'}\n", "base64: ");
    check("    answer: {headers: {a: \"b\\tc\"}}\n", "headers.a: has what is not visible ASCII");
    check("    answer: {headers: {a: x, a: y}}\n", "headers.a: stands twice");
    check("    answer: {delay: 3}\n", "delay: ");
    check("    answer: {delay: 1.5s}\n", "delay: ");
    check("    answer: {fill: {byte: xx, size: 3}}\n", "one ASCII character");
    check("    answer: {fill: {byte: x, size: 1, prefix: xx}}\n", "the prefix included");
    check("    answer: {fill: {byte: x, size: 99999999}}\n", "is more than");
}

#[test]
fn a_request_is_a_verb_and_a_path() {
    let check = |request: &str, part: &str| {
        let text = format!("case: one\nverdict: ok\nexchanges:\n  - {{request: '{request}', answer: {{}}}}\n");
        let problems = read(&text).unwrap_err();
        assert!(problems[0].starts_with("f.yaml:4: ") && problems[0].contains(part), "{problems:?} lacks {part}");
    };
    check("PUT /a", "GET or POST");
    check("GET", "begins with /");
    check("GET a", "begins with /");
    check("GET /a b", "white space");
}
