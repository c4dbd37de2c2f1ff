//! The ways to read a text, and to write one.

use std::iter::once;

use kourier_core::message::is_spacing;

/// How something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As it is, in any letter case.
    Plain,
    /// With the escapes of JSON, URLs or HTML.
    Escaped,
    /// Each byte as hexadecimal digits.
    Hexadecimal,
    /// In base64, of either alphabet, whatever stands before it.
    Base64,
    /// Each byte as a decimal number.
    Numbers,
    /// From its end to its beginning.
    Backwards,
}

/// How often escapes are undone: what is escaped more often is so by intent.
const ROUNDS: usize = 8;
/// Bytes that are worth decoding: fewer are found anywhere.
const ENOUGH: usize = 3;

/// A text in every way to read it. A way that finds nothing is left out.
pub(super) fn views(text: &str) -> Vec<(Form, String)> {
    let plain = unescaped(text);
    let mut views = vec![(Form::Plain, folded(text))];
    if plain != text {
        views.push((Form::Escaped, folded(&plain)));
    }
    let decoded = [
        (Form::Hexadecimal, hexadecimal(&plain)),
        (Form::Base64, base64(&plain)),
        (Form::Numbers, numbers(&plain)),
        (Form::Backwards, vec![plain.chars().rev().collect::<String>().into_bytes()]),
    ];
    for (form, found) in decoded {
        if !found.is_empty() {
            let found: Vec<String> = found.iter().map(|bytes| folded(&String::from_utf8_lossy(bytes))).collect();
            views.push((form, found.join("\n")));
        }
    }
    views
}

/// A text in small letters, with letters, digits and signs of full width as usual ones, and without what is not seen.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let usual = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3002}' | '\u{ff61}' => '.',
        _ => c,
    };
    // Blanks and control characters part words.
    let is_kept = |c: &char| c.is_whitespace() || c.is_control() || !is_spacing(*c);
    text.chars().filter(is_kept).map(usual).flat_map(char::to_lowercase).collect()
}

/// A text without the escapes of JSON, URLs and HTML, also when they are escaped again.
pub(super) fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..ROUNDS {
        let next = unescaped_once(&text);
        if next == text {
            break;
        }
        text = next;
    }
    text
}

