//! Reads over a JSON text and stops only where the caller wants to know.
//!
//! The whole text is checked against the grammar, but nothing is built of it: a card may be 1 MiB, and five of its
//! members count. A value of another type than the caller hopes for is read over and reported as not there.
//!
//! Stricter than the grammar in two points: nesting ends at [`MAX_DEPTH`], and an escaped half of a surrogate pair is an
//! error, because it stands for no text. More lenient in one: a byte order mark at the start is allowed.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// How deep arrays and objects may be nested: enough for any card, and little of the stack.
pub(crate) const MAX_DEPTH: u8 = 128;

/// What is wrong with a text, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    problem: Problem,
    at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    NotUtf8,
    Syntax,
    TooDeep,
    LoneSurrogate,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            Problem::NotUtf8 => "is not UTF-8",
            Problem::Syntax => "is not JSON",
            Problem::TooDeep => "is nested too deep",
            Problem::LoneSurrogate => "has an escaped half of a surrogate pair",
        };
        write!(f, "{problem} at byte {}", self.at)
    }
}

/// A string as it stands in the text, without its quotes. It is valid, escapes included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawText<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> RawText<'a> {
    /// What it means.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

/// A place in a text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u8,
}

type Step = Result<(), JsonError>;

impl<'a> Reader<'a> {
    /// A reader at the start of this text.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, JsonError> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(Self { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0, depth: 0 }),
            Err(error) => Err(JsonError { problem: Problem::NotUtf8, at: error.valid_up_to() }),
        }
    }

    /// Reads an object and calls `member` for each of its members, in their order; `member` has to read the value.
    /// Anything else is read over and `false`.
    pub(crate) fn object(&mut self, member: &mut dyn FnMut(&mut Self, RawText<'a>) -> Step) -> Result<bool, JsonError> {
        if self.next_token() != Some(b'{') {
            return self.skip().map(|()| false);
        }
        self.enter()?;
        while !self.left(b'}')? {
            if self.next_token() != Some(b'"') {
                return Err(self.error(Problem::Syntax));
            }
            let name = self.quoted()?;
            self.expect(b':')?;
            member(self, name)?;
            self.between(b'}')?;
        }
        Ok(true)
    }

    /// Reads an array and calls `item` for each of its items, in their order; `item` has to read it. Anything else is
    /// read over and `false`.
    pub(crate) fn array(&mut self, item: &mut dyn FnMut(&mut Self) -> Step) -> Result<bool, JsonError> {
        if self.next_token() != Some(b'[') {
            return self.skip().map(|()| false);
        }
        self.enter()?;
        while !self.left(b']')? {
            item(self)?;
            self.between(b']')?;
        }
        Ok(true)
    }

    /// Reads a string. Anything else is read over and none.
    pub(crate) fn string(&mut self) -> Result<Option<RawText<'a>>, JsonError> {
        match self.next_token() {
            Some(b'"') => self.quoted().map(Some),
            _ => self.skip().map(|()| None),
        }
    }

    /// Reads over any value.
    pub(crate) fn skip(&mut self) -> Step {
        match self.next_token() {
            Some(b'{') => self.object(&mut |reader, _| reader.skip()).map(|_| ()),
            Some(b'[') => self.array(&mut Self::skip).map(|_| ()),
            Some(b'"') => self.quoted().map(|_| ()),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.number(),
        }
    }

    /// Makes sure that nothing but white space follows.
    pub(crate) fn end(&mut self) -> Step {
        if self.next_token().is_none() { Ok(()) } else { Err(self.error(Problem::Syntax)) }
    }
}

