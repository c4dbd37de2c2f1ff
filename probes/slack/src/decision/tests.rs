use proptest::prelude::*;

use super::{Check, Finding, MAX_PAGES, Step, encode};
use kourier_probe_sdk::chat::Verdict;
use kourier_probe_sdk::endpoint::{Failure, Header, Response};

const LISTING: &str = "/users.conversations?types=public_channel%2Cprivate_channel&exclude_archived=false&limit=200";
const AGAIN: &str = "/users.conversations?types=public_channel%2Cprivate_channel&exclude_archived=false&limit=199";
const INFO: &str = "/conversations.info?channel=C1";
const NOTHING_LISTED: &str =
    r#"{"ok":true,"channels":[{"id":"C2","is_archived":false}],"response_metadata":{"next_cursor":""}}"#;

type Answer = Result<Response, Failure>;

fn reply(status: u16, body: &str) -> Answer {
    Ok(Response { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
}

fn json(body: &str) -> Answer {
    reply(200, body)
}

fn error(code: &str) -> Answer {
    json(&format!(r#"{{"ok":false,"error":"{code}"}}"#))
}

fn page(cursor: &str) -> Answer {
    json(&format!(r#"{{"ok":true,"channels":[],"response_metadata":{{"next_cursor":"{cursor}"}}}}"#))
}

fn info(members: &str) -> Answer {
    json(&format!(r#"{{"ok":true,"channel":{{"id":"C1",{members}}}}}"#))
}

fn waiting(status: u16, wait: &str, body: &str) -> Answer {
    let headers = vec![Header { name: "retry-after".to_owned(), value: wait.to_owned() }];
    Ok(Response { status, headers, body: body.as_bytes().to_vec() })
}

/// Runs a check of `C1` against these answers; yields the paths that were asked for and how it ended.
fn run(team: Option<&str>, answers: impl IntoIterator<Item = Answer>) -> (Vec<String>, Finding) {
    let (mut check, path) = Check::begin("C1", team);
    let mut paths = vec![path];
    for answer in answers {
        match check.next(answer) {
            Step::Get(path) => paths.push(path),
            Step::Done(finding) => return (paths, finding),
        }
    }
    panic!("still asking: {paths:?}");
}

/// The paths, the verdict and a part of the cause that these answers lead to.
fn check(answers: Vec<Answer>, paths: &[&str], verdict: &Verdict, cause: &str) {
    let shown = format!("{answers:?}");
    let (asked, finding) = run(None, answers);
    assert_eq!(asked, paths, "{shown}");
    assert_eq!(finding.verdict, *verdict, "{shown}");
    assert!(finding.cause.as_deref().unwrap_or_default().contains(cause), "{cause:?} in {finding:?} of {shown}");
    assert_eq!(finding.cause.is_none(), *verdict == Verdict::Ok, "{finding:?} of {shown}");
}

#[test]
fn a_channel_in_the_listing_costs_no_request_of_its_own() {
    let listed = |archived| json(&format!(r#"{{"ok":true,"channels":[{{"id":"C1","is_archived":{archived}}}]}}"#));
    check(vec![listed(false)], &[LISTING], &Verdict::Ok, "");
    check(vec![listed(true)], &[LISTING], &Verdict::ChannelArchived, "is_archived");
    let second = format!("{LISTING}&cursor=dGVhbTpD%3D");
    check(vec![page("dGVhbTpD="), listed(false)], &[LISTING, &second], &Verdict::Ok, "");
}

#[test]
fn a_channel_that_the_listing_lacks_is_asked_for() {
    let cases = [
        (r#""is_archived":false,"is_member":true"#, Verdict::Ok, ""),
        (r#""is_archived":false,"is_member":false"#, Verdict::NotInChannel, "is_member is false"),
        (r#""is_archived":false"#, Verdict::NotInChannel, "not in the listing"),
        (r#""is_archived":true,"is_member":false"#, Verdict::ChannelArchived, "is_archived"),
        (r#""is_archived":true,"is_member":true"#, Verdict::ChannelArchived, "is_archived"),
        (r#""is_archived":true"#, Verdict::ChannelArchived, "is_archived"),
        (r#""is_archived":false,"is_im":true"#, Verdict::InvalidChannel, "direct message"),
        (r#""is_member":true"#, Verdict::UnexpectedAnswer, "no is_archived"),
        (r#""is_archived":"false","is_member":true"#, Verdict::UnexpectedAnswer, "no is_archived"),
    ];
    for (members, verdict, cause) in cases {
        check(vec![json(NOTHING_LISTED), info(members)], &[LISTING, INFO], &verdict, cause);
    }
}

#[test]
fn membership_that_nobody_told_is_not_made_up() {
    let without = || info(r#""is_archived":false"#);
    let untold = [
        error("missing_scope"),
        json(r#"{"ok":true,"channels":[{"id":"C2"}"#),
        Err(Failure::TooLarge),
        Err(Failure::Unreachable),
    ];
    for listing in untold {
        check(vec![listing, without()], &[LISTING, INFO], &Verdict::UnexpectedAnswer, "no is_member");
    }
}

#[test]
fn an_answer_about_another_channel_is_no_answer() {
    let bodies = [
        r#"{"ok":true,"channel":{"id":"C2","is_archived":false,"is_member":true}}"#,
        r#"{"ok":true,"channel":{"is_archived":false,"is_member":true}}"#,
        r#"{"ok":true,"channel":[]}"#,
        r#"{"ok":true}"#,
        r#"{"ok":true,"channel":{"id":"C1","is_archived":false,"is_member":true}"#,
    ];
    for body in bodies {
        check(vec![json(NOTHING_LISTED), json(body)], &[LISTING, INFO], &Verdict::UnexpectedAnswer, "object");
    }
}

#[test]
fn each_error_code_has_its_verdict() {
    use Verdict as V;
    let table = [
        ("channel_not_found", V::ChannelNotFound, false),
        ("method_not_supported_for_channel_type missing_argument", V::InvalidChannel, false),
        ("not_authed invalid_auth account_inactive token_revoked token_expired", V::CredentialsRejected, true),
        ("not_allowed_token_type two_factor_setup_required is_bot", V::CredentialsRejected, true),
        ("missing_scope no_permission", V::MissingScope, false),
        ("enterprise_is_restricted", V::AccessRestricted, false),
        ("access_denied accesslimited ekm_access_denied", V::AccessRestricted, true),
        ("team_access_not_granted team_is_restricted channel_is_limited_access", V::AccessRestricted, true),
        ("ratelimited rate_limited", V::RateLimited(None), true),
        ("fatal_error internal_error service_unavailable", V::PlatformUnavailable, true),
        ("org_login_required team_added_to_org", V::PlatformUnavailable, true),
        ("request_timeout", V::PlatformTimeout, true),
        ("invalid_arg_name invalid_array_arg invalid_arguments invalid_charset", V::UnexpectedAnswer, false),
        ("invalid_form_data invalid_post_type missing_post_type invalid_limit", V::UnexpectedAnswer, false),
        ("invalid_types unknown_method method_deprecated deprecated_endpoint", V::UnexpectedAnswer, false),
        ("upgrade_required json_not_object a_code_yet_to_come", V::UnexpectedAnswer, false),
    ];
    for (codes, verdict, settles) in table {
        for code in codes.split(' ') {
            check(vec![json(NOTHING_LISTED), error(code)], &[LISTING, INFO], &verdict, code);
            if settles {
                check(vec![error(code)], &[LISTING], &verdict, code);
            } else {
                let member = info(r#""is_archived":false,"is_member":true"#);
                check(vec![error(code), member], &[LISTING, INFO], &Verdict::Ok, "");
                check(vec![error(code), error("channel_not_found")], &[LISTING, INFO], &V::ChannelNotFound, code);
            }
        }
    }
}

#[test]
fn a_code_that_is_not_one_stays_out_of_the_log() {
    for code in ["", "Ask <b>us</b>", "a b", &"x".repeat(65)] {
        let answers = vec![json(NOTHING_LISTED), error(code)];
        check(answers, &[LISTING, INFO], &Verdict::UnexpectedAnswer, "conversations.info: a code that is not one");
    }
}

#[test]
fn a_listing_that_cannot_be_used_is_told_to_the_operator_although_the_channel_is_well() {
    let missing = json(r#"{"ok":false,"error":"missing_scope","needed":"groups:read","provided":"channels:read"}"#);
    let (_, finding) = run(None, [missing, info(r#""is_archived":false,"is_member":true"#)]);
    let advice = finding.advice.unwrap();
    assert!(advice.contains("users.conversations: missing_scope (needed: groups:read)"), "{advice}");
}

#[test]
fn a_request_to_wait_is_kept() {
    use Verdict as V;
    let cases = [
        (waiting(429, "30", r#"{"ok":false,"error":"ratelimited"}"#), V::RateLimited(Some(30)), "429"),
        (waiting(429, "7", "You are being rate limited"), V::RateLimited(Some(7)), "429"),
        (waiting(429, "soon", ""), V::RateLimited(None), "429"),
        (reply(429, "<html></html>"), V::RateLimited(None), "429"),
        (waiting(200, "12", r#"{"ok":false,"error":"ratelimited"}"#), V::RateLimited(Some(12)), "ratelimited"),
        (waiting(200, "12", r#"{"ok":false,"error":"rate_limited"}"#), V::RateLimited(Some(12)), "rate_limited"),
    ];
    for (answer, verdict, cause) in cases {
        check(vec![answer.clone()], &[LISTING], &verdict, cause);
        check(vec![page("b"), answer.clone()], &[LISTING, &format!("{LISTING}&cursor=b")], &verdict, cause);
        check(vec![json(NOTHING_LISTED), answer], &[LISTING, INFO], &verdict, cause);
    }
}

#[test]
fn a_status_counts_where_the_body_says_nothing() {
    use Verdict as V;
    let html = "<!DOCTYPE html><title>Proxy</title>";
    for status in [500, 502, 503, 504, 599] {
        check(vec![reply(status, html)], &[LISTING], &V::PlatformUnavailable, &format!("HTTP {status}"));
        check(vec![json(NOTHING_LISTED), reply(status, "")], &[LISTING, INFO], &V::PlatformUnavailable, "HTTP 5");
    }
    for status in [200, 204, 301, 302, 400, 403, 404, 407, 410, 418] {
        let answers = vec![reply(status, html), reply(status, html)];
        check(answers, &[LISTING, INFO], &V::UnexpectedAnswer, &format!("HTTP {status}"));
    }
    let refused = r#"{"ok":false,"error":"invalid_auth"}"#;
    check(vec![reply(401, refused)], &[LISTING], &V::CredentialsRejected, "invalid_auth");
    let odd = vec![reply(404, NOTHING_LISTED), reply(404, r#"{"ok":true,"channel":{"id":"C1"}}"#)];
    check(odd, &[LISTING, INFO], &V::UnexpectedAnswer, "HTTP 404");
}

#[test]
fn no_answer_is_unavailable_or_late() {
    use Verdict as V;
    check(vec![Err(Failure::TimedOut)], &[LISTING], &V::PlatformTimeout, "in time");
    let failures = [
        (Failure::Unreachable, V::PlatformUnavailable),
        (Failure::TimedOut, V::PlatformTimeout),
        (Failure::TooLarge, V::UnexpectedAnswer),
        (Failure::Spent, V::UnexpectedAnswer),
        (Failure::InvalidRequest, V::UnexpectedAnswer),
    ];
    for (failure, verdict) in failures {
        check(vec![json(NOTHING_LISTED), Err(failure)], &[LISTING, INFO], &verdict, "conversations.info");
        if failure != Failure::TimedOut {
            let member = info(r#""is_archived":false,"is_member":true"#);
            check(vec![Err(failure), member], &[LISTING, INFO], &V::Ok, "");
        }
    }
}

#[test]
fn a_listing_that_broke_off_after_the_channel_has_told_enough() {
    let body = r#"{"ok":true,"channels":[{"id":"C1","is_archived":false},{"id":"C"#;
    check(vec![json(body)], &[LISTING], &Verdict::Ok, "");
}

#[test]
fn a_listing_that_cannot_be_read_to_its_end_tells_nothing() {
    let listings = [
        json(r#"{"ok":true,"channels":[{"id":"C2","is_archived":false},{"#),
        json(r#"{"ok":true,"channels":{}}"#),
        json(r#"{"ok":true}"#),
        json(r#"{"ok":true,"channels":[{"id":"C1"}]}"#),
        json(r#"{"ok":true,"channels":[],"response_metadata":{"next_cursor":7}}"#),
        page(&"%".repeat(1000)),
    ];
    for listing in listings {
        let answers = vec![listing, info(r#""is_archived":false,"is_member":false"#)];
        check(answers, &[LISTING, INFO], &Verdict::NotInChannel, "users.conversations: ");
    }
}

#[test]
fn a_listing_that_runs_in_a_circle_is_left() {
    let answers = vec![page("a"), page("b"), page("a"), error("channel_not_found")];
    let paths = [LISTING, &format!("{LISTING}&cursor=a"), &format!("{LISTING}&cursor=b"), INFO];
    check(answers, &paths, &Verdict::ChannelNotFound, "the same cursor again");
}

#[test]
fn a_listing_without_an_end_is_left_after_a_bounded_number_of_pages() {
    let pages = (0..MAX_PAGES).map(|number| page(&format!("p{number}")));
    let (paths, finding) = run(None, pages.chain([error("channel_not_found")]));
    assert_eq!(paths.len(), MAX_PAGES + 1);
    assert_eq!(finding.verdict, Verdict::ChannelNotFound);
    assert!(finding.cause.unwrap().contains("more than a check reads"));
}

#[test]
fn a_listing_of_too_many_bytes_is_left() {
    let body = |number| {
        let filler = " ".repeat(1 << 20);
        json(&format!(r#"{{"ok":true,{filler}"channels":[],"response_metadata":{{"next_cursor":"p{number}"}}}}"#))
    };
    // A page and its document's other bytes are a little more than a third of what is read.
    let (paths, finding) = run(None, (0..2).map(body).chain([error("channel_not_found")]));
    assert_eq!(paths.len(), 3);
    assert!(finding.cause.unwrap().contains("more than a check reads"));
}

#[test]
fn a_stale_cursor_starts_the_listing_again_once() {
    let stale = || error("invalid_cursor");
    let listed = json(r#"{"ok":true,"channels":[{"id":"C1","is_archived":false}]}"#);
    let second = format!("{LISTING}&cursor=a");
    check(vec![page("a"), stale(), listed], &[LISTING, &second, AGAIN], &Verdict::Ok, "");
    let third = format!("{AGAIN}&cursor=a");
    let answers = vec![page("a"), stale(), page("a"), stale(), error("channel_not_found")];
    check(answers, &[LISTING, &second, AGAIN, &third, INFO], &Verdict::ChannelNotFound, "invalid_cursor");
}

#[test]
fn every_channel_of_a_connection_asks_for_the_same_pages() {
    let first = |channel, team| Check::begin(channel, team).1;
    assert_eq!(first("C1", None), first("G2", None));
    assert_eq!(first("C1", Some("T1")), first("G2", Some("T1")));
    assert_ne!(first("C1", None), first("C1", Some("T1")));
}

#[test]
fn what_comes_from_outside_is_encoded_into_the_path() {
    let (paths, _) = run(Some("T1&limit=9 #/é"), [page("a/b+c==&x=1"), error("invalid_auth")]);
    let team = "&team_id=T1%26limit%3D9%20%23%2F%C3%A9";
    assert_eq!(paths, [format!("{LISTING}{team}"), format!("{LISTING}{team}&cursor=a%2Fb%2Bc%3D%3D%26x%3D1")]);
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let status = prop_oneof![Just(200_u16), Just(429), 200_u16..600];
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..64),
        Just(br#"{"ok":true,"channels":[],"response_metadata":{"next_cursor":"a"}}"#.to_vec()),
        "[a-z]{1,3}".prop_map(|cursor| page(&cursor).unwrap().body),
        "[a-z_]{0,20}".prop_map(|code| error(&code).unwrap().body),
        Just(error("invalid_cursor").unwrap().body),
        Just(NOTHING_LISTED.as_bytes().to_vec()),
    ];
    let headers = prop_oneof![
        Just(Vec::new()),
        ".{0,12}".prop_map(|value| { vec![Header { name: "retry-after".to_owned(), value }] })
    ];
    let failure = prop_oneof![
        Just(Failure::Unreachable),
        Just(Failure::TooLarge),
        Just(Failure::Spent),
        Just(Failure::InvalidRequest),
        Just(Failure::TimedOut),
    ];
    prop_oneof![
        9 => (status, headers, body).prop_map(|(status, headers, body)| Ok(Response { status, headers, body })),
        1 => failure.prop_map(Err),
    ]
}

proptest! {
    #[test]
    fn every_check_ends_within_its_requests(answers in proptest::collection::vec(any_answer(), 64), team in ".{0,40}") {
        let (paths, finding) = run(Some(&team), answers);
        prop_assert!(paths.len() <= MAX_PAGES + 1);
        prop_assert_eq!(finding.cause.is_none(), finding.verdict == Verdict::Ok);
        for path in paths {
            prop_assert!(path.starts_with('/') && !path.starts_with("//"));
            prop_assert!(path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b'\\'));
        }
    }

    #[test]
    fn an_encoded_value_reads_back(value in ".{0,40}") {
        let encoded = encode(&value);
        let mut bytes = Vec::new();
        let mut rest = encoded.as_bytes();
        while let Some((&first, tail)) = rest.split_first() {
            let (byte, tail) = match first {
                b'%' => (u8::from_str_radix(std::str::from_utf8(&tail[..2]).unwrap(), 16).unwrap(), &tail[2..]),
                other => (other, tail),
            };
            bytes.push(byte);
            rest = tail;
        }
        prop_assert_eq!(bytes, value.into_bytes());
    }
}
