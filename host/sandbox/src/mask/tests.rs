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
    let spelt = ["xoxb-1/2\"3+ä", "xoxb-1%2F2%223%2B%C3%A4", "%78oxb%2d1%2f2%223%2b%c3%a4", r#"xoxb-1\/2\"3+ä"#];
    for form in spelt {
        check(secret, &format!("a {form} b"), "a [masked] b");
        check(secret, &format!("{form}{form}"), "[masked][masked]");
    }
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
fn what_is_not_the_secret_stays() {
    for text in ["", "xoxb", "xoxb-12345-abcd", "%", "%7", "%78", "%zz", "ä", "xoxb%2"] {
        check("xoxb-12345-abcde", text, text);
    }
    check("", "anything", "anything");
}

#[test]
fn a_short_secret_is_masked_too() {
    check("a", "banana", "b[masked]n[masked]n[masked]");
}
