use super::*;

const SECRET: &str = "xoxb-7f3a/9c\"51d2e8+leak";

fn forbidden() -> Forbidden {
    let said = br#"{"name": "Agent Sm\u0069th", "url": "https:\/\/agent.example\u002fcard", "reason": "channel"}"#;
    Forbidden::new()
        .secret(SECRET)
        .url("http://agent.team-b.svc:45213")
        .url("http://10.9.8.7:80")
        .said(said)
        .own("team-a")
}

/// What is found, once each.
fn found(text: &str) -> Vec<(What, Form)> {
    let found: BTreeSet<_> =
        forbidden().in_public("here", text).into_iter().map(|leak| (leak.what, leak.form)).collect();
    found.into_iter().collect()
}

fn check(text: &str, want: (What, Form)) {
    assert!(found(text).contains(&want), "{want:?} in {text:?}: {:?}", found(text));
}

#[test]
fn a_secret_is_found_in_each_form_wherever_it_stands() {
    for (form, spelt) in spellings(SECRET) {
        for text in
            [spelt.clone(), format!("The agent, {spelt}, does."), format!("x={spelt}&y"), format!("\"{spelt}\"")]
        {
            check(&text, (What::Secret, form));
            let in_log = forbidden().in_log("here", &text);
            assert!(in_log.iter().any(|leak| (leak.what, leak.form) == (What::Secret, form)), "{text:?}: {in_log:?}");
        }
    }
    // Without anything between it and what stands before it.
    for (form, spelt) in spellings(SECRET).into_iter().filter(|(_, spelt)| !spelt.contains([':', ','])) {
        for before in ["a", "be", "add"] {
            check(&format!("{before}{spelt}"), (What::Secret, form));
        }
    }
    // Unlike it is written, and not in one of the forms alone.
    check("XoXb-7F3a/9C", (What::Secret, Form::Plain));
    check("ｘｏｘｂ-７ｆ３ａ/９ｃ", (What::Secret, Form::Plain));
    for unseen in
        ["\u{ad}", "\u{61c}", "\u{180e}", "\u{200b}", "\u{202e}", "\u{2060}", "\u{3164}", "\u{feff}", "\u{e0041}"]
    {
        check(&format!("xo{unseen}xb-7f{unseen}{unseen}3a/9c"), (What::Secret, Form::Plain));
    }
    check("%2537%386F78622D3766336%312f3963", (What::Secret, Form::Hexadecimal));
}

#[test]
fn both_alphabets_of_base64_are_read() {
    let secret = "\u{7ff}\u{7ff}\u{7ff}\u{7ff}>>>???";
    let spelt: Vec<_> = spellings(secret).into_iter().filter(|(form, _)| *form == Form::Base64).collect();
    for signs in ['+', '/', '-', '_'] {
        assert!(spelt.iter().any(|(_, spelt)| spelt.contains(signs)), "{signs} is in none of {spelt:?}");
    }
    for (_, spelt) in spelt {
        let leaks = Forbidden::new().secret(secret).in_log("here", &spelt);
        assert!(leaks.iter().any(|leak| leak.form == Form::Base64), "{spelt}: {leaks:?}");
    }
}

#[test]
fn each_form_is_found_in_its_own_way() {
    let forms: BTreeSet<Form> = spellings(SECRET).into_iter().map(|(form, _)| form).collect();
    let all = [Form::Plain, Form::Escaped, Form::Hexadecimal, Form::Base64, Form::Numbers, Form::Backwards];
    assert_eq!(forms, all.into());
    for (form, spelt) in spellings(SECRET) {
        let found = found(&format!("<{spelt}>"));
        let others = found.iter().filter(|(what, other)| *what == What::Secret && *other != form);
        // What is plain is backwards if it is read so; nothing else is found twice.
        let others = others.filter(|(_, other)| form != Form::Plain || *other != Form::Escaped);
        assert_eq!(others.count(), 0, "{form:?} {spelt}: {found:?}");
    }
}

#[test]
fn the_half_of_a_secret_is_one_and_less_is_not() {
    check("token xoxb-7f3a/9c… is bad", (What::Secret, Form::Plain));
    assert_eq!(found("token xoxb-7f3a/9 is bad"), []);
}

