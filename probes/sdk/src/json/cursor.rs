//! A place in a text, and the ways over what begins there.

use super::escape::{Escaped, code_point};
use super::{ErrorKind, RawString, Step};

/// A place in a text. What is seldom gets it by value, so that it stays in registers where the text is read over.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a, const LENIENT: bool> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

impl<'a, const LENIENT: bool> Cursor<'a, LENIENT> {
    #[inline(always)]
    fn rest(self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline(always)]
    fn peek(self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The first byte of the next token; the cursor stands at it.
    #[inline(always)]
    pub(super) fn next_token(&mut self) -> Option<u8> {
        let next = self.peek();
        if !next.is_some_and(is_blank) {
            return next;
        }
        self.at = self.after_blanks();
        self.peek()
    }

    /// Where white space ends.
    fn after_blanks(self) -> usize {
        self.at + self.rest().iter().take_while(|byte| is_blank(**byte)).count()
    }

    #[inline(always)]
    fn expect(&mut self, token: u8) -> Step {
        if self.next_token() != Some(token) {
            return Err(ErrorKind::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    /// A member's name and its colon.
    #[inline(always)]
    pub(super) fn name(&mut self) -> Result<RawString<'a>, ErrorKind> {
        if self.next_token() != Some(b'"') {
            return Err(ErrorKind::Syntax);
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }

    /// A string, whose opening quote the cursor stands at.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<RawString<'a>, ErrorKind> {
        self.at += 1;
        let (start, mut seen) = (self.at, 0);
        self.at += plain(self.rest(), &mut seen);
        let escaped = self.peek() != Some(b'"');
        if escaped {
            (self.at, seen) = self.after_escapes(seen)?;
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        if seen & HIGH_BITS != 0 && !LENIENT && not_utf8(raw).is_some() {
            return Err(ErrorKind::NotUtf8);
        }
        self.at += 1;
        Ok(RawString { raw, escaped })
    }

    /// Where a string ends, at an escape of which the cursor stands, and what [`plain`] has `seen` until there.
    fn after_escapes(mut self, mut seen: u64) -> Result<(usize, u64), ErrorKind> {
        loop {
            match self.peek() {
                Some(b'"') => return Ok((self.at, seen)),
                Some(b'\\') => self.at = self.after_escape()?,
                _ => return Err(ErrorKind::Syntax),
            }
            self.at += plain(self.rest(), &mut seen);
        }
    }

    /// Where an escape ends, whose backslash the cursor stands at.
    fn after_escape(self) -> Result<usize, ErrorKind> {
        match self.text.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(self.at + 2),
            Some(b'u') => match self.text.get(self.at + 2..).map(code_point) {
                Some(Escaped::Char(_, len)) => Ok(self.at + 2 + len),
                Some(Escaped::LoneSurrogate) if LENIENT => Ok(self.at + 2 + Escaped::HALF),
                Some(Escaped::LoneSurrogate) => Err(ErrorKind::LoneSurrogate),
                Some(Escaped::NotHex) | None => Err(ErrorKind::Syntax),
            },
            _ => Err(ErrorKind::Syntax),
        }
    }

    /// Where a number or a word ends, which the cursor stands at.
    pub(super) fn after_word(mut self) -> Result<usize, ErrorKind> {
        let word: &[u8] = match self.peek() {
            Some(b't') => b"true",
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            _ => return self.number().map(|()| self.at),
        };
        if self.rest().starts_with(word) { Ok(self.at + word.len()) } else { Err(ErrorKind::Syntax) }
    }

    fn number(&mut self) -> Step {
        self.over(|byte| byte == b'-');
        if !self.over(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.over(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.over(|byte| matches!(byte, b'e' | b'E')) {
            self.over(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Step {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(ErrorKind::Syntax);
        }
        self.at += count;
        Ok(())
    }

    /// Over the next byte, if it is such a one.
    fn over(&mut self, is_one: impl Fn(u8) -> bool) -> bool {
        let next = self.peek().is_some_and(is_one);
        self.at += usize::from(next);
        next
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// How many bytes at the start are UTF-8, if not all are.
#[cold]
pub(super) fn not_utf8(bytes: &[u8]) -> Option<usize> {
    str::from_utf8(bytes).err().map(|error| error.valid_up_to())
}

/// The highest bit of each byte: none is set in ASCII.
const HIGH_BITS: u64 = ONES << 7;
const ONES: u64 = u64::MAX / 255;

/// How many bytes at the start are neither a quote, a backslash nor a control character. It looks at eight at a time, and
/// gathers in `seen` the bits of all of them, and of some that follow. Most strings end within eight: those have no turn of a
/// loop, at each of which a guest has to see whether the host wants it to yield.
#[inline(always)]
pub(super) fn plain(bytes: &[u8], seen: &mut u64) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut words = words.iter();
    let mut count = 0;
    if let Some(word) = words.next() {
        if let Some(end) = end_of_plain(word, seen) {
            return end;
        }
        count = 8;
    }
    for word in words {
        if let Some(end) = end_of_plain(word, seen) {
            return count + end;
        }
        count += 8;
    }
    let end = rest.iter().position(|byte| {
        *seen |= u64::from(*byte);
        matches!(byte, b'"' | b'\\' | 0..=0x1f)
    });
    count + end.unwrap_or(rest.len())
}

#[inline(always)]
fn end_of_plain(word: &[u8; 8], seen: &mut u64) -> Option<usize> {
    let word = u64::from_le_bytes(*word);
    *seen |= word;
    let ends = ends_of_plain(word);
    (ends != 0).then(|| ends.trailing_zeros() as usize / 8)
}

/// Marks the highest bit of the first byte in a word that is a quote, a backslash or a control character. Of those after
/// it, some may be marked that are none: a subtraction borrows from the next byte. (Mycroft's test for a zero byte, as in
/// "Bit Twiddling Hacks", <https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord>.)
fn ends_of_plain(word: u64) -> u64 {
    let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & HIGH_BITS
}
