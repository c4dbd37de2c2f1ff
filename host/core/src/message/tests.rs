use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;
use crate::reason::{AcceptedReason, BackendReason, ChannelReason};

fn check(text: &str, want: &str) {
    assert_eq!(Message::new(text).as_str(), want, "of {text:?}");
}

#[test]
fn a_message_is_one_line() {
    for (text, want) in [
        ("two\nlines", "two lines"),
        ("two\r\nlines", "two  lines"),
        ("a\ttab, a bell\u{7}, a C1 \u{85}control", "a tab, a bell , a C1  control"),
        ("line\u{2028}and paragraph\u{2029}separators", "line and paragraph separators"),
        ("turned \u{202e}round\u{202c}, isolated \u{2066}text\u{2069}", "turned  round , isolated  text"),
        ("in\u{200b}visi\u{feff}ble \u{e0041}tag", "in visi ble  tag"),
        ("  edges\n", "edges"),
        ("\u{1b}[31mred", "[31mred"),
        ("", ""),
    ] {
        check(text, want);
    }
}

#[test]
fn a_message_has_at_most_1024_bytes() {
    check(&"x".repeat(1024), &"x".repeat(1024));
    check(&"x".repeat(1025), &format!("{}…", "x".repeat(1021)));
}

#[test]
fn a_message_is_cut_at_a_character_boundary() {
    check(&"ä".repeat(512), &"ä".repeat(512));
    // 1021 bytes are left before the mark: 510 letters of two bytes and an odd one.
    check(&"ä".repeat(513), &format!("{}…", "ä".repeat(510)));
    check(&"😀".repeat(300), &format!("{}…", "😀".repeat(255)));
}

#[test]
fn of_a_very_long_text_the_beginning_is_looked_at_and_no_half_of_an_address_is_left() {
    check(&"word ".repeat(1_000_000), &format!("{}…", "word ".repeat(205).get(..1021).unwrap()));
    // Redacted it would fit; where it was cut, an address began.
    let long = format!("https://{} ", "x".repeat(4000));
    check(
        &format!("{long}{}10.0.0.1", "y ".repeat((4096 - 4009 - 4) / 2)),
        &format!("[redacted] {}…", "y ".repeat(41)),
    );
    check(&"x".repeat(5000), "…");
}

#[test]
fn a_message_names_no_url_host_address_or_port() {
    for (text, want) in [
        ("cannot reach https://user:secret@agent.team-b.svc:8443/card?token=1#x now", "cannot reach [redacted] now"),
        ("unix:///run/agent.sock", "[redacted]"),
        ("(see ftp+tls://h)", "(see [redacted]"),
        ("dial agent.team-b.svc:8443: refused", "dial [redacted]: refused"),
        ("dial localhost:80, 10.0.0.1:80 and 10.0.0.2", "dial [redacted], [redacted] and [redacted]"),
        (
            "[::1]:8080, ::1, fe80::1%eth0 and ::ffff:169.254.169.254.",
            "[redacted], [redacted], [redacted] and [redacted].",
        ),
        ("2001:db8::5 and 2001:db8:0:0:0:0:0:5", "[redacted] and [redacted]"),
        ("10.0.0.0/8", "[redacted]/8"),
        ("//agent.team-b.svc/card, see http:agent.team-b.svc", "[redacted] see [redacted]"),
        ("HTTPS:\\\\agent.team-b.svc", "[redacted]"),
        ("as bot:sesame@agent.team-b.svc", "as [redacted]"),
        ("at ägent.频道:8080", "at [redacted]"),
    ] {
        check(text, want);
    }
}

#[test]
fn an_ipv6_address_is_redacted_whatever_stands_before_it() {
    for (text, want) in [
        (".::1", "[redacted]"),
        ("_::1", "[redacted]"),
        ("x.fe80::1", "[redacted]"),
        ("spec[\"a_fd00:ec2::254\"]: is no field", "spec[\"[redacted]\"]: is no field"),
        ("xfe80::1%eth0", "[redacted]"),
        ("ä::ffff:a9fe:a9fe", "[redacted]"),
        ("..[::1]:443", "[redacted]"),
        ("from fe80::, to fe80::1: refused", "from [redacted], to [redacted]: refused"),
        ("host.abc:8443: refused", "[redacted]: refused"),
    ] {
        check(text, want);
    }
}

