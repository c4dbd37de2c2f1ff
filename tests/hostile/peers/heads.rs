//! Status lines, fields, interim answers, and peers that speak something else.

use suite::peer::{Act, send};

use super::pieces::{endless, honest_document, honest_with, only};
use super::{BAD, GOOD, NONE, Script, Want};

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = other_protocols();
    scripts.extend(status_lines());
    scripts.extend(fields());
    scripts.extend(many_fields());
    scripts.extend(interim());
    scripts
}

fn other_protocols() -> Vec<Script> {
    let greetings: [(&str, &[u8]); 13] = [
        ("http-0-9", b"{\"name\": \"card\"}\n"),
        ("http-2", b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64\0\x04\x40\0\0\0\0\x02\0\0\0\0"),
        ("the-preface-of-http-2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("http-3-in-words", b"HTTP/3 200 OK\r\ncontent-length: 0\r\n\r\n"),
        ("icecast", b"ICY 200 OK\r\n\r\n"),
        ("rtsp", b"RTSP/1.0 200 OK\r\n\r\n"),
        ("ssh", b"SSH-2.0-OpenSSH_9.9\r\n"),
        ("smtp", b"220 mail.example ESMTP\r\n"),
        ("a-request", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("a-tls-alert", b"\x15\x03\x01\0\x02\x02\x46"),
        ("redis", b"-ERR unknown command 'GET'\r\n"),
        ("noise", b"\0\x01\x02\xff\xfe\r\n\r\n"),
        ("mysql", b"\x4a\0\0\0\x0a8.0.36\0\x08\0\0\0"),
    ];
    greetings
        .into_iter()
        .flat_map(|(name, bytes)| {
            [
                Script::new(format!("answers-in-{name}"), NONE, move || only(bytes)),
                Script::speaking(format!("greets-in-{name}"), NONE, move || vec![send(bytes), Act::Hang]),
            ]
        })
        .collect()
}

/// An honest answer with this line in place of its first.
fn status_line(name: &str, want: Want, line: impl AsRef<[u8]>) -> Script {
    let document = honest_document("");
    let rest = format!("\r\ncontent-length: {}\r\n\r\n{document}", document.len());
    let bytes = [line.as_ref(), rest.as_bytes()].concat();
    Script::new(format!("status-line-{name}"), want, move || only(&bytes))
}

fn status_lines() -> Vec<Script> {
    vec![
        status_line("without-a-reason", GOOD, "HTTP/1.1 200"),
        status_line("with-an-empty-reason", GOOD, "HTTP/1.1 200 "),
        status_line("with-another-reason", GOOD, "HTTP/1.1 200 404 Not Found"),
        status_line("with-a-reason-outside-ascii", GOOD, b"HTTP/1.1 200 \xff\xfe\xe9"),
        status_line("with-a-nul-in-the-reason", NONE, "HTTP/1.1 200 O\0K"),
        status_line("with-an-escape-in-the-reason", NONE, "HTTP/1.1 200 \x1b[31m"),
        status_line("after-empty-lines", GOOD, "\r\n\r\n\r\nHTTP/1.1 200 OK"),
        status_line("after-a-blank", NONE, " HTTP/1.1 200 OK"),
        status_line("of-http-1-0", GOOD, "HTTP/1.0 200 OK"),
        status_line("of-http-1-2", NONE, "HTTP/1.2 200 OK"),
        status_line("of-http-2-0", NONE, "HTTP/2.0 200 OK"),
        status_line("of-http-11", NONE, "HTTP/11 200 OK"),
        status_line("in-small-letters", NONE, "http/1.1 200 ok"),
        status_line("with-two-blanks", NONE, "HTTP/1.1  200 OK"),
        status_line("with-a-tab", NONE, "HTTP/1.1\t200 OK"),
        status_line("with-two-digits", NONE, "HTTP/1.1 20 OK"),
        status_line("with-four-digits", NONE, "HTTP/1.1 2000 OK"),
        status_line("with-a-sign", NONE, "HTTP/1.1 +20 OK"),
        status_line("with-letters", NONE, "HTTP/1.1 abc OK"),
        status_line("without-a-status", NONE, "HTTP/1.1 OK"),
        status_line("with-digits-of-another-script", NONE, "HTTP/1.1 \u{662}\u{660}\u{660} OK"),
        status_line("of-a-mebibyte", NONE, format!("HTTP/1.1 200 {}", "x".repeat(1 << 20))),
        Script::new("status-line-without-end", NONE, || vec![send("HTTP/1.1 200 "), endless(b"x")]),
        Script::new("empty-lines-without-end", NONE, || vec![endless(b"\r\n")]),
    ]
}

/// An honest answer with these bytes among its fields.
fn field(name: &str, want: Want, bytes: impl AsRef<[u8]>) -> Script {
    let document = honest_document("");
    let (head, end) = (b"HTTP/1.1 200 OK\r\n", format!("\r\ncontent-length: {}\r\n\r\n{document}", document.len()));
    let bytes = [head.as_slice(), bytes.as_ref(), end.as_bytes()].concat();
    Script::new(format!("field-{name}"), want, move || only(&bytes))
}

fn fields() -> Vec<Script> {
    vec![
        field("without-a-colon", NONE, "nonsense"),
        field("without-a-name", NONE, ": value"),
        field("with-a-blank-before-the-colon", NONE, "x : y"),
        field("folded", NONE, "x: y\r\n z"),
        field("with-a-nul-in-its-name", NONE, "x\0y: z"),
        field("with-a-nul-in-its-value", NONE, "x: y\0z"),
        field("with-an-escape-in-its-value", NONE, "x: \x1b]0;title\x07"),
        field("with-a-delete-in-its-value", NONE, "x: \x7f"),
        field("with-a-bare-carriage-return", NONE, "x: y\rcontent-length: 0"),
        field("with-a-name-outside-ascii", NONE, "n\u{e4}me: x"),
        field("with-a-value-outside-ascii", GOOD, b"x: \xff\xfe\xe9"),
        field("with-a-bidi-override", GOOD, "x: \u{202e}drowssap"),
        field("without-a-value", GOOD, "x:"),
        field("with-line-feeds-alone", GOOD, "x: y\nz: w"),
        field("set-cookie", GOOD, "set-cookie: a=b; path=/\r\nset-cookie: c=d; domain=127.0.0.1"),
        field("alt-svc", GOOD, "alt-svc: h2=\"169.254.169.254:80\"; ma=99999999"),
        field("strict-transport-security", GOOD, "strict-transport-security: max-age=99999999"),
        field("upgrade", GOOD, "connection: upgrade\r\nupgrade: h2c, websocket"),
        field("keep-alive-for-ever", GOOD, "connection: keep-alive\r\nkeep-alive: timeout=99999999999999999999"),
        field("connection-that-names-everything", GOOD, "connection: content-length, host, authorization"),
        field("www-authenticate", GOOD, "www-authenticate: Negotiate, Basic realm=\"intern.example\""),
        field("trailer-that-never-comes", GOOD, "trailer: content-length, x-end"),
        field("date-of-nonsense", GOOD, "date: -1\r\nexpires: 99999999999999999999\r\nage: -5"),
        field("content-range", GOOD, "content-range: bytes 0-4611686018427387904/*"),
        field("content-type-of-another-charset", GOOD, "content-type: text/html; charset=utf-7"),
        field("upgrade-in-an-answer-of-http-1-0", GOOD, "connection: close, upgrade\r\nupgrade: x"),
    ]
}

fn many_fields() -> Vec<Script> {
    let lines = |count: usize| (0..count).map(|number| format!("x-{number}: y\r\n")).collect::<String>();
    let long = |size: usize| format!("x: {}\r\n", "y".repeat(size));
    vec![
        // With its length.
        Script::new("100-fields", GOOD, move || honest_with(&lines(99))),
        Script::new("101-fields", NONE, move || honest_with(&lines(100))),
        Script::new("100000-fields", NONE, move || honest_with(&lines(99_999))),
        Script::new("100000-fields-of-one-name", NONE, || honest_with(&"x: y\r\n".repeat(100_000))),
        Script::new("fields-of-60-kibibytes", GOOD, move || honest_with(&long(60 << 10))),
        Script::new("fields-of-65-kibibytes", NONE, move || honest_with(&long(65 << 10))),
        Script::new("a-field-of-a-mebibyte", NONE, move || honest_with(&long(1 << 20))),
        Script::new("a-field-of-10-mebibytes", NONE, || {
            vec![send("HTTP/1.1 200 OK\r\nx: "), Act::Flood(b"y".as_slice().into(), Some(10 << 20)), send("\r\n\r\n{}")]
        }),
        Script::new("a-name-of-10-mebibytes", NONE, || {
            vec![send("HTTP/1.1 200 OK\r\n"), Act::Flood(b"n".as_slice().into(), Some(10 << 20)), send(": x\r\n\r\n{}")]
        }),
        Script::new("a-name-of-100-kibibytes", NONE, || honest_with(&format!("{}: x\r\n", "n".repeat(100 << 10)))),
        Script::new("fields-without-end", NONE, || vec![send("HTTP/1.1 200 OK\r\n"), endless(b"x: y\r\n")]),
        Script::new("a-field-without-end", NONE, || vec![send("HTTP/1.1 200 OK\r\nx: "), endless(b"y")]),
        Script::new("a-name-without-end", NONE, || vec![send("HTTP/1.1 200 OK\r\n"), endless(b"n")]),
        Script::new("blanks-without-end", NONE, || vec![send("HTTP/1.1 200 OK\r\nx:"), endless(b" ")]),
        Script::new("folded-lines-without-end", NONE, || vec![send("HTTP/1.1 200 OK\r\nx: y\r\n"), endless(b" z\r\n")]),
    ]
}

fn interim() -> Vec<Script> {
    let then_honest = |interim: String| {
        move || {
            let mut acts = honest_with("");
            acts.insert(0, send(&interim));
            acts
        }
    };
    let early = "HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n";
    vec![
        Script::new("interim-answers-before-an-answer", GOOD, then_honest(early.repeat(20))),
        Script::new("1000-interim-answers-before-an-answer", GOOD, then_honest(early.repeat(1000))),
        Script::new(
            "interim-answers-of-each-status",
            GOOD,
            then_honest([100, 102, 103, 104, 150, 199].map(|status| format!("HTTP/1.1 {status} X\r\n\r\n")).concat()),
        ),
        Script::new(
            "an-interim-answer-with-a-length-and-no-body",
            GOOD,
            then_honest("HTTP/1.1 100 Continue\r\ncontent-length: 5\r\n\r\n".to_owned()),
        ),
        Script::new(
            "an-interim-answer-with-a-body",
            NONE,
            then_honest("HTTP/1.1 100 Continue\r\ncontent-length: 5\r\n\r\nhello".to_owned()),
        ),
        Script::new(
            "an-interim-answer-with-101-fields",
            NONE,
            then_honest(format!("HTTP/1.1 103 Early\r\n{}\r\n", "x: y\r\n".repeat(101))),
        ),
        Script::new("interim-answers-only", NONE, move || only(early.repeat(1000))),
        Script::new("101-that-nobody-asked-for", NONE, || {
            only("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
        }),
        Script::new(
            "101-and-an-answer",
            NONE,
            then_honest("HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n".to_owned()),
        ),
        Script::new("205-with-a-body", GOOD, || {
            let document = honest_document("");
            only(format!("HTTP/1.1 205 Reset\r\ncontent-length: {}\r\n\r\n{document}", document.len()))
        }),
        Script::new("206-of-a-part", BAD, || {
            only("HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 0-4/100\r\ncontent-length: 5\r\n\r\n{\"ok\"")
        }),
    ]
}
