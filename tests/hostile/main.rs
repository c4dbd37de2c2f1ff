//! What means harm, each as a test of its own: peers and guests that misbehave, addresses that are spelt to deceive.
//!
//! A family is a module with `cases()`. Cases run one after the other, because the peak of the process's memory is
//! measured; those that wait for a deadline run at the same time, before the first of them is reported. All stand on
//! one runtime and one sandbox with the built-in components: see [`world`]. Whatever a case is about, what it would
//! publish must not tell of its peers: see [`published`].

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod case;
mod egress;
mod guests;
mod load;
mod memory;
mod peers;
mod program;
mod published;
mod world;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if std::env::var_os(egress::INSIDE).is_some() {
        egress::inside();
        return ExitCode::SUCCESS;
    }
    memory::keep_no_freed_memory();
    let mut arguments = Arguments::from_args();
    // One at a time: what else runs would be in the figure.
    arguments.test_threads = Some(1);
    let cases =
        [peers::cases(), egress::cases(), guests::cases(), load::cases(), program::cases()].into_iter().flatten();
    libtest_mimic::run(&arguments, case::trials(&arguments, cases)).exit_code()
}
