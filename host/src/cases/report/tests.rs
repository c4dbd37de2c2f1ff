use std::collections::BTreeMap;
use std::time::Duration;

use kourier_core::outcome::Fault;
use kourier_sandbox::Method;

use super::*;
use crate::cases::case::{Exchange, Place, Reply, Target, Verdict};

fn case(paths: &[&str], verdict: &str) -> Case {
    let exchange = |path: &&str| Exchange {
        request: Asked {
            method: Method::Get,
            path: (*path).to_owned(),
            headers: BTreeMap::from([("accept".to_owned(), "a".to_owned())]),
            body: None,
        },
        reply: Reply::Unreachable,
    };
    Case {
        sentence: "A channel reads as it is".to_owned(),
        place: Place { file: "f.yaml".into(), line: 3 },
        target: Target::default(),
        exchanges: paths.iter().map(exchange).collect(),
        verdict: Verdict::named(verdict, None),
        cause: None,
    }
}

fn made(path: &str, mismatch: Option<Mismatch>) -> Made {
    Made { method: Method::Get, path: path.to_owned(), headers: Vec::new(), body: None, mismatch }
}

fn ran(made: Vec<Made>, verdict: Verdict, causes: &[&str]) -> Ran {
    let causes = causes.iter().map(|&cause| cause.to_owned()).collect();
    Ran { verdict, made, causes, advice: Vec::new(), clock: Duration::ZERO }
}

fn check(case: &Case, ran: &Ran, expected: &str) {
    assert_eq!(text(case, ran), expected.trim_start_matches('\n'));
}

#[test]
fn a_case_that_passed_is_one_line() {
    let ran = ran(vec![made("/a", None)], Verdict::named("ok", None), &["not looked at"]);
    check(&case(&["/a"], "ok"), &ran, "ok      A channel reads as it is\n");
}

#[test]
fn the_first_character_that_differs_is_marked() {
    let failed = vec![made("/a", None), made("/info?channel=C2", Some(Mismatch::Line))];
    let ran = ran(
        failed,
        Verdict::Fault(Fault::Host),
        &["no card there", "GET /a: this request is not the recorded one", "host: it lacked that"],
    );
    check(
        &case(&["/a", "/info?channel=C1", "/c"], "ok"),
        &ran,
        "
FAILED  A channel reads as it is
        f.yaml:3
  request 1 is as recorded: GET /a
  request 2 differs, and the run was stopped there:
    recorded  GET /info?channel=C1
    made      GET /info?channel=C2
                                 ^
  journal, cause: no card there
",
    );
}

#[test]
fn a_header_a_missing_request_a_verdict_and_a_cause_are_told_apart() {
    let lacks = ran(vec![made("/a", Some(Mismatch::Header("accept".to_owned())))], Verdict::Fault(Fault::Host), &[]);
    check(
        &case(&["/a"], "ok"),
        &lacks,
        "
FAILED  A channel reads as it is
        f.yaml:3
  request 1 differs, and the run was stopped there:
    recorded  accept: a
    made      accept: is missing
                      ^
",
    );
    let extra = ran(vec![made("/a", Some(Mismatch::NotRecorded))], Verdict::Fault(Fault::Host), &[]);
    check(
        &case(&[], "ok"),
        &extra,
        "
FAILED  A channel reads as it is
        f.yaml:3
  request 1 is not recorded, and the run was stopped there: GET /a
",
    );
    let case = Case { cause: Some("missing_scope".to_owned()), ..case(&["/a"], "ok") };
    check(
        &case,
        &ran(Vec::new(), Verdict::named("not-in-channel", None), &["something else"]),
        "
FAILED  A channel reads as it is
        f.yaml:3
  request 1 was not made: GET /a
  the verdict differs:
    recorded  ok
    said      not-in-channel
              ^
  no cause in the journal contains: missing_scope
  journal, cause: something else
",
    );
}

#[test]
fn control_characters_of_a_body_do_not_reach_a_terminal() {
    assert_eq!(
        pair("a\nb", ("made", "a\u{1b}b")),
        "    recorded  a\\nb\n    made      a\\u{1b}b\n               ^\n"
            .replace("               ^", &format!("{:14}{:2}^", "", ""))
    );
}
