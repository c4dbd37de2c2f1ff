//! A chat platform that means harm: what it says of its channels.

use kourier_core::reason::ChannelReason;
use suite::peer::{Act, Seen, answer, send};

use super::pieces::{honest_document, whole};
use super::{Script, chat};
use crate::world::CHANNEL;

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = oks();
    scripts.extend(codes());
    scripts.extend(listings());
    scripts.extend(cursors());
    scripts.extend(channels());
    scripts.extend(dense());
    scripts
}

/// The same document for each question.
fn says(name: &str, want: ChannelReason, text: impl Fn() -> String + Send + Sync + 'static) -> Script {
    Script::new(format!("chat-{name}"), chat(want), move || whole(text()))
}

/// A listing that tells nothing, and this for the one channel.
fn channel(name: &str, want: ChannelReason, text: impl Into<String>) -> Script {
    lists(name, want, || r#"{"ok":true,"channels":[]}"#.to_owned(), text)
}

/// These two documents.
fn lists(
    name: &str,
    want: ChannelReason,
    listing: impl Fn() -> String + Send + Sync + 'static,
    channel: impl Into<String>,
) -> Script {
    let channel = channel.into();
    Script::answering(format!("chat-{name}"), chat(want), move || {
        let (listing, channel) = (whole(listing()), whole(&channel));
        std::sync::Arc::new(move |seen: &Seen| {
            if seen.path().starts_with("/users.conversations") { listing.clone() } else { channel.clone() }
        })
    })
}

/// An honest answer for the one channel.
fn joined() -> String {
    format!(r#"{{"ok":true,"channel":{{"id":"{CHANNEL}","is_archived":false,"is_member":true}}}}"#)
}

fn oks() -> Vec<Script> {
    use ChannelReason::{Ok, UnexpectedAnswer};
    let rest = honest_document("");
    let rest = rest.replace("\"ok\":true,", "").trim_start_matches('{').to_owned();
    let with = |name: &str, want, ok: &str| {
        let text = format!("{{{ok}{rest}");
        says(name, want, move || text.clone())
    };
    vec![
        with("ok-is-a-text", UnexpectedAnswer, r#""ok":"true","#),
        with("ok-is-a-number", UnexpectedAnswer, r#""ok":1,"#),
        with("ok-is-too-large-a-number", UnexpectedAnswer, r#""ok":1e999,"#),
        with("ok-is-null", UnexpectedAnswer, r#""ok":null,"#),
        with("ok-is-a-list", UnexpectedAnswer, r#""ok":[true],"#),
        with("ok-is-an-object", UnexpectedAnswer, r#""ok":{"ok":true},"#),
        with("ok-is-missing", UnexpectedAnswer, ""),
        with("ok-is-in-capitals", UnexpectedAnswer, r#""OK":true,"Ok":true,"#),
        with("ok-is-false-without-a-code", UnexpectedAnswer, r#""ok":false,"#),
        with("ok-is-true-and-then-false", UnexpectedAnswer, r#""ok":true,"ok":false,"#),
        with("ok-is-false-and-then-true", Ok, r#""ok":false,"ok":true,"#),
        with("ok-is-true-with-a-code", Ok, r#""ok":true,"error":"token_revoked","#),
    ]
}

fn error(code: &str) -> String {
    format!(r#"{{"ok":false,"error":{code}}}"#)
}

fn codes() -> Vec<Script> {
    use ChannelReason as Is;
    let cases = [
        ("unknown", Is::UnexpectedAnswer, r#""something_new""#.to_owned()),
        ("empty", Is::UnexpectedAnswer, r#""""#.to_owned()),
        ("a-number", Is::UnexpectedAnswer, "5".to_owned()),
        ("a-list", Is::UnexpectedAnswer, r#"["channel_not_found"]"#.to_owned()),
        ("null", Is::UnexpectedAnswer, "null".to_owned()),
        ("in-capitals", Is::UnexpectedAnswer, r#""CHANNEL_NOT_FOUND""#.to_owned()),
        ("with-a-blank", Is::UnexpectedAnswer, r#""channel_not_found ""#.to_owned()),
        ("with-a-nul", Is::UnexpectedAnswer, r#""channel_not_found\u0000""#.to_owned()),
        ("with-escape-sequences", Is::UnexpectedAnswer, r#""\u001b[2Jowned\u0007""#.to_owned()),
        ("with-line-ends", Is::UnexpectedAnswer, r#""a\r\nlevel=error cause=fake""#.to_owned()),
        ("with-bidi-overrides", Is::UnexpectedAnswer, "\"\u{202e}dnuof_ton_lennahc\"".to_owned()),
        ("that-looks-like-a-secret", Is::UnexpectedAnswer, r#""xoxb-1234567890-secret""#.to_owned()),
        ("an-address", Is::UnexpectedAnswer, r#""http://169.254.169.254/""#.to_owned()),
        ("half-a-surrogate-pair", Is::UnexpectedAnswer, r#""\ud800""#.to_owned()),
        ("escaped", Is::ChannelNotFound, r#""channel\u005fnot_found""#.to_owned()),
        ("of-the-channel", Is::ChannelNotFound, r#""channel_not_found""#.to_owned()),
        ("of-the-token", Is::CredentialsRejected, r#""token_revoked""#.to_owned()),
        ("twice", Is::CredentialsRejected, r#""internal_error","error":"invalid_auth""#.to_owned()),
        ("with-what-is-needed", Is::MissingScope, r#""missing_scope","needed":"\u001b[31m'; drop table""#.to_owned()),
        ("with-needed-as-a-list", Is::MissingScope, r#""missing_scope","needed":["a"]"#.to_owned()),
    ];
    let mut scripts: Vec<_> = cases
        .into_iter()
        .map(|(name, want, code)| says(&format!("a-code-{name}"), want, move || error(&code)))
        .collect();
    scripts.extend([
        says("a-code-of-900-kibibytes", Is::UnexpectedAnswer, || error(&format!("\"{}\"", "e".repeat(900 << 10)))),
        says("a-code-of-150000-escapes", Is::UnexpectedAnswer, || error(&format!("\"{}\"", "\\u0065".repeat(150_000)))),
        says("needed-of-900-kibibytes", Is::MissingScope, || {
            error(&format!("\"missing_scope\",\"needed\":\"{}\"", "n".repeat(900 << 10)))
        }),
    ]);
    let limited = |name: &str, fields: &'static str, seconds| {
        let acts = move || vec![answer("200 OK", fields, br#"{"ok":false,"error":"ratelimited"}"#)];
        Script::new(format!("chat-limited-{name}"), chat(Is::RateLimited), acts).gate(seconds)
    };
    scripts.extend([
        limited("without-a-time", "", 30),
        limited("for-a-minute", "retry-after: 60\r\n", 60),
        limited("for-a-century", "retry-after: 3153600000\r\n", 3600),
        limited("for-minus-one", "retry-after: -1\r\n", 30),
    ]);
    scripts
}

fn listing(entries: &str) -> String {
    format!(r#"{{"ok":true,"channels":{entries}}}"#)
}

fn listings() -> Vec<Script> {
    use ChannelReason::{ChannelArchived, Ok, UnexpectedAnswer};
    let entry = format!(r#"{{"id":"{CHANNEL}","is_archived":false}}"#);
    let archived = entry.replace("false", "true");
    let fixed = [
        // What tells nothing leaves it to the question for the one channel, which says yes.
        ("an-object", Ok, format!(r#"{{"{CHANNEL}":{entry}}}"#)),
        ("null", Ok, "null".to_owned()),
        ("a-text", Ok, format!("\"{CHANNEL}\"")),
        ("a-list-of-texts", Ok, format!("[\"{CHANNEL}\"]")),
        ("a-list-of-lists", Ok, format!("[[{archived}]]")),
        ("an-entry-without-archived", Ok, format!(r#"[{{"id":"{CHANNEL}"}}]"#)),
        ("an-entry-whose-archived-is-a-text", Ok, format!("[{}]", archived.replace("true", "\"true\""))),
        ("the-channel-twice-archived-first", ChannelArchived, format!("[{archived},{entry}]")),
        ("the-channel-twice-archived-last", Ok, format!("[{entry},{archived}]")),
        ("an-id-twice-ours-last", ChannelArchived, format!(r#"[{{"id":"C0","id":"{CHANNEL}","is_archived":true}}]"#)),
        ("an-id-twice-ours-first", Ok, format!(r#"[{{"id":"{CHANNEL}","id":"C0","is_archived":true}}]"#)),
        ("an-id-in-small-letters", Ok, format!("[{}]", archived.to_lowercase())),
        ("an-id-with-a-nul", Ok, format!("[{}]", archived.replace(CHANNEL, &format!("{CHANNEL}\\u0000")))),
        ("an-id-with-a-blank", Ok, format!("[{}]", archived.replace(CHANNEL, &format!("{CHANNEL} ")))),
        ("an-id-with-bidi-overrides", Ok, format!("[{}]", archived.replace(CHANNEL, &format!("\u{202e}{CHANNEL}")))),
        ("an-id-in-full-width-letters", Ok, format!("[{}]", archived.replace(CHANNEL, "\u{ff23}0HOSTILE"))),
        ("an-id-that-is-escaped", ChannelArchived, format!("[{}]", archived.replace("C0", "\\u00430"))),
        ("an-id-that-is-a-number", Ok, format!("[{}]", archived.replace(&format!("\"{CHANNEL}\""), "0"))),
    ];
    let mut scripts: Vec<_> = fixed
        .into_iter()
        .map(|(name, want, entries)| lists(&format!("a-listing-of-{name}"), want, move || listing(&entries), joined()))
        .collect();
    let many = |name: &str, want, make: fn() -> String| lists(&format!("a-listing-of-{name}"), want, make, joined());
    scripts.extend([
        many("an-id-of-900-kibibytes", Ok, || listing(&format!(r#"[{{"id":"{}"}}]"#, "C".repeat(900 << 10)))),
        many("300000-empty-entries", Ok, || listing(&format!("[{}{{}}]", "{},".repeat(300_000)))),
        many("500000-numbers", Ok, || listing(&format!("[{}0]", "0,".repeat(500_000)))),
        many("30000-other-channels", Ok, || {
            let entry = r#"{"id":"C0OTHER","is_archived":true}"#;
            listing(&format!("[{}{entry}]", format!("{entry},").repeat(28_000)))
        }),
        many("a-page-100000-deep", Ok, || listing(&"[".repeat(100_000))),
        says("a-listing-of-a-million-channels", UnexpectedAnswer, || {
            let entry = r#"{"id":"C0OTHER","is_archived":false}"#;
            listing(&format!("[{}{entry}]", format!("{entry},").repeat(999_999)))
        }),
    ]);
    scripts
}

/// A listing without an end and a channel, each answer of nearly 1 MiB that is all small values: what takes a reader longest.
fn dense() -> Vec<Script> {
    let values = [
        ("numbers", "[", "0,", "0]"),
        ("names-that-are-escaped", "{", "\"\\u0061\":0,", "\"b\":0}"),
        ("names-that-are-empty", "{", "\"\":0,", "\"b\":0}"),
        ("objects", "[", "{},", "0]"),
        ("texts", "[", "\"\",", "0]"),
    ];
    let script = |(name, open, value, close): (&str, &'static str, &'static str, &'static str)| {
        Script::answering(format!("chat-dense-pages-of-{name}"), chat(ChannelReason::Ok), move || {
            let filler = ((1 << 20) - 300) / value.len() * value.len();
            let asked = std::sync::atomic::AtomicUsize::new(0);
            std::sync::Arc::new(move |seen: &Seen| {
                let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let rest = if seen.path().starts_with("/users.conversations") {
                    format!(r#""channels":[],"response_metadata":{{"next_cursor":"p{number}"}}"#)
                } else {
                    format!(r#""channel":{{"id":"{CHANNEL}","is_archived":false,"is_member":true}}"#)
                };
                let (before, after) = (format!("{{\"ok\":true,\"x\":{open}"), format!("{close},{rest}}}"));
                let length = before.len() + filler + after.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{before}");
                vec![send(head), Act::Flood(value.as_bytes().into(), Some(filler as u64)), send(after)]
            })
        })
    };
    values.into_iter().map(script).collect()
}

/// Pages that lead on, each with a cursor that this makes of its number, and an honest answer for the one channel.
fn pages(
    name: &str,
    want: ChannelReason,
    padding: usize,
    cursor: impl Fn(usize) -> String + Send + Sync + 'static,
) -> Script {
    let cursor = std::sync::Arc::new(cursor);
    Script::answering(format!("chat-cursor-{name}"), chat(want), move || {
        let (cursor, asked) = (std::sync::Arc::clone(&cursor), std::sync::atomic::AtomicUsize::new(0));
        let blanks = Act::Flood(b" ".as_slice().into(), Some(padding as u64));
        std::sync::Arc::new(move |seen: &Seen| {
            if !seen.path().starts_with("/users.conversations") {
                return whole(joined());
            }
            let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let page =
                format!(r#"{{"ok":true,"channels":[],"response_metadata":{{"next_cursor":{}}}}}"#, cursor(number));
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}", page.len() + padding);
            if padding == 0 { vec![send(head)] } else { vec![send(head), blanks.clone()] }
        })
    })
}

fn cursors() -> Vec<Script> {
    use ChannelReason::{CredentialsRejected, Ok};
    let fixed = |text: &str| {
        let text = text.to_owned();
        move |_: usize| text.clone()
    };
    let mut scripts = vec![
        pages("that-never-ends", Ok, 0, |number| format!("\"page{number}\"")),
        pages("that-never-ends-with-pages-of-a-mebibyte", Ok, (1 << 20) - 200, |number| format!("\"page{number}\"")),
        pages("that-is-always-the-same", Ok, 0, fixed("\"again\"")),
        pages("that-goes-in-a-circle", Ok, 0, |number| format!("\"{}\"", number % 3)),
        pages("with-a-nul", Ok, 0, |number| format!("\"a\\u0000b{number}\"")),
        pages("with-line-ends", Ok, 0, |number| format!("\"a\\r\\nhost: x\\r\\n{number}\"")),
        pages("with-a-fragment", Ok, 0, |number| format!("\"a#b&limit=999999&channel=C1?{number}\"")),
        pages("with-dot-segments", Ok, 0, |number| format!("\"/../../admin/{number}\"")),
        pages("with-bidi-overrides", Ok, 0, |number| format!("\"\u{202e}{number}\"")),
        pages("of-1000-bytes", Ok, 0, |number| format!("\"{number}{}\"", "c".repeat(1000))),
        pages("of-1000-bytes-that-grow-when-encoded", Ok, 0, |number| format!("\"{number}{}\"", "\u{e9}".repeat(480))),
        pages("of-100-kibibytes", Ok, 0, |number| format!("\"{number}{}\"", "c".repeat(100 << 10))),
        pages("that-is-a-number", Ok, 0, fixed("5")),
        pages("that-is-a-list", Ok, 0, fixed("[\"a\"]")),
        pages("that-is-null", Ok, 0, fixed("null")),
    ];
    scripts.push(says("cursor-that-is-always-stale", ChannelReason::UnexpectedAnswer, || error("\"invalid_cursor\"")));
    scripts.push(lists("cursor-that-is-stale-on-the-first-page", Ok, || error("\"invalid_cursor\""), joined()));
    scripts.push(lists(
        "cursor-in-the-wrong-place",
        CredentialsRejected,
        || r#"{"ok":true,"channels":[],"next_cursor":"x","response_metadata":[{"next_cursor":"y"}]}"#.to_owned(),
        error("\"invalid_auth\""),
    ));
    scripts
}

fn channels() -> Vec<Script> {
    use ChannelReason as Is;
    let of = |object: &str| format!(r#"{{"ok":true,"channel":{object}}}"#);
    let object = |members: &str| format!(r#"{{"ok":true,"channel":{{"id":"{CHANNEL}",{members}}}}}"#);
    vec![
        channel("a-channel-that-is-missing", Is::UnexpectedAnswer, r#"{"ok":true}"#),
        channel("a-channel-that-is-null", Is::UnexpectedAnswer, of("null")),
        channel("a-channel-that-is-a-list", Is::UnexpectedAnswer, of("[]")),
        channel("a-channel-that-is-a-text", Is::UnexpectedAnswer, of(&format!("\"{CHANNEL}\""))),
        channel("a-channel-without-an-id", Is::UnexpectedAnswer, of(r#"{"is_archived":false,"is_member":true}"#)),
        channel(
            "another-channel",
            Is::UnexpectedAnswer,
            of(r#"{"id":"C0OTHER","is_archived":false,"is_member":true}"#),
        ),
        channel(
            "a-channel-whose-member-is-a-text",
            Is::NotInChannel,
            object(r#""is_archived":false,"is_member":"true""#),
        ),
        channel(
            "a-channel-whose-archived-is-a-text",
            Is::UnexpectedAnswer,
            object(r#""is_archived":"false","is_member":true"#),
        ),
        channel(
            "a-channel-that-is-archived-and-joined",
            Is::ChannelArchived,
            object(r#""is_archived":true,"is_member":true"#),
        ),
        channel(
            "a-channel-that-is-archived-twice",
            Is::ChannelArchived,
            object(r#""is_archived":false,"is_archived":true,"is_member":true"#),
        ),
        channel(
            "a-channel-that-is-a-direct-message",
            Is::InvalidChannel,
            object(r#""is_archived":false,"is_member":true,"is_im":true"#),
        ),
        channel("a-channel-that-is-not-joined", Is::NotInChannel, object(r#""is_archived":false,"is_member":false"#)),
        channel("a-channel-that-breaks-off", Is::UnexpectedAnswer, joined().trim_end_matches('}').to_owned()),
        channel("a-channel-and-something-after-it", Is::UnexpectedAnswer, joined() + "{}"),
        channel("a-channel-100000-deep", Is::UnexpectedAnswer, of(&"{\"a\":".repeat(100_000))),
        channel(
            "a-channel-with-a-topic-of-900-kibibytes",
            Is::Ok,
            object(&format!(r#""topic":"{}","is_archived":false,"is_member":true"#, "t".repeat(900 << 10))),
        ),
    ]
}
