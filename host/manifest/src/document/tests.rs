use proptest::prelude::*;

use super::*;

/// Prints each problem as `line: path: what`, in the order of the lines.
fn told(text: &str) -> Vec<String> {
    let content = read(text);
    let faults = content.nameless.iter().chain(content.documents.iter().flat_map(Document::faults));
    let mut told: Vec<(u64, String)> =
        faults.map(|fault| (fault.line, format!("{}: {}", fault.line, fault.problem))).collect();
    told.sort();
    told.into_iter().map(|(_, told)| told).collect()
}

/// Prints each document as `line kind key`.
fn names(text: &str) -> Vec<String> {
    let documents = read(text).documents;
    documents.iter().map(|document| format!("{} {} {}", document.line, document.id.0, document.id.1)).collect()
}

const BINDING: &str = "\
apiVersion: agentkourier.io/v1alpha1
kind: Binding
metadata:
  namespace: team-a
  name: chat
spec:
  agent:
    backendRef: {name: agents}
  chat:
    connectionRef: {name: slack}
    channel: C1
";

#[test]
fn a_good_document_has_no_problem() {
    assert_eq!((told(BINDING), names(BINDING)), (vec![], vec!["1 Binding team-a/chat".to_owned()]));
    let ignored = BINDING.replace(
        "  name: chat\n",
        "  name: chat\n  uid: x\n  generation: 7\n  creationTimestamp: null\n  resourceVersion: '1'\n  managedFields: []\n  \
         labels: {a: b}\n  annotations:\n",
    );
    assert_eq!(told(&ignored), Vec::<String>::new());
    assert_eq!(told(&BINDING.replace("channel: C1", "channel: C1\n    ")), Vec::<String>::new());
    let left_out = BINDING.replace("{name: agents}", "{name: agents, namespace: null}\n    path: ~");
    assert_eq!(told(&left_out), Vec::<String>::new());
    assert_eq!(read(&left_out).documents[0].written, read(BINDING).documents[0].written);
}

/// One row a rule: what is replaced in the good document, by what, and all that is then told.
const RULES: &[(&str, &str, &str)] = &[
    ("apiVersion: agentkourier.io/v1alpha1\n", "", "1: apiVersion: is missing: write agentkourier.io/v1alpha1"),
    (
        "io/v1alpha1",
        "io/v1",
        "1: apiVersion: \"agentkourier.io/v1\" is another version: write agentkourier.io/v1alpha1",
    ),
    (
        "agentkourier.io/v1alpha1",
        "apps/v1",
        "1: apiVersion: \"apps/v1\" is not read here: known is agentkourier.io/v1alpha1",
    ),
    ("agentkourier.io/v1alpha1", "1", "1: apiVersion: is a number: write agentkourier.io/v1alpha1"),
    (
        "kind: Binding",
        "kind: Pod",
        "2: kind: \"Pod\" is not read here: write Binding or AgentBackend or ChatConnection",
    ),
    ("kind: Binding", "kind:", "1: kind: is missing: write Binding or AgentBackend or ChatConnection"),
    ("kind: Binding", "kind: [Binding]", "2: kind: is a list: write Binding or AgentBackend or ChatConnection"),
    ("kind: Binding", "kind: Binding\nkind: Binding", "3: kind: stands twice, first in line 2: keep one"),
    ("spec:", "status: {}\nspec:", "6: status: a file may not set it, remove it"),
    ("spec:", "status:\nspec:", "6: status: a file may not set it, remove it"),
    ("spec:", "data: {}\nspec:", "6: data: is no field: known are metadata and spec"),
    (
        "metadata:\n  namespace: team-a\n  name: chat\n",
        "",
        "1: metadata: has to be an object with a name and a namespace",
    ),
    (
        "metadata:\n  namespace: team-a\n  name: chat\n",
        "metadata: chat\n",
        "3: metadata: has to be an object with a name and a namespace",
    ),
    ("  namespace: team-a\n", "", "4: metadata.namespace: is missing: write the object's namespace"),
    ("  name: chat\n", "", "4: metadata.name: is missing: write the object's name"),
    (
        "  name: chat\n",
        "  generateName: chat-\n",
        "4: metadata.name: is missing: write the object's name\n5: metadata.generateName: is no field of metadata: write name, namespace, labels or annotations",
    ),
    ("  name: chat\n", "  name: 7\n", "5: metadata.name: is a number: write the object's name"),
    (
        "  name: chat\n",
        "  name: Chat\n",
        "5: metadata.name: has to be written otherwise: write a name: small letters, digits, - and ., with a letter or digit at both ends",
    ),
    (
        "  namespace: team-a\n",
        "  namespace: ../etc\n",
        "4: metadata.namespace: has to be written otherwise: write a name: small letters, digits and -, with a letter or digit at both ends",
    ),
    (
        "  name: chat\n",
        "  name: chat\n  labels: {a: 1}\n",
        "6: metadata.labels.a: is a number: write a string, in quotes",
    ),
    ("  name: chat\n", "  name: chat\n  labels: a\n", "6: metadata.labels: is a string: write fields and values"),
    (
        "  name: chat\n",
        "  name: chat\n  label: {}\n",
        "6: metadata.label: is no field of metadata: write name, namespace, labels or annotations",
    ),
    ("    channel: C1\n", "", "9: spec.chat.channel: is missing"),
    ("    channel: C1\n", "    channel:\n", "9: spec.chat.channel: is missing"),
    ("channel: C1", "channel: 123", "11: spec.chat.channel: is a number: write a string, in quotes"),
    ("channel: C1", "channel: true", "11: spec.chat.channel: is a boolean: write a string, in quotes"),
    ("channel: C1", "channel: [C1]", "11: spec.chat.channel: is a list: write a string"),
    (
        "channel: C1",
        "chanel: C1",
        "9: spec.chat.channel: is missing\n11: spec.chat.chanel: is no field of this kind: known here are channel, connectionRef",
    ),
    (
        "channel: C1",
        "channel: C1\n    \"a b\\n\": 1",
        "12: spec.chat[\"a b\\n\"]: is no field of this kind: known here are channel, connectionRef",
    ),
    ("channel: C1", "channel: C1\n    channel: C2", "12: spec.chat.channel: stands twice, first in line 11: keep one"),
    ("{name: agents}", "agents", "8: spec.agent.backendRef: is a string: write fields and values"),
    ("spec:\n", "spec:\nspecs:\n", "1: spec: is missing\n7: specs: is no field: known are metadata and spec"),
];

