use proptest::prelude::*;
use regex::Regex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{backend_spec, binding_spec, connection_spec, rules, with};

mod schema;

fn read<S: DeserializeOwned>(spec: Value) -> S {
    serde_json::from_value(spec).unwrap()
}

/// `problems` are exactly `want`, each given as the beginning of the field and a part of what is wrong.
fn check(case: &Value, problems: &[Problem], want: &[(&str, &str)]) {
    let fits = problems.len() == want.len()
        && problems.iter().zip(want).all(|(found, (path, what))| found.path == *path && found.what.contains(what));
    assert!(fits, "{case}: {problems:?}, not {want:?}");
}

fn check_binding(agent: Value, chat: Value, want: &[(&str, &str)]) {
    let base = binding_spec("agents", "chat", "C1");
    let spec = json!({"agent": with(base["agent"].clone(), agent), "chat": with(base["chat"].clone(), chat)});
    check(&spec, &binding(&read(spec.clone())), want);
}

fn check_backend(change: Value, want: &[(&str, &str)]) {
    let spec = with(backend_spec(), change);
    check(&spec, &backend(&read(spec.clone()), &rules()), want);
}

fn check_connection(change: Value, want: &[(&str, &str)]) {
    let spec = with(connection_spec(), change);
    check(&spec, &connection(&read(spec.clone()), &rules()), want);
}

#[test]
fn a_valid_spec_has_no_problem() {
    check_binding(json!({}), json!({}), &[]);
    check_binding(json!({"path": "", "backendRef": {"name": "a.b", "namespace": "team-b"}}), json!({}), &[]);
    check_binding(json!({"path": "/a/.b/~c_d-e.f"}), json!({"channel": "19:abc@thread.tacv2"}), &[]);
    check_backend(json!({}), &[]);
    check_backend(json!({"cardPath": "/.well-known/agent.json", "allowedNamespaces": ["*"]}), &[]);
    check_backend(json!({"auth": {"scheme": "bearer", "secretRef": {"name": "s", "key": "k"}}}), &[]);
    check_backend(
        json!({"auth": {"scheme": "header", "header": "x-key", "secretRef": {"name": "s", "key": "k"}}}),
        &[],
    );
    check_connection(json!({"settings": {"teamId": "T1"}, "broker": "b", "allowedNamespaces": ["a", "b"]}), &[]);
    check_connection(json!({"platform": "zulip", "url": "https://z.example", "settings": {"botEmail": "a@b.c"}}), &[]);
}

#[test]
fn each_field_of_a_binding_is_checked() {
    let name = "spec.agent.backendRef.name";
    check_binding(json!({"backendRef": {"name": ""}}), json!({}), &[(name, "is empty")]);
    check_binding(
        json!({"backendRef": {"name": "a".repeat(254)}}),
        json!({}),
        &[(name, "254 characters: at most 253")],
    );
    check_binding(json!({"backendRef": {"name": "A"}}), json!({}), &[(name, "small letters")]);
    check_binding(
        json!({"backendRef": {"name": "a", "namespace": "a.b"}}),
        json!({}),
        &[("spec.agent.backendRef.namespace", "small letters")],
    );
    for path in ["a", "/", "/a/", "//a", "/..", "/a/..", "/.", "/%2e%2e", "/a?b", "/a b"] {
        check_binding(json!({"path": path}), json!({}), &[("spec.agent.path", "a path like /a/b")]);
    }
    check_binding(json!({"path": format!("/{}", "a".repeat(256))}), json!({}), &[("spec.agent.path", "at most 256")]);
    check_binding(
        json!({}),
        json!({"connectionRef": {"name": "-a"}}),
        &[("spec.chat.connectionRef.name", "small letters")],
    );
    let channel = "spec.chat.channel";
    check_binding(json!({}), json!({"channel": ""}), &[(channel, "is empty")]);
    check_binding(json!({}), json!({"channel": "ä".repeat(256)}), &[(channel, "256 characters: at most 255")]);
    check_binding(json!({}), json!({"channel": "ä".repeat(255)}), &[]);
    for text in ["C 1", "C1\n", "\u{a0}C1", "C1\u{7}", "C1\u{202e}", "C\u{200b}1"] {
        check_binding(json!({}), json!({"channel": text}), &[(channel, "")]);
    }
}

