//! Where one answer ends and the next begins: lengths, chunks, trailers, and what stands after an answer.

use kourier_core::reason::{BackendReason, ChannelReason};
use suite::peer::{Act, Seen, send};

use super::pieces::{LAST, chunk, chunked, endless, head, honest_document, honest_with, only, whole};
use super::{BAD, GOOD, NONE, Script, both};

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = lengths();
    scripts.extend(encodings());
    scripts.extend(chunks());
    scripts.extend(trailers());
    scripts.extend(glued());
    scripts
}

/// An honest document with these fields in place of its length.
fn framed(name: &str, want: super::Want, fields: &str) -> Script {
    let fields = fields.replace("SIZE", &honest_document("").len().to_string());
    // In one piece: a rest that comes late is an answer to the next question, as far as anybody can tell.
    Script::new(name, want, move || only(format!("HTTP/1.1 200 OK\r\n{fields}\r\n{}", honest_document(""))))
}

fn lengths() -> Vec<Script> {
    vec![
        framed("a-length-twice", GOOD, "content-length: SIZE\r\ncontent-length: SIZE\r\n"),
        framed("a-length-twice-in-one-field", GOOD, "content-length: SIZE, SIZE\r\n"),
        framed("a-length-with-zeros", GOOD, "content-length: 0000000SIZE\r\n"),
        framed("two-lengths", NONE, "content-length: SIZE\r\ncontent-length: 2\r\n"),
        framed("two-lengths-in-one-field", NONE, "content-length: SIZE, 2\r\n"),
        framed("a-length-of-minus-one", NONE, "content-length: -1\r\n"),
        framed("a-length-with-a-plus", NONE, "content-length: +SIZE\r\n"),
        framed("a-length-in-hexadecimal", NONE, "content-length: 0xff\r\n"),
        framed("a-length-with-a-fraction", NONE, "content-length: 1.0\r\n"),
        framed("a-length-of-nothing", NONE, "content-length: \r\n"),
        framed("a-length-of-two-to-the-64", NONE, "content-length: 18446744073709551616\r\n"),
        framed("a-length-of-all-bits", NONE, "content-length: 18446744073709551615\r\n"),
        framed("a-length-with-a-letter", NONE, "content-length: 5a\r\n"),
        framed("a-length-that-is-too-short", BAD, "content-length: 20\r\n"),
        framed("a-length-of-zero", BAD, "content-length: 0\r\n"),
        framed("a-length-that-is-too-long", NONE, "content-length: 100000\r\n"),
    ]
}

/// An honest document in one chunk, with these fields.
fn in_chunks(name: &str, want: super::Want, fields: &'static str) -> Script {
    Script::new(name, want, move || vec![head(fields), send(chunk(&honest_document("")) + LAST), Act::Close])
}

fn encodings() -> Vec<Script> {
    vec![
        in_chunks("chunked-twice", GOOD, "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n"),
        in_chunks("chunked-in-capitals", GOOD, "TRANSFER-ENCODING: CHUNKED\r\n"),
        in_chunks("chunked-and-a-shorter-length", GOOD, "transfer-encoding: chunked\r\ncontent-length: 5\r\n"),
        in_chunks("a-shorter-length-and-chunked", GOOD, "content-length: 5\r\ntransfer-encoding: chunked\r\n"),
        in_chunks("chunked-and-a-longer-length", GOOD, "transfer-encoding: chunked\r\ncontent-length: 99999\r\n"),
        in_chunks("chunked-and-a-bad-length", GOOD, "transfer-encoding: chunked\r\ncontent-length: -1\r\n"),
        in_chunks("chunked-after-identity", GOOD, "transfer-encoding: identity, chunked\r\n"),
        // What is not chunked at its end lasts until the connection does, so the sizes are in the body.
        in_chunks("chunked-before-identity", BAD, "transfer-encoding: chunked, identity\r\n"),
        in_chunks("chunked-misspelt", BAD, "transfer-encoding: xchunked\r\n"),
        in_chunks("chunked-with-a-parameter", BAD, "transfer-encoding: chunked;q=1\r\n"),
        in_chunks("chunked-in-quotes", BAD, "transfer-encoding: \"chunked\"\r\n"),
        in_chunks("chunked-after-a-vertical-tab", NONE, "transfer-encoding: \x0bchunked\r\n"),
        in_chunks("chunked-with-a-blank-before-the-colon", NONE, "transfer-encoding : chunked\r\n"),
        in_chunks("chunked-folded", NONE, "transfer-encoding:\r\n chunked\r\n"),
        framed("an-unknown-transfer-encoding", GOOD, "transfer-encoding: identity\r\n"),
        framed("an-empty-transfer-encoding", GOOD, "transfer-encoding: \r\n"),
        Script::new("chunked-in-http-1-0", NONE, || {
            only(format!("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}{LAST}", chunk(&honest_document(""))))
        }),
    ]
}

