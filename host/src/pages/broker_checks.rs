//! What only the broker checks: texts that a schema takes and the broker refuses, with the broker's own words.

use std::fmt::Write;

use kourier_core::accept::Rules;
use kourier_core::check;
use kourier_core::id::Kind;
use kourier_core::snapshot::Problem;
use kourier_manifest::schema::spec_schema;
use regex::Regex;
use serde_json::{Value, json};

use super::rules;

/// A text in the place of one field of a spec that is good.
const CASES: [(Kind, &str, &str); 15] = [
    (Kind::Binding, "/chat/channel", "#general"),
    (Kind::Binding, "/chat/channel", "C0\u{200b}1"),
    (Kind::AgentBackend, "/url", "https://agents"),
    (Kind::AgentBackend, "/url", "https://agents..example"),
    (Kind::AgentBackend, "/url", "https://agents.example:0"),
    (Kind::AgentBackend, "/url", "https://agents.example/a/../b"),
    (Kind::AgentBackend, "/url", "https://agents.example/a%2Fb"),
    (Kind::AgentBackend, "/url", "https://agents.example\\a"),
    (Kind::AgentBackend, "/url", "https://agents.example/ä"),
    (Kind::AgentBackend, "/auth/header", "Host"),
    (Kind::AgentBackend, "/auth/header", "X-Forwarded-For"),
    (Kind::ChatConnection, "/platform", "smoke-signals"),
    (Kind::ChatConnection, "/settings/teamId", "my-team"),
    (Kind::ChatConnection, "/settings/workspace", "T1"),
    (Kind::ChatConnection, "/settings/team id", "T1"),
];

#[test]
fn the_table_of_what_only_the_broker_checks_is_true() {
    let rules = rules();
    let mut table = String::from("| Kind | Field | Written | What the broker says |\n|---|---|---|---|\n");
    for (kind, field, text) in CASES {
        let schema = field.split('/').skip(1).fold(spec_schema(kind).clone(), |schema, name| inner(&schema, name));
        assert!(takes(&schema, text), "the schema refuses {text:?} at {field} of {kind} by itself");
        let mut spec = good(kind);
        let (parent, name) = field.rsplit_once('/').unwrap();
        spec.pointer_mut(parent).unwrap()[name] = json!(text);
        let problems = problems(kind, spec, &rules);
        let [problem] = problems.as_slice() else { panic!("{text:?} at {field} of {kind}: {problems:?}") };
        let (field, text, what) = (field.replace('/', "."), code(text), code(&problem.to_string()));
        let _ = writeln!(table, "| {kind} | `spec{field}` | {text} | {what} |");
    }
    crate::committed::check_parts("docs/config-route.md", &[("broker checks", table)]);
}

fn good(kind: Kind) -> Value {
    match kind {
        Kind::Binding => json!({
            "agent": {"backendRef": {"name": "recipes"}},
            "chat": {"connectionRef": {"name": "slack"}, "channel": "C1"},
        }),
        Kind::AgentBackend => json!({
            "url": "https://agents.example",
            "auth": {"scheme": "header", "header": "X-Api-Key", "secretRef": {"name": "agents", "key": "key"}},
        }),
        Kind::ChatConnection => {
            json!({"platform": "slack", "settings": {}, "secretRef": {"name": "slack-bot", "key": "token"}})
        }
    }
}

fn problems(kind: Kind, spec: Value, rules: &Rules) -> Vec<Problem> {
    match kind {
        Kind::Binding => {
            let spec = serde_json::from_value(spec).unwrap();
            let problems = check::binding(&spec);
            let of_platform = check::channel(&spec.chat.channel, &rules.platforms["slack"]);
            if problems.is_empty() { of_platform.into_iter().collect() } else { problems }
        }
        Kind::AgentBackend => check::backend(&serde_json::from_value(spec).unwrap(), rules),
        Kind::ChatConnection => check::connection(&serde_json::from_value(spec).unwrap(), rules),
    }
}

fn inner(schema: &Value, name: &str) -> Value {
    schema["properties"].get(name).or(schema.get("additionalProperties")).unwrap().clone()
}

fn takes(schema: &Value, text: &str) -> bool {
    let length = text.chars().count() as u64;
    let within = schema["minLength"].as_u64().is_none_or(|least| length >= least)
        && schema["maxLength"].as_u64().is_none_or(|most| length <= most);
    within && schema["pattern"].as_str().is_none_or(|pattern| Regex::new(pattern).unwrap().is_match(text))
}

/// Text in a cell, as it is; what cannot be seen is shown.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|").replace('\u{200b}', "\\u200b"))
}
