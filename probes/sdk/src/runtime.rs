//! What a component needs when there is no standard library.

use alloc::alloc::{Layout, alloc, handle_alloc_error, realloc};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

use crate::journal;

mod heap;

// The code that the compiler makes calls `memcpy`, `memcmp` and their like, which this target keeps in its C library.
#[link(name = "c")]
unsafe extern "C" {}

/// The host's way to put strings and lists into this component's memory.
///
/// # Safety
///
/// Called by the host alone, which keeps to the component model's canonical ABI: `old` came from this allocator with
/// `old_len` bytes and this alignment, or `old_len` is 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_len: usize, align: usize, new_len: usize) -> *mut u8 {
    if new_len == 0 {
        return core::ptr::without_provenance_mut(align);
    }
    // SAFETY: `align` is a power of two and the sizes fit the address space: see above.
    let (layout, place) = unsafe {
        if old_len == 0 {
            let layout = Layout::from_size_align_unchecked(new_len, align);
            (layout, alloc(layout))
        } else {
            let layout = Layout::from_size_align_unchecked(old_len, align);
            (layout, realloc(old, layout, new_len))
        }
    };
    if place.is_null() { handle_alloc_error(layout) } else { place }
}

/// Tells the operator where and why, then traps. It allocates nothing: a failed allocation ends here as well.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut line = Line { bytes: [0; Line::SIZE], len: 0 };
    // A line that is full says enough.
    let _ = match info.location() {
        Some(place) => write!(line, "panic at {}:{}: {}", place.file(), place.line(), info.message()),
        None => write!(line, "panic: {}", info.message()),
    };
    journal::cause(line.as_str());
    core::arch::wasm32::unreachable()
}

/// As much text as the journal takes.
struct Line {
    bytes: [u8; Self::SIZE],
    len: usize,
}

impl Line {
    const SIZE: usize = 512;

    fn as_str(&self) -> &str {
        let written = self.bytes.get(..self.len).unwrap_or_default();
        str::from_utf8(written).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = Self::SIZE - self.len;
        let end = text.floor_char_boundary(room);
        for (to, from) in self.bytes.iter_mut().skip(self.len).zip(text.bytes().take(end)) {
            *to = from;
        }
        self.len += end;
        if end == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}
