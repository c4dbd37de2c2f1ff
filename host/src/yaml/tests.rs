use super::*;

/// Prints each document as `line: json` of its root, or its error.
fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = documents(text)
        .map(|document| match document {
            Ok(node) => format!("{}: {}", node.line, node.json()),
            Err(error) => format!("{}! {}", error.line, error.what),
        })
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn documents_are_read_apart() {
    check("", &[]);
    check("---\n---\n# nothing\n---\n", &[]);
    check("a: 1\n---\nb: 2\n", &["1: {\"a\":1}", "3: {\"b\":2}"]);
    check("# head\n---\na: 1\n...\n# between\n---\n--- {b: 2}\n", &["3: {\"a\":1}", "7: {\"b\":2}"]);
    check("%YAML 1.2\n---\na: 1\n", &["3: {\"a\":1}"]);
    check("\u{feff}a: 1\r\n---\r\nb: 2\r\n", &["1: {\"a\":1}", "3: {\"b\":2}"]);
    check("a: |\n  text\n  --- not a mark\nb: '---'\n", &["1: {\"a\":\"text\\n--- not a mark\\n\",\"b\":\"---\"}"]);
    check("a: 1\n---\nb: [\n---\nc: 3\n", &["1: {\"a\":1}", "3! unclosed bracket '['", "5: {\"c\":3}"]);
}

#[test]
fn values_are_those_of_yaml_1_2() {
    check("[yes, no, on, off, true, false]", &["1: [\"yes\",\"no\",\"on\",\"off\",true,false]"]);
    check("[1, -1, 1.5, 010, 0x10, '1', 1_000]", &["1: [1,-1,1.5,10.0,16,\"1\",\"1_000\"]"]);
    check("{a: ~, b: null, c: , d: ''}", &["1: {\"d\":\"\"}"]);
    check("{1: a, true: b}", &["1: {\"1\":\"a\",\"true\":\"b\"}"]);
    check("{a: .inf}", &["1! non-finite float `.inf` rejected by the configured policy"]);
    check("{\"a\": \"\\ud83d\\ude00\\/\",\t\"b\": [1,\n\t2]}", &["1: {\"a\":\"😀/\",\"b\":[1,2]}"]);
    check("a: !secret b", &["1! unsupported tag `!secret`"]);
    check("? [a, b]\n: c", &["1! expected string scalar"]);
    check(
        "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
        &["1: {\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":{\"b\":1,\"e\":2}}"],
    );
}

#[test]
fn keys_know_their_lines() {
    let text = "a: 1\nb:\n  c: 2\n  d:\n    - e: 3\n    - f\n";
    let node = documents(text).next().unwrap().unwrap();
    let lines: Vec<(String, u64, u64)> =
        node.get("b").unwrap().entries().iter().map(|entry| (entry.key.clone(), entry.line, entry.node.line)).collect();
    assert_eq!(lines, [("c".to_owned(), 3, 3), ("d".to_owned(), 4, 5)]);
}

#[test]
fn keys_that_stand_twice_are_kept() {
    let node = documents("a: 1\nb: 2\na: 3\n").next().unwrap().unwrap();
    let keys: Vec<(&str, u64)> = node.entries().iter().map(|entry| (entry.key.as_str(), entry.line)).collect();
    assert_eq!(keys, [("a", 1), ("b", 2), ("a", 3)]);
    assert_eq!(node.json().to_string(), "{\"a\":3,\"b\":2}");
}

#[test]
fn bombs_are_refused() {
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    check(&deep, &["1! recursion limit exceeded"]);
    let indented: String = (0..40).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    check(&indented, &["33! budget breached: Depth { depth: 33 }"]);
    let mut laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (previous, name) in ["a", "b", "c", "d", "e"].iter().zip(["b", "c", "d", "e", "f"]) {
        laughs += &format!("{name}: &{name} [{}]\n", vec![format!("*{previous}"); 10].join(", "));
    }
    check(&laughs, &["4! alias replay limit exceeded: total_replayed_events=10001 > 10000"]);
}