fn unescaped_once(text: &str) -> String {
    if !text.contains(['%', '\\', '&']) {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let found = match next {
            '%' => rest.get(1..3).and_then(digits).and_then(|byte| Some((vec![u8::try_from(byte).ok()?], 3))),
            '\\' => behind_backslash(rest),
            '&' => entity(rest),
            _ => None,
        };
        let (found, length) = found.unwrap_or_else(|| (next.to_string().into_bytes(), next.len_utf8()));
        bytes.extend(found);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The bytes for which an escape stands, and its own length.
type Escape = Option<(Vec<u8>, usize)>;

fn behind_backslash(text: &str) -> Escape {
    let of_code = |code: u32, length: usize| Some((char::from_u32(code)?.to_string().into_bytes(), length));
    match text.as_bytes() {
        [_, b'u', b'{', ..] => {
            let end = text.bytes().take(12).position(|byte| byte == b'}')?;
            of_code(digits(text.get(3..end)?)?, end + 1)
        }
        [_, b'u', ..] => {
            let first = digits(text.get(2..6)?)?;
            let second = text.get(6..12).and_then(|pair| digits(pair.strip_prefix("\\u")?));
            match second {
                Some(second) if (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second) => {
                    of_code(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
                }
                _ => of_code(first, 6),
            }
        }
        [_, b'x', ..] => Some((vec![u8::try_from(digits(text.get(2..4)?)?).ok()?], 4)),
        [_, sign @ (b'"' | b'\'' | b'\\' | b'/'), ..] => Some((vec![*sign], 2)),
        _ => None,
    }
}

fn entity(text: &str) -> Escape {
    let end = text.bytes().take(10).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let found = match name.strip_prefix('#').map(|code| (code, code.strip_prefix(['x', 'X']))) {
        Some((_, Some(code))) => char::from_u32(digits(code)?)?,
        Some((code, None)) => char::from_u32(code.parse().ok()?)?,
        None => match name {
            "quot" => '"',
            "apos" => '\'',
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            _ => return None,
        },
    };
    Some((found.to_string().into_bytes(), end + 1))
}

/// The number that hexadecimal digits make.
fn digits(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_number { u32::from_str_radix(text, 16).ok() } else { None }
}

/// Runs of hexadecimal digits: without anything between them, from each of the first two on, and in pairs.
fn hexadecimal(text: &str) -> Vec<Vec<u8>> {
    let pair = |pair: &[u8]| u8::try_from(digits(str::from_utf8(pair).ok()?)?).ok();
    let runs = text.split(|c: char| !c.is_ascii_hexdigit()).filter(|run| run.len() >= ENOUGH * 2);
    let from = |run: &str, start: usize| run.as_bytes()[start..].chunks_exact(2).filter_map(pair).collect();
    let mut found: Vec<Vec<u8>> = runs.flat_map(|run| [from(run, 0), from(run, 1)]).collect();
    found.extend(lists(text, |word| {
        let word = word.trim_start_matches("0x").trim_start_matches("0X");
        (word.len() == 2).then(|| pair(word.as_bytes())).flatten()
    }));
    found
}

/// Lists of decimal numbers.
fn numbers(text: &str) -> Vec<Vec<u8>> {
    lists(text, |word| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten())
}

/// Lists of words that are a byte each, with little between them.
fn lists(text: &str, byte: impl Fn(&str) -> Option<u8>) -> Vec<Vec<u8>> {
    let (mut found, mut list) = (Vec::new(), Vec::new());
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 1);
    for word in words.chain(once("")) {
        let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        match byte(word) {
            Some(byte) if !word.is_empty() => list.push(byte),
            _ if list.len() >= ENOUGH => found.push(std::mem::take(&mut list)),
            _ => list.clear(),
        }
    }
    found
}

/// Runs of base64, from each of the first four characters on.
fn base64(text: &str) -> Vec<Vec<u8>> {
    let is_ours = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    let runs = text.split(|c| !is_ours(c)).filter(|run| run.len() * 3 / 4 >= ENOUGH);
    runs.flat_map(|run| (0..4).filter_map(|start| Some(decoded(run.get(start..)?)))).collect()
}

fn decoded(run: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in run.bytes() {
        bits = (bits << 6 | u32::from(value(byte))) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

/// A text in each form, as programs write it: what a peer may repeat, and what is to be found.
#[must_use]
pub fn spellings(text: &str) -> Vec<(Form, String)> {
    let bytes = |write: &dyn Fn(u8) -> String, between: &str| text.bytes().map(write).collect::<Vec<_>>().join(between);
    let escaped = |write: &dyn Fn(u32) -> String| text.chars().map(|c| write(c.into())).collect::<String>();
    let of_json =
        |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('/', "\\/").replace('-', "\\u002d");
    let once =
        bytes(&|byte| if byte.is_ascii_alphanumeric() { char::from(byte).into() } else { format!("%{byte:02X}") }, "");
    let mut spellings = vec![
        (Form::Plain, text.to_owned()),
        (Form::Plain, text.to_uppercase()),
        (Form::Escaped, bytes(&|byte| format!("%{byte:02x}"), "")),
        (Form::Escaped, once.replace('%', "%25")),
        (Form::Escaped, of_json(text)),
        (Form::Escaped, of_json(&of_json(text))),
        (Form::Escaped, bytes(&|byte| format!("\\x{byte:02x}"), "")),
        (Form::Escaped, escaped(&|code| format!("\\u{{{code:x}}}"))),
        (Form::Escaped, escaped(&|code| format!("&#{code};"))),
        (Form::Escaped, escaped(&|code| format!("&amp;#x{code:X};"))),
        (Form::Hexadecimal, bytes(&|byte| format!("{byte:02x}"), "")),
        (Form::Hexadecimal, bytes(&|byte| format!("{byte:02X}"), ":")),
        (Form::Hexadecimal, bytes(&|byte| format!("0x{byte:02x}"), ", ")),
        (Form::Numbers, bytes(&|byte| byte.to_string(), ", ")),
        (Form::Backwards, text.chars().rev().collect()),
    ];
    for before in ["", "u", "us"] {
        let standard = encoded(&format!("{before}{text}."));
        spellings.push((Form::Base64, standard.replace('+', "-").replace('/', "_")));
        spellings.push((Form::Base64, standard));
    }
    spellings
}

fn encoded(text: &str) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(bytes.get(at).copied().unwrap_or(0)));
        let signs = (0..=bytes.len()).map(move |at| char::from(SIGNS[bits >> (18 - 6 * at) & 63]));
        signs.collect::<String>()
    };
    text.as_bytes().chunks(3).map(group).collect()
}
