//! IP addresses in a text, whatever they are spelt like.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The usual spellings of these addresses that stand in a text.
pub(super) fn literal(text: &str, known: &BTreeSet<IpAddr>) -> Vec<String> {
    known.iter().map(ToString::to_string).filter(|address| text.contains(address)).collect()
}

/// Whatever reads as an address: four numbers with dots between them, groups with two colons or more, and fewer numbers
/// where they are one of these.
pub(super) fn any(text: &str, known: &BTreeSet<IpAddr>) -> Vec<String> {
    let mut found: Vec<String> = text.split(|c| !is_of_ipv4(c)).filter_map(|word| ipv4(word, known)).collect();
    found.extend(text.split(|c| !is_of_ipv6(c)).filter_map(ipv6));
    found
}

fn is_of_ipv4(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '.'
}

fn is_of_ipv6(c: char) -> bool {
    c.is_ascii_hexdigit() || c == ':' || c == '.'
}

/// What is below 1.0.0.0 is found in innocent numbers.
const LEAST: u32 = 1 << 24;

/// The address in a word of numbers and dots.
fn ipv4(word: &str, known: &BTreeSet<IpAddr>) -> Option<String> {
    let parts: Vec<&str> = word.split('.').collect();
    let whole = parts.windows(4).find(|parts| number(parts).is_some()).map(|parts| parts.join("."));
    let short = || {
        let is_known = |parts: &&[&str]| {
            number(parts).is_some_and(|bits| bits >= LEAST && known.contains(&Ipv4Addr::from_bits(bits).into()))
        };
        (1..4).flat_map(|count| parts.windows(count)).find(is_known).map(|parts| parts.join("."))
    };
    whole.or_else(short)
}

/// The number that up to four parts make, each decimal, octal or hexadecimal: as what reads URLs has it.
fn number(parts: &[&str]) -> Option<u32> {
    let (last, first) = parts.split_last()?;
    let mut bits = 0;
    for part in first {
        bits = bits << 8 | u32::from(u8::try_from(part_of(part)?).ok()?);
    }
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    let last = part_of(last)?;
    let fits = room == 32 || last >> room == 0;
    fits.then(|| bits.checked_shl(room).unwrap_or(0) | last)
}

fn part_of(part: &str) -> Option<u32> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') => (part, 8),
        None => (part, 10),
    };
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    if is_number { u32::from_str_radix(digits, radix).ok() } else { None }
}

/// The first address in a word of hexadecimal digits, colons and dots, whatever stands around it.
fn ipv6(word: &str) -> Option<String> {
    if word.matches(':').count() < 2 {
        return None;
    }
    let ends = |start: usize| (start + 2..=word.len()).rev().map(move |end| (start, end));
    let mut parts = (0..word.len()).flat_map(ends).filter_map(|(start, end)| word.get(start..end));
    parts.find(|part| part.parse::<Ipv6Addr>().is_ok()).map(str::to_owned)
}