/// An honest document whose chunk begins with this line.
fn sized(name: &str, want: super::Want, line: impl Into<String>) -> Script {
    let line = line.into();
    Script::new(name, want, move || {
        let document = honest_document("");
        let line = line.replace("SIZE", &format!("{:x}", document.len()));
        [chunked(format!("{line}\r\n{document}\r\n{LAST}")), vec![Act::Close]].concat()
    })
}

fn chunks() -> Vec<Script> {
    let mut scripts = vec![
        sized("a-chunk-size-with-zeros", GOOD, format!("{}SIZE", "0".repeat(1000))),
        sized("a-chunk-size-with-blanks-after-it", GOOD, "SIZE  \t"),
        sized("a-chunk-size-of-letters", NONE, "zz"),
        sized("a-chunk-size-of-minus-one", NONE, "-1"),
        sized("a-chunk-size-with-a-plus", NONE, "+SIZE"),
        sized("a-chunk-size-with-a-prefix", NONE, "0xSIZE"),
        sized("a-chunk-size-after-a-blank", NONE, " SIZE"),
        sized("a-chunk-without-a-size", NONE, ""),
        sized("a-chunk-size-over-64-bits", NONE, "fffffffffffffffff"),
        sized("a-chunk-size-that-is-too-small", NONE, "10"),
        sized("a-chunk-size-that-is-too-large", NONE, "ffff"),
        sized("a-chunk-size-and-something", NONE, "SIZE SIZE"),
        sized("a-chunk-extension", GOOD, "SIZE;a=b;c=\"d\""),
        sized("a-chunk-extension-of-a-kibibyte", GOOD, format!("SIZE;{}", "x".repeat(1000))),
        sized("a-chunk-extension-with-a-line-feed", NONE, "SIZE;a\nb"),
        Script::new("a-chunk-extension-without-end", NONE, || {
            vec![head("transfer-encoding: chunked\r\n"), send("5;"), endless(b"x")]
        }),
        Script::new("chunk-extensions-without-end", NONE, || {
            vec![head("transfer-encoding: chunked\r\n"), endless(b"1;a=bcdefghijklmnopqrstuvwxyz\r\n \r\n")]
        }),
        Script::new("a-chunk-line-that-ends-with-a-line-feed", NONE, || {
            [chunked(format!("2\n{{}}\n{LAST}")), vec![Act::Close]].concat()
        }),
        Script::new("a-chunk-without-a-line-end-after-it", NONE, || {
            [chunked(format!("2\r\n{{}}{LAST}")), vec![Act::Close]].concat()
        }),
        Script::new("an-empty-chunked-body", BAD, || chunked(LAST)),
    ];
    scripts.push(Script::new("a-document-cut-into-chunks-within-a-character", GOOD, || {
        let document = honest_document("\"x\":\"\u{1f600}\",");
        let at = document.find('\u{1f600}').unwrap() + 2;
        let (first, second) = document.as_bytes().split_at(at);
        let part = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        chunked([part(first), part(second), LAST.into()].concat())
    }));
    scripts
}

/// An honest document with these lines after its last chunk.
fn trailed(name: &str, want: super::Want, trailers: impl Into<String>) -> Script {
    let trailers = trailers.into();
    Script::new(name, want, move || {
        [chunked(format!("{}0\r\n{trailers}\r\n", chunk(&honest_document("")))), vec![Act::Close]].concat()
    })
}