#[test]
fn each_rule_has_its_message() {
    for (from, to, expected) in RULES {
        assert!(BINDING.contains(*from), "{from}");
        let text = BINDING.replacen(from, to, 1);
        assert_eq!(told(&text).join("\n"), *expected, "{text}");
    }
    let backend = "\
apiVersion: agentkourier.io/v1alpha1
kind: AgentBackend
metadata: {namespace: a, name: b}
spec: {url: 'http://a', auth: {scheme: basic, secretRef: {}}, allowedNamespaces: [a, 1]}
";
    assert_eq!(
        told(backend),
        [
            "4: spec.allowedNamespaces[1]: is a number: write a string, in quotes",
            "4: spec.auth.scheme: is not known: write bearer or header",
            "4: spec.auth.secretRef.key: is missing",
            "4: spec.auth.secretRef.name: is missing",
        ]
    );
}

#[test]
fn what_is_no_document_is_told() {
    for (text, expected) in [
        ("just text", "1: is a string: write an object with apiVersion, kind, metadata and spec"),
        ("---\n- a\n", "2: is a list: write an object with apiVersion, kind, metadata and spec"),
        (
            "a: [\n",
            "1: is not YAML that can be read: the bracket '[' is not closed: close it where it ends, or put the text in quotes",
        ),
        ("", ""),
        ("# nothing\n---\n---\n", ""),
    ] {
        assert_eq!(told(text).join("\n"), expected, "{text:?}");
    }
}

#[test]
fn a_list_is_unpacked_and_its_problems_have_lines() {
    let text = "\
apiVersion: v1
kind: List
metadata: {resourceVersion: ''}
items:
- apiVersion: agentkourier.io/v1alpha1
  kind: Binding
  metadata: {namespace: a, name: one}
  spec: {}
- apiVersion: agentkourier.io/v1alpha1
  kind: BindingList
  items:
  - {apiVersion: agentkourier.io/v1alpha1, kind: Binding, metadata: {namespace: a, name: two}, spec: {x: 1, x: 2}}
- apiVersion: v1
  kind: Pod
extra: 1
";
    assert_eq!(names(text), ["5 Binding a/one", "12 Binding a/two"]);
    assert_eq!(
        told(text),
        [
            "8: spec.agent: is missing",
            "8: spec.chat: is missing",
            "12: spec.agent: is missing",
            "12: spec.chat: is missing",
            "12: spec.x: is no field of this kind: known here are agent, chat",
            "12: spec.x: is no field of this kind: known here are agent, chat",
            "12: spec.x: stands twice, first in line 12: keep one",
            "13: items[2].apiVersion: \"v1\" is not read here: known is agentkourier.io/v1alpha1",
            "15: extra: is no field of a List: known are items and metadata",
        ]
    );
    let nested = (0..6).fold("[]".to_owned(), |inner, _| format!("[{{apiVersion: v1, kind: List, items: {inner}}}]"));
    let text = format!("apiVersion: v1\nkind: List\nitems: {nested}\n");
    assert_eq!(told(&text), ["3: items[0].items[0].items[0].items[0].items: nests more than 4 lists"]);
}

