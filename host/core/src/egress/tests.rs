use proptest::prelude::*;

use super::*;

fn network(text: &str) -> Network {
    text.parse().unwrap()
}

fn networks(texts: &[&str]) -> Vec<Network> {
    texts.iter().map(|text| network(text)).collect()
}

/// `address port -> rule or "allowed"`.
fn check(rules: &EgressRules, cases: &[(&str, u16, &str)]) {
    for (address, port, expected) in cases {
        let verdict = rules.judge(address.parse().unwrap(), *port);
        let said = verdict.map_or_else(DenyRule::as_str, |()| "allowed");
        assert_eq!(said, *expected, "{address} port {port} under {rules:?}");
    }
}

#[test]
fn an_operator_who_says_nothing_gets_the_default_rules() {
    check(
        &EgressRules::default(),
        &[
            ("10.1.2.3", 80, "allowed"),
            ("172.16.0.1", 8080, "allowed"),
            ("192.168.1.1", 443, "allowed"),
            ("100.64.0.1", 443, "allowed"),
            ("8.8.8.8", 443, "allowed"),
            ("fd12:3456::1", 443, "allowed"),
            ("2606:4700::1", 443, "allowed"),
            ("0.0.0.0", 80, "unspecified"),
            ("0.1.2.3", 80, "unspecified"),
            ("::", 80, "unspecified"),
            ("127.0.0.1", 80, "loopback"),
            ("127.255.255.255", 80, "loopback"),
            ("::1", 80, "loopback"),
            ("169.254.0.1", 80, "link-local"),
            ("fe80::1", 80, "link-local"),
            ("febf::1", 80, "link-local"),
            ("fec0::1", 80, "reserved"),
            ("169.254.169.254", 80, "metadata"),
            ("169.254.170.2", 80, "metadata"),
            ("169.254.170.23", 80, "metadata"),
            ("100.100.100.200", 80, "metadata"),
            ("100.100.100.201", 80, "allowed"),
            ("168.63.129.16", 80, "metadata"),
            ("168.63.129.17", 80, "allowed"),
            ("192.0.0.192", 80, "metadata"),
            ("fd00:ec2::254", 80, "metadata"),
            ("fd00:ec2::23", 80, "metadata"),
            ("fd00:ec2::25", 80, "allowed"),
            ("fd20:ce::254", 80, "metadata"),
            ("fd00:42::42", 80, "metadata"),
            ("224.0.0.1", 80, "multicast"),
            ("239.255.255.250", 80, "multicast"),
            ("ff02::1", 80, "multicast"),
            ("255.255.255.255", 80, "broadcast"),
            ("255.255.255.254", 80, "reserved"),
            ("240.0.0.1", 80, "reserved"),
            ("192.0.0.8", 80, "reserved"),
            ("192.0.2.1", 80, "documentation"),
            ("198.51.100.1", 80, "documentation"),
            ("203.0.113.1", 80, "documentation"),
            ("198.19.255.255", 80, "documentation"),
            ("198.20.0.0", 80, "allowed"),
            ("2001:db8::1", 80, "documentation"),
            ("3fff::1", 80, "documentation"),
            ("2001:2::1", 80, "documentation"),
            ("2001:20::1", 80, "reserved"),
            ("100::1", 80, "reserved"),
            ("5f00::1", 80, "reserved"),
            ("4000::1", 80, "reserved"),
        ],
    );
}

#[test]
fn the_ports_of_a_node_s_own_management_are_denied() {
    let denied = [0, 10250, 10255, 2379, 2380].map(|port| ("10.0.0.1", port, "port"));
    check(&EgressRules::default(), &denied);
    check(&EgressRules::default(), &[("10.0.0.1", 10251, "allowed"), ("10.0.0.1", 2378, "allowed")]);
    let opened = EgressRules { allow_ports: vec![2379], ..EgressRules::default() };
    check(&opened, &[("10.0.0.1", 2379, "allowed"), ("10.0.0.1", 2380, "port"), ("127.0.0.1", 2379, "loopback")]);
    let closed = EgressRules { allow_ports: vec![25, 2379], deny_ports: vec![25], ..EgressRules::default() };
    check(&closed, &[("10.0.0.1", 25, "operator"), ("10.0.0.1", 26, "allowed")]);
}

