use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::cursor::plain;
use super::*;

fn skim(bytes: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(bytes);
    reader.skip().and_then(|()| reader.end()).map_err(|kind| reader.error(kind))
}

/// The names and string values of a text's outermost object.
fn strings(text: &str) -> Vec<(String, Option<String>)> {
    let mut reader = Reader::new(text.as_bytes());
    let mut members = Vec::new();
    let is_object = reader.object(&mut |reader, name| {
        let value = reader.value()?.as_string();
        members.push((name.decode().into_owned(), value.map(|value| value.decode().into_owned())));
        Ok(())
    });
    assert!(is_object.unwrap() && reader.end().is_ok(), "{text}");
    members
}

#[test]
fn a_string_means_what_its_escapes_say() {
    let text =
        r#" { "na\u006de" : "a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00z" , "n":null,"o" : {"x":[1,{"y":"z"}]}, "e":"" } "#;
    let want = [("name", Some("a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}z")), ("n", None), ("o", None), ("e", Some(""))];
    assert_eq!(strings(text), want.map(|(name, value)| (name.into(), value.map(String::from))));
}

#[test]
fn a_value_is_told_as_far_as_it_has_no_parts() {
    let told = |text: &str| {
        let mut reader = Reader::new(text.as_bytes());
        let value = reader.value().unwrap();
        assert_eq!(reader.end(), Ok(()), "{text}");
        match value {
            Value::Null => "null".to_string(),
            Value::Bool(value) => format!("the boolean {value}"),
            Value::String(text) => format!("the text {}", text.decode()),
            Value::Number(number) => format!("the number {number}"),
            Value::Other => "other".to_string(),
        }
    };
    for (text, want) in [
        ("null", "null"),
        (" true ", "the boolean true"),
        ("false", "the boolean false"),
        (r#""\u0061""#, "the text a"),
        ("-1.5e3", "the number -1.5e3"),
        (" 0 ", "the number 0"),
        (r#"[true, "a"]"#, "other"),
        (r#"{"a": null}"#, "other"),
    ] {
        assert_eq!(told(text), want, "{text}");
    }
    for text in ["tru", "nul", "", "]", "\"a", "-", "+1", "1."] {
        assert_eq!(Reader::new(text.as_bytes()).value().unwrap_err(), ErrorKind::Syntax, "{text}");
    }
}

#[test]
fn a_string_that_is_too_long_is_not_told() {
    let short = |raw: &str, bytes: usize| {
        let text = format!("\"{raw}\"");
        let text = Reader::new(text.as_bytes()).value().unwrap().as_string().unwrap();
        text.decode_short(bytes).map(|text| text.into_owned())
    };
    assert_eq!(short("abc", 3).as_deref(), Some("abc"));
    assert_eq!(short("abcd", 3), None);
    assert_eq!(short("", 0).as_deref(), Some(""));
    assert_eq!(short(&r"\u0061".repeat(3), 3).as_deref(), Some("aaa"));
    assert_eq!(short(&r"\u0061".repeat(4), 3), None);
    assert_eq!(short(r"\n\n\n\n", 3), None);
    assert_eq!(short(r"\ud83d\ude00", 4).as_deref(), Some("\u{1f600}"));
    assert_eq!(short(r"\ud83d\ude00", 3), None);
    let mut lenient = Reader::lenient(b"\"\xff\xff\"");
    let string = lenient.value().unwrap().as_string().unwrap();
    assert_eq!(string.decode_short(5), None, "each is three bytes");
    assert_eq!(string.decode_short(6).as_deref(), Some("\u{fffd}\u{fffd}"));
}

#[test]
fn a_byte_order_mark_is_allowed_once_and_only_first() {
    assert!(skim("\u{feff}{}".as_bytes()).is_ok());
    assert!(skim("\u{feff}\u{feff}{}".as_bytes()).is_err());
    assert!(skim("{}\u{feff}".as_bytes()).is_err());
}

#[test]
fn what_is_no_json_is_refused() {
    let wrong = [
        "",
        " ",
        "{",
        "}",
        "[",
        "{]",
        "[}",
        "{}}",
        "{} {}",
        "nul",
        "nulll",
        "True",
        "'a'",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\u{1}\"",
        "\"a\nb\"",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "// x\n{}",
        "{}\0",
        "<html>",
    ];
    for text in wrong {
        let error = skim(text.as_bytes()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Syntax), "{text:?}: {error}");
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text:?}");
    }
}

#[test]
fn half_a_surrogate_pair_is_refused_wherever_it_stands() {
    for half in [r"\ud800", r"\udc00", r"\ud800x", r"\ud800\u0041", r"\udc00\ud800", r"\uD83D\n"] {
        for text in [format!("\"{half}\""), format!("{{\"{half}\":1}}"), format!("[[\"{half}\"]]")] {
            assert_eq!(skim(text.as_bytes()).unwrap_err().kind, ErrorKind::LoneSurrogate, "{text}");
        }
    }
}

#[test]
fn a_lenient_reader_takes_what_is_no_character_of_a_string_for_one() {
    let read = |text: &[u8]| {
        let mut reader = Reader::lenient(text);
        let value = reader.value()?.as_string().map(|text| text.decode().into_owned());
        reader.end().map(|()| value.unwrap_or_default())
    };
    for (text, want) in [
        (&br#""\ud83d""#[..], "\u{fffd}"),
        (br#""a\ud83dd\u0041""#, "a\u{fffd}dA"),
        (br#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (br#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (b"\"a\xff\"", "a\u{fffd}"),
        (b"\"\xc3\"", "\u{fffd}"),
        (b"\"\xff\\n\xff\"", "\u{fffd}\n\u{fffd}"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(want), "{text:?}");
    }
    for text in [&b"\xff"[..], b"[\xff]", br#""\u12g4""#, b"\"\xff", b"\"\xff\n\""] {
        assert_eq!(read(text), Err(ErrorKind::Syntax), "{text:?}");
    }
    let mut reader = Reader::lenient(b"[\"\xff\", x]");
    let kind = reader.skip().unwrap_err();
    assert_eq!(reader.error(kind).to_string(), "is not JSON at byte 6");
}

#[test]
fn other_encodings_are_refused() {
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(skim(&utf16).is_err());
    assert_eq!(skim(b"{\"a\":\"\xff\"}").unwrap_err().kind, ErrorKind::NotUtf8);
    assert_eq!(skim(b"\"\xed\xa0\x80\"").unwrap_err().kind, ErrorKind::NotUtf8);
}

#[test]
fn nesting_ends_at_a_fixed_depth() {
    let nested = |open: &str, close: &str, depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let fits = MAX_DEPTH / open.matches(['[', '{']).count();
        assert!(skim(nested(open, close, fits).as_bytes()).is_ok());
        assert_eq!(skim(nested(open, close, fits + 1).as_bytes()).unwrap_err().kind, ErrorKind::TooDeep);
        assert_eq!(skim(open.repeat(100_000).as_bytes()).unwrap_err().kind, ErrorKind::TooDeep);
    }
    // Siblings are not nested.
    assert!(skim(format!("[{}1]", "[],{},".repeat(1000)).as_bytes()).is_ok());
}

/// The string that a text is.
fn read<const LENIENT: bool>(mut reader: Reader<'_, LENIENT>) -> Result<Option<String>, ErrorKind> {
    let value = reader.value()?.as_string().map(|string| string.decode().into_owned());
    reader.end().map(|()| value)
}

/// Texts that look like JSON, many of them broken.
fn almost_json() -> impl Strategy<Value = String> {
    let token = prop::sample::select(Vec::from([
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\",
        "\"",
        "1",
        "-0.5e3",
        "01",
        "true",
        "null",
        " ",
        "\u{e9}",
        "{\"a\":1}",
        "[1,2]",
    ]));
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

/// Values, to be printed and read again.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(serde_json::Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..8).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

#[test]
fn every_byte_that_ends_plain_text_is_found_wherever_it_stands() {
    for end in (0..=0x1f).chain([b'"', b'\\']) {
        for place in 0..20 {
            // Neighbours from which a subtraction borrows, and such as look like an end but for the highest bit.
            for other in [0x20, 0x21, 0x23, 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                let mut bytes = [other; 20];
                assert_eq!(plain(&bytes, &mut 0), 20, "{other:x}");
                bytes[place] = end;
                assert_eq!(plain(&bytes, &mut 0), place, "{end:x} in {other:x}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = skim(&bytes);
    }

    #[test]
    fn a_lenient_reader_takes_all_that_a_strict_one_does_and_reads_the_same(inside in any::<Vec<u8>>(), text in almost_json()) {
        let string = [b"\"", &inside[..], b"\""].concat();
        for bytes in [&inside, &string, &text.into_bytes()] {
            let (strict, lenient) = (read(Reader::new(bytes)), read(Reader::lenient(bytes)));
            prop_assert!(strict.is_err() || strict == lenient, "{strict:?}, {lenient:?}");
        }
    }

    #[test]
    fn it_accepts_what_serde_json_accepts(text in almost_json()) {
        prop_assert_eq!(skim(text.as_bytes()).is_ok(), serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
    }

    #[test]
    fn every_printed_value_is_accepted(value in json()) {
        prop_assert!(skim(value.to_string().as_bytes()).is_ok());
        prop_assert!(skim(serde_json::to_string_pretty(&value).unwrap().as_bytes()).is_ok());
    }

    #[test]
    fn every_printed_string_is_read_as_it_was(value in any::<String>()) {
        let text = format!("{{\"a\":{}}}", serde_json::Value::from(value.as_str()));
        prop_assert_eq!(strings(&text), [("a".into(), Some(value))]);
    }
}
