//! What the kernel tells of a process.

use std::fs;

/// A figure of a process's memory in KiB, by its name in the process's `status`, such as `VmRSS`; none where the kernel
/// does not tell. `pid` may be `self`.
#[must_use]
pub fn memory(pid: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find(|line| line.starts_with(name))?.split_whitespace().nth(1)?.parse().ok()
}
