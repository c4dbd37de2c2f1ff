//! What scripts are made of.

use suite::peer::{Act, send};

use crate::world::CHANNEL;

/// The page's limit of a body, in bytes.
pub(super) const LIMIT: usize = 1 << 20;

/// The members of a document that is a good card and a good page of a listing at the same time.
pub(super) fn honest_members() -> String {
    format!(
        r#""name":"Agent","url":"https://agent.example/a2a","protocolVersion":"0.3.0","preferredTransport":"JSONRPC","ok":true,"channels":[{{"id":"{CHANNEL}","is_archived":false}}],"response_metadata":{{"next_cursor":""}}"#
    )
}

/// Such a document with these members first, each with its comma.
pub(crate) fn honest_document(first: &str) -> String {
    format!("{{{first}{}}}", honest_members())
}

/// The head of a 200 with these fields, each with its line end.
pub(super) fn head(fields: &str) -> Act {
    send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n"))
}

/// A 200 with its length.
pub(super) fn whole(body: impl AsRef<[u8]>) -> Vec<Act> {
    let body = body.as_ref();
    vec![head(&format!("content-length: {}\r\n", body.len())), send(body)]
}

/// An honest 200 with these fields besides.
pub(super) fn honest_with(fields: &str) -> Vec<Act> {
    let body = honest_document("");
    vec![head(&format!("{fields}content-length: {}\r\n", body.len())), send(body)]
}

/// These bytes, and the end of the connection.
pub(super) fn only(bytes: impl AsRef<[u8]>) -> Vec<Act> {
    vec![send(bytes), Act::Close]
}

/// These bytes, again and again.
pub(super) fn endless(bytes: &'static [u8]) -> Act {
    Act::Flood(bytes.into(), None)
}

/// One chunk.
pub(super) fn chunk(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n", body.len())
}

/// The last chunk, without trailers.
pub(super) const LAST: &str = "0\r\n\r\n";

/// A 200 in chunks, of which this is the rest of the answer.
pub(super) fn chunked(rest: impl AsRef<[u8]>) -> Vec<Act> {
    vec![head("transfer-encoding: chunked\r\n"), send(rest)]
}