#[test]
fn every_spelling_of_a_denied_address_is_denied() {
    check(
        &EgressRules::default(),
        &[
            ("::ffff:a9fe:a9fe", 80, "metadata"),
            ("::169.254.169.254", 80, "metadata"),
            ("::ffff:0:a9fe:a9fe", 80, "metadata"),
            ("64:ff9b::a9fe:a9fe", 80, "metadata"),
            ("64:ff9b:1::a9fe:a9fe", 80, "metadata"),
            ("64:ff9b:1:a9fe:a9:fe00::", 80, "metadata"), // a prefix of 48 bits
            ("64:ff9b:1:a9:fe:a9fe::", 80, "metadata"),   // of 56
            ("64:ff9b:1:0:a9:fea9:fe00:0", 80, "metadata"), // of 64
            ("2002:a9fe:a9fe::", 80, "metadata"),
            ("2001:0:808:808:0:0:5601:5601", 80, "metadata"), // Teredo, the client inverted
            ("2001:0:a9fe:a9fe:0:0:f7f7:f7f7", 80, "metadata"), // Teredo, the server
            ("::ffff:127.0.0.1", 80, "loopback"),
            ("::127.0.0.1", 80, "loopback"),
            ("::2", 80, "unspecified"),
            ("::ffff:0.0.0.0", 80, "unspecified"),
            ("2002:7f00:1::1", 80, "loopback"),
        ],
    );
    check(
        &EgressRules::default(),
        &[
            ("::ffff:8.8.8.8", 80, "allowed"),
            ("64:ff9b::808:808", 80, "allowed"),
            ("64:ff9b:1::808:808", 80, "allowed"),
            ("2002:808:808::1", 80, "allowed"),
            ("2001:0:808:808:0:0:f7f7:f7f7", 80, "allowed"),
        ],
    );
}

#[test]
fn a_permission_beats_a_default_rule_and_a_denial_beats_both() {
    let rules = EgressRules {
        allow: networks(&["169.254.10.0/24", "192.0.2.0/24", "::1"]),
        deny: networks(&["192.0.2.7", "10.0.0.0/8", "fd00::/8"]),
        ..EgressRules::default()
    };
    check(
        &rules,
        &[
            ("169.254.10.9", 80, "allowed"),
            ("169.254.11.9", 80, "link-local"),
            ("192.0.2.6", 80, "allowed"),
            ("::ffff:192.0.2.6", 80, "allowed"),
            ("192.0.2.7", 80, "operator"),
            ("::ffff:192.0.2.7", 80, "operator"),
            ("2002:c000:207::1", 80, "operator"),
            ("10.1.1.1", 80, "operator"),
            ("fd01::1", 80, "operator"),
            ("::1", 80, "allowed"),
            ("127.0.0.1", 80, "loopback"),
            ("192.0.2.6", 10250, "port"),
        ],
    );
}

#[test]
fn allowing_a_spelling_s_own_network_does_not_allow_what_it_carries() {
    let rules = EgressRules { allow: networks(&["::/0"]), ..EgressRules::default() };
    check(&rules, &[("fe80::1", 80, "allowed"), ("::ffff:169.254.169.254", 80, "metadata")]);
}

#[test]
fn loopback_is_allowed_by_its_setting_and_nothing_else_is() {
    let rules = EgressRules { allow_loopback: true, ..EgressRules::default() };
    check(
        &rules,
        &[
            ("127.0.0.1", 8080, "allowed"),
            ("127.9.9.9", 8080, "allowed"),
            ("::1", 8080, "allowed"),
            ("::ffff:127.0.0.1", 8080, "allowed"),
            ("0.0.0.0", 8080, "unspecified"),
            ("::", 8080, "unspecified"),
            ("169.254.169.254", 80, "metadata"),
            ("127.0.0.1", 10250, "port"),
        ],
    );
    let denied = EgressRules { deny: networks(&["127.0.0.0/8"]), ..rules };
    check(&denied, &[("127.0.0.1", 80, "operator"), ("::ffff:127.0.0.1", 80, "operator"), ("::1", 80, "allowed")]);
}

#[test]
fn a_network_is_read_as_it_is_written_or_refused_with_what_would_be_right() {
    for (text, expected) in [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("10.1.2.3", "10.1.2.3/32"),
        ("fd00::/8", "fd00::/8"),
        ("FD00:0::1", "fd00::1/128"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("::/0", "::/0"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("10.0.0.1/8", "10.0.0.1/8 has bits set past its prefix; write 10.0.0.0/8, or the address without a prefix"),
        ("fd00::1/8", "fd00::1/8 has bits set past its prefix; write fd00::/8, or the address without a prefix"),
        ("10.0.0.0/33", "\"33\" is not a prefix length; write a number from 0 to 32"),
        ("fd00::/129", "\"129\" is not a prefix length; write a number from 0 to 128"),
        ("10.0.0.0/", "\"\" is not a prefix length; write a number from 0 to 32"),
        ("10.0.0.0/+8", "\"+8\" is not a prefix length; write a number from 0 to 32"),
        (
            "metadata.internal",
            "\"metadata.internal\" is not an IP address; write a network such as 10.0.0.0/8 or fd00::/8, or one address",
        ),
        ("", "\"\" is not an IP address; write a network such as 10.0.0.0/8 or fd00::/8, or one address"),
        ("10.0.0/8", "\"10.0.0\" is not an IP address; write a network such as 10.0.0.0/8 or fd00::/8, or one address"),
    ] {
        let said = text.parse::<Network>().map_or_else(|bad| bad.to_string(), |network| network.to_string());
        assert_eq!(said, expected, "{text}");
    }
}

#[test]
fn the_tables_hold_networks_in_their_normal_form() {
    let tables = DENIED_V4.iter().chain(&DENIED_V6).map(|(network, _)| network).chain(&PEERS_V6);
    for network in tables {
        assert_eq!(*network, Network::around(network.address(), network.prefix()), "{network}");
    }
}

/// The spellings that carry exactly one IPv4 address.
fn spellings(v4: Ipv4Addr) -> Vec<IpAddr> {
    let low = u128::from(v4.to_bits());
    let mut spelt = vec![
        0xffff << 32 | low,
        0xffff << 48 | low,
        0x0064_ff9b << 96 | low,
        0x0064_ff9b_0001 << 80 | low,
        0x2002 << 112 | low << 80,
        0x2001_0000_0808_0808 << 64 | u128::from(!v4.to_bits()),
    ];
    if v4.to_bits() > 1 {
        spelt.push(low);
    }
    spelt.into_iter().map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits))).collect()
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))),
        any::<u128>().prop_map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits))),
        prop::sample::select(vec!["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "::", "fe80::1", "ff02::1"])
            .prop_map(|text| text.parse().unwrap()),
        any::<u32>().prop_flat_map(|bits| prop::sample::select(spellings(Ipv4Addr::from_bits(bits)))),
    ]
}

