//! Documents that are made to break a parser, as a card and as a page of a listing.
//!
//! The two probes read differently, on purpose: the card's is strict about the whole text, Slack's keeps what it read
//! before a body broke off, and takes what is no character for one.

use kourier_core::reason::{BackendReason, ChannelReason};

use super::pieces::{honest_document, honest_members, whole};
use super::{BAD, GOOD, Script, Want, both};

/// A text that is no card, but of which Slack's probe reads enough.
const CARD_ALONE_IS_BAD: Want = both(BackendReason::InvalidAgentCard, ChannelReason::Ok);

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = depths();
    scripts.extend(values());
    scripts.extend(masses());
    scripts.extend(charsets());
    scripts.extend(others());
    scripts
}

fn document(name: &str, want: Want, text: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Script {
    Script::new(format!("json-{name}"), want, move || whole(text()))
}

/// An honest document with a member before its others that has this value.
fn value(name: &str, want: Want, value: impl Fn() -> String + Send + Sync + 'static) -> Script {
    document(name, want, move || honest_document(&format!("\"extra\":{},", value())).into_bytes())
}

/// A document that is this text.
fn text(name: &str, want: Want, text: &'static str) -> Script {
    document(name, want, move || text.as_bytes().to_vec())
}

fn depths() -> Vec<Script> {
    let nested = |depth: usize| move || format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| move || format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    vec![
        value("lists-100-deep", GOOD, nested(100)),
        value("lists-1000-deep", BAD, nested(1000)),
        value("lists-100000-deep", BAD, nested(100_000)),
        value("objects-100-deep", GOOD, objects(100)),
        value("objects-100000-deep", BAD, objects(100_000)),
        value("lists-in-objects-50000-deep", BAD, || "{\"a\":[".repeat(50_000)),
        document("lists-a-million-deep", BAD, || "[".repeat(1_000_000).into_bytes()),
        document("objects-150000-deep", BAD, || "{\"a\":".repeat(150_000).into_bytes()),
        document("a-name-900000-deep", BAD, || format!("{{\"name\": {}", "[".repeat(900_000)).into_bytes()),
        document("channels-900000-deep", BAD, || {
            format!("{{\"ok\":true,\"channels\":{}", "[".repeat(900_000)).into_bytes()
        }),
    ]
}

fn values() -> Vec<Script> {
    let fixed = [
        ("a-number-of-100000-digits", GOOD, "9".repeat(100_000)),
        ("a-fraction-of-100000-digits", GOOD, format!("0.{}", "3".repeat(100_000))),
        ("an-exponent-of-100000-digits", GOOD, format!("1e{}", "9".repeat(100_000))),
        ("minus-zero", GOOD, "-0".to_owned()),
        ("a-number-too-large-for-a-float", GOOD, "1e999999".to_owned()),
        ("a-number-with-a-leading-zero", BAD, "01".to_owned()),
        ("a-number-with-a-plus", BAD, "+1".to_owned()),
        ("a-number-without-digits-after-its-point", BAD, "1.".to_owned()),
        ("a-number-without-digits-before-its-point", BAD, ".5".to_owned()),
        ("a-number-in-hexadecimal", BAD, "0x10".to_owned()),
        ("nan", BAD, "NaN".to_owned()),
        ("infinity", BAD, "-Infinity".to_owned()),
        ("undefined", BAD, "undefined".to_owned()),
        ("true-in-capitals", BAD, "TRUE".to_owned()),
        ("single-quotes", BAD, "'a'".to_owned()),
        ("a-comment", BAD, "/* a */ 1".to_owned()),
        ("a-comma-too-many", BAD, "[1,]".to_owned()),
        ("a-comma-too-few", BAD, "[1 2]".to_owned()),
        ("an-unknown-escape", BAD, r#""\x41""#.to_owned()),
        ("half-an-escape", BAD, r#""\u00""#.to_owned()),
        ("a-line-end-in-a-text", BAD, "\"a\nb\"".to_owned()),
        ("a-tab-in-a-text", BAD, "\"a\tb\"".to_owned()),
        ("a-nul-in-a-text", BAD, "\"a\0b\"".to_owned()),
        ("an-escaped-nul", GOOD, r#""\u0000""#.to_owned()),
        ("escaped-control-characters", GOOD, r#""\u001b[31m\u0007\u007f\u0085""#.to_owned()),
        ("bidi-overrides", GOOD, "\"\u{202e}\u{2066}\u{200f}\"".to_owned()),
        ("half-a-surrogate-pair", CARD_ALONE_IS_BAD, r#""\ud83d""#.to_owned()),
        ("a-surrogate-pair-the-wrong-way-round", CARD_ALONE_IS_BAD, r#""\ude00\ud83d""#.to_owned()),
        ("half-a-surrogate-pair-and-a-character", CARD_ALONE_IS_BAD, r#""\ud83d\u0041""#.to_owned()),
        ("a-surrogate-pair", GOOD, r#""\ud83d\ude00""#.to_owned()),
        ("characters-that-are-none", GOOD, "\"\u{fffe}\u{ffff}\u{10ffff}\"".to_owned()),
    ];
    let mut scripts: Vec<_> =
        fixed.into_iter().map(|(name, want, text)| value(name, want, move || text.clone())).collect();
    scripts.extend([
        value("a-text-of-900-kibibytes", GOOD, || format!("\"{}\"", "x".repeat(900 << 10))),
        value("a-text-of-150000-escapes", GOOD, || format!("\"{}\"", "\\u0041".repeat(150_000))),
        value("a-text-of-450000-backslashes", GOOD, || format!("\"{}\"", "\\\\".repeat(450_000))),
        value("a-text-of-combining-characters", GOOD, || format!("\"a{}\"", "\u{301}".repeat(300_000))),
    ]);
    scripts
}

/// Many or large names.
fn masses() -> Vec<Script> {
    vec![
        document("60000-members", GOOD, || {
            let members: String = (0..60_000).map(|number| format!("\"k{number}\":1,")).collect();
            honest_document(&members).into_bytes()
        }),
        document("100000-members-of-one-name", GOOD, || honest_document(&"\"name\":0,".repeat(100_000)).into_bytes()),
        document("100000-members-without-a-name", GOOD, || honest_document(&"\"\":[],".repeat(100_000)).into_bytes()),
        document("a-member-s-name-of-900-kibibytes", GOOD, || {
            honest_document(&format!("\"{}\":1,", "n".repeat(900 << 10))).into_bytes()
        }),
        document("a-member-s-name-of-150000-escapes", GOOD, || {
            honest_document(&format!("\"{}\":1,", "\\u006e".repeat(150_000))).into_bytes()
        }),
        document("names-that-are-escaped", GOOD, || {
            format!("{{{}}}", honest_members().replace("\"name\"", r#""n\u0061me""#).replace("\"ok\"", r#""\u006fk""#))
                .into_bytes()
        }),
        document("half-a-surrogate-pair-as-a-name", CARD_ALONE_IS_BAD, || {
            honest_document(r#""\ud800":1,"#).into_bytes()
        }),
        document("names-as-of-other-languages-objects", GOOD, || {
            honest_document(r#""__proto__":{"ok":false},"constructor":{},"$ref":"file:///etc/passwd","@type":"x","#)
                .into_bytes()
        }),
        value("half-a-million-small-items", GOOD, || format!("[{}0]", "0,".repeat(500_000))),
        value("340000-empty-objects", GOOD, || format!("[{}0]", "{},".repeat(330_000))),
        value("250000-empty-texts", GOOD, || format!("[{}0]", "\"\",".repeat(250_000))),
        value("a-million-blanks", GOOD, || " ".repeat(1_000_000) + "1"),
        // The last one counts.
        document("each-member-twice-the-good-one-last", GOOD, || {
            honest_document(r#""name":"","url":"x","ok":false,"channels":[],"#).into_bytes()
        }),
        document("each-member-twice-the-bad-one-last", CARD_ALONE_IS_BAD, || {
            format!(r#"{{{},"name":"","url":"x"}}"#, honest_members()).into_bytes()
        }),
    ]
}

fn charsets() -> Vec<Script> {
    let honest = honest_document("");
    let utf16 = |little: bool| {
        let text = honest.clone();
        move || {
            let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            text.encode_utf16().flat_map(bytes).collect::<Vec<_>>()
        }
    };
    let utf32 = honest.clone();
    let raw = |bytes: &'static [u8]| {
        move || {
            let (before, after) = ("{\"extra\":\"", format!("\",{}}}", honest_members()));
            [before.as_bytes(), bytes, after.as_bytes()].concat()
        }
    };
    let named = |bytes: &'static [u8]| {
        move || [b"{\"".as_slice(), bytes, format!("\":1,{}}}", honest_members()).as_bytes()].concat()
    };
    vec![
        document("utf-16-little-endian", BAD, utf16(true)),
        document("utf-16-big-endian", BAD, utf16(false)),
        document("utf-32", BAD, move || utf32.chars().flat_map(|char| u32::from(char).to_be_bytes()).collect()),
        document("a-byte-order-mark", GOOD, || format!("\u{feff}{}", honest_document("")).into_bytes()),
        document("two-byte-order-marks", BAD, || format!("\u{feff}\u{feff}{}", honest_document("")).into_bytes()),
        document("invalid-utf-8-in-a-text", CARD_ALONE_IS_BAD, raw(b"\xff\xfe")),
        document("an-overlong-form", CARD_ALONE_IS_BAD, raw(b"\xc0\xaf")),
        document("a-surrogate-in-utf-8", CARD_ALONE_IS_BAD, raw(b"\xed\xa0\x80")),
        document("a-character-past-the-last", CARD_ALONE_IS_BAD, raw(b"\xf4\x90\x80\x80")),
        document("half-a-character", CARD_ALONE_IS_BAD, raw(b"\xf0\x9f")),
        document("latin-1", CARD_ALONE_IS_BAD, raw(b"caf\xe9")),
        document("invalid-utf-8-in-a-name", CARD_ALONE_IS_BAD, named(b"\xff")),
        document("utf-7", GOOD, raw(b"+ADw-script+AD4-")),
    ]
}

fn others() -> Vec<Script> {
    vec![
        text("nothing", BAD, ""),
        text("blanks", BAD, " \t\r\n"),
        text("null", BAD, "null"),
        text("true", BAD, "true"),
        text("a-number", BAD, "0"),
        text("a-text", BAD, "\"{}\""),
        text("an-empty-list", BAD, "[]"),
        text("an-empty-object", BAD, "{}"),
        text("an-open-brace", BAD, "{"),
        text("a-closing-brace", BAD, "}"),
        text("nul-bytes", BAD, "\0\0\0\0"),
        text("html", BAD, "<!doctype html><title>Sign in</title><script>alert(1)</script>"),
        text("xml-with-entities", BAD, "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"),
        text("yaml", BAD, "name: Agent\nok: true\nurl: https://agent.example/\n"),
        document("a-list-of-honest-documents", BAD, || format!("[{}]", honest_document("")).into_bytes()),
        document("a-call-around-it", BAD, || format!("callback({})", honest_document("")).into_bytes()),
        document("a-guard-before-it", BAD, || format!(")]}}',\n{}", honest_document("")).into_bytes()),
        document("two-documents", CARD_ALONE_IS_BAD, || honest_document("").repeat(2).into_bytes()),
        document("a-nul-after-it", CARD_ALONE_IS_BAD, || (honest_document("") + "\0").into_bytes()),
        document("html-after-it", CARD_ALONE_IS_BAD, || (honest_document("") + "<script>").into_bytes()),
        document("without-its-last-brace", CARD_ALONE_IS_BAD, || format!("{{{}", honest_members()).into_bytes()),
        document("a-comma-after-its-last-member", CARD_ALONE_IS_BAD, || {
            format!("{{{},}}", honest_members()).into_bytes()
        }),
    ]
}
