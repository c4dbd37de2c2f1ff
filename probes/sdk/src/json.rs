//! Reads over a JSON text of a stranger and stops only where the caller wants to know.
//!
//! The whole text is checked against the grammar (RFC 8259), but nothing is built of it: an answer may be 1 MiB, and a few
//! of its members count. Reading takes no memory of the heap, whatever the text is; [`RawString::decode`] does where a
//! string has an escape or bytes that are no UTF-8. A value of another type than the caller hopes for is read over and
//! reported as not there. That a text is UTF-8 is seen string by string, and only in those that are not ASCII: outside
//! strings the grammar has nothing else.
//!
//! Stricter than the grammar in two points: nesting ends at [`MAX_DEPTH`], and an escaped half of a surrogate pair is an
//! error, because it stands for no text. More lenient in one: a byte order mark at the start is allowed. A
//! [lenient](Reader::lenient) reader also takes what is no character of a string.
//!
//! ```
//! use kourier_probe_sdk::json::{Reader, Value};
//!
//! let mut joined = None;
//! let mut reader = Reader::new(br#"{"loft": {"birds": [1, 2]}, "joined": true}"#);
//! let read = reader.object(&mut |reader, name| {
//!     match &*name.decode_name() {
//!         "joined" => joined = reader.value()?.as_bool(),
//!         _ => reader.skip()?,
//!     }
//!     Ok(())
//! });
//! assert_eq!(read.and_then(|_| reader.end()), Ok(()));
//! assert_eq!(joined, Some(true));
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

mod cursor;
mod escape;

use cursor::{Cursor, not_utf8};
use escape::unescape;

/// How deep arrays and objects may be nested: enough for any answer of an API, and little of the stack.
pub const MAX_DEPTH: usize = 128;

/// Bytes of a name that is known, as it is written: more than any API has, 42 escaped characters included.
pub const NAME: usize = 256;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What is wrong with a text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    at: usize,
}

impl Error {
    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// At which byte of the text, from 0; a byte order mark counts.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }
}

impl core::error::Error for Error {}

// A reader that says so stands at the byte, so that this fits into a register: it is what nearly every function returns.
/// What is wrong with a text. [`Reader::error`] adds where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A string has bytes that are no UTF-8.
    NotUtf8,
    /// It is not JSON, or ends too early.
    Syntax,
    /// More than [`MAX_DEPTH`] arrays and objects in each other.
    TooDeep,
    /// An escape stands for half of a surrogate pair.
    LoneSurrogate,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ErrorKind::NotUtf8 => "is not UTF-8",
            ErrorKind::Syntax => "is not JSON",
            ErrorKind::TooDeep => "is nested too deep",
            ErrorKind::LoneSurrogate => "has an escaped half of a surrogate pair",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

/// A string as it stands in the text, without its quotes. Its escapes were checked when it was read.
#[derive(Clone, Copy, Debug)]
pub struct RawString<'a> {
    raw: &'a [u8],
    escaped: bool,
}

/// A value, as far as it is told.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A string.
    String(RawString<'a>),
    /// A number, as it is written: what fits is for the caller to parse.
    Number(&'a str),
    /// An array or an object. It was read over.
    Other,
}

impl<'a> RawString<'a> {
    /// What it means.
    #[must_use]
    pub fn decode(self) -> Cow<'a, str> {
        let raw = String::from_utf8_lossy(self.raw);
        if self.escaped { Cow::Owned(unescape(&raw)) } else { raw }
    }

    /// What it means, to compare it with the names that one knows: empty if it has more than [`NAME`] bytes or is no UTF-8, so
    /// that a text of nothing but names costs as little as any other.
    #[must_use]
    pub fn decode_name(self) -> Cow<'a, str> {
        if self.raw.len() > NAME || str::from_utf8(self.raw).is_err() {
            return Cow::Borrowed("");
        }
        self.decode()
    }

    /// What it means, if that has at most so many bytes. However long the string is, it takes memory for a small multiple of
    /// them at most.
    #[must_use]
    pub fn decode_short(self, bytes: usize) -> Option<Cow<'a, str>> {
        // An escape has at most six times as many bytes as what it stands for: `\u0041`.
        let factor = if self.escaped { 6 } else { 1 };
        if self.raw.len() > bytes.saturating_mul(factor) {
            return None;
        }
        Some(self.decode()).filter(|text| text.len() <= bytes)
    }
}

