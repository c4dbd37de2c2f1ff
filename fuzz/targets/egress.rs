//! What is denied stays denied in every spelling, whatever else the operator allows.
//!
//! An input is a rule a line, and in the last line an address and a port, as the seeds show.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fuzz::bounded;
use kourier_core::egress::{DenyRule, EgressRules, Network};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (rules, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    let rules = read(rules);
    let Some((address, port)) = last.split_once(' ') else { return };
    let (Ok(address), Ok(port)) = (address.parse(), port.parse()) else { return };
    let verdict = bounded(|| rules.judge(address, port));
    the_operators_word_counts(&rules, address, port, verdict);
    assert_eq!(EgressRules::default().judge(address, 443).is_err(), is_denied(address), "{address}");
    if let IpAddr::V4(address) = address {
        every_spelling_is_denied(&rules, address, port, verdict);
    }
});

/// The rules of these lines. A line that is none is passed over: a network that is none is looked at for itself.
fn read(lines: &str) -> EgressRules {
    let mut rules = EgressRules::default();
    for line in lines.lines() {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "allow" => rules.allow.extend(network(value)),
            "deny" => rules.deny.extend(network(value)),
            "allow-port" => rules.allow_ports.extend(value.parse::<u16>()),
            "deny-port" => rules.deny_ports.extend(value.parse::<u16>()),
            "api-server" => rules.api_server.extend(value.parse::<std::net::SocketAddr>()),
            "allow-loopback" => rules.allow_loopback = true,
            _ => {}
        }
    }
    rules
}

fn network(text: &str) -> Option<Network> {
    let network: Network = text.parse().ok()?;
    assert_eq!(network.to_string().parse(), Ok(network), "{text}");
    assert!(network.contains(network.address()), "{text}");
    assert_eq!(Network::around(network.address(), network.prefix()), network, "{text}");
    Some(network)
}

/// A denial beats everything; what an operator adds changes a verdict in its own direction alone.
fn the_operators_word_counts(rules: &EgressRules, address: IpAddr, port: u16, verdict: Result<(), DenyRule>) {
    let is_listed = rules.deny_ports.contains(&port) || rules.deny.iter().any(|network| network.contains(address));
    assert!(!is_listed || verdict == Err(DenyRule::Operator), "{address} {port} under {rules:?}: {verdict:?}");
    let no_denials = EgressRules { deny: Vec::new(), deny_ports: Vec::new(), api_server: Vec::new(), ..rules.clone() };
    let no_permissions =
        EgressRules { allow: Vec::new(), allow_ports: Vec::new(), allow_loopback: false, ..rules.clone() };
    if verdict.is_ok() {
        assert_eq!(no_denials.judge(address, port), Ok(()), "a denial allowed {address} {port} under {rules:?}");
    } else {
        assert!(no_permissions.judge(address, port).is_err(), "a permission denied {address} {port} under {rules:?}");
    }
    if verdict.is_ok() && !rules.allow_loopback && rules.allow.is_empty() {
        assert!(!is_denied(address), "nothing allowed {address} under {rules:?}");
    }
}

/// The IPv6 addresses that carry an IPv4 address, each by a standard.
fn every_spelling_is_denied(rules: &EgressRules, address: Ipv4Addr, port: u16, verdict: Result<(), DenyRule>) {
    if verdict.is_ok() {
        return;
    }
    let bits = u128::from(address.to_bits());
    let octet_skipped = |bits: u128, prefix: u32| {
        // RFC 6052: bits 64 to 71 are left out.
        let shifted = bits << (96 - prefix);
        let (head, tail) = (shifted >> 64, shifted & u128::from(u64::MAX));
        (head << 64) | (tail >> 8)
    };
    let nat64 = 0x0064_ff9b_u128 << 96;
    let local = (0x0064_ff9b_u128 << 96) | (1 << 80);
    let teredo = (0x2001_u128 << 112) | (0x0808_0808 << 64);
    let mut spellings = vec![
        (0xffff << 32) | bits,
        (0xffff_0000 << 32) | bits,
        nat64 | bits,
        local | bits,
        (0x2002 << 112) | (bits << 80),
        (0x2002 << 112) | (bits << 80) | 1,
        (0x2001 << 112) | (bits << 64) | 0xf7f7_f7f7,
        teredo | (!bits & 0xffff_ffff),
    ];
    // `::` and `::1` are addresses of their own, and behind a local prefix zeros are no address.
    if bits > 1 {
        spellings.push(bits);
    }
    if address.octets()[0] != 0 {
        spellings.extend([48, 56, 64].map(|prefix| local | octet_skipped(bits, prefix)));
    }
    for spelling in spellings.into_iter().map(Ipv6Addr::from_bits) {
        let judged = rules.judge(spelling.into(), port);
        assert!(judged.is_err(), "{address} is denied and {spelling} is not, under {rules:?}");
    }
}

/// The default rules once more, in the words of the standard library.
fn is_denied(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_denied_v4(address),
        IpAddr::V6(address) => {
            carried(address).map_or_else(|| is_denied_v6(address), |carried| carried.into_iter().any(is_denied_v4))
        }
    }
}

fn is_denied_v4(address: Ipv4Addr) -> bool {
    let metadata = [
        [169, 254, 169, 254],
        [169, 254, 170, 2],
        [169, 254, 170, 23],
        [100, 100, 100, 200],
        [168, 63, 129, 16],
        [192, 0, 0, 192],
    ];
    let [a, b, c, _] = address.octets();
    a == 0
        || a >= 240
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || (a == 198 && b & 0xfe == 18)
        || [a, b, c] == [192, 0, 0]
        || metadata.contains(&address.octets())
}

/// What an address carries; none when it is one of its own.
fn carried(address: Ipv6Addr) -> Option<Vec<Ipv4Addr>> {
    let segments = address.segments();
    let pair = |at: usize| {
        let [a, b] = segments[at].to_be_bytes();
        let [c, d] = segments[at + 1].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    let o = address.octets();
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            Some(vec![pair(6)])
        }
        [0x64, 0xff9b, 1, ..] => {
            let places = [[o[6], o[7], o[9], o[10]], [o[7], o[9], o[10], o[11]], [o[9], o[10], o[11], o[12]]];
            let places = places.into_iter().filter(|place| place[0] != 0).map(Ipv4Addr::from);
            Some(places.chain([pair(6)]).collect())
        }
        [0x2002, ..] => Some(vec![pair(1)]),
        [0x2001, 0, ..] => Some(vec![pair(2), Ipv4Addr::from_bits(!pair(6).to_bits())]),
        _ => None,
    }
}

fn is_denied_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let is_one_of = |listed: &[&str]| listed.iter().any(|one| one.parse() == Ok(address));
    let is_global = segments[0] & 0xe000 == 0x2000;
    !(is_global || address.is_unique_local())
        || is_one_of(&["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"])
        || segments[..2] == [0x2001, 0xdb8]
        || (segments[0] == 0x3fff && segments[1] < 0x1000)
        || segments[..3] == [0x2001, 2, 0]
        || (segments[0] == 0x2001 && matches!(segments[1], 0x10..=0x2f))
}