#[test]
fn an_ipv4_address_is_redacted_in_what_readers_of_urls_take_for_one() {
    for (text, want) in [
        ("0x7f.0.0.0x1:80", "[redacted]"),
        ("0X7F000001", "[redacted]"),
        ("0251.0376.0251.0376", "[redacted]"),
        ("１２７.0.0.1", "[redacted]"),
        ("169。254．169｡254", "[redacted]"),
        // These are numbers, too.
        ("127.1 or 2130706433", "127.1 or 2130706433"),
    ] {
        check(text, want);
    }
}

#[test]
fn field_paths_names_and_numbers_survive() {
    for text in [
        "spec.chat.channel: has 300 characters, at most 255 are allowed; spec.agent.path: has to be like /a/b",
        "generation 3 of its AgentBackend is invalid, running generation 2",
        "already bound by Binding team-a.late",
        "looked up in the broker's namespace: write NAME.NAMESPACE.svc",
        "BackendReachable:AgentNotFound, Accepted:ChannelConflict",
        "A2A 0.3 and 1.x, version 1.37.1, at most 1 MiB, 1..255",
        "does not match ^(?:[CDG][A-Z0-9]*)$",
        "does not match ^![^:]+:[^:]+$ :: and so on",
        "does not match ^19:[0-9a-f]+@thread\\.(tacv2|v2)$",
        "„Anführung“ — 频道",
    ] {
        check(text, text);
    }
}

#[test]
fn the_sentences_of_the_reasons_pass_unchanged() {
    let accepted = AcceptedReason::ALL.iter().map(|r| (r.meaning(), r.advice()));
    let backend = BackendReason::ALL.iter().map(|r| (r.meaning(), r.advice()));
    let channel = ChannelReason::ALL.iter().map(|r| (r.meaning(), r.advice()));
    for (meaning, advice) in accepted.chain(backend).chain(channel) {
        let sentence = format!("{meaning} {advice}");
        check(&sentence, sentence.trim());
    }
}

/// Text that is made of what the rules look for.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-f0-9:.\\[\\]%]{0,40}",
        "[a-z]{1,5}://[ -~]{0,20}",
        "[ …\u{2028}\u{202e}\r\n]{0,3}",
        "(ä|😀|x){0,200}",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_becomes_one_bounded_line(text in nasty()) {
        let message = Message::new(&text);
        prop_assert!(message.as_str().len() <= Message::MAX_BYTES);
        prop_assert!(message.as_str().chars().all(|c| c == ' ' || !is_spacing(c)));
        prop_assert_eq!(message.as_str().trim(), message.as_str());
    }

    #[test]
    fn a_message_of_a_message_is_the_same(text in nasty()) {
        let message = Message::new(&text);
        prop_assert_eq!(Message::new(message.as_str()), message);
    }

    #[test]
    fn no_address_is_left(
        bits: u128,
        shift in 0_u32..128,
        before in "[ -~]{0,40}",
        after in "[ -~]{0,40}",
        way in 0..4,
    ) {
        let (long, short) = (Ipv6Addr::from(bits), Ipv6Addr::from(bits >> shift));
        let groups = long.segments().map(|group| format!("{group:04X}")).join(":");
        let address = match way {
            0 => Ipv4Addr::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap()).to_string(),
            1 => long.to_string(),
            2 => groups,
            _ => short.to_string(),
        };
        // Nothing but two colons is no address that anybody could use.
        prop_assume!(address != "::");
        let message = Message::new(&format!("{before}{address}{after}"));
        prop_assert!(!message.as_str().contains(&address), "{}", message);
    }

    #[test]
    fn no_url_is_left(scheme in "[a-z]{1,8}", rest in "[!-~]{0,60}", before in "[ -~]{0,40}") {
        let message = Message::new(&format!("{before} {scheme}://{rest}"));
        prop_assert!(!message.as_str().contains("://"), "{}", message);
    }
}
