//! What is wrong with a text that is not YAML, in the words of somebody who writes manifests.
//!
//! The parser's own words are of its insides (budgets, scanners, simple keys). They stand where there are no better ones.

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DefaultMessageFormatter, Error, MessageFormatter};

use super::{MAX_ANCHORS, MAX_DEPTH, MAX_NODES, MAX_REPLAYED};

/// What is wrong and what would be right.
pub(super) fn of(error: &Error) -> String {
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => of(error),
        Error::Budget { breach, .. } => of_budget(breach),
        Error::ExternalMessage { msg, .. } => of_parser(msg),
        Error::NullIntoString { .. } => "a key is null: write a name, in quotes if it is to read null".to_owned(),
        Error::Unexpected { expected: "string scalar", .. } => "a key is a list or an object: write a name".to_owned(),
        Error::UnsupportedTag { tag, .. } => {
            format!("the tag `{tag}` means nothing here: remove it, or put the text in quotes")
        }
        Error::NonFiniteFloat { value, .. } => {
            format!("`{value}` is no finite number: write one, or put the text in quotes")
        }
        Error::UnknownAnchor { .. } => {
            "an alias (`*name`) names nothing that stands above it: write `&name` there, or the value here".to_owned()
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an alias (`*name`) stands within what it names: write the value out".to_owned()
        }
        Error::InvalidScalar { .. } | Error::InvalidBinaryBase64 { .. } | Error::BinaryNotUtf8 { .. } => {
            "a tag (`!!name`) promises another value than stands there: remove the tag".to_owned()
        }
        Error::MergeValueNotMapOrSeqOfMaps { .. } => {
            "`<<` takes in what is no object: name one, or put the key in quotes".to_owned()
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => aliases(),
        other => DefaultMessageFormatter.format_message(other).into_owned(),
    }
}

fn of_budget(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => depth(),
        BudgetBreach::Anchors { .. } => {
            format!("more than {MAX_ANCHORS} values have an anchor (`&name`): write the values out")
        }
        BudgetBreach::Aliases { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::MergeKeys { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => aliases(),
        _ => format!("the document has more than {MAX_NODES} values: split it"),
    }
}

fn depth() -> String {
    format!("values nest more than {MAX_DEPTH} levels deep: a manifest needs fewer than ten")
}

fn aliases() -> String {
    format!("the aliases (`*name`) repeat more than {MAX_REPLAYED} values: write the values out, or fewer aliases")
}

const COLON: &str =
    "a colon stands in a value, or a line is indented too far: put the text in quotes, or mend the indentation";

/// What the parser says, and what is said instead. The first one that the parser's words contain counts.
const PARSER: [(&str, &str); 17] = [
    (
        "did not find expected key",
        "a line does not belong where it stands: indent it like its neighbours, and write `key: value`",
    ),
    ("simple key", "a line has no colon after its key: write `key: value`, or put a text of several lines in quotes"),
    ("did not find expected '-'", "an entry of a list has no `-`: write one, in the column of its neighbours"),
    ("expected ',' or '}'", "the entries of an object in braces are not apart: write a comma between them"),
    ("expected ',' or ']'", "the entries of a list in brackets are not apart: write a comma between them"),
    ("misplaced bracket", "a bracket is closed that was not opened: remove it, or put the text in quotes"),
    ("unclosed quote", "a quote is not closed: write the same quote where the text ends"),
    ("trailing content after", "something follows a text in quotes: remove it, or put all of it in quotes"),
    ("unknown escape character", "a `\\` begins nothing that YAML knows: write `\\\\`, or use single quotes"),
    ("tab", "a tab stands where only blanks may: indent with blanks"),
    ("block sequence entries are not allowed", "a list begins behind a key: begin it in a line of its own"),
    ("mapping values are not allowed", COLON),
    ("placement of ':'", COLON),
    ("alphabetic or numeric character", "`&` or `*` stands without a name: put the text in quotes"),
    ("unexpected EOF", "an entry of a list or an object is empty or cut off: write it, or remove a comma"),
    ("surrogate", "a `\\u` escape is half of a pair: write both halves, or the character itself"),
    ("BOM", "a byte order mark (U+FEFF) stands in it: remove it"),
];

fn of_parser(said: &str) -> String {
    if said == "recursion limit exceeded" {
        return depth();
    }
    if let Some(bracket) = said.strip_prefix("unclosed bracket ") {
        return format!("the bracket {bracket} is not closed: close it where it ends, or put the text in quotes");
    }
    if let Some(character) = said.strip_prefix("unexpected character: `") {
        let character = character.strip_suffix('\'').unwrap_or(character);
        return format!("a text begins with {character}, which it may not: put it in quotes");
    }
    let known = PARSER.iter().find(|(theirs, _)| said.contains(theirs));
    known.map_or_else(|| said.to_owned(), |(_, ours)| (*ours).to_owned())
}

#[cfg(test)]
mod tests;
