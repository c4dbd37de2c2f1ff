//! How much memory a case takes.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use suite::process::memory;

/// How the allocator is told to give back what is freed, and to keep one heap for all threads: so that a peak is what
/// was needed, and not hidden in what an earlier case left.
const GIVE_BACK: [(&str, &str); 3] =
    [("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536"), ("MALLOC_ARENA_MAX", "1")];

/// Starts this program again with the allocator's settings, unless it has them.
///
/// # Panics
///
/// When it cannot be started.
pub(crate) fn keep_no_freed_memory() {
    if GIVE_BACK.iter().all(|(name, value)| std::env::var(name).is_ok_and(|set| set == *value)) {
        return;
    }
    let itself = std::env::current_exe().expect("a program knows where it is");
    let error = Command::new(itself).args(std::env::args_os().skip(1)).envs(GIVE_BACK).exec();
    panic!("the program cannot be started again: {error}");
}

/// The peak of this process's resident memory over a stretch of time.
pub(crate) struct Peak {
    /// KiB at the start; none where the kernel does not tell.
    before: Option<u64>,
}

impl Peak {
    /// From now on.
    #[must_use]
    pub(crate) fn begin() -> Self {
        // 5: the high-water mark becomes what is resident now.
        let reset = fs::write("/proc/self/clear_refs", "5");
        Self { before: reset.ok().and_then(|()| memory("self", "VmRSS")) }
    }

    /// By how many KiB it rose; none where the kernel does not tell.
    #[must_use]
    pub(crate) fn rise(&self) -> Option<u64> {
        Some(memory("self", "VmHWM")?.saturating_sub(self.before?))
    }

    /// Fails when it rose by more than so many KiB.
    ///
    /// # Errors
    ///
    /// What it was.
    pub(crate) fn at_most(&self, limit: u64) -> Result<(), String> {
        let Some(rise) = self.rise() else {
            println!("SKIPPED: this kernel does not tell the peak of a process's memory");
            return if std::env::var("CI").is_ok_and(|ci| ci == "true") {
                Err("the peak of the memory cannot be measured".to_owned())
            } else {
                Ok(())
            };
        };
        if rise <= limit { Ok(()) } else { Err(format!("memory rose by {rise} KiB, at most {limit} are allowed")) }
    }
}
