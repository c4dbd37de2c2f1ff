//! What the targets share: a bound of time, and what may stand in words that people are told.

use std::time::Duration;

use cpu_time::ThreadTime;
use kourier_core::message::is_spacing;

/// CPU time that any one input may take. They have a few KiB, so this is some hundred times what an honest one takes,
/// and too little for work that grows with the square.
const MOST: Duration = Duration::from_millis(500);

/// Does the work.
///
/// # Panics
///
/// When it takes more CPU time than an input may.
pub fn bounded<R>(work: impl FnOnce() -> R) -> R {
    let started = ThreadTime::now();
    let result = work();
    let took = started.elapsed();
    assert!(took <= MOST, "took {took:?} of CPU time");
    result
}

/// Checks words that are for people: one line, which cannot steer a terminal, of at most so many bytes.
///
/// # Panics
///
/// When they are not.
pub fn assert_is_line(words: &str, most: usize) {
    assert!(words.chars().all(|c| c == ' ' || !is_spacing(c)), "is no plain line: {words:?}");
    assert!(words.len() <= most, "has {} bytes: {words:?}", words.len());
}
