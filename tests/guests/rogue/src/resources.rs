//! Behaviours that want more CPU time, memory or stack than there is.

use alloc::vec::Vec;
use core::hint::black_box;

use kourier_probe_sdk::chat::{Target, Verdict};
use kourier_probe_sdk::journal;

use crate::{harm, setting};

pub(crate) fn spin(_target: &Target) -> Verdict {
    harm::spin()
}

/// Leaves the guest's own code again and again, so that only the sum of its time is large.
pub(crate) fn spin_in_host_calls(_target: &Target) -> Verdict {
    loop {
        journal::cause("again");
    }
}

pub(crate) fn fill_memory(_target: &Target) -> Verdict {
    harm::fill_memory()
}

/// Ok when it was refused and went on.
pub(crate) fn live_with_a_full_memory(_target: &Target) -> Verdict {
    let mut much: Vec<u8> = Vec::new();
    if much.try_reserve(1 << 30).is_err() { Verdict::Ok } else { Verdict::UnexpectedAnswer }
}

pub(crate) fn recurse(target: &Target) -> Verdict {
    if harm::depth(target.channel.len()) == 0 { Verdict::Ok } else { Verdict::UnexpectedAnswer }
}

/// Fills the guest's own stack, which lies in its memory.
pub(crate) fn recurse_with_locals(target: &Target) -> Verdict {
    if depth_with_locals(target.channel.len()) == 0 { Verdict::Ok } else { Verdict::UnexpectedAnswer }
}

#[expect(unconditional_recursion, reason = "what is tested")]
fn depth_with_locals(level: usize) -> usize {
    let room = black_box([level; 64]);
    depth_with_locals(level + room[level % 64]) + room[1]
}

#[expect(clippy::panic, reason = "what is tested")]
pub(crate) fn panic(_target: &Target) -> Verdict {
    panic!("this probe gives up");
}

/// Uses up its lines first: the panic has to be heard all the same.
pub(crate) fn panic_after_a_flood(target: &Target) -> Verdict {
    for _ in 0..100 {
        journal::cause("noise");
    }
    panic(target)
}

/// A trap that no panic handler sees.
pub(crate) fn trap(_target: &Target) -> Verdict {
    core::arch::wasm32::unreachable()
}

/// Looks for `head` followed by `tail` in the whole memory. Ok when it is not there, `AccessRestricted` when it is.
pub(crate) fn search_memory(target: &Target) -> Verdict {
    if is_in_memory(target) { Verdict::AccessRestricted } else { Verdict::Ok }
}

/// Whether `head` followed by `tail` is anywhere in the memory. They themselves never stand side by side.
pub(crate) fn is_in_memory(target: &Target) -> bool {
    let head = setting(target, "head").unwrap_or_default().as_bytes();
    let tail = setting(target, "tail").unwrap_or_default().as_bytes();
    let size = core::arch::wasm32::memory_size(0) * 65536;
    for start in 1..size.saturating_sub(head.len() + tail.len()) {
        // SAFETY: the range lies within the memory, and nothing else runs.
        let found = unsafe {
            let place = black_box(start) as *const u8;
            core::slice::from_raw_parts(place, head.len()) == head
                && core::slice::from_raw_parts(place.add(head.len()), tail.len()) == tail
        };
        if found {
            return true;
        }
    }
    false
}
