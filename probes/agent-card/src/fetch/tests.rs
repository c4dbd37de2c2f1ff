use super::*;

const CARD: &str = r#"{"name":"a","url":"https://agent.example/"}"#;

type Exchange<'a> = (&'a str, Result<(u16, &'a str), Failure>);

/// Runs the check against these exchanges, all of which have to happen, in this order.
fn run(card_path: Option<&str>, exchanges: &[Exchange<'_>]) -> Finding {
    let mut left = exchanges.iter();
    let finding = check(card_path.map(String::from), |request| {
        let (path, answer) = left.next().unwrap_or_else(|| panic!("unexpected request {request:?}"));
        assert_eq!((request.path.as_str(), request.headers.len()), (*path, 2));
        answer.map(|(status, body)| Response { status, headers: Vec::new(), body: body.into() })
    });
    assert_eq!(left.next(), None);
    finding
}

fn check_status(status: u16, want: &Verdict) {
    let finding = run(Some("/card"), &[("/card", Ok((status, CARD)))]);
    assert_eq!(&finding.verdict, want, "{status}");
    let cause = finding.cause.unwrap_or_default();
    assert_eq!(cause.is_empty(), *want == Verdict::Ok, "{status}: {cause}");
}

#[test]
fn every_status_has_its_verdict() {
    for status in 200..600 {
        let want = match status {
            200..=299 => Verdict::Ok,
            301 | 302 | 303 | 307 | 308 => Verdict::AgentRedirected,
            401 | 403 | 407 => Verdict::AgentUnauthorized,
            404 | 405 | 410 => Verdict::AgentNotFound,
            408 | 425 | 429 => Verdict::AgentBusy(None),
            _ => Verdict::AgentError,
        };
        check_status(status, &want);
    }
}

#[test]
fn every_failure_has_its_verdict_and_a_cause() {
    let failures = [
        (Failure::Unreachable, Verdict::Unreachable),
        (Failure::TimedOut, Verdict::Unreachable),
        (Failure::TooLarge, Verdict::InvalidAgentCard),
        (Failure::InvalidRequest, Verdict::Unreachable),
        (Failure::Spent, Verdict::Unreachable),
    ];
    for (failure, want) in failures {
        let finding = run(Some("/card"), &[("/card", Err(failure))]);
        assert_eq!(finding.verdict, want, "{failure}");
        assert!(finding.cause.is_some_and(|cause| cause.starts_with("GET /card ")), "{failure}");
    }
}

#[test]
fn the_older_place_is_asked_only_when_nothing_is_at_the_first() {
    let [first, second] = WELL_KNOWN;
    for status in [404, 405, 410] {
        let finding = run(None, &[(first, Ok((status, ""))), (second, Ok((200, CARD)))]);
        assert_eq!((finding.verdict, finding.advice.len()), (Verdict::Ok, 1));
    }
    for status in [200, 301, 401, 429, 500] {
        run(None, &[(first, Ok((status, "{}")))]);
    }
    run(None, &[(first, Err(Failure::TimedOut))]);
}

#[test]
fn the_first_place_that_is_not_empty_decides() {
    let [first, second] = WELL_KNOWN;
    let second_answers = [
        (401, Verdict::AgentUnauthorized),
        (503, Verdict::AgentError),
        (404, Verdict::AgentNotFound),
        (200, Verdict::InvalidAgentCard),
    ];
    for (status, want) in second_answers {
        assert_eq!(run(None, &[(first, Ok((404, ""))), (second, Ok((status, "{}")))]).verdict, want);
    }
    let nowhere = run(None, &[(first, Ok((404, ""))), (second, Ok((405, "")))]);
    assert_eq!(
        nowhere.cause.as_deref(),
        Some("GET /.well-known/agent-card.json answered 404, GET /.well-known/agent.json answered 405")
    );
}

#[test]
fn a_configured_place_is_the_only_one() {
    let finding = run(Some("/a/card.json"), &[("/a/card.json", Ok((404, CARD)))]);
    assert_eq!(finding.verdict, Verdict::AgentNotFound);
    let finding = run(Some("/a/card.json"), &[("/a/card.json", Ok((200, CARD)))]);
    assert_eq!((finding.verdict, finding.advice.len()), (Verdict::Ok, 0));
}