impl<'a> Value<'a> {
    /// The text, if it is one.
    #[must_use]
    pub const fn as_string(self) -> Option<RawString<'a>> {
        match self {
            Self::String(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Other => None,
        }
    }

    /// The number as it is written, if it is one: `reader.value()?.as_number().and_then(|number| number.parse().ok())`.
    #[must_use]
    pub const fn as_number(self) -> Option<&'a str> {
        match self {
            Self::Number(number) => Some(number),
            Self::Null | Self::Bool(_) | Self::String(_) | Self::Other => None,
        }
    }

    /// The boolean, if it is one.
    #[must_use]
    pub const fn as_bool(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            Self::Null | Self::Number(_) | Self::String(_) | Self::Other => None,
        }
    }
}

/// A place in a text, and the brackets around it. Whether it is [lenient](Reader::lenient) is part of its type, so that the
/// loop that reads over a value need not look at a flag.
pub struct Reader<'a, const LENIENT: bool = false> {
    cursor: Cursor<'a, LENIENT>,
    brackets: Brackets,
}

type Step = Result<(), ErrorKind>;

impl<'a> Reader<'a> {
    /// A reader at the start of this text.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::at_start(bytes)
    }
}

impl<'a> Reader<'a, true> {
    /// A reader that takes what stands for no character (bytes that are no UTF-8, an escaped half of a surrogate pair) for
    /// U+FFFD, as long as it is in a string. It is for answers in which many people's words stand, one of which somebody
    /// cut in the middle of a character.
    #[must_use]
    pub fn lenient(bytes: &'a [u8]) -> Self {
        Self::at_start(bytes)
    }
}

impl<'a, const LENIENT: bool> Reader<'a, LENIENT> {
    fn at_start(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Self { cursor: Cursor { text: bytes, at }, brackets: Brackets { open: [0; MAX_DEPTH], depth: 0 } }
    }

    /// An error that was just met, with its place. Of a text in another encoding it is the encoding: that may have looked
    /// like anything else first.
    #[must_use]
    pub fn error(&self, kind: ErrorKind) -> Error {
        match not_utf8(self.cursor.text) {
            Some(at) if !LENIENT => Error { kind: ErrorKind::NotUtf8, at },
            _ => Error { kind, at: self.cursor.at },
        }
    }

    /// Reads an object and calls `member` for each of its members, in their order; `member` has to read the value.
    /// Anything else is read over and `false`. A value that `member` does not read is a syntax error of what follows, and a
    /// name that stands twice is told twice.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or what `member` returned.
    pub fn object(&mut self, member: &mut dyn FnMut(&mut Self, RawString<'a>) -> Step) -> Result<bool, ErrorKind> {
        if self.cursor.next_token() != Some(b'{') {
            return self.skip().map(|()| false);
        }
        let mut has_more = self.brackets.enter(b'}', &mut self.cursor)?;
        while has_more {
            let name = self.cursor.name()?;
            member(self, name)?;
            has_more = self.brackets.after_item(&mut self.cursor)?;
        }
        Ok(true)
    }

    /// Reads an array and calls `item` for each of its items, in their order; `item` has to read it. Anything else is
    /// read over and `false`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or what `item` returned.
    pub fn array(&mut self, item: &mut dyn FnMut(&mut Self) -> Step) -> Result<bool, ErrorKind> {
        if self.cursor.next_token() != Some(b'[') {
            return self.skip().map(|()| false);
        }
        let mut has_more = self.brackets.enter(b']', &mut self.cursor)?;
        while has_more {
            item(self)?;
            has_more = self.brackets.after_item(&mut self.cursor)?;
        }
        Ok(true)
    }

    /// Reads any value.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn value(&mut self) -> Result<Value<'a>, ErrorKind> {
        let value = match self.cursor.next_token() {
            Some(b'"') => return self.cursor.string().map(Value::String),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            Some(b'n') => Value::Null,
            Some(b'{' | b'[') => Value::Other,
            _ => {
                let start = self.cursor.at;
                self.skip()?;
                let written = self.cursor.text.get(start..self.cursor.at).unwrap_or_default();
                // ASCII: it was checked.
                return Ok(Value::Number(str::from_utf8(written).unwrap_or_default()));
            }
        };
        self.skip().map(|()| value)
    }

