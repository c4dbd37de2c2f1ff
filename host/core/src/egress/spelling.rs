//! The ways in which an IPv6 address carries an IPv4 address.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The IPv4 addresses that a packet to this address may end up at, or at whose gateway; none for an address that
/// carries no other. A denial of one denies the whole.
pub(super) fn carried_by(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let bits = address.to_bits();
    match address.segments() {
        // `::` and `::1` are addresses of their own.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Vec::new(),
        // IPv4-compatible, mapped, translated, and behind the well-known NAT64 prefix.
        [0, 0, 0, 0, 0, 0, ..]
        | [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => vec![at(bits, 96)],
        [0x64, 0xff9b, 1, ..] => behind_local_nat64(address),
        // 6to4: the address of the gateway.
        [0x2002, ..] => vec![at(bits, 16)],
        // Teredo: the server, and the client behind its NAT, which is written inverted.
        [0x2001, 0, ..] => vec![at(bits, 32), at(!bits, 96)],
        _ => Vec::new(),
    }
}

/// Within 64:ff9b:1::/48 each network chooses how long its prefix is (48, 56, 64 or 96 bits, and the octet after the
/// 64th bit is skipped: RFC 6052 §2.2), so every reading counts. One in 0.0.0.0/8 that is not the last is nothing but
/// the zeros before the true place.
fn behind_local_nat64(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let [_, _, _, _, _, _, o6, o7, _, o9, o10, o11, o12, o13, o14, o15] = address.octets();
    let shorter = [[o6, o7, o9, o10], [o7, o9, o10, o11], [o9, o10, o11, o12]];
    let mut readings: Vec<_> = shorter.into_iter().filter(|[first, ..]| *first != 0).map(Ipv4Addr::from).collect();
    readings.push(Ipv4Addr::new(o12, o13, o14, o15));
    readings
}

/// The 32 bits that begin at this bit, counted from the left.
fn at(bits: u128, start: u32) -> Ipv4Addr {
    let [a, b, c, d, ..] = (bits << start).to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}
