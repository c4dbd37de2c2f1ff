//! The documents of a text, before they are read.

/// What ends a line in YAML; both together end one.
pub(super) const BREAKS: [char; 2] = ['\n', '\r'];
/// What a line without a text has. Other spaces of Unicode are a text for the parser.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// The text of one document, and how many lines stand before it.
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    pub(super) lines_before: u64,
}

impl Piece<'_> {
    /// Whether there is nothing in it but marks and comments.
    pub(super) fn is_blank(&self) -> bool {
        lines(self.text).all(|line| {
            let rest = if marks(line, "---") || marks(line, "...") { line.get(3..).unwrap_or_default() } else { line };
            let rest = rest.trim_start_matches(BLANKS);
            rest.is_empty() || rest.starts_with('#')
        })
    }
}

/// Cuts a text where YAML begins and ends documents: at lines that begin with `---` or `...`, which no scalar may hold.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 0, 0);
    for (number, line) in (0..).zip(lines(text)) {
        let begins = marks(line, "---") && !only_prologue(&text[start..at]);
        let ends = marks(line, "...");
        let cut = if ends { at + line.len() } else { at };
        if begins || ends {
            found.push(Piece { text: &text[start..cut], lines_before: start_line });
            (start, start_line) = (cut, if ends { number + 1 } else { number });
        }
        at += line.len();
    }
    found.push(Piece { text: &text[start..], lines_before: start_line });
    found.into_iter()
}

/// The lines of a text, each with its end. A carriage return alone ends a line for the parser, too.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = rest.find(BREAKS).map_or(rest.len(), |at| {
            let tail = rest.get(at..).unwrap_or_default();
            at + if tail.starts_with("\r\n") { 2 } else { 1 }
        });
        let (line, after) = rest.split_at_checked(length)?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

fn marks(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// Whether there is nothing before a `---` but what belongs to the document that it begins: directives, comments.
fn only_prologue(text: &str) -> bool {
    lines(text).all(|line| line.trim_start_matches(BLANKS).is_empty() || line.starts_with(['%', '#']))
}
