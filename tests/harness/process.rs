//! What the kernel tells of a process.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// A figure of a process's memory in KiB, by its name in the process's `status`, such as `VmRSS`; none where the kernel
/// does not tell. `pid` may be `self`.
#[must_use]
pub fn memory(pid: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find(|line| line.starts_with(name))?.split_whitespace().nth(1)?.parse().ok()
}

/// CPU time of a process so far, user and system, in steps of 10 ms; none where the kernel does not tell.
#[must_use]
pub fn cpu(pid: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the program's name, which may have anything in it, the fields 3 and on: the 14th and 15th are these times, in
    // the kernel's unit for user space, which is 10 ms on every Linux.
    let fields = text.rsplit_once(") ")?.1.split(' ').skip(11).take(2);
    let ticks: u64 = fields.map(str::parse::<u64>).sum::<Result<_, _>>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// How long this process's threads whose names begin so have waited for a core, in all. Nothing where there is time for
/// them, or where the kernel does not tell.
#[must_use]
pub fn waited_for_a_core(threads: &str) -> Duration {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    tasks.filter_map(|task| waited(&task.ok()?.path(), threads)).sum()
}

fn waited(task: &Path, threads: &str) -> Option<Duration> {
    let is_it = fs::read_to_string(task.join("comm")).ok()?.starts_with(threads);
    // Nanoseconds on a core, nanoseconds in wait of one, turns.
    let text = fs::read_to_string(task.join("schedstat")).ok().filter(|_| is_it)?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}