#[test]
fn all_problems_are_told_in_the_order_of_the_fields() {
    check_binding(
        json!({"backendRef": {"name": "A"}, "path": "a"}),
        json!({"connectionRef": {"name": "B"}, "channel": ""}),
        &[
            ("spec.agent.backendRef.name", ""),
            ("spec.agent.path", ""),
            ("spec.chat.connectionRef.name", ""),
            ("spec.chat.channel", ""),
        ],
    );
}

#[test]
fn each_field_of_a_backend_is_checked() {
    check_backend(json!({"url": ""}), &[("spec.url", "is empty")]);
    check_backend(json!({"url": "https://a.example/?q"}), &[("spec.url", "query")]);
    for path in ["", "a", "/a/", "/a/../b", "/a#b"] {
        check_backend(json!({"cardPath": path}), &[("spec.cardPath", "a path like /a/card.json")]);
    }
    check_backend(
        json!({"auth": {"scheme": "bearer", "secretRef": {"name": "S", "key": "a/b"}}}),
        &[("spec.auth.secretRef.name", "small letters"), ("spec.auth.secretRef.key", "a Secret's key")],
    );
    check_backend(
        json!({"tls": {"caSecretRef": {"name": "", "key": ""}}}),
        &[("spec.tls.caSecretRef.name", "is empty"), ("spec.tls.caSecretRef.key", "is empty")],
    );
}

#[test]
fn a_header_is_named_with_scheme_header_and_only_then() {
    let auth = |scheme: &str, header: Option<&str>| json!({"auth": {"scheme": scheme, "header": header, "secretRef": {"name": "s", "key": "k"}}});
    check_backend(auth("bearer", Some("x-key")), &[("spec.auth.header", "no place with scheme bearer")]);
    check_backend(auth("header", None), &[("spec.auth.header", "is missing")]);
    check_backend(auth("header", Some("x key")), &[("spec.auth.header", "a header's name")]);
    check_backend(auth("header", Some("")), &[("spec.auth.header", "is empty")]);
    for reserved in ["Transfer-Encoding", "Cookie", "Proxy-Authorization", "X-Forwarded-For"] {
        check_backend(auth("header", Some(reserved)), &[("spec.auth.header", "of the connection itself")]);
    }
}

#[test]
fn allowed_namespaces_are_names_or_a_star_alone() {
    for (names, want) in [
        (vec!["A"], vec![("spec.allowedNamespaces[0]", "a namespace's name")]),
        (vec!["a", "*"], vec![("spec.allowedNamespaces[1]", "stands alone")]),
        (vec!["a", "b", "a"], vec![("spec.allowedNamespaces[2]", "stands twice")]),
        (vec!["team-*"], vec![("spec.allowedNamespaces[0]", "a namespace's name")]),
    ] {
        check_backend(json!({"allowedNamespaces": names}), &want);
        check_connection(json!({"allowedNamespaces": names}), &want);
    }
    let many: Vec<String> = (0..257).map(|n| format!("n{n}")).collect();
    check_backend(json!({"allowedNamespaces": many}), &[("spec.allowedNamespaces", "257 entries: at most 256")]);
}

#[test]
fn each_field_of_a_connection_is_checked() {
    check_connection(json!({"platform": "Slack!"}), &[("spec.platform", "small letters")]);
    check_connection(json!({"broker": "B"}), &[("spec.broker", "small letters")]);
    check_connection(json!({"url": "ftp://a.example"}), &[("spec.url", "http or https")]);
    check_connection(json!({"secretRef": {"name": "s", "key": ""}}), &[("spec.secretRef.key", "is empty")]);
}

#[test]
fn a_platform_without_a_loaded_component_is_told_with_those_that_are_loaded() {
    check_connection(json!({"platform": "irc"}), &[("spec.platform", "write one of slack, zulip")]);
    let none = Rules { platforms: Default::default(), ..rules() };
    let problems = connection(&read(connection_spec()), &none);
    check(&json!("no platforms"), &problems, &[("spec.platform", "none for any other")]);
}

#[test]
fn a_url_is_required_where_the_platform_has_none() {
    check_connection(json!({"platform": "zulip", "settings": {"botEmail": "a@b.c"}}), &[("spec.url", "is missing")]);
}

