//! How much a peer sends.

use suite::peer::{Act, send};

use super::pieces::{LAST, LIMIT, chunk, chunked, endless, head, honest_document, only};
use super::{BAD, GOOD, LARGE, NONE, Script};

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = sizes();
    scripts.extend(without_end());
    scripts.extend(cut());
    scripts.extend(encoded());
    scripts
}

/// An honest document with blanks up to this size: with its length, in chunks, or until the connection ends.
fn padded(way: &str, size: usize) -> Vec<Act> {
    let document = honest_document("");
    let blanks = Act::Flood(b" ".as_slice().into(), Some((size - document.len()) as u64));
    match way {
        "length" => vec![head(&format!("content-length: {size}\r\n")), send(document), blanks],
        "one-chunk" => {
            let start = format!("{size:x}\r\n{document}");
            vec![head("transfer-encoding: chunked\r\n"), send(start), blanks, send(format!("\r\n{LAST}"))]
        }
        _ => vec![head("connection: close\r\n"), send(document), blanks, Act::Close],
    }
}

fn sizes() -> Vec<Script> {
    let mut scripts = Vec::new();
    for way in ["length", "one-chunk", "until-close"] {
        for (name, size, want) in [("one-mebibyte", LIMIT, GOOD), ("one-byte-more", LIMIT + 1, LARGE)] {
            scripts.push(Script::new(format!("{name}-{way}"), want, move || padded(way, size)));
        }
    }
    for length in ["1048577", "268435456", "4611686018427387904", "18446744073709551612"] {
        let fields = format!("content-length: {length}\r\n");
        scripts.push(Script::new(format!("a-length-of-{length}"), LARGE, move || vec![head(&fields), Act::Hang]));
    }
    scripts.push(Script::new("chunks-of-one-byte", GOOD, || {
        let document = honest_document(&format!("\"pad\":\"{}\",", "x".repeat(20_000)));
        let chunks: String = document.chars().map(|char| chunk(&char.to_string())).collect();
        chunked(chunks + LAST)
    }));
    scripts.push(Script::new("many-small-chunks-over-the-limit", LARGE, || {
        vec![
            head("transfer-encoding: chunked\r\n"),
            endless(b"40\r\n                                                                \r\n"),
        ]
    }));
    scripts
}

