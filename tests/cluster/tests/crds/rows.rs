//! What each rule of the schemas of `spec` takes and refuses.

use serde_json::{Value, json};

/// One value at one place of an otherwise good object.
pub(crate) struct Row {
    /// The object's kind.
    pub(crate) kind: &'static str,
    /// The place in its spec, as a JSON pointer; `/*` stands for an entry of a list or map.
    pub(crate) at: String,
    /// The keyword of the schema that refuses the value; none: it is taken.
    pub(crate) refused_by: Option<&'static str>,
    /// The value; null: the field is left out.
    pub(crate) value: Value,
}

const BINDING: &str = "Binding";
const BACKEND: &str = "AgentBackend";
const CONNECTION: &str = "ChatConnection";

/// A spec of this kind in which every field is given.
pub(crate) fn full(kind: &str) -> Value {
    let secret = json!({"name": "secret", "key": "key"});
    match kind {
        BINDING => json!({
            "agent": {"backendRef": {"name": "agents", "namespace": "team"}, "path": "/a"},
            "chat": {"connectionRef": {"name": "slack", "namespace": "team"}, "channel": "C1"},
        }),
        BACKEND => json!({
            "url": "https://agents.example",
            "cardPath": "/card.json",
            "allowedNamespaces": ["team"],
            "auth": {"scheme": "header", "header": "X-Key", "secretRef": secret},
            "tls": {"caSecretRef": secret},
        }),
        _ => json!({
            "platform": "slack",
            "broker": "default",
            "url": "https://chat.example",
            "allowedNamespaces": ["team"],
            "secretRef": secret,
            "settings": {"key": "value"},
            "tls": {"caSecretRef": secret},
        }),
    }
}

/// All rows.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    binding(&mut rows);
    backend(&mut rows);
    connection(&mut rows);
    rows
}

fn binding(rows: &mut Vec<Row>) {
    let mut at = Rows { kind: BINDING, rows };
    for reference in ["/agent/backendRef", "/chat/connectionRef"] {
        at.object_name(&format!("{reference}/name"));
        at.label(&format!("{reference}/namespace"), false);
        at.refuses(reference, "required", [Value::Null]);
    }
    at.takes("/agent/path", [json!(""), json!("/a/b"), json!("/.well-known/x"), json!("/~a_b-c"), text(256, "/a")]);
    at.refuses(
        "/agent/path",
        "pattern",
        ["a", "/a/", "//a", "/..", "/a/../b", "/.", "/a?b", "/a b", "/%41"].map(Value::from),
    );
    at.refuses("/agent/path", "maxLength", [text(257, "/a")]);
    at.takes("/chat/channel", [json!("C1"), json!("-1001234"), json!("19:ä@thread.v2"), text(255, "C")]);
    at.refuses("/chat/channel", "pattern", ["a channel", "C1\n", "\tC1"].map(Value::from));
    at.refuses("/chat/channel", "minLength", [json!("")]);
    at.refuses("/chat/channel", "maxLength", [text(256, "C")]);
    at.refuses("/chat/channel", "type", [json!(1), json!(["C1"])]);
    for required in ["/chat/channel", "/agent", "/chat"] {
        at.refuses(required, "required", [Value::Null]);
    }
}

fn backend(rows: &mut Vec<Row>) {
    let mut at = Rows { kind: BACKEND, rows };
    at.url("/url");
    at.refuses("/url", "required", [Value::Null]);
    at.takes("/cardPath", [Value::Null, json!("/a/card.json"), json!("/.well-known/agent.json"), text(256, "/a")]);
    at.refuses("/cardPath", "pattern", ["card.json", "/", "/a/", "/../a"].map(Value::from));
    at.refuses("/cardPath", "minLength", [json!("")]);
    at.refuses("/cardPath", "maxLength", [text(257, "/a")]);
    at.namespaces();
    at.trust();
    at.secret("/auth/secretRef");
    at.takes("/auth/header", [json!("X-Key"), json!("x_!#$%&'*+.^`|~-9"), text(128, "X")]);
    at.refuses("/auth/header", "pattern", ["X Key", "X:", "X-Schlüssel"].map(Value::from));
    at.refuses("/auth/header", "minLength", [json!("")]);
    at.refuses("/auth/header", "maxLength", [text(129, "X")]);
    at.refuses("/auth/scheme", "enum", [json!("basic"), json!("Bearer"), json!("")]);
    at.refuses("/auth/scheme", "required", [Value::Null]);
    let secret = json!({"name": "secret", "key": "key"});
    at.takes("/auth", [Value::Null, json!({"scheme": "bearer", "secretRef": secret})]);
    let headless = json!({"scheme": "header", "secretRef": secret});
    let needless = json!({"scheme": "bearer", "header": "X-Key", "secretRef": secret});
    at.refuses("/auth", "x-kubernetes-validations", [headless, needless]);
}

