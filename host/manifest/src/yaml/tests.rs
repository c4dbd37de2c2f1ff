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
    check(
        "a: 1\n---\nb: [\n---\nc: 3\n",
        &[
            "1: {\"a\":1}",
            "3! the bracket '[' is not closed: close it where it ends, or put the text in quotes",
            "5: {\"c\":3}",
        ],
    );
}

#[test]
fn a_space_that_is_none_of_yamls_is_a_text() {
    check("\u{a0}\n---\na: 1\n", &["1: \"\u{a0}\"", "3: {\"a\":1}"]);
    check("\u{2003}", &["1: \"\u{2003}\""]);
    check(" \t\r\n---\n \t # A comment.\na: 1\n", &["4: {\"a\":1}"]);
}

#[test]
fn a_carriage_return_alone_ends_a_line() {
    check("# A comment.\ra: 1\r", &["2: {\"a\":1}"]);
    check("a: 1\r---\rb: 2\r", &["1: {\"a\":1}", "3: {\"b\":2}"]);
    check("# A comment.\r---\ra: 1\r...\r# Another.\rb: 2", &["3: {\"a\":1}", "6: {\"b\":2}"]);
    check(
        "a: [\r---\rb: 2\r",
        &["1! the bracket '[' is not closed: close it where it ends, or put the text in quotes", "3: {\"b\":2}"],
    );
    check(
        "a: 1\rb: 2\r\nc: '\u{1}'",
        &["3! the control character U+0001 stands in it: remove it, or write it as `\\x01` in double quotes"],
    );
}

#[test]
fn values_are_those_of_yaml_1_2() {
    check("[yes, no, on, off, true, false]", &["1: [\"yes\",\"no\",\"on\",\"off\",true,false]"]);
    check("[1, -1, 1.5, 010, 0x10, '1', 1_000]", &["1: [1,-1,1.5,10.0,16,\"1\",\"1_000\"]"]);
    check("{a: ~, b: null, c: , d: ''}", &["1: {\"d\":\"\"}"]);
    check("{1: a, true: b}", &["1: {\"1\":\"a\",\"true\":\"b\"}"]);
    check("{a: .inf}", &["1! `.inf` is no finite number: write one, or put the text in quotes"]);
    check("{\"a\": \"\\ud83d\\ude00\\/\",\t\"b\": [1,\n\t2]}", &["1: {\"a\":\"😀/\",\"b\":[1,2]}"]);
    check("a: !secret b", &["1! the tag `!secret` means nothing here: remove it, or put the text in quotes"]);
    check("? [a, b]\n: c", &["1! a key is a list or an object: write a name"]);
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
    check(&deep, &["1! values nest more than 32 levels deep: a manifest needs fewer than ten"]);
    let indented: String = (0..40).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    check(&indented, &["33! values nest more than 32 levels deep: a manifest needs fewer than ten"]);
    let mut laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (previous, name) in ["a", "b", "c", "d", "e"].iter().zip(["b", "c", "d", "e", "f"]) {
        laughs += &format!("{name}: &{name} [{}]\n", vec![format!("*{previous}"); 10].join(", "));
    }
    let repeats = "the aliases (`*name`) repeat more than 10000 values: write the values out, or fewer aliases";
    check(&laughs, &[&format!("4! {repeats}")]);
}

#[test]
fn what_is_no_yaml_is_told_in_the_words_of_who_wrote_it() {
    let check = |text: &str, expected: &str| check(text, &[expected]);
    check("a: 1\n~: 2\n", "2! a key is null: write a name, in quotes if it is to read null");
    check("null: 2\n", "1! a key is null: write a name, in quotes if it is to read null");
    check(
        "a: *b\n",
        "1! an alias (`*name`) names nothing that stands above it: write `&name` there, or the value here",
    );
    check("a: &a [*a]\n", "1! an alias (`*name`) stands within what it names: write the value out");
    check("<<: 1\n", "1! `<<` takes in what is no object: name one, or put the key in quotes");
    check(
        "a: 1\nb: 'x\0y'\n",
        "2! the control character U+0000 stands in it: remove it, or write it as `\\x00` in double quotes",
    );
    check(
        "a: \u{1b}\n",
        "1! the control character U+001B stands in it: remove it, or write it as `\\x1b` in double quotes",
    );
    check(
        "{\"a\": \"x\u{7f}\"}",
        "1! the control character U+007F stands in it: remove it, or write it as `\\x7f` in double quotes",
    );
    check(
        "a: b # \u{fffe}\n",
        "1! the character U+FFFE stands in it: remove it, or write it as `\\ufffe` in double quotes",
    );
    check("a: 'x\n", "1! a quote is not closed: write the same quote where the text ends");
    check("a:\n\tb: 1\n", "2! a tab stands where only blanks may: indent with blanks");
    check("a: @b\n", "1! a text begins with @, which it may not: put it in quotes");
    check("a: \"\\q\"\n", "1! a `\\` begins nothing that YAML knows: write `\\\\`, or use single quotes");
    check(
        "a: b: c\n",
        "1! a colon stands in a value, or a line is indented too far: put the text in quotes, or mend the indentation",
    );
    check(
        "a: 1\n b: 2\n",
        "2! a colon stands in a value, or a line is indented too far: put the text in quotes, or mend the indentation",
    );
    check(
        "a: 1\nb\nc: 2\n",
        "2! a line has no colon after its key: write `key: value`, or put a text of several lines in quotes",
    );
    check("a: {b: 1 c: 2}\n", "1! the entries of an object in braces are not apart: write a comma between them");
    check("a: 'b' c\n", "1! something follows a text in quotes: remove it, or put all of it in quotes");
    check("a: b]\nc: ]\n", "2! a bracket is closed that was not opened: remove it, or put the text in quotes");
    check("a: - b\n", "1! a list begins behind a key: begin it in a line of its own");
    check("a:\n  - b\n  c: d\n", "3! an entry of a list has no `-`: write one, in the column of its neighbours");
    check(
        "a:\n  b: c\n - d\n",
        "3! a line does not belong where it stands: indent it like its neighbours, and write `key: value`",
    );
    check("a: !!int x\n", "1! a tag (`!!name`) promises another value than stands there: remove the tag");
    check("a: *\n", "1! `&` or `*` stands without a name: put the text in quotes");
}

#[test]
fn a_document_with_very_many_anchors_is_refused_before_it_costs_time() {
    let anchors = |count: usize| (0..count).map(|_| "a: &a {}\n").collect::<String>();
    assert!(documents(&anchors(500)).all(|document| document.is_ok()));
    let error = documents(&anchors(100_000)).next().unwrap().unwrap_err();
    assert_eq!(error.what, "more than 500 values have an anchor (`&name`): write the values out");
    assert_eq!(error.line, 501);
}