    /// Reads over any value. Nearly all of a large card is read here, so this is one loop, whatever is nested in what, and
    /// its place in the text is a local, which stays in registers.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn skip(&mut self) -> Step {
        let mut cursor = self.cursor;
        let step = self.brackets.over_value(&mut cursor);
        self.cursor = cursor;
        step
    }

    /// Makes sure that nothing but white space follows.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Syntax`], when anything else follows.
    pub fn end(&mut self) -> Step {
        if self.cursor.next_token().is_none() { Ok(()) } else { Err(ErrorKind::Syntax) }
    }
}

/// The closing bracket of each open one.
struct Brackets {
    open: [u8; MAX_DEPTH],
    /// How many are open.
    depth: usize,
}

impl Brackets {
    /// Over a value, which the cursor stands at or before.
    #[inline(always)]
    fn over_value<const LENIENT: bool>(&mut self, cursor: &mut Cursor<'_, LENIENT>) -> Step {
        let outside = self.depth;
        loop {
            let mut has_more = match cursor.next_token() {
                Some(b'{') => self.enter(b'}', cursor)?,
                Some(b'[') => self.enter(b']', cursor)?,
                Some(b'"') => cursor.string().map(|_| false)?,
                _ => {
                    cursor.at = cursor.after_word()?;
                    false
                }
            };
            // The value has ended. Without a loop, as in `plain`.
            if !has_more {
                if self.depth == outside {
                    return Ok(());
                }
                has_more = self.after_item(cursor)?;
            }
            // And with it perhaps what it was the last item of.
            while !has_more {
                if self.depth == outside {
                    return Ok(());
                }
                has_more = self.after_item(cursor)?;
            }
            if self.closing() == Some(b'}') {
                cursor.name()?;
            }
        }
    }

    /// Over an opening bracket, which the cursor stands at, and over its closing one if that is next. Whether there is an
    /// item.
    #[inline(always)]
    fn enter<const LENIENT: bool>(&mut self, closing: u8, cursor: &mut Cursor<'_, LENIENT>) -> Result<bool, ErrorKind> {
        let place = self.open.get_mut(self.depth).ok_or(ErrorKind::TooDeep)?;
        *place = closing;
        cursor.at += 1;
        let is_empty = cursor.next_token() == Some(closing);
        cursor.at += usize::from(is_empty);
        self.depth += usize::from(!is_empty);
        Ok(!is_empty)
    }

    /// Over what follows an item: a comma, or the closing bracket. Whether there is another item: that there is none after
    /// a comma is seen by who reads it, because a closing bracket begins nothing.
    #[inline(always)]
    fn after_item<const LENIENT: bool>(&mut self, cursor: &mut Cursor<'_, LENIENT>) -> Result<bool, ErrorKind> {
        let next = cursor.next_token();
        let has_more = next == Some(b',');
        if !has_more && (next.is_none() || next != self.closing()) {
            return Err(ErrorKind::Syntax);
        }
        cursor.at += 1;
        self.depth -= usize::from(!has_more);
        Ok(has_more)
    }

    /// The bracket that closes the innermost open one.
    #[inline(always)]
    fn closing(&self) -> Option<u8> {
        self.open.get(self.depth.wrapping_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests;
