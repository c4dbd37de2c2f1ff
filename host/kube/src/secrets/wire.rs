//! Reads Secrets from the network into memory that is wiped.
//!
//! The client's own ways read an answer into text that stays in memory when it is freed, and put all of it into the log
//! when it cannot be parsed. Here nothing of an answer gets into an error.

use std::collections::BTreeMap;
use std::io;

use futures::{AsyncBufRead, AsyncBufReadExt};
use k8s_openapi::ByteString;
use kourier_core::id::Uid;
use kourier_core::plan::Version;
use serde::{Deserialize, Deserializer};
use zeroize::{Zeroize, Zeroizing};

use super::SecretData;

/// The longest answer or event, in bytes. A Secret has at most 1 MiB of data, a third more as text, and perhaps as much
/// again in an annotation that keeps how it was applied.
const MAX: usize = 4 << 20;

/// What a watch tells.
#[derive(Debug)]
pub(super) enum Event {
    /// The Secret is so now.
    Is(SecretData),
    /// It was deleted, at this version.
    Deleted(Version),
    /// Nothing happened.
    Bookmark,
    /// It is about another object than was asked for.
    Foreign,
    /// The watch cannot go on: a status code.
    Error(u16),
}

/// An answer or event that cannot be read. It says nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Lines, read one by one into memory that is wiped.
pub(super) struct Lines<R> {
    reader: R,
    line: Zeroizing<Vec<u8>>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: Zeroizing::default() }
    }

    /// The next line without its end; none when there is no further one.
    pub(super) async fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.zeroize();
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() {
                // A line without an end was cut off.
                return Ok(None);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(buffer.len());
            extend(&mut self.line, buffer.get(..taken).unwrap_or_default())?;
            self.reader.consume_unpin(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(&self.line));
            }
        }
    }
}

/// Reads all that comes.
pub(super) async fn whole(mut reader: impl AsyncBufRead + Unpin) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut whole = Zeroizing::default();
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(whole);
        }
        extend(&mut whole, buffer)?;
        let taken = buffer.len();
        reader.consume_unpin(taken);
    }
}

/// Appends, and leaves no copy behind where there was no room.
fn extend(buffer: &mut Zeroizing<Vec<u8>>, more: &[u8]) -> io::Result<()> {
    let length = buffer.len() + more.len();
    if length > MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    if length > buffer.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(length.max(2 * buffer.capacity())));
        larger.extend_from_slice(buffer);
        *buffer = larger;
    }
    buffer.extend_from_slice(more);
    Ok(())
}

/// What the Secret `name` holds, from the answer to a read of it.
pub(super) fn secret(answer: &[u8], name: &str) -> Result<SecretData, Unreadable> {
    let object: Object = serde_json::from_slice(answer).map_err(|_| Unreadable)?;
    if object.metadata.name == name { object.into_data() } else { Err(Unreadable) }
}

/// What a line of a watch of the Secret `name` tells.
pub(super) fn event(line: &[u8], name: &str) -> Result<Event, Unreadable> {
    let Line { kind, object } = serde_json::from_slice(line).map_err(|_| Unreadable)?;
    match kind {
        Kind::Error => Ok(Event::Error(object.code)),
        Kind::Bookmark => Ok(Event::Bookmark),
        Kind::Added | Kind::Modified | Kind::Deleted if object.metadata.name != name => Ok(Event::Foreign),
        Kind::Added | Kind::Modified => object.into_data().map(Event::Is),
        Kind::Deleted => Ok(Event::Deleted(Version(object.metadata.resource_version))),
    }
}

/// A line of a watch. The derived reading of a plain structure copies no text that it does not keep.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Kind,
    object: Object,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Kind {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

/// A Secret, or a Status.
#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    data: Option<BTreeMap<String, Bytes>>,
    #[serde(default)]
    code: u16,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: String,
    uid: String,
    resource_version: String,
}

/// A value, wiped also when what follows it cannot be read.
struct Bytes(Zeroizing<Vec<u8>>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ByteString::deserialize(deserializer).map(|bytes| Self(Zeroizing::new(bytes.0)))
    }
}

impl Object {
    fn into_data(self) -> Result<SecretData, Unreadable> {
        let Metadata { uid, resource_version, .. } = self.metadata;
        if uid.is_empty() || resource_version.is_empty() {
            return Err(Unreadable);
        }
        let values = self.data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0)).collect();
        Ok(SecretData { version: Version(resource_version), uid: Uid(uid), values })
    }
}

#[cfg(test)]
mod tests;
