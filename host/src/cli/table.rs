//! Tables, aligned as kubectl aligns them.

use kourier_core::line::escaped;

/// Blanks between two columns.
const PADDING: usize = 3;
/// The narrowest column, blanks included.
const MIN_WIDTH: usize = 6;

/// A table of these columns: each as wide as its widest cell, the last one without blanks after it.
#[must_use]
pub fn render(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    Paper::new(header).lines(rows)
}

/// A table to which lines are added: a column never gets narrower.
#[derive(Debug)]
pub struct Paper {
    header: Option<Vec<String>>,
    widths: Vec<usize>,
}

impl Paper {
    /// A table of these columns, of which nothing has been printed.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        Self { header: Some(header.iter().map(|&name| name.to_owned()).collect()), widths: Vec::new() }
    }

    /// The text of these lines, and before the first ones of the header.
    #[must_use]
    pub fn lines(&mut self, rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let rows = rows.into_iter().map(|row| row.iter().map(|cell| printable(cell)).collect());
        let lines: Vec<Vec<String>> = self.header.take().into_iter().chain(rows).collect();
        for line in &lines {
            self.widths.resize(self.widths.len().max(line.len()), MIN_WIDTH);
            for (width, cell) in self.widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count() + PADDING);
            }
        }
        lines.iter().map(|line| render_line(line, &self.widths)).collect()
    }
}

fn render_line(line: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (column, cell) in line.iter().enumerate() {
        text.push_str(cell);
        if column + 1 < line.len() {
            let blanks = widths[column].saturating_sub(cell.chars().count());
            text.extend(std::iter::repeat_n(' ', blanks));
        }
    }
    text.push('\n');
    text
}

/// A cell that stays in its line and cannot steer a terminal: what follows a line end is cut, control characters are
/// escaped.
fn printable(cell: &str) -> String {
    let (first, cut) = match cell.find(['\n', '\r', '\u{c}']) {
        Some(end) => (&cell[..end], "..."),
        None => (cell, ""),
    };
    escaped(first) + cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_three_blanks() {
        let rows = [vec!["a".to_owned(), "läng".to_owned(), "x".to_owned()]];
        assert_eq!(render(&["A", "B", "LAST"], rows), "A     B      LAST\na     läng   x\n");
    }

    #[test]
    fn a_cell_cannot_leave_its_line_or_steer_the_terminal() {
        assert_eq!(printable("one\ntwo"), "one...");
        assert_eq!(printable("\u{1b}[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
    }
}
