use proptest::prelude::*;

use super::{Answer, Conversation, Cursor, read};

fn check(body: &str, expected: &Answer) {
    assert_eq!(read(body.as_bytes(), "C1"), *expected, "{body}");
}

fn whole() -> Answer {
    Answer { ok: Some(true), whole: true, ..Answer::default() }
}

fn conversation(id: &str, is_archived: Option<bool>) -> Conversation {
    Conversation { id: Some(id.to_owned()), is_archived, ..Conversation::default() }
}

#[test]
fn an_error_is_read_with_what_the_token_lacks() {
    let expected = Answer {
        ok: Some(false),
        error: Some("missing_scope".to_owned()),
        needed: Some("groups:read".to_owned()),
        ..whole()
    };
    check(r#"{"ok":false,"error":"missing_scope","needed":"groups:read","provided":"chat:write"}"#, &expected);
    check(r#" {"needed":"groups:read", "err\u006fr":"missing_scope" ,"ok":false}"#, &expected);
}

#[test]
fn the_wanted_entry_of_a_listing_is_kept() {
    let listed = Answer { has_list: true, listed: Some(conversation("C1", Some(false))), ..whole() };
    check(r#"{"ok":true,"channels":[{"id":"C2","is_archived":true},{"id":"C1","is_archived":false}]}"#, &listed);
    check(
        r#"{"channels":[7,"C1",null,[{"id":"C1"}],{"is_archived":false,"x":{"id":"C9"},"id":"C1"}],"ok":true}"#,
        &listed,
    );
    check(r#"{"ok":true,"channels":[{"id":"C1","is_archived":false},{"id":"C1","is_archived":true}]}"#, &listed);
    check(r#"{"ok":true,"channels":[]}"#, &Answer { has_list: true, ..whole() });
    check(r#"{"ok":true,"channels":{"id":"C1"}}"#, &whole());
    check(r#"{"ok":true,"channels":null}"#, &whole());
}

#[test]
fn a_channel_object_is_read_as_far_as_it_is_needed() {
    let body =
        r#"{"ok":true,"channel":{"id":"C1","is_member":true,"is_im":false,"is_archived":"no","topic":{"id":1}}}"#;
    let channel = Conversation { is_member: Some(true), is_im: Some(false), ..conversation("C1", None) };
    check(body, &Answer { channel: Some(channel), ..whole() });
    check(r#"{"ok":true,"channel":"C1"}"#, &whole());
    check(r#"{"ok":true,"channel":{}}"#, &Answer { channel: Some(Conversation::default()), ..whole() });
}

#[test]
fn a_cursor_is_the_end_the_next_page_or_unusable() {
    let cases = [
        (r#"{"next_cursor":"a b="}"#.to_owned(), Cursor::Next("a b=".to_owned())),
        (r#"{"next_cursor":""}"#.to_owned(), Cursor::End),
        (r#"{"next_cursor":null}"#.to_owned(), Cursor::End),
        (r#"{"next_cursor":5}"#.to_owned(), Cursor::Unusable),
        (r#"{"next_cursor":["a"]}"#.to_owned(), Cursor::Unusable),
        (format!(r#"{{"next_cursor":"{}"}}"#, "a".repeat(1025)), Cursor::Unusable),
        (r#"{"messages":["next_cursor"]}"#.to_owned(), Cursor::End),
        ("{}".to_owned(), Cursor::End),
        ("null".to_owned(), Cursor::End),
        ("[]".to_owned(), Cursor::End),
    ];
    for (metadata, cursor) in cases {
        check(&format!(r#"{{"ok":true,"response_metadata":{metadata}}}"#), &Answer { cursor, ..whole() });
    }
}

#[test]
fn of_two_members_with_one_name_the_last_counts_and_nothing_of_the_first() {
    let page = r#""channels":[{"id":"C1","is_archived":false}]"#;
    let listed = Answer { has_list: true, listed: Some(conversation("C1", Some(false))), ..whole() };
    let unlisted = Answer { has_list: true, ..whole() };
    check(&format!(r#"{{"ok":true,"channels":[],{page}}}"#), &listed);
    check(&format!(r#"{{"ok":true,{page},"channels":[]}}"#), &unlisted);
    check(&format!(r#"{{"ok":true,{page},"channels":[{{"id":"C2"}}]}}"#), &unlisted);
    check(&format!(r#"{{"ok":true,{page},"ch\u0061nnels":[]}}"#), &unlisted);
    check(&format!(r#"{{"ok":true,{page},"channels":null}}"#), &whole());
    // One that breaks off is the last one all the same.
    check(&format!(r#"{{"ok":true,{page},"channels":[{{"id""#), &Answer { whole: false, ..whole() });
    // A name in another case is another name.
    check(&format!(r#"{{"ok":true,{page},"Channels":[]}}"#), &listed);

    let next = r#""response_metadata":{"next_cursor":"x"}"#;
    check(&format!(r#"{{"ok":true,{next},"response_metadata":{{}}}}"#), &whole());
    check(&format!(r#"{{"ok":true,{next},"response_metadata":null}}"#), &whole());
    check(&format!(r#"{{"ok":true,{next},"response_metadata":{{"next_cursor":""}}}}"#), &whole());
    let member = r#""channel":{"id":"C1","is_archived":false,"is_member":true}"#;
    check(
        &format!(r#"{{"ok":true,{member},"channel":{{"id":"C1"}}}}"#),
        &Answer { channel: Some(conversation("C1", None)), ..whole() },
    );
    check(&format!(r#"{{"ok":true,{member},"channel":null}}"#), &whole());
}

#[test]
fn what_was_read_before_a_cut_stays_read() {
    let cut = Answer { whole: false, ..whole() };
    check(r#"{"ok":true,"channels":[{"id":"C1""#, &cut);
    check(
        r#"{"ok":true,"channels":[{"id":"C1","is_archived":true},{"id""#,
        &Answer { listed: Some(conversation("C1", Some(true))), ..cut.clone() },
    );
    check(r#"{"ok":true"#, &cut);
    check(r#"{"ok":true} and more"#, &cut);
    check(r#"{"ok":tru"#, &Answer::default());
    check("", &Answer::default());
    check("<html><body>Down</body></html>", &Answer::default());
}

#[test]
fn values_that_are_no_object_say_nothing() {
    for body in ["null", "true", "1", "-1", "1.5", r#""ok""#, r#"[{"ok":true}]"#] {
        check(body, &Answer { whole: true, ..Answer::default() });
    }
}

#[test]
fn a_member_of_another_type_is_as_good_as_absent() {
    for value in ["1", "-1", "1.5", "null", r#""true""#, "[true]", r#"{"ok":true}"#] {
        check(&format!(r#"{{"ok":{value}}}"#), &Answer { ok: None, ..whole() });
    }
    for value in ["true", "1", "null", "[]", "{}"] {
        check(&format!(r#"{{"ok":true,"error":{value}}}"#), &whole());
    }
}

#[test]
fn a_body_that_is_nested_too_deep_is_not_whole() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let cut = Answer { whole: false, ..whole() };
    check(&format!(r#"{{"x":{deep},"ok":true}}"#), &Answer::default());
    check(&format!(r#"{{"ok":true,"x":{deep}}}"#), &cut);
    check(&format!(r#"{{"ok":true,"channel":{deep}}}"#), &cut);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body in proptest::collection::vec(any::<u8>(), 0..512)) {
        read(&body, "C1");
    }

    #[test]
    fn no_cut_of_a_page_makes_it_say_what_the_page_does_not(at in 0_usize..94) {
        let body = r#"{"ok":true,"channels":[{"id":"C1","is_archived":true}],"response_metadata":{"next_cursor":"x"}}"#;
        let answer = read(&body.as_bytes()[..at], "C1");
        prop_assert!(!answer.whole);
        prop_assert!(answer.ok != Some(false));
        prop_assert!(answer.listed.is_none_or(|found| found.is_archived == Some(true)));
    }
}
