use super::*;
use crate::bindings::chat_export::CredentialHeader;

fn good() -> Descriptor {
    Descriptor {
        platform: "example".to_owned(),
        default_url: Some("https://chat.example/api".to_owned()),
        channel_pattern: "[A-Z][0-9]+".to_owned(),
        credential: Credential::Basic("botEmail".to_owned()),
        settings: vec![setting("botEmail", true, Some(".+@.+")), setting("teamId", false, None)],
    }
}

fn setting(name: &str, required: bool, pattern: Option<&str>) -> Said {
    Said { name: name.to_owned(), required, pattern: pattern.map(str::to_owned), summary: "What it is.".to_owned() }
}

fn check(field: &str, spoil: impl FnOnce(&mut Descriptor)) {
    let mut said = good();
    spoil(&mut said);
    match checked(said) {
        Err(LoadError::Descriptor { field: found, problem }) => {
            assert_eq!(found, field, "{problem}");
            assert!(problem.len() < 300, "{problem}");
        }
        other => panic!("{field}: {other:?}"),
    }
}

#[test]
fn a_good_descriptor_becomes_a_platform_with_patterns_for_the_whole_text() {
    let (name, platform) = checked(good()).unwrap();
    assert_eq!(name, "example");
    assert_eq!(platform.credential, CredentialPlace::Basic { setting: "botEmail".to_owned() });
    for (text, want) in [("C1", true), ("xC1", false), ("C1x", false), ("C1\n", false), ("", false)] {
        assert_eq!(platform.channel_pattern.is_match(text), want, "{text:?}");
    }
    let email = platform.settings["botEmail"].pattern.as_ref().unwrap();
    assert!(email.is_match("a@b") && !email.is_match("a@b\nc@d"));
}

#[test]
fn an_alternative_is_anchored_at_both_ends() {
    let (_, platform) = checked(Descriptor { channel_pattern: "a|b".to_owned(), ..good() }).unwrap();
    assert!(!platform.channel_pattern.is_match("ax") && !platform.channel_pattern.is_match("xb"));
}

#[test]
fn each_broken_rule_names_its_field() {
    for name in ["", "Slack", "a_b", "a b", "ä"] {
        check("platform", |said| said.platform = name.to_owned());
    }
    check("platform", |said| said.platform = "x".repeat(64));
    for url in ["", "chat.example", "ftp://chat.example", "https://user@chat.example", "https://chat.example/?a=b"] {
        check("default-url", |said| said.default_url = Some(url.to_owned()));
    }
    for pattern in ["", "(", "a)|(b", r"\w{1000}{1000}", "(?<!a)b", &"(".repeat(100), &"x".repeat(256)] {
        check("channel-pattern", |said| said.channel_pattern = pattern.to_owned());
    }
    check("settings", |said| said.settings = (0..17).map(|n| setting(&format!("a{n}"), false, None)).collect());
    check("settings[1].name", |said| said.settings[1].name = "team-id".to_owned());
    check("settings[1].name", |said| said.settings[1].name = "botEmail".to_owned());
    check("settings[0].pattern", |said| said.settings[0].pattern = Some("[".to_owned()));
    check("settings[0].summary", |said| said.settings[0].summary = "two\nlines".to_owned());
    check("settings[0].summary", |said| said.settings[0].summary = String::new());
}

#[test]
fn a_credential_has_a_place_that_exists() {
    check("credential.basic", |said| said.credential = Credential::Basic("teamId".to_owned()));
    check("credential.basic", |said| said.credential = Credential::Basic("absent".to_owned()));
    let header = |name: &str, prefix: &str| {
        Credential::Header(CredentialHeader { name: name.to_owned(), prefix: prefix.to_owned() })
    };
    for name in ["", "a b", "host", "Proxy-Authorization", "x-forwarded-for"] {
        check("credential.header.name", |said| said.credential = header(name, ""));
    }
    check("credential.header.prefix", |said| said.credential = header("authorization", "Bot\r\n"));
    for prefix in ["a/b", "a?b", "a#b", "a%b", "a\\b", "a b", "ä"] {
        check("credential.path-prefix", |said| said.credential = Credential::PathPrefix(prefix.to_owned()));
    }
    let (_, platform) = checked(Descriptor { credential: header("Authorization", "Bot "), ..good() }).unwrap();
    let want = CredentialPlace::Header { name: "authorization".to_owned(), prefix: "Bot ".to_owned() };
    assert_eq!(platform.credential, want);
}
