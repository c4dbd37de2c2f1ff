//! A chat probe that never says what it is for.

#![no_std]

use kourier_probe_sdk::chat::{ChatProbe, Descriptor, Target, Verdict};

struct Spins;

impl ChatProbe for Spins {
    fn describe() -> Descriptor {
        loop {
            core::hint::spin_loop();
        }
    }

    fn check(_target: Target) -> Verdict {
        Verdict::Ok
    }
}

kourier_probe_sdk::export_chat_probe!(Spins);