fn trailers() -> Vec<Script> {
    vec![
        trailed("trailers", GOOD, "x-a: b\r\nx-c: d\r\n"),
        trailed("trailers-that-frame", GOOD, "content-length: 3\r\ntransfer-encoding: chunked\r\nhost: x\r\n"),
        trailed("a-trailer-without-a-colon", NONE, "nonsense\r\n"),
        trailed("a-trailer-with-a-nul", NONE, "x: a\0b\r\n"),
        trailed("101-trailers", NONE, "x: y\r\n".repeat(101)),
        trailed("a-trailer-of-100-kibibytes", NONE, format!("x: {}\r\n", "y".repeat(100 << 10))),
        Script::new("trailers-without-end", NONE, || {
            vec![head("transfer-encoding: chunked\r\n"), send("2\r\n{}\r\n0\r\n"), endless(b"x-trailer: y\r\n")]
        }),
    ]
}

/// The first question is answered with this and a second answer, which is what the second question would like to hear.
/// The second question itself is answered with no.
fn glue(name: &str, first: impl Fn(&str, &str) -> String + Clone + Send + Sync + 'static) -> Script {
    let want = both(BackendReason::AgentNotFound, ChannelReason::ChannelNotFound);
    let not_found = || whole_text("404 Not Found", "");
    let second = |body: &str| whole_text("200 OK", body);
    Script::by_request(name, want, move |seen: &Seen| match seen.path() {
        "/.well-known/agent-card.json" => vec![send(first("404 Not Found", "") + &second(&honest_document("")))],
        "/.well-known/agent.json" => vec![send(not_found())],
        path if path.starts_with("/users.conversations") => {
            let listing = r#"{"ok":true,"channels":[],"response_metadata":{"next_cursor":""}}"#;
            let channel = format!(
                r#"{{"ok":true,"channel":{{"id":"{}","is_archived":false,"is_member":true}}}}"#,
                crate::world::CHANNEL
            );
            vec![send(first("200 OK", listing) + &second(&channel))]
        }
        _ => whole(r#"{"ok":false,"error":"channel_not_found"}"#),
    })
}

fn whole_text(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn glued() -> Vec<Script> {
    vec![
        glue("glued-after-a-length", whole_text),
        glue("glued-after-blank-lines", |status, body| whole_text(status, body) + "\r\n\r\n"),
        glue("glued-after-chunks", |status, body| {
            let body = if body.is_empty() { String::new() } else { chunk(body) };
            format!("HTTP/1.1 {status}\r\ntransfer-encoding: chunked\r\n\r\n{body}{LAST}")
        }),
        glue("glued-after-two-equal-lengths", |status, body| {
            let size = body.len();
            format!("HTTP/1.1 {status}\r\ncontent-length: {size}\r\ncontent-length: {size}\r\n\r\n{body}")
        }),
        glue("glued-after-chunks-with-a-length", |status, body| {
            let body = if body.is_empty() { String::new() } else { chunk(body) };
            format!("HTTP/1.1 {status}\r\ntransfer-encoding: chunked\r\ncontent-length: 7\r\n\r\n{body}{LAST}")
        }),
        glue("glued-after-interim-answers", |status, body| {
            format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n{}", whole_text(status, body))
        }),
        glue("glued-after-an-answer-that-keeps-alive", |status, body| {
            let size = body.len();
            format!("HTTP/1.0 {status}\r\nconnection: keep-alive\r\ncontent-length: {size}\r\n\r\n{body}")
        }),
        // A 204 has no body, whatever its length says: what follows is not read as one, nor as the next answer.
        Script::new("a-body-after-a-204", BAD, || {
            vec![send("HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n{}"), send(honest_document(""))]
        }),
        Script::new("noise-after-an-answer", GOOD, || [honest_with(""), vec![send("\0\0noise\r\n\r\n")]].concat()),
        Script::new("noise-without-end-after-an-answer", GOOD, || [honest_with(""), vec![endless(b"x")]].concat()),
    ]
}
