use super::super::{Node, options};
use super::*;

/// A text for each row of [`PARSER`], of which the reader says what that row is for.
const TEXTS: [&str; PARSER.len()] = [
    "a:\n  b: c\n - d\n",
    "a: 1\nb\nc: 2\n",
    "a:\n  - b\n  c: d\n",
    "a: {b: 1 c: 2}\n",
    "a: [{b: 1} {c: 2}]\n",
    "a: b]\nc: ]\n",
    "a: 'x\n",
    "a: 'b' c\n",
    "a: \"\\q\"\n",
    "a:\n\tb: 1\n",
    "a: - b\n",
    "a: b: c\n",
    "a: [b\n  : c]\n",
    "a: *\n",
    "a: [,]\n",
    "a: \"\\ud83d\"\n",
    "a: 1\n\u{feff}b: 2\n",
];

/// Its words are no promise: another version of the reader may have others.
#[test]
fn the_reader_says_what_is_put_into_other_words() {
    for ((theirs, ours), text) in PARSER.into_iter().zip(TEXTS) {
        let error = serde_saphyr::from_multiple_with_options::<Node>(text, options()).unwrap_err();
        let Error::ExternalMessage { msg: said, .. } = &error else { panic!("{text:?}: {error:?}") };
        let first = PARSER.iter().find(|(theirs, _)| said.contains(theirs));
        assert_eq!(first, Some(&(theirs, ours)), "{text:?}: {said}");
        assert_eq!(of(&error), ours, "{text:?}: {said}");
    }
}
