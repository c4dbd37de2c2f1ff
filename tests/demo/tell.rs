//! The story's voice: standard output, in lines that fit a terminal.

/// The widest line.
const WIDTH: usize = 100;

/// Begins a part: what is done, and why.
pub(crate) fn chapter(title: &str, why: &str) {
    println!("\n== {title}");
    for line in wrapped(why) {
        println!("{line}");
    }
}

/// A line as it is.
pub(crate) fn text(line: &str) {
    println!("{line}");
}

/// A line, as one would type it, before its output.
pub(crate) fn typed(line: &str) {
    println!("\n$ {line}");
}

/// A command of the program, as one would type it, before its output.
pub(crate) fn command(arguments: &[&str]) {
    typed(&format!("agent-kourier {}", arguments.join(" ")));
}

/// Rows of a name and what it is.
pub(crate) fn table(rows: &[(&str, String)]) {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, what) in rows {
        println!("  {name:<width$}  {what}");
    }
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let full = lines.last().is_some_and(|line| line.len() + 1 + word.len() > WIDTH);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
