use alloc::format;

use proptest::prelude::*;

use super::*;

/// What a card comes to: `ok`, or the kind of the refusal, and words that its cause or advice has to have.
fn check(body: &str, want: &str, words: &str) {
    let (kind, text) = match judge(body.as_bytes()) {
        Ok(advice) => ("ok", advice.join("; ")),
        Err(Refusal::Invalid(cause)) => ("invalid", cause),
        Err(Refusal::Unsupported(cause)) => ("unsupported", cause),
    };
    assert_eq!(kind, want, "{body}: {text}");
    let is_told = if words.is_empty() { text.is_empty() } else { text.contains(words) };
    assert!(is_told, "{body}: {text:?} lacks {words:?}");
}

/// A card with these members beside its name.
fn named(members: &str) -> String {
    format!(r#"{{"name":"a",{members}}}"#)
}

#[test]
fn a_card_needs_a_name_and_one_interface_of_ours() {
    check(r#"{"name":"a","url":"https://a.example"}"#, "ok", "");
    check(
        &named(
            r#""supportedInterfaces":[{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]"#,
        ),
        "ok",
        "",
    );
    check("{}", "invalid", "name is missing or blank");
    check(r#"{"name":"a"}"#, "invalid", "neither supportedInterfaces nor url");
    check(&named(r#""supportedInterfaces":[],"url":null"#), "invalid", "neither supportedInterfaces nor url");
    for name in [r#""""#, r#"" ""#, r#""\u0000""#, "null", "7", r#"["a"]"#] {
        check(&format!(r#"{{"name":{name},"url":"https://a.example"}}"#), "invalid", "name is missing or blank");
    }
}

#[test]
fn what_is_not_needed_is_never_a_reason_to_refuse() {
    let oddities = [
        r#""skills":null,"capabilities":[1,{"x":[]}],"version":"","description":{}"#,
        r#""skills":["a"],"defaultInputModes":7,"securitySchemes":[],"signatures":[{"header":{}}]"#,
        r#""preferredTransport":null,"protocolVersion":null,"additionalInterfaces":null,"supportedInterfaces":null"#,
        r#""preferredTransport":1,"protocolVersion":0.3,"additionalInterfaces":"x","supportedInterfaces":{"url":1}"#,
        r#""preferredTransport":"","protocolVersion":" ","additionalInterfaces":[null,1,{}]"#,
    ];
    for oddity in oddities {
        check(&named(&format!(r#""url":"https://a.example",{oddity}"#)), "ok", "");
    }
}

#[test]
fn an_answer_that_is_no_object_is_no_card() {
    check("", "invalid", "is empty");
    check("<html>", "invalid", "is not JSON at byte 0");
    check("[]", "invalid", "is not a JSON object");
    check("\"a\"", "invalid", "is not a JSON object");
    check("null", "invalid", "is not a JSON object");
    check(r#"{"name":"a","url":"https://a.example"} x"#, "invalid", "is not JSON at byte");
}

#[test]
fn interfaces_come_before_the_root_and_either_may_be_the_usable_one() {
    let good = r#"{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}"#;
    check(&named(&format!(r#""url":"nowhere","supportedInterfaces":[{good}]"#)), "ok", "");
    check(&named(&format!(r#""supportedInterfaces":[{{"url":"{{X}}"}},{good}]"#)), "ok", "");
    check(&named(r#""supportedInterfaces":[{"url":"https://a.example"}],"url":"https://a.example""#), "ok", "");
    // Only the interface's version counts beside interfaces.
    check(&named(&format!(r#""protocolVersion":"9","supportedInterfaces":[{good}]"#)), "ok", "");
    check(&named(r#""protocolVersion":"9","supportedInterfaces":[{}],"url":"https://a.example""#), "ok", "");
    check(
        &named(r#""protocolVersion":"9","supportedInterfaces":[],"url":"https://a.example""#),
        "unsupported",
        "protocolVersion",
    );
}

#[test]
fn an_interface_may_name_its_binding_in_the_old_way() {
    let with = |members: &str| {
        named(&format!(r#""supportedInterfaces":[{{"url":"https://a.example","protocolVersion":"1.0",{members}}}]"#))
    };
    check(&with(r#""transport":"JSONRPC""#), "ok", "");
    check(&with(r#""protocolBinding":null,"transport":"http+json""#), "ok", "");
    check(
        &with(r#""protocolBinding":"GRPC","transport":"JSONRPC""#),
        "unsupported",
        "supportedInterfaces[0].protocolBinding",
    );
    for members in [r#""transport":"sse""#, r#""protocol":"JSONRPC""#, r#""type":"JSONRPC""#, r#""x":1"#] {
        check(&with(members), "unsupported", "protocolBinding");
    }
}

#[test]
fn a_version_that_is_not_ours_is_not_supported() {
    let with = |version: &str| {
        named(&format!(
            r#""supportedInterfaces":[{{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":{version}}}]"#
        ))
    };
    check(&with("\"2.0\""), "unsupported", "supportedInterfaces[0].protocolVersion");
    check(&with("\"0.2.6\""), "unsupported", "protocolVersion");
    check(&with("null"), "ok", "read as 1.0");
    check(&named(r#""url":"https://a.example","protocolVersion":"0.2.6""#), "ok", "");
    check(&named(r#""url":"https://a.example","protocolVersion":"0.1.0""#), "unsupported", "protocolVersion");
    check(&named(r#""url":"https://a.example","protocolVersion":"1.0.0""#), "ok", "says 1.x");
}

#[test]
fn the_root_offers_its_additional_interfaces_too() {
    let additional = r#""additionalInterfaces":[{"url":"https://a.example/rpc","transport":"JSONRPC"}]"#;
    let grpc = r#""url":"https://a.example","preferredTransport":"GRPC""#;
    check(&named(grpc), "unsupported", "preferredTransport");
    check(&named(&format!("{grpc},{additional}")), "ok", "");
    // The order of members does not matter.
    check(&named(&format!("{additional},{grpc}")), "ok", "");
    check(&named(&format!(r#"{additional},{grpc},"protocolVersion":"0.1""#)), "unsupported", "protocolVersion");
    check(&named(additional), "invalid", "neither supportedInterfaces nor url");
}

#[test]
fn a_card_whose_urls_cannot_be_dialled_is_invalid_whatever_it_speaks() {
    check(&named(r#""url":"{BASE_URL}","preferredTransport":"GRPC""#), "invalid", "url has a placeholder");
    check(
        &named(r#""supportedInterfaces":[{"protocolBinding":"GRPC"},7]"#),
        "invalid",
        "supportedInterfaces[1].url is missing",
    );
    let mixed = r#""supportedInterfaces":[{"url":"wss://a.example"}],"url":"https://u@a.example""#;
    check(&named(mixed), "invalid", "supportedInterfaces[0].url is neither http nor https; url has user information");
    // One that can be dialled makes it a question of the protocol.
    check(
        &named(r#""supportedInterfaces":[{"url":""},{"url":"https://a.example","protocolBinding":"GRPC"}]"#),
        "unsupported",
        "[1]",
    );
}

#[test]
fn the_last_of_two_members_with_one_name_counts() {
    check(r#"{"name":"","url":"https://a.example","name":"a"}"#, "ok", "");
    check(r#"{"name":"a","url":"https://a.example","url":"/"}"#, "invalid", "url is not an absolute URL");
    check(r#"{"name":"a","url":"https://a.example","\u0075rl":null}"#, "invalid", "neither");
    let interfaces = r#""supportedInterfaces":[{"url":"https://a.example","protocolBinding":"JSONRPC"}]"#;
    check(&named(&format!(r#"{interfaces},"supportedInterfaces":[]"#)), "invalid", "neither");
}

#[test]
fn what_the_operator_may_mend_is_advice() {
    check(&named(r#""url":"http://localhost:8000/""#), "ok", "url names a loopback address");
    check(&named(r#""url":"http://0.0.0.0:8000/""#), "ok", "an address to listen on");
    check(&named(r#""url":"https://a.example","authentication":{"schemes":["bearer"]}"#), "ok", "A2A 0.1");
    check(&named(r#""url":"https://a.example","authentication":{},"securitySchemes":{}"#), "ok", "");
    let interface = r#""supportedInterfaces":[{"url":"http://[::1]","protocolBinding":"JSONRPC"}]"#;
    check(
        &named(interface),
        "ok",
        "supportedInterfaces[0].url names a loopback address: who follows it finds itself; supportedInterfaces[0].protocolVersion is missing",
    );
}

#[test]
fn no_word_of_the_card_is_told() {
    let secret = "s3cret";
    let cards = [
        format!(r#"{{"name":"","{secret}":1}}"#),
        named(&format!(r#""url":"https://{secret}@a.example""#)),
        named(&format!(
            r#""supportedInterfaces":[{{"url":"https://a.example","protocolBinding":"{secret}","protocolVersion":"{secret}"}}]"#
        )),
    ];
    for card in cards {
        let (Err(Refusal::Invalid(cause) | Refusal::Unsupported(cause)), false) =
            (judge(card.as_bytes()), card.is_empty())
        else {
            panic!("{card} is refused");
        };
        assert!(!cause.contains(secret), "{cause}");
    }
}

#[test]
fn a_long_list_of_interfaces_tells_of_the_first_ones() {
    let card = named(&format!(r#""supportedInterfaces":[{}{{}}]"#, "{},".repeat(10_000)));
    let Err(Refusal::Invalid(cause)) = judge(card.as_bytes()) else { panic!("refused") };
    assert_eq!(cause.matches("supportedInterfaces[").count(), TOLD);
}

proptest! {
    #[test]
    fn any_bytes_are_judged_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = judge(&bytes);
    }

    #[test]
    fn any_values_of_the_members_are_judged_without_a_panic(
        members in prop::collection::vec((
            prop::sample::select(Vec::from([
                "name", "url", "supportedInterfaces", "additionalInterfaces", "preferredTransport", "protocolVersion",
            ])),
            prop::sample::select(Vec::from([
                "\"a\"", "\"https://a.example\"", "[]", "[{}]", "{}", "null", "1", "\"0.3\"", "\"GRPC\"", "[[]]", "tru",
                "[{\"url\":\"https://a.example\",\"transport\":\"JSONRPC\"}]", "\"\\ud800\"", "[{\"url\":null}",
            ])),
        ), 0..8),
    ) {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let text = format!("{{{}}}", members.join(","));
        let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert!(is_json || matches!(judge(text.as_bytes()), Err(Refusal::Invalid(_))), "{}", text);
    }
}

#[test]
fn the_first_thousand_interfaces_are_judged_and_the_rest_is_read_over() {
    let good = r#"{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}"#;
    let list = |others: usize, last: &str| named(&format!(r#""supportedInterfaces":[{}{last}]"#, "{},".repeat(others)));
    check(&list(999, good), "ok", "");
    check(&list(1000, good), "invalid", "supportedInterfaces[0].url is missing");
    check(&list(1000, "nonsense"), "invalid", "is not JSON");
}

#[test]
fn of_a_list_that_stands_again_and_again_no_more_are_judged_in_all() {
    let list = |entries: usize| format!(r#""supportedInterfaces":[{}{{}}],"#, "0,".repeat(entries - 1));
    let good =
        r#""supportedInterfaces":[{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]"#;
    check(&named(&format!("{}{good}", list(1000).repeat(3))), "ok", "");
    check(&named(&format!("{}{good}", list(1000).repeat(4))), "invalid", "neither supportedInterfaces nor url");
}
