//! Cards that mean harm.

use kourier_core::reason::BackendReason;

use super::pieces::whole;
use super::{Script, agent};

pub(super) fn scripts() -> Vec<Script> {
    let mut scripts = names();
    scripts.extend(urls());
    scripts.extend(interfaces());
    scripts
}

fn card(name: &str, want: BackendReason, text: impl Fn() -> String + Send + Sync + 'static) -> Script {
    Script::new(format!("card-{name}"), agent(want), move || whole(text()))
}

/// A card of 0.3 with this JSON for its name.
fn named(name: &str) -> String {
    format!(r#"{{"name":{name},"url":"https://agent.example/","protocolVersion":"0.3.0"}}"#)
}

fn names() -> Vec<Script> {
    use BackendReason::{InvalidAgentCard, Ok};
    vec![
        card("without-a-name", InvalidAgentCard, || r#"{"url":"https://agent.example/"}"#.to_owned()),
        card("name-of-900-kibibytes", Ok, || named(&format!("\"{}\"", "n".repeat(900 << 10)))),
        card("name-of-150000-escapes", Ok, || named(&format!("\"{}\"", "\\u0041".repeat(150_000)))),
        card("name-of-900-kibibytes-of-blanks", InvalidAgentCard, || named(&format!("\"{}\"", " ".repeat(900 << 10)))),
        card("name-of-150000-escaped-nuls", InvalidAgentCard, || named(&format!("\"{}\"", "\\u0000".repeat(150_000)))),
        card("name-that-is-blank", InvalidAgentCard, || named("\"\u{a0}\u{2003}\"")),
        card("name-that-is-a-list", InvalidAgentCard, || named("[\"a\"]")),
        card("name-that-is-a-number", InvalidAgentCard, || named("1e999")),
        card("name-that-looks-like-a-command", Ok, || named(r#""$(kubectl delete ns --all) ; rm -rf /""#)),
        card("name-that-looks-like-a-secret", Ok, || named(r#""xoxb-1234567890-secret""#)),
        card("name-with-escape-sequences", Ok, || named(r#""\u001b[2J\u001b]0;owned\u0007""#)),
        card("name-with-bidi-overrides", Ok, || named("\"\u{202e}txt.exe\u{2066}\"")),
        card("name-with-line-ends", Ok, || named(r#""a\r\nlevel=error message=\"fake\"""#)),
    ]
}

/// A card of 0.3 with this URL.
fn at(url: &str) -> String {
    format!(r#"{{"name":"Agent","url":"{url}","protocolVersion":"0.3.0"}}"#)
}

fn urls() -> Vec<Script> {
    use BackendReason::{InvalidAgentCard, Ok};
    let bad = [
        ("a-script", "javascript:alert(1)"),
        ("a-file", "file:///etc/passwd"),
        ("data", "data:text/html,x"),
        ("user-info", "https://user:password@agent.example/"),
        ("a-placeholder", "https://{host}/"),
        ("a-relative-one", "/a2a"),
        ("a-host-alone", "agent.example"),
        ("a-blank", "https://agent.example/ x"),
        ("an-escape", r"https://agent.example/\u001b"),
        ("a-nul", r"https://agent.example/\u0000"),
        ("a-port-too-large", "https://agent.example:99999/"),
        ("no-host", "https:///a"),
        ("a-split-header", r"https://agent.example/\r\nx: y"),
        ("the-card-itself", "https://agent.example/.well-known/agent-card.json"),
    ];
    let mut scripts: Vec<_> =
        bad.into_iter().map(|(name, url)| card(&format!("url-{name}"), InvalidAgentCard, move || at(url))).collect();
    scripts.extend([
        // The broker talks to the backend's own address, so what the card names is not asked.
        card("url-metadata", Ok, || at("http://169.254.169.254/latest/meta-data/")),
        card("url-loopback", Ok, || at("http://127.0.0.1:2379/")),
        card("url-of-900-kibibytes", Ok, || at(&format!("https://agent.example/{}", "u".repeat(900 << 10)))),
        card("url-with-a-host-of-900-kibibytes", Ok, || at(&format!("https://{}/", "h".repeat(900 << 10)))),
        card("url-of-150000-escapes", Ok, || at(&format!("https://agent.example/{}", "\\u0061".repeat(150_000)))),
    ]);
    scripts
}

fn with_interfaces(list: &str) -> String {
    format!(r#"{{"name":"Agent","supportedInterfaces":{list}}}"#)
}

fn interfaces() -> Vec<Script> {
    use BackendReason::{InvalidAgentCard, Ok, UnsupportedProtocol};
    const GOOD: &str = r#"{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}"#;
    let many = |item: &'static str, count: usize| {
        move || with_interfaces(&format!("[{}{item}]", format!("{item},").repeat(count - 1)))
    };
    vec![
        card("300000-interfaces-that-are-empty", InvalidAgentCard, many("{}", 300_000)),
        card("400000-interfaces-that-are-numbers", InvalidAgentCard, many("0", 400_000)),
        card(
            "12000-interfaces-of-another-binding",
            UnsupportedProtocol,
            many(r#"{"url":"https://a.example/","protocolBinding":"GRPC","protocolVersion":"1.0"}"#, 12_000),
        ),
        card("12000-interfaces-that-are-good", Ok, many(GOOD, 12_000)),
        // Nobody offers so many: the first 1,000 are judged.
        card("the-good-interface-after-300000-others", InvalidAgentCard, || {
            with_interfaces(&format!("[{}{GOOD}]", "{},".repeat(300_000)))
        }),
        card("interfaces-as-an-object", InvalidAgentCard, || with_interfaces(&format!("{{\"0\":{GOOD}}}"))),
        card("interfaces-in-a-list-of-lists", InvalidAgentCard, || with_interfaces(&format!("[[{GOOD}]]"))),
        card("interfaces-100000-deep", InvalidAgentCard, || with_interfaces(&"[".repeat(100_000))),
        card("interfaces-50000-times", InvalidAgentCard, || {
            format!("{{\"name\":\"Agent\",{}\"x\":1}}", "\"supportedInterfaces\":[],".repeat(40_000))
        }),
        card("a-list-of-1000-interfaces-500-times", InvalidAgentCard, || {
            let list = format!("\"supportedInterfaces\":[{}0],", "0,".repeat(999));
            format!("{{\"name\":\"Agent\",{}\"x\":1}}", list.repeat(500))
        }),
        card("a-version-of-900-kibibytes", Ok, || {
            with_interfaces(&format!(
                r#"[{{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.{}"}}]"#,
                "0".repeat(900 << 10)
            ))
        }),
        card("a-binding-of-900-kibibytes", UnsupportedProtocol, || {
            with_interfaces(&format!(
                r#"[{{"url":"https://a.example/","protocolBinding":"{}","protocolVersion":"1.0"}}]"#,
                "JSONRPC".repeat(130_000)
            ))
        }),
        card("a-signature-of-900-kibibytes", Ok, || {
            let members = super::pieces::honest_members();
            format!(r#"{{{members},"signatures":[{{"protected":"{}"}}]}}"#, "A".repeat(900 << 10))
        }),
    ]
}
