//! What a Slack answer says of one channel, read in one go over the body, without building a tree of it.
//!
//! A member of another type than expected is as good as absent, a member that is not needed is skipped, and whatever
//! was read before a body broke off stays read: a page of the listing has up to a megabyte, and one entry counts.

use alloc::string::String;
use core::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

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
    let mut json = serde_json::Deserializer::from_slice(body);
    let mut document = Document { answer: &mut answer, wanted };
    let end = Object(&mut document).deserialize(&mut json).and_then(|_| json.end());
    answer.whole = end.is_ok();
    answer
}

/// The rest of a visitor for which a scalar is not what it looks for: `false`.
macro_rules! no_scalars {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }

        fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_str<E>(self, _: &str) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_unit<E>(self) -> Result<bool, E> {
            Ok(false)
        }
    };
}

/// An object of which some members are read.
trait Members {
    /// Reads the value of this member, or skips it.
    fn member<'de, A: MapAccess<'de>>(&mut self, member: Known, map: &mut A) -> Result<(), A::Error>;
}

/// Reads an object into `T`; a value of another type is skipped. Yields whether it was an object.
struct Object<'a, T>(&'a mut T);

impl<'de, T: Members> DeserializeSeed<'de> for Object<'_, T> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Members> Visitor<'de> for Object<'_, T> {
    type Value = bool;

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            match name {
                Some(member) => self.0.member(member, &mut map)?,
                None => skip(&mut map)?,
            }
        }
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    no_scalars!();
}

fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// A member that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Ok,
    Error,
    Needed,
    Channel,
    Channels,
    Metadata,
    NextCursor,
    Id,
    IsArchived,
    IsMember,
    IsIm,
}

/// The name of a member, if it is one that is read: no name is copied.
struct Name(Option<Known>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl Visitor<'_> for Names {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member's name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(Name(match name {
                    "ok" => Some(Known::Ok),
                    "error" => Some(Known::Error),
                    "needed" => Some(Known::Needed),
                    "channel" => Some(Known::Channel),
                    "channels" => Some(Known::Channels),
                    "response_metadata" => Some(Known::Metadata),
                    "next_cursor" => Some(Known::NextCursor),
                    "id" => Some(Known::Id),
                    "is_archived" => Some(Known::IsArchived),
                    "is_member" => Some(Known::IsMember),
                    "is_im" => Some(Known::IsIm),
                    _ => None,
                }))
            }
        }
        deserializer.deserialize_str(Names)
    }
}

struct Document<'a> {
    answer: &'a mut Answer,
    wanted: &'a str,
}

impl Members for Document<'_> {
    fn member<'de, A: MapAccess<'de>>(&mut self, member: Known, map: &mut A) -> Result<(), A::Error> {
        match member {
            Known::Ok => self.answer.ok = map.next_value::<Scalar>()?.flag(),
            Known::Error => self.answer.error = map.next_value::<Scalar>()?.text(),
            Known::Needed => self.answer.needed = map.next_value::<Scalar>()?.text(),
            Known::Channel => {
                let mut channel = Conversation::default();
                let found = map.next_value_seed(Object(&mut channel))?;
                self.answer.channel = found.then_some(channel);
            }
            Known::Channels => {
                // What an earlier member of the name held is gone, also when this one breaks off.
                (self.answer.has_list, self.answer.listed) = (false, None);
                let list = List { wanted: self.wanted, found: &mut self.answer.listed };
                self.answer.has_list = map.next_value_seed(list)?;
            }
            Known::Metadata => {
                self.answer.cursor = Cursor::End;
                map.next_value_seed(Object(&mut self.answer.cursor))?;
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}

impl Members for Cursor {
    fn member<'de, A: MapAccess<'de>>(&mut self, member: Known, map: &mut A) -> Result<(), A::Error> {
        if member != Known::NextCursor {
            return skip(map);
        }
        *self = match map.next_value::<Scalar>()? {
            Scalar::Null => Self::End,
            Scalar::Text(text) if text.is_empty() => Self::End,
            Scalar::Text(text) => Self::Next(text),
            Scalar::Flag(_) | Scalar::Other => Self::Unusable,
        };
        Ok(())
    }
}

impl Members for Conversation {
    fn member<'de, A: MapAccess<'de>>(&mut self, member: Known, map: &mut A) -> Result<(), A::Error> {
        match member {
            Known::Id => self.id = map.next_value::<Scalar>()?.text(),
            Known::IsArchived => self.is_archived = map.next_value::<Scalar>()?.flag(),
            Known::IsMember => self.is_member = map.next_value::<Scalar>()?.flag(),
            Known::IsIm => self.is_im = map.next_value::<Scalar>()?.flag(),
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// Reads an array of conversations and keeps the wanted one. Yields whether it was an array.
struct List<'a> {
    wanted: &'a str,
    found: &'a mut Option<Conversation>,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = bool;

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut entry = Conversation::default();
        while seq.next_element_seed(Object(&mut entry))?.is_some() {
            let entry = core::mem::take(&mut entry);
            if self.found.is_none() && entry.id.as_deref() == Some(self.wanted) {
                *self.found = Some(entry);
            }
        }
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            skip(&mut map)?;
        }
        Ok(false)
    }

    no_scalars!();
}

/// A value that is neither an object nor an array, as far as it is needed.
enum Scalar {
    Null,
    Flag(bool),
    Text(String),
    Other,
}

impl Scalar {
    fn flag(self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(flag),
            Self::Null | Self::Text(_) | Self::Other => None,
        }
    }

    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Flag(_) | Self::Other => None,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalars)
    }
}

struct Scalars;

impl<'de> Visitor<'de> for Scalars {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Scalar, E> {
        Ok(Scalar::Flag(flag))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(if text.len() <= TEXT { Scalar::Text(text.into()) } else { Scalar::Other })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            skip(&mut map)?;
        }
        Ok(Scalar::Other)
    }
}

#[cfg(test)]
mod tests;
