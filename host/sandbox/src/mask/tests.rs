use std::cell::Cell;

use super::*;

fn check(secret: &str, text: &str, want: &str) {
    let mask = Mask::of(&Secret::new(secret.to_owned()));
    let (mut got, mut rest) = (String::new(), text);
    while let Some(next) = rest.chars().next() {
        let length = mask.length_at(rest);
        got.push_str(if length.is_some() { MASK } else { &rest[..next.len_utf8()] });
        rest = &rest[length.unwrap_or(next.len_utf8())..];
    }
    assert_eq!(got, want, "{secret:?} in {text:?}");
}

#[test]
fn a_secret_is_found_in_each_of_its_forms() {
    let secret = "xoxb-1/2\"3+ä";
    let spelt = [
        "xoxb-1/2\"3+ä",
        "xoxb-1%2F2%223%2B%C3%A4",
        "%78oxb%2d1%2f2%223%2b%c3%a4",
        r#"xoxb-1\/2\"3+ä"#,
        // In another letter case.
        "XOXB-1/2\"3+Ä",
        "xOxB-1%2f2%223%2B%C3%A4",
        // Escaped twice, or all of it.
        "xoxb-1%252F2%25223%252B%25C3%25A4",
        r#"xoxb-1\\/2\\\"3+ä"#,
        r#"xoxb\u002d1\u002F2\"3\u002b\u00e4"#,
        r"\x78\x6f\x78\x62\x2D1/2\x223+\u{e4}",
        "xoxb-1/2&quot;3&#43;&#xE4;",
        "xoxb-1&#x2f;2&amp;quot;3+&amp;#228;",
        // Each byte as a number.
        "786f78622d312f3222332bc3a4",
        "78:6F:78:62:2D:31:2F:32:22:33:2B:C3:A4",
        "0x78, 0x6f, 0x78, 0x62, 0x2d, 0x31, 0x2f, 0x32, 0x22, 0x33, 0x2b, 0xc3, 0xa4",
        "120, 111, 120, 98, 45, 49, 47, 50, 34, 51, 43, 195, 164",
        "120,111,120,98,45,49,47,50,34,51,43,195,164",
        // Backwards.
        "ä+3\"2/1-bxox",
    ];
    for form in spelt {
        check(secret, &format!("a {form} b"), "a [masked] b");
        check(secret, &format!("[{form}]"), "[[masked]]");
    }
    check(secret, &secret.repeat(2), "[masked][masked]");
}

#[test]
fn a_character_outside_of_the_first_plane_is_found_in_its_escapes() {
    for form in ["k\u{1f600}y", r"k\ud83d\ude00y", r"k\u{1F600}y", "k%F0%9F%98%80y", "k&#x1f600;y", "6bf09f988079"] {
        check("k\u{1f600}y", &format!("<{form}>"), "<[masked]>");
    }
}

#[test]
fn a_secret_that_looks_escaped_itself_is_found() {
    for secret in ["%25secret", r"\u0041\\secret", "&amp;secret", "100%"] {
        check(secret, &format!("<{secret}>"), "<[masked]>");
    }
    check("%41secret", "<%2541secret>", "<[masked]>");
    check(r"a\b", r"<a\\b>", "<[masked]>");
}

#[test]
fn a_secret_is_found_in_base64_whatever_stands_before_it() {
    let secret = "xoxb-12345-abcde";
    for (before, kept) in [("", 0), ("u", 2), ("us", 3), ("user:", 7), ("user:2", 8)] {
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = engine.encode(format!("{before}{secret}!"));
            check(secret, &format!("<{text}>"), &format!("<{}[masked]>", &text[..kept]));
        }
    }
}

#[test]
fn base64_is_found_when_its_signs_are_escaped() {
    let secret = "\u{7ff}\u{7ff}\u{7ff}\u{7ff}>>>???";
    let text = STANDARD_NO_PAD.encode(secret);
    assert!(text.contains('+') && text.contains('/'), "{text}");
    check(secret, &text.replace('/', r"\/"), MASK);
    check(secret, &text.replace('/', "%2F").replace('+', "%2b"), MASK);
}

#[test]
fn a_secret_that_was_cut_is_masked_too() {
    let secret = "xoxb-12345-abcde";
    for form in ["xoxb-12345-abcd", "xoxb-123", "XOXB-12345…", "xoxb%2d12345%2d", "786f78622d313233"] {
        let rest = if form.ends_with('…') { "…" } else { "" };
        check(secret, &format!("the token {form}"), &format!("the token [masked]{rest}"));
    }
}

#[test]
fn what_is_not_the_secret_stays() {
    let other = ["", "xoxb", "xoxb-12", "xoxb-12x345-abcde", "%", "%7", "%78", "%zz", "ä", "xoxb%2", "&", "&;", "&#x;"];
    let numbers =
        ["78", "786f", "7", "0x", "120", "120, 111", "120111120984549505152534597", "\\", r"\u", r"\u{", r"\x7"];
    for text in other.into_iter().chain(numbers) {
        check("xoxb-12345-abcde", text, text);
    }
    check("", "anything", "anything");
}

#[test]
fn a_short_secret_is_masked_too() {
    check("a", "banana", "b[masked]n[masked]n[masked]");
    // Its digits would be found in innocent words.
    check("a", "61 and 97", "61 [masked]nd 97");
}

#[test]
fn of_a_long_text_no_more_is_read_than_a_spelling_has() {
    let most = Cell::new(0);
    let seen = |wanted, index, text: &str| {
        most.set(text.len().max(most.get()));
        in_any_case(wanted, index, text)
    };
    for text in ["x".repeat(1 << 20), "ä".repeat(1 << 20), "漢".repeat(1 << 20)] {
        walk(&text, text.chars().take(100), seen);
    }
    assert!((SPELLING - 3..=SPELLING).contains(&most.get()), "{}", most.get());
}

#[test]
fn what_ends_only_far_away_is_no_spelling() {
    let far = |begin: &str, middle: &str, end: &str| format!("{begin}{}{end}", middle.repeat(SPELLING));
    for text in [far(r"\u{", "0", "7a}"), far("%", "25", "7a"), far("&", "amp;", "#122;")] {
        check("z", &text, &text);
    }
    let text = far("", "\\", "z");
    check("z", &text, &format!("{}[masked]", &text[..text.len() - SPELLING]));
}
