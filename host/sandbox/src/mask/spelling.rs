//! How many bytes at the beginning of a text are one character, or one byte, in a spelling that programs use.

/// What a program may write between the numbers of two bytes.
const BETWEEN: [char; 6] = [' ', ',', ':', ';', '-', '_'];
/// How many of them.
const MAX_BETWEEN: usize = 2;

/// The character itself.
pub(super) fn literally(wanted: char, _index: usize, text: &str) -> Option<usize> {
    text.chars().next().filter(|found| is_same(wanted, *found)).map(char::len_utf8)
}

/// The character or an escape of it, in any letter case.
pub(super) fn in_any_case(wanted: char, _index: usize, text: &str) -> Option<usize> {
    spelling(wanted, text, is_same)
}

/// The character or an escape of it, in its own letter case.
pub(super) fn exactly(wanted: char, _index: usize, text: &str) -> Option<usize> {
    spelling(wanted, text, |wanted, found| wanted == found)
}

/// A byte as two hexadecimal digits, perhaps with `0x` before them.
pub(super) fn hexadecimal(wanted: u8, index: usize, text: &str) -> Option<usize> {
    let rest = after_gap(text, index);
    let rest = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")).unwrap_or(rest);
    let found = u8::try_from(number(rest.get(..2)?, 16)?).ok()?;
    found.eq_ignore_ascii_case(&wanted).then(|| text.len() - rest.len() + 2)
}

/// A byte as a decimal number of a list.
pub(super) fn decimal(wanted: u8, index: usize, text: &str) -> Option<usize> {
    let rest = after_gap(text, index);
    if index > 0 && rest.len() == text.len() {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let found = u8::try_from(number(&rest[..end], 10)?).ok()?;
    found.eq_ignore_ascii_case(&wanted).then(|| text.len() - rest.len() + end)
}

/// Before the first number stands nothing.
fn after_gap(text: &str, index: usize) -> &str {
    let most = if index == 0 { 0 } else { MAX_BETWEEN };
    let gap = text.chars().take(most).take_while(|c| BETWEEN.contains(c)).count();
    &text[gap..]
}

fn is_same(wanted: char, found: char) -> bool {
    wanted == found || wanted.to_lowercase().eq(found.to_lowercase())
}

/// Whether the character that was found is the one that is wanted.
type Same = fn(char, char) -> bool;

fn spelling(wanted: char, text: &str, same: Same) -> Option<usize> {
    let escaped = match text.as_bytes().first()? {
        b'%' => percent(wanted, text, same),
        b'\\' => backslash(wanted, text, same),
        b'&' => entity(wanted, text, same),
        _ => None,
    };
    escaped.or_else(|| text.chars().next().filter(|found| same(wanted, *found)).map(char::len_utf8))
}

/// `%XX` for each byte, encoded once or several times.
fn percent(wanted: char, text: &str, same: Same) -> Option<usize> {
    let mut rest = text;
    for wanted in wanted.encode_utf8(&mut [0; 4]).bytes() {
        rest = rest.strip_prefix('%')?;
        loop {
            let found = u8::try_from(number(rest.get(..2)?, 16)?).ok()?;
            rest = &rest[2..];
            if same(wanted.into(), found.into()) {
                break;
            }
            // A percent sign that is encoded itself.
            if found != b'%' {
                return None;
            }
        }
    }
    Some(text.len() - rest.len())
}

/// Behind a backslash or several, as it stands in JSON and in the strings of programs.
fn backslash(wanted: char, text: &str, same: Same) -> Option<usize> {
    if wanted == '\\' {
        return text.starts_with(r"\\").then_some(2);
    }
    let mut units = [0; 2];
    let mut rest = text;
    for unit in wanted.encode_utf16(&mut units) {
        rest = behind_backslashes(rest)?;
        let digits = match rest.as_bytes() {
            [b'u', b'{', ..] => return braced(wanted, text, rest, same),
            [b'u', ..] => rest.get(1..5)?,
            [b'x', ..] => rest.get(1..3)?,
            _ => return rest.starts_with(wanted).then(|| text.len() - rest.len() + wanted.len_utf8()),
        };
        let found = number(digits, 16)?;
        let is_it = found == u32::from(*unit) || char::from_u32(found).is_some_and(|found| same(wanted, found));
        if !is_it {
            return None;
        }
        rest = &rest[1 + digits.len()..];
    }
    Some(text.len() - rest.len())
}

/// `u{X}`: as Rust and JavaScript write it.
fn braced(wanted: char, text: &str, rest: &str, same: Same) -> Option<usize> {
    let (digits, after) = rest.get(2..)?.split_once('}')?;
    let found = char::from_u32(number(digits, 16)?)?;
    same(wanted, found).then(|| text.len() - after.len())
}

fn behind_backslashes(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('\\');
    (rest.len() < text.len()).then_some(rest)
}

/// `&#N;`, `&#xN;` or `&name;`, encoded once or several times.
fn entity(wanted: char, text: &str, same: Same) -> Option<usize> {
    const NAMES: [(&str, char); 6] =
        [("quot", '"'), ("apos", '\''), ("lt", '<'), ("gt", '>'), ("sol", '/'), ("amp", '&')];
    let mut rest = text.strip_prefix('&')?;
    loop {
        let (name, after) = rest.split_at_checked(rest.bytes().take(8).position(|byte| byte == b';')?)?;
        let after = after.strip_prefix(';')?;
        let found = match name.strip_prefix('#') {
            Some(code) => {
                let hexadecimal = code.strip_prefix(['x', 'X']);
                let code = hexadecimal.map_or_else(|| number(code, 10), |code| number(code, 16));
                char::from_u32(code?)?
            }
            None => NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known))?.1,
        };
        if same(wanted, found) {
            return Some(text.len() - after.len());
        }
        // An ampersand that is encoded itself.
        if found != '&' {
            return None;
        }
        rest = after;
    }
}

/// A number that is nothing but digits.
fn number(digits: &str, radix: u32) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    if is_number { u32::from_str_radix(digits, radix).ok() } else { None }
}
