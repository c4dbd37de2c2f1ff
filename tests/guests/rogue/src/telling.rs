//! Behaviours that try to tell another run a word, and to hear one.
//!
//! The word is the setting `head` followed by the setting `tail`: whoever listens knows what to look for, and has not put
//! the word into its own memory by looking.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use kourier_probe_sdk::chat::{Target, Verdict};
use kourier_probe_sdk::endpoint::{self, Header, Request};
use kourier_probe_sdk::journal;

use crate::resources::is_in_memory;
use crate::setting;

static TOLD: AtomicU32 = AtomicU32::new(0);

/// Bytes of a page of memory.
const PAGE: usize = 64 << 10;

/// Leaves the word wherever something may be left: in headers, paths and bodies of requests, in the journal, in a global,
/// and in all the memory that there is. Ok.
pub(crate) fn tell(target: &Target) -> Verdict {
    let word =
        format!("{}{}", setting(target, "head").unwrap_or_default(), setting(target, "tail").unwrap_or_default());
    // What comes of these is not the point: whoever listens hears it, or does not.
    let _ = endpoint::send(&Request::get("/word").header("x-word", &word).header("cookie", &word));
    let _ = endpoint::send(&Request::get("/word").header("x-word", &word));
    let _ = endpoint::send(&Request::get(format!("/{word}?word={word}")));
    let _ = endpoint::send(&Request::post("/word", word.as_bytes()));
    let _ = endpoint::send(&Request::get("/word"));
    journal::cause(&word);
    journal::advise(&word);
    TOLD.store(u32::MAX, Ordering::Relaxed);
    fill(word.as_bytes());
    Verdict::Ok
}

/// Ok when the word is nowhere, `AccessRestricted` when it is somewhere. The journal says where.
pub(crate) fn hear(target: &Target) -> Verdict {
    let mut heard: Vec<&str> = Vec::new();
    if TOLD.load(Ordering::Relaxed) != 0 {
        heard.push("in a global");
    }
    if is_in_memory(target) {
        heard.push("in its memory");
    }
    if !is_new_memory_blank() {
        heard.push("in new memory");
    }
    let answers = [Request::get("/word"), Request::post("/word", "")];
    if answers.iter().any(|request| is_in_answer(request, target)) {
        heard.push("in an answer");
    }
    for place in &heard {
        journal::cause(&format!("the word is {place}"));
    }
    if heard.is_empty() { Verdict::Ok } else { Verdict::AccessRestricted }
}

fn is_in_answer(request: &Request, target: &Target) -> bool {
    let Ok(answer) = endpoint::send(request) else { return false };
    let fields = answer.headers.iter().map(|Header { name, value }| format!("{name} {value} "));
    let text = fields.chain([String::from_utf8_lossy(&answer.body).into_owned()]).collect::<String>();
    let (head, tail) = (setting(target, "head").unwrap_or_default(), setting(target, "tail").unwrap_or_default());
    text.match_indices(head).any(|(at, _)| text[at + head.len()..].starts_with(tail))
}

/// Grows the memory to its limit and repeats the word in each new page.
fn fill(word: &[u8]) {
    loop {
        let page = core::arch::wasm32::memory_grow(0, 1);
        if page == usize::MAX {
            return;
        }
        // SAFETY: the page is new, and nobody else's.
        let page = unsafe { core::slice::from_raw_parts_mut((page * PAGE) as *mut u8, PAGE) };
        for place in page.chunks_exact_mut(word.len().max(1)) {
            place.copy_from_slice(word);
        }
        black_box(page);
    }
}

/// Whether memory that was never used is blank.
fn is_new_memory_blank() -> bool {
    const PAGES: usize = 256;
    let first = core::arch::wasm32::memory_grow(0, PAGES);
    if first == usize::MAX {
        return false;
    }
    // SAFETY: the pages are new, and nobody else's.
    let new = unsafe { core::slice::from_raw_parts((first * PAGE) as *const u8, PAGES * PAGE) };
    new.iter().all(|byte| *byte == 0)
}