fn without_end() -> Vec<Script> {
    vec![
        Script::new("endless-until-close", LARGE, || vec![head(""), endless(b" ")]),
        Script::new("endless-string-until-close", LARGE, || vec![head(""), send(r#"{"name": ""#), endless(b"a")]),
        Script::new("endless-chunks", LARGE, || {
            vec![head("transfer-encoding: chunked\r\n"), endless(b"20\r\n                                \r\n")]
        }),
        Script::new("an-endless-chunk", LARGE, || {
            vec![head("transfer-encoding: chunked\r\n"), send("ffffffffffffff\r\n"), endless(b"[")]
        }),
        Script::new("endless-with-a-length", LARGE, || {
            vec![head("content-length: 9223372036854775807\r\n"), endless(b"{\"a\":")]
        }),
        Script::new("an-honest-document-and-blanks-without-end", LARGE, || {
            vec![head(""), send(honest_document("")), endless(b"\n")]
        }),
        Script::new(
            "an-endless-body-of-a-500",
            super::both(
                kourier_core::reason::BackendReason::InvalidAgentCard,
                kourier_core::reason::ChannelReason::UnexpectedAnswer,
            ),
            || vec![send("HTTP/1.1 500 Oops\r\n\r\n"), endless(b"<p>")],
        ),
    ]
}

/// Closed or reset somewhere.
fn cut() -> Vec<Script> {
    let document = honest_document("");
    let size = document.len();
    let whole =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {size}\r\n\r\n{document}");
    let head_size = whole.len() - size;
    let places = [
        ("in-the-version", 5),
        ("after-the-version", 9),
        ("in-the-status", 11),
        ("after-the-status-line", 17),
        ("in-the-name-of-a-field", 22),
        ("after-the-name-of-a-field", 30),
        ("in-the-value-of-a-field", 40),
        ("before-the-empty-line", head_size - 2),
        ("in-the-empty-line", head_size - 1),
        ("before-the-body", head_size),
        ("in-the-body", head_size + size / 2),
        ("before-the-last-byte", head_size + size - 1),
    ];
    let mut scripts = Vec::new();
    for (place, at) in places {
        for (how, end) in [("closed", Act::Close), ("reset", Act::Reset)] {
            let part = whole[..at].to_owned();
            scripts.push(Script::new(format!("{how}-{place}"), NONE, move || vec![send(&part), end.clone()]));
        }
    }
    let chunks = [
        ("after-a-chunks-size", "a\r\n".to_owned()),
        ("in-a-chunk", "a\r\n{}".to_owned()),
        ("after-a-chunk", chunk(&document)),
        ("in-the-last-chunk", chunk(&document) + "0\r\n"),
    ];
    for (place, rest) in chunks {
        let acts = move || [chunked(&rest), vec![Act::Close]].concat();
        scripts.push(Script::new(format!("closed-{place}"), NONE, acts));
    }
    scripts.extend([
        Script::new("closed-without-an-answer", NONE, || vec![Act::Close]),
        Script::new("reset-without-an-answer", NONE, || vec![Act::Reset]),
        Script::new("ends-its-side-without-an-answer", NONE, || vec![Act::Finish, Act::Hang]),
        Script::speaking("closed-before-the-request", NONE, || vec![Act::Close]),
        Script::speaking("reset-before-the-request", NONE, || vec![Act::Reset]),
        // Nobody can know that more was to come.
        Script::new("half-a-document-until-close", BAD, || only("HTTP/1.1 200 OK\r\n\r\n{\"ok\": tr")),
        Script::new("reset-in-a-body-until-close", NONE, || {
            vec![head(""), send("{\"ok\""), Act::Wait(std::time::Duration::from_millis(50)), Act::Reset]
        }),
    ]);
    scripts
}

/// `{}` and a megabyte of blanks, compressed as a peer may that was not asked to.
fn encoded() -> Vec<Script> {
    const GZIP: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0];
    const BROTLI: &[u8] = &[0x0b, 0x80, 0x7b, 0x7d, 0x03];
    const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 0x11, 0, 0, 0x7b, 0x7d];
    const DEFLATE: &[u8] = &[0x78, 0x9c, 0xab, 0xae, 5, 0, 1, 0x75, 0, 0xf9];
    let encodings = [
        ("gzip", GZIP),
        ("x-gzip", GZIP),
        ("br", BROTLI),
        ("zstd", ZSTD),
        ("deflate", DEFLATE),
        ("gzip, gzip", GZIP),
        ("identity, gzip", GZIP),
    ];
    let mut scripts: Vec<_> = encodings
        .into_iter()
        .map(|(encoding, body)| {
            Script::new(format!("encoded-as-{}", encoding.replace(", ", "-")), BAD, move || {
                let fields = format!("content-encoding: {encoding}\r\ncontent-length: {}\r\n", body.len());
                vec![head(&fields), send(body)]
            })
        })
        .collect();
    scripts.push(Script::new("gzip-that-is-not-said", BAD, || {
        vec![head(&format!("content-length: {}\r\n", GZIP.len())), send(GZIP)]
    }));
    // Nothing is decoded: what is readable as it is is read.
    scripts.push(Script::new("said-to-be-gzip-and-is-not", GOOD, || {
        super::pieces::honest_with("content-encoding: gzip\r\n")
    }));
    scripts.push(Script::new("gzip-as-a-transfer-encoding", BAD, || {
        let body = [b"16\r\n".as_slice(), GZIP, b"\r\n0\r\n\r\n"].concat();
        vec![head("transfer-encoding: gzip, chunked\r\n"), send(body)]
    }));
    scripts
}