#[test]
fn a_host_is_found() {
    for text in ["at agent.team-b.svc", "at AGENT.Team-B.svc.", "agent%2Eteam-b.svc", "agent．team-b。svc"] {
        assert!(found(text).iter().any(|(what, _)| *what == What::Host), "{text}: {:?}", found(text));
    }
    for (form, spelt) in spellings("agent.team-b.svc") {
        check(&spelt, (What::Host, form));
    }
}

#[test]
fn an_address_is_found_whosever_it_is() {
    let addresses = [
        "10.0.0.1",
        "8.8.8.8",
        "0x7f.0.0.0x1",
        "0251.0376.0251.0376",
        "x10.1.2.3.4",
        "a.169.254.169.254.",
        "１２７.0.0.1",
        "::1",
        ".::1",
        "_::1",
        "x.fe80::1",
        "xfe80::1",
        "[::1]",
        "FE80::1%eth0",
        "2001:db8:0:0:0:0:0:5",
        "::ffff:169.254.169.254",
        "spec[\"fd00:ec2::254\"]",
    ];
    for text in addresses {
        check(&format!("at {text} now"), (What::Address, Form::Plain));
    }
    check("127%2e0%2e0%2e1", (What::Address, Form::Escaped));
    check(r"\u003a\u003a1", (What::Address, Form::Escaped));
    for (form, spelt) in spellings("10.9.8.7") {
        // It has nothing to escape in JSON.
        let form = if spelt == "10.9.8.7" { Form::Plain } else { form };
        check(&spelt, (What::Address, form));
    }
}

#[test]
fn a_peers_own_address_is_found_in_odd_spellings() {
    for text in ["168364039", "0x0a090807", "10.591879", "10.9.2055", "0xa.9.0x807", "10.9.8.07"] {
        check(text, (What::Address, Form::Plain));
    }
    // An octal number has no nine.
    assert_eq!(found("012.09.8.7"), []);
    assert_eq!(forbidden().url("http://0").in_public("here", "0, 0.0 and 00"), []);
    for text in ["1024", "127.1", "0.3", "1.37.1", "2130706433", "12:34:56", "BackendReachable:AgentNotFound", "a: b"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_port_is_found_and_no_other_number() {
    for text in [":45213", "port 45213.", "\"45213\"", "(45213)", "45213"] {
        check(text, (What::Port, Form::Plain));
    }
    for text in ["145213", "452130", "0.45213", "a45213f", "45213ab"] {
        assert_eq!(found(text), [], "{text}");
    }
    assert_eq!(forbidden().own("a file of 45213 bytes").in_public("here", "45213"), []);
}

#[test]
fn a_peers_words_are_found_and_the_programs_own_are_not() {
    for text in ["says Smith", "AGENTS: smith", "agent.example", "exam"] {
        assert!(found(text).iter().any(|(what, _)| *what == What::Word), "{text}: {:?}", found(text));
    }
    // Words that the sentences of the reasons have too, words of the test's, and what no peer said.
    for text in ["The agent's channel", "team-a", "nobody said so", "car", "Smi"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn the_sentences_of_the_reasons_are_no_leaks_whatever_a_peer_says() {
    let all: Vec<String> =
        explain::all().iter().map(|entry| format!("{}. {} {}", entry.name(), entry.meaning, entry.advice)).collect();
    let forbidden = forbidden().said(all.concat().as_bytes());
    for sentence in all {
        assert_eq!(forbidden.in_public("here", &sentence), []);
    }
}

#[test]
fn the_log_may_name_hosts_addresses_ports_and_words() {
    let text = "GET http://agent.team-b.svc:45213/ at 10.9.8.7: Smith";
    assert_eq!(forbidden().in_log("here", text), []);
    assert_ne!(forbidden().in_public("here", text), []);
}

#[test]
fn a_leak_is_told_with_its_place_and_form() {
    let leaks = forbidden().in_public("the status of b1", "at 10.0.0.1");
    assert_eq!(none(&leaks), Err("Address (Plain) in the status of b1: \"10.0.0.1\"".to_owned()));
    assert_eq!(none(&[]), Ok(()));
}
