//! Names that others chose, as people are told of them: on one line, and without a way to steer a terminal.

use std::fmt;
use std::path::Path;

use kourier_core::line::escaped;

/// A path in a log line, a problem or an error. A manifest's file may have any name: one with a line break would
/// otherwise write log lines of its own.
pub(crate) struct Shown<'p>(pub(crate) &'p Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.0.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_on_its_line_and_cannot_steer_the_terminal() {
        let check = |path: &str, shown: &str| assert_eq!(Shown(Path::new(path)).to_string(), shown);
        check("/a b/c\\d'é\"😀.yaml", "/a b/c\\d'é\"😀.yaml");
        check("a\nWARN forged\r.yaml", "a\\nWARN forged\\r.yaml");
        check("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}");
        check("a\u{202e}b\u{2028}c\u{200b}", "a\\u{202e}b\\u{2028}c\\u{200b}");
    }
}