/// Structure: brackets, commas and colons.
impl Reader<'_> {
    fn error(&self, problem: Problem) -> JsonError {
        JsonError { problem, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The first byte of the next token; the reader stands at it.
    fn next_token(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn expect(&mut self, token: u8) -> Step {
        if self.next_token() != Some(token) {
            return Err(self.error(Problem::Syntax));
        }
        self.at += 1;
        Ok(())
    }

    /// Over an opening bracket, which the reader stands at.
    fn enter(&mut self) -> Step {
        if self.depth == MAX_DEPTH {
            return Err(self.error(Problem::TooDeep));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Over the closing bracket, if it is next.
    fn left(&mut self, close: u8) -> Result<bool, JsonError> {
        let closes = self.next_token() == Some(close);
        if closes {
            self.depth -= 1;
            self.at += 1;
        }
        Ok(closes)
    }

    /// Over the comma between two items; a closing bracket stays where it is.
    fn between(&mut self, close: u8) -> Step {
        if self.next_token() == Some(close) {
            return Ok(());
        }
        self.expect(b',')?;
        // A comma before the bracket is one too many.
        if self.next_token() == Some(close) { Err(self.error(Problem::Syntax)) } else { Ok(()) }
    }
}

/// Tokens: strings, numbers and words.
impl<'a> Reader<'a> {
    /// A string, whose opening quote the reader stands at.
    fn quoted(&mut self) -> Result<RawText<'a>, JsonError> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain(self.text.as_bytes().get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return Err(self.error(Problem::Syntax)),
            }
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(RawText { raw, escaped })
    }

    /// Over an escape, whose backslash the reader stands at.
    fn escape(&mut self) -> Step {
        match self.text.as_bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match self.text.get(self.at + 2..).map(code_point) {
                Some(Escaped::Char(_, len)) => self.at += 2 + len,
                Some(Escaped::LoneSurrogate) => return Err(self.error(Problem::LoneSurrogate)),
                Some(Escaped::NotHex) | None => return Err(self.error(Problem::Syntax)),
            },
            _ => return Err(self.error(Problem::Syntax)),
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Step {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.error(Problem::Syntax));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Step {
        self.over(b"-");
        if !self.over(b"0") {
            self.digits()?;
        }
        if self.over(b".") {
            self.digits()?;
        }
        if self.over(b"eE") {
            self.over(b"+-");
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Step {
        if !self.over(b"0123456789") {
            return Err(self.error(Problem::Syntax));
        }
        while self.over(b"0123456789") {}
        Ok(())
    }

    /// Over the next byte, if it is one of these.
    fn over(&mut self, any: &[u8]) -> bool {
        let is_one = self.peek().is_some_and(|byte| any.contains(&byte));
        self.at += usize::from(is_one);
        is_one
    }
}

/// How many bytes at the start are neither a quote, a backslash nor a control character.
fn plain(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(bytes.len())
}

/// What stands after `\u`.
enum Escaped {
    /// This character, in so many bytes.
    Char(char, usize),
    LoneSurrogate,
    NotHex,
}

fn code_point(after_u: &str) -> Escaped {
    let Some(first) = hex(after_u) else { return Escaped::NotHex };
    if let Some(char) = char::from_u32(first) {
        return Escaped::Char(char, 4);
    }
    let second = after_u.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(hex);
    match second {
        Some(low @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let point = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            Escaped::Char(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 10)
        }
        _ => Escaped::LoneSurrogate,
    }
}

fn hex(text: &str) -> Option<u32> {
    let digits = text.as_bytes().get(..4)?;
    digits.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

/// The meaning of a string whose escapes are known to be valid.
fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let mut after = escape.chars();
        let (char, len) = match after.next() {
            Some('u') => match code_point(after.as_str()) {
                Escaped::Char(char, len) => (char, len),
                Escaped::LoneSurrogate | Escaped::NotHex => (char::REPLACEMENT_CHARACTER, 0),
            },
            Some('b') => ('\u{8}', 0),
            Some('f') => ('\u{c}', 0),
            Some('n') => ('\n', 0),
            Some('r') => ('\r', 0),
            Some('t') => ('\t', 0),
            Some(same) => (same, 0),
            None => break,
        };
        text.push(char);
        rest = after.as_str().get(len..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
