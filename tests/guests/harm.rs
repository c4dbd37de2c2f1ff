//! What more than one of the guests does to its host.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

pub(crate) fn spin() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

pub(crate) fn fill_memory() -> ! {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        held.push(black_box(vec![1; 1 << 20]));
    }
}

/// Fills the host's stack: a frame holds nothing that has an address.
#[inline(never)]
#[expect(unconditional_recursion, reason = "what is tested")]
pub(crate) fn depth(level: usize) -> usize {
    depth(level + 1) ^ depth(level + 2)
}

/// A line of ten thousand characters, with those that move a terminal's cursor or turn the text.
pub(crate) fn long_line() -> String {
    "\u{1b}[2J\r\n\u{202e}x".repeat(1250)
}

/// A text of this length at this place.
///
/// # Safety
///
/// It must be neither freed nor changed, nor read where there is nothing.
pub(crate) unsafe fn text_at(place: &mut [u8], length: usize) -> String {
    // SAFETY: see above.
    unsafe { String::from_raw_parts(place.as_mut_ptr(), length, length) }
}