#[test]
fn a_list_of_the_wrong_api_version_is_told_what_is_right() {
    let text = "kind: List\napiVersion: agentkourier.io/v1alpha1\nitems: []\n";
    let right = "has no kind List: write v1, or each object as a document of its own, with a line `---` between them";
    assert_eq!(told(text), [format!("2: apiVersion: {right}")]);
    let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: agentkourier.io/v2, kind: List}\n";
    assert_eq!(told(text), [format!("4: items[0].apiVersion: {right}")]);
}

#[test]
fn what_is_told_has_a_bound() {
    let long = "k".repeat(100_000);
    let text = format!("{BINDING}? {long}\n: ? {long}\n  : {long}\n");
    let found = read(&text).documents.remove(0);
    assert_eq!(found.around[0].problem.path, format!("{}…", "k".repeat(64)));
    assert!(found.lines.keys().all(|path| path.len() < 1_000));
    let many: String = (0..5_000).map(|number| format!("  x{number}: 1\n")).collect();
    let found = read(&BINDING.replace("spec:\n", &format!("spec:\n{many}"))).documents.remove(0);
    assert_eq!(found.shape.len(), 101);
    assert!(found.lines.len() < 2_010);
    assert_eq!(found.shape[100].problem.to_string(), "has more problems than can be told");
    let content = read(&"---\na: 1\n".repeat(100_000));
    assert!(content.broken && content.nameless.len() == 1_000);
    let kind = told(&BINDING.replace("kind: Binding", &format!("kind: {long}")));
    assert!(kind[0].len() < 200, "{kind:?}");
}

#[test]
fn one_bad_document_hides_no_other() {
    let text = format!("{BINDING}---\nb: [\n---\n{}", BINDING.replace("name: chat", "name: other"));
    assert_eq!(names(&text), ["1 Binding team-a/chat", "15 Binding team-a/other"]);
    assert_eq!(
        told(&text),
        [
            "13: is not YAML that can be read: the bracket '[' is not closed: close it where it ends, or put the text in quotes"
        ]
    );
    assert!(read(&text).broken);
}

#[test]
fn a_document_comes_back_from_the_store_as_it_was() {
    let texts = [
        BINDING.to_owned(),
        BINDING.replace("C1", "1"),
        BINDING.replace("C1", "3.3333333333333333333e+49"),
        BINDING.replace("spec:", "status: {}\nspec:"),
    ];
    for text in texts {
        let document = read(&text).documents.remove(0);
        let written = serde_json::from_str(&document.stored(false).to_string()).unwrap();
        let again = Document::remembered(document.id.clone(), &written);
        assert_eq!(again.stored(false), document.stored(false));
        assert_eq!(again.spec::<kourier_core::object::BindingSpec>(), document.spec());
        assert_ne!(document.stored(true), document.stored(false));
    }
}

#[test]
fn a_document_whose_stored_problems_cannot_be_read_is_refused() {
    let document = read(BINDING).documents.remove(0);
    for around in [json!(null), json!("twice"), json!({"path": "", "what": "x"}), json!([{"path": "status"}])] {
        let mut stored = document.stored(false);
        stored["around"] = around;
        let again = Document::remembered(document.id.clone(), &stored);
        let problems = again.spec::<kourier_core::object::BindingSpec>().unwrap_err();
        assert_eq!(problems, [Problem::new("", UNREADABLE)], "{stored}");
        assert_eq!(Document::remembered(document.id.clone(), &again.stored(false)), again);
    }
}

#[test]
fn order_and_comments_are_no_change() {
    let other = "\
# Another comment.
kind: Binding
apiVersion: agentkourier.io/v1alpha1
metadata: {name: chat, namespace: team-a, labels: {a: b}}
spec: {chat: {channel: 'C1', connectionRef: {name: slack}}, agent: {path: null, backendRef: {name: agents}}}
";
    assert_eq!(read(other).documents[0].stored(false), read(BINDING).documents[0].stored(false));
}

#[test]
fn no_long_text_makes_the_reader_panic() {
    // What, repeated, could cost a reader more than it should, or nests without end.
    let pieces = ["[", "{", "- ", "? ", "&a ", "*a ", "a: &a {}\n", "\"", "|\n", "---\n", "%\n", "- - - -\n", "x: 1\n"];
    for piece in pieces.into_iter().chain(["[],", "{a: ", "!!str ", "a:\n ", "<<: {a: 1}\n"]) {
        read(&piece.repeat((1 << 16) / piece.len()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        read(&text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    /// A good document with a piece of it cut out, doubled or replaced by what means something to YAML.
    #[test]
    fn no_scribble_in_a_document_makes_the_reader_panic(
        at in 0..BINDING.len(), length in 0..40_usize, scribble in "[-\\[\\]{}:,&*#?|>'\"%@`!~ \t\n0a<.]{0,12}",
    ) {
        let end = (at + length).min(BINDING.len());
        read(&format!("{}{scribble}{}", &BINDING[..at], &BINDING[end..]));
    }
}