fn any_network() -> impl Strategy<Value = Network> {
    (any_address(), 0..=128_u8).prop_map(|(address, prefix)| Network::around(address, prefix))
}

fn any_rules() -> impl Strategy<Value = EgressRules> {
    let networks = || prop::collection::vec(any_network(), 0..4);
    let ports = || prop::collection::vec(prop::sample::select(vec![0, 80, 443, 2379, 10250]), 0..3);
    (networks(), networks(), ports(), ports(), any::<bool>()).prop_map(
        |(allow, deny, allow_ports, deny_ports, allow_loopback)| EgressRules {
            allow,
            deny,
            allow_ports,
            deny_ports,
            allow_loopback,
            api_server: Vec::new(),
        },
    )
}

proptest! {
    #[test]
    fn an_address_and_its_spellings_get_one_verdict(bits: u32, rules in any_rules()) {
        let plain = Ipv4Addr::from_bits(bits);
        // Denials of IPv6 networks, and of Teredo's server in this test, are about the spelling.
        let rules = EgressRules { deny: Vec::new(), ..rules };
        for spelt in spellings(plain) {
            prop_assert_eq!(rules.judge(spelt, 80), rules.judge(plain.into(), 80), "{}", spelt);
        }
    }

    #[test]
    fn what_the_operator_denies_is_denied(address in any_address(), rules in any_rules(), length in 0..=128_u8) {
        let mut rules = rules;
        rules.deny.push(Network::around(address, length));
        prop_assert_eq!(rules.judge(address, 80), Err(DenyRule::Operator));
    }

    #[test]
    fn what_the_operator_denies_is_denied_in_every_spelling(bits: u32, rules in any_rules(), length in 0..=32_u8) {
        let mut rules = rules;
        let plain = Ipv4Addr::from_bits(bits);
        rules.deny.push(Network::around(plain.into(), length));
        for spelt in spellings(plain) {
            prop_assert_eq!(rules.judge(spelt, 80), Err(DenyRule::Operator), "{}", spelt);
        }
    }

    #[test]
    fn what_the_operator_allows_and_does_not_deny_is_allowed(bits: u32, rules in any_rules(), length in 0..=32_u8) {
        let mut rules = rules;
        let plain = Ipv4Addr::from_bits(bits);
        rules.allow.push(Network::around(plain.into(), length));
        rules.deny.clear();
        rules.deny_ports.clear();
        prop_assert_eq!(rules.judge(plain.into(), 80), Ok(()));
    }

    #[test]
    fn the_loopback_setting_changes_the_verdict_on_loopback_alone(address in any_address(), rules in any_rules()) {
        let without = EgressRules { allow_loopback: false, ..rules.clone() }.judge(address, 80);
        let with = EgressRules { allow_loopback: true, ..rules }.judge(address, 80);
        prop_assert!(with == without || without == Err(DenyRule::Loopback));
    }

    #[test]
    fn a_network_survives_being_written_and_read(network in any_network()) {
        prop_assert_eq!(network.to_string().parse::<Network>().unwrap(), network);
        prop_assert!(network.contains(network.address()));
    }
}

#[test]
fn the_api_server_is_denied_at_its_port_whatever_is_allowed_and_however_it_is_spelt() {
    let rules = EgressRules {
        api_server: vec!["10.96.0.1:443".parse().unwrap()],
        allow: networks(&["10.96.0.0/16"]),
        allow_ports: vec![443],
        ..EgressRules::default()
    };
    check(
        &rules,
        &[
            ("10.96.0.1", 443, "api-server"),
            ("::ffff:10.96.0.1", 443, "api-server"),
            ("64:ff9b::10.96.0.1", 443, "api-server"),
            ("10.96.0.1", 8443, "allowed"),
            ("10.96.0.2", 443, "allowed"),
        ],
    );
}