#[test]
fn settings_are_judged_against_the_platforms() {
    check_connection(json!({"settings": {"team": "T1"}}), &[("spec.settings.team", "it knows teamId")]);
    check_connection(json!({"settings": {"teamId": "X1"}}), &[("spec.settings.teamId", "The workspace's id.")]);
    check_connection(json!({"settings": {"teamId": "T1 "}}), &[("spec.settings.teamId", "does not match")]);
    check_connection(json!({"settings": {"a b\n": "x"}}), &[("spec.settings", "a key has to be")]);
    let zulip = |settings: Value| json!({"platform": "zulip", "url": "https://z.example", "settings": settings});
    check_connection(zulip(json!({})), &[("spec.settings.botEmail", "is missing: The bot's address.")]);
    check_connection(zulip(json!({"botEmail": ""})), &[("spec.settings.botEmail", "is empty")]);
    check_connection(zulip(json!({"botEmail": "a\nb"})), &[("spec.settings.botEmail", "on one line")]);
    check_connection(zulip(json!({"botEmail": "a".repeat(256)})), &[("spec.settings.botEmail", "at most 255")]);
}

#[test]
fn a_host_without_a_dot_is_refused_where_it_would_be_looked_up_in_the_brokers_namespace() {
    let what = "looked up in the broker's namespace: write NAME.NAMESPACE.svc";
    for url in ["http://agent:8080/a", "http://localhost", "http://agent."] {
        check_backend(json!({"url": url}), &[("spec.url", what)]);
        check_connection(json!({"url": url}), &[("spec.url", what)]);
        let on_one_machine = Rules { single_label_hosts: true, ..rules() };
        assert_eq!(backend(&read(json!({"url": url})), &on_one_machine), []);
    }
    for url in ["http://agent.team-a.svc:8080/a", "http://10.0.0.1", "http://[::1]:8080"] {
        check_backend(json!({"url": url}), &[]);
    }
}

#[test]
fn a_channel_is_judged_by_its_platforms_pattern() {
    let slack = &rules().platforms["slack"];
    for (text, is_right) in
        [("C1", true), ("C2", true), ("G0123ABC", true), ("#general", false), ("general", false), ("C1x", false)]
    {
        assert_eq!(channel(text, slack).is_none(), is_right, "{text}");
    }
    let problem = channel("#general", slack).unwrap();
    assert_eq!(problem.path, "spec.chat.channel");
    assert!(problem.what.contains("write one that matches ^(?:[CDG][A-Z0-9]+)$"), "{problem}");
}

#[test]
fn a_problem_never_holds_the_value_of_a_url_or_header() {
    let secret = "VERYSECRET";
    let change = json!({
        "url": format!("http://u:{secret}@h.example"),
        "cardPath": secret,
        "auth": {"scheme": "header", "header": format!("{secret} x"), "secretRef": {"name": secret, "key": format!("{secret}/")}},
    });
    let problems = backend(&read(with(backend_spec(), change)), &rules());
    assert_eq!(problems.len(), 5);
    assert!(!format!("{problems:?}").contains(secret));
}

proptest! {
    /// The broker's checks are a superset of the schema's.
    #[test]
    fn a_url_that_the_schema_refuses_is_refused(text in "(https?://)?[ -~\u{80}-\u{2030}]{0,12}") {
        let schema = Regex::new(rule::URL.pattern).unwrap();
        let length = text.chars().count();
        if !schema.is_match(&text) || length < rule::URL.min || length > rule::URL.max {
            prop_assert!(BaseUrl::parse(&text).is_err());
        }
    }

    #[test]
    fn an_agent_path_never_leads_out_of_the_backends_url(path in "(/[a.~%-]{0,4}){0,4}") {
        let problems = binding(&serde_json::from_value(with(
            binding_spec("a", "b", "C1"),
            json!({"agent": {"backendRef": {"name": "a"}, "path": path}}),
        )).unwrap());
        if problems.is_empty() {
            let base = BaseUrl::parse("http://h.example/base").unwrap();
            let joined = base.join(&path);
            let parsed = url::Url::parse(joined.as_str()).unwrap();
            prop_assert_eq!(parsed.as_str().trim_end_matches('/'), joined.as_str());
            prop_assert!(joined.as_str().starts_with("http://h.example/base"));
        }
    }
}