fn connection(rows: &mut Vec<Row>) {
    let mut at = Rows { kind: CONNECTION, rows };
    at.label("/platform", true);
    at.label("/broker", false);
    at.url("/url");
    at.takes("/url", [Value::Null]);
    at.namespaces();
    at.trust();
    at.secret("/secretRef");
    let settings = |count: usize| -> Value { (0..count).map(|n| (format!("key{n}"), json!("value"))).collect() };
    at.takes("/settings", [Value::Null, json!({}), settings(64)]);
    at.refuses("/settings", "maxProperties", [settings(65)]);
    at.takes("/settings/*", [json!("ä b"), text(255, "v")]);
    at.refuses("/settings/*", "pattern", ["a\nb", "a\u{7f}", "a\u{85}"].map(Value::from));
    at.refuses("/settings/*", "minLength", [json!("")]);
    at.refuses("/settings/*", "maxLength", [text(256, "v")]);
    at.refuses("/settings/*", "type", [json!(1)]);
}

/// The rows of one kind.
struct Rows<'a> {
    kind: &'static str,
    rows: &'a mut Vec<Row>,
}

impl Rows<'_> {
    fn takes<const N: usize>(&mut self, at: &str, values: [Value; N]) {
        self.add(at, None, values);
    }

    fn refuses<const N: usize>(&mut self, at: &str, keyword: &'static str, values: [Value; N]) {
        self.add(at, Some(keyword), values);
    }

    fn add<const N: usize>(&mut self, at: &str, refused_by: Option<&'static str>, values: [Value; N]) {
        let row = |value| Row { kind: self.kind, at: at.to_owned(), refused_by, value };
        self.rows.extend(values.map(row));
    }

    fn object_name(&mut self, at: &str) {
        self.takes(at, [json!("a"), json!("0-a.b"), text(253, "a")]);
        self.refuses(at, "pattern", ["Agents", "-a", "a-", "a_b", "a/b", "a b"].map(Value::from));
        self.refuses(at, "minLength", [json!("")]);
        self.refuses(at, "maxLength", [text(254, "a")]);
        self.refuses(at, "required", [Value::Null]);
    }

    fn label(&mut self, at: &str, required: bool) {
        self.takes(at, [json!("a"), json!("0-a"), text(63, "a")]);
        self.refuses(at, "pattern", ["Team", "-a", "a-", "a.b", "a_b"].map(Value::from));
        self.refuses(at, "minLength", [json!("")]);
        self.refuses(at, "maxLength", [text(64, "a")]);
        self.add(at, required.then_some("required"), [Value::Null]);
    }

    fn secret(&mut self, at: &str) {
        self.object_name(&format!("{at}/name"));
        let key = format!("{at}/key");
        self.takes(&key, [json!("a"), json!("._-A9"), text(253, "k")]);
        self.refuses(&key, "pattern", ["a b", "a/b", "ä"].map(Value::from));
        self.refuses(&key, "minLength", [json!("")]);
        self.refuses(&key, "maxLength", [text(254, "k")]);
        self.refuses(&key, "required", [Value::Null]);
        self.refuses(at, "required", [Value::Null]);
    }

    fn trust(&mut self) {
        self.takes("/tls", [Value::Null]);
        self.secret("/tls/caSecretRef");
    }

    fn url(&mut self, at: &str) {
        let long = |length| text(length, "https://agents.example/a");
        self.takes(at, [json!("http://a"), json!("https://[fd00::1]:8080/a/b"), long(2048)]);
        let bad = [
            "ftp://a",
            "HTTP://a",
            "https://",
            "agents.example",
            "https://u:p@a",
            "https://a?b",
            "https://a#b",
            "https://a b",
        ];
        self.refuses(at, "pattern", bad.map(Value::from));
        self.refuses(at, "minLength", [json!("")]);
        self.refuses(at, "maxLength", [long(2049)]);
    }

    fn namespaces(&mut self) {
        let names = |count: usize| -> Value { (0..count).map(|n| json!(format!("team-{n}"))).collect() };
        self.takes("/allowedNamespaces", [Value::Null, json!([]), json!(["*"]), json!(["a", "b"]), names(256)]);
        self.refuses("/allowedNamespaces", "maxItems", [names(257)]);
        self.refuses("/allowedNamespaces", "x-kubernetes-list-type", [json!(["a", "a"])]);
        self.refuses("/allowedNamespaces", "x-kubernetes-validations", [json!(["*", "a"])]);
        self.takes("/allowedNamespaces/*", [json!("0-a"), text(63, "a")]);
        self.refuses("/allowedNamespaces/*", "pattern", ["Team", "a.b", "a*", "-a", "**"].map(Value::from));
        self.refuses("/allowedNamespaces/*", "minLength", [json!("")]);
        self.refuses("/allowedNamespaces/*", "maxLength", [text(64, "a")]);
    }
}

/// A text of this length that begins so.
fn text(length: usize, begin: &str) -> Value {
    let last = begin.chars().last().unwrap_or_default();
    begin.chars().chain(std::iter::repeat(last)).take(length).collect::<String>().into()
}
