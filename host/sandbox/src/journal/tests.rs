use super::*;
use crate::secret::Secret;

fn journal(secret: &str) -> Journal {
    Journal::new(&Limits::default(), Mask::of(&Secret::new(secret.to_owned())))
}

fn check(text: &str, want: &str) {
    assert_eq!(journal("s3cr3t").line(text), want, "{text:?}");
}

#[test]
fn a_line_is_one_line_and_moves_no_cursor() {
    check("plain text, ä, 漢字 and 😀", "plain text, ä, 漢字 and 😀");
    check("a\nb\r\tc", r"a\nb\r\tc");
    check("\u{1b}[31m\0\u{7f}\u{9b}", r"\u{1b}[31m\u{0}\u{7f}\u{9b}");
    check("a b\u{a0}\u{115f}\u{3164}\u{e000}", r"a b\u{a0}\u{115f}\u{3164}\u{e000}");
    check("\u{202e}\u{200b}\u{2028}\u{feff}\u{2066}\u{e0041}", r"\u{202e}\u{200b}\u{2028}\u{feff}\u{2066}\u{e0041}");
}

#[test]
fn a_line_is_cut_at_the_limit_and_at_a_whole_character() {
    check(&"x".repeat(512), &"x".repeat(512));
    check(&"x".repeat(513), &format!("{}…", "x".repeat(509)));
    for text in ["ä", "漢", "😀", "\n", "\u{1b}"] {
        let line = journal("s3cr3t").line(&text.repeat(1000));
        assert!(line.len() <= 512 && line.len() > 500 && line.ends_with('…'), "{line}");
    }
    // Neither a half escape nor a half mask, and no half secret.
    let line = journal("s3cr3t").line(&"s3cr3t".repeat(1000));
    assert_eq!(line, format!("{}…", MASK.repeat(63)));
    let edge = journal("s3cr3t").line(&format!("{}s3cr3t", "x".repeat(508)));
    assert_eq!(edge, format!("{}…", "x".repeat(508)));
}

#[test]
fn lines_beyond_the_limit_are_counted_and_a_panic_is_heard_all_the_same() {
    let mut journal = journal("s3cr3t");
    for number in 0..20 {
        journal.cause(&format!("cause {number}"));
        journal.advise(&format!("advice {number}"));
    }
    assert_eq!((journal.causes.len(), journal.advice.len(), journal.dropped), (8, 8, 24));
    journal.cause("panic at src/lib.rs:1: s3cr3t");
    journal.cause("panic at src/lib.rs:2: again");
    assert_eq!(journal.causes.last().map(String::as_str), Some("panic at src/lib.rs:1: [masked]"));
    assert!(journal.panicked);
}

#[test]
fn the_hosts_own_words_are_bounded_and_not_repeated() {
    let mut journal = journal("s3cr3t");
    for _ in 0..5 {
        journal.note("GET /: refused");
    }
    assert_eq!(journal.causes, ["GET /: refused"]);
    for number in 0..100 {
        journal.note(&format!("GET /{number}: s3cr3t"));
    }
    assert_eq!(journal.causes.len(), 16);
    assert_eq!(journal.dropped, 0);
}
