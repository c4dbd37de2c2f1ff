//! What a Slack answer says of one channel, read in one go over the body, without building a tree of it.
//!
//! A member of another type than expected is as good as absent, a member that is not needed is skipped, and whatever
//! was read before a body broke off stays read: a page of the listing has up to a megabyte, and one entry counts. The
//! topics in it are people's, and half a character in one of them is none of the other entries' business.

use alloc::borrow::Cow;
use alloc::string::String;

use kourier_probe_sdk::json::{ErrorKind, Reader, Value};

/// Bytes of a text that is read. A longer one is as good as of another type: no code or id is near that, and a cursor
/// would not fit into a path.
const TEXT: usize = 1024;

/// What was read of a body.
///
/// A member that stands twice counts as it stands last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// `ok`.
    pub(crate) ok: Option<bool>,
    /// `error`.
    pub(crate) error: Option<String>,
    /// `needed`: the scope that the token lacks.
    pub(crate) needed: Option<String>,
    /// `channel`.
    pub(crate) channel: Option<Conversation>,
    /// The entry of `channels` with the wanted id.
    pub(crate) listed: Option<Conversation>,
    /// Whether `channels` is there and is an array.
    pub(crate) has_list: bool,
    /// `response_metadata.next_cursor`.
    pub(crate) cursor: Cursor,
    /// Whether the body is one whole JSON value, with nothing after it.
    pub(crate) whole: bool,
}

/// What is needed of a conversation object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// `id`.
    pub(crate) id: Option<String>,
    /// `is_archived`.
    pub(crate) is_archived: Option<bool>,
    /// `is_member`. Items of a listing and direct messages do not have it.
    pub(crate) is_member: Option<bool>,
    /// `is_im`: a direct message.
    pub(crate) is_im: Option<bool>,
}

/// Where a listing goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// This was the last page: the cursor is empty, null or absent.
    #[default]
    End,
    /// The next page.
    Next(String),
    /// A cursor that is not a text, or is too long to be sent back.
    Unusable,
}

/// Reads a body; of `channels`, the entry with the id `wanted`.
pub(crate) fn read(body: &[u8], wanted: &str) -> Answer {
    let mut answer = Answer::default();
    let mut reader = Reader::lenient(body);
    let read = reader.object(&mut |reader, name| answer.member(reader, &name.decode_name(), wanted));
    let end = read.and_then(|_| reader.end());
    answer.whole = end.is_ok();
    answer
}

impl Answer {
    fn member(&mut self, reader: &mut Reader<'_, true>, name: &str, wanted: &str) -> Result<(), ErrorKind> {
        match name {
            "ok" => self.ok = reader.value()?.as_bool(),
            "error" => self.error = text(reader.value()?),
            "needed" => self.needed = text(reader.value()?),
            "channel" => {
                let mut channel = Conversation::default();
                let is_object = channel.read(reader)?;
                self.channel = is_object.then_some(channel);
            }
            "channels" => {
                // What an earlier member of the name held is gone, also when this one breaks off.
                (self.has_list, self.listed) = (false, None);
                self.has_list = reader.array(&mut |reader| self.entry(reader, wanted))?;
            }
            "response_metadata" => {
                self.cursor = Cursor::End;
                reader.object(&mut |reader, name| self.cursor.member(reader, &name.decode_name()))?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    }

    /// Reads an item of the listing, and keeps the first with the wanted id.
    fn entry(&mut self, reader: &mut Reader<'_, true>, wanted: &str) -> Result<(), ErrorKind> {
        let mut entry = Conversation::default();
        entry.read(reader)?;
        if self.listed.is_none() && entry.id.as_deref() == Some(wanted) {
            self.listed = Some(entry);
        }
        Ok(())
    }
}

impl Cursor {
    fn member(&mut self, reader: &mut Reader<'_, true>, name: &str) -> Result<(), ErrorKind> {
        if name != "next_cursor" {
            return reader.skip();
        }
        let value = reader.value()?;
        *self = match text(value) {
            Some(text) if text.is_empty() => Self::End,
            Some(text) => Self::Next(text),
            None if matches!(value, Value::Null) => Self::End,
            None => Self::Unusable,
        };
        Ok(())
    }
}

impl Conversation {
    /// Reads an object into it, and says whether it was one.
    fn read(&mut self, reader: &mut Reader<'_, true>) -> Result<bool, ErrorKind> {
        reader.object(&mut |reader, name| {
            match &*name.decode_name() {
                "id" => self.id = text(reader.value()?),
                "is_archived" => self.is_archived = reader.value()?.as_bool(),
                "is_member" => self.is_member = reader.value()?.as_bool(),
                "is_im" => self.is_im = reader.value()?.as_bool(),
                _ => reader.skip()?,
            }
            Ok(())
        })
    }
}

fn text(value: Value<'_>) -> Option<String> {
    value.as_string()?.decode_short(TEXT).map(Cow::into_owned)
}

#[cfg(test)]
mod tests;
