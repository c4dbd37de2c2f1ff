//! The misbehaviours of the rogue guest, and what each comes to.

use std::time::Duration;

use kourier_core::outcome::{Blame, Fault};
use kourier_core::reason::ChannelReason;
use kourier_sandbox::Run;
use suite::peer::{Act, answer};

use super::is_plain;
use super::isolation::WORD;
use crate::case::{Checked, Pace};
use crate::world::SECRET;

/// How a run ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends {
    /// With this verdict of the guest's own.
    Says(ChannelReason),
    /// With this fault, and these words in the log.
    Faults(Fault, &'static str),
}

/// One misbehaviour.
pub(super) struct Row {
    /// Its name, as the guest has it.
    pub(super) behaviour: &'static str,
    /// What the guest is told of it.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// What the peer does with each request.
    pub(super) acts: fn() -> Vec<Act>,
    /// How a run ends.
    pub(super) ends: Ends,
    /// Requests of a run that reach the peer.
    pub(super) requests: usize,
    /// Whether a run lasts until the host ends it. Honest ones that begin later end earlier.
    pub(super) lasts: bool,
    /// When the case runs.
    pub(super) pace: Pace,
    /// What else has to be so.
    pub(super) more: fn(&Run<ChannelReason>) -> Checked,
}

impl Row {
    /// Whether a run ended as it has to. `starved` says that the machine had no time for the guests' threads: a run that
    /// cannot spend its CPU time within its deadline ends by that.
    pub(super) fn check(&self, run: &Run<ChannelReason>, starved: bool) -> Checked {
        let told = |what: &str| Err(format!("{what}: {run:?}"));
        match self.ends {
            Ends::Faults(Fault::CpuBudget, _) if starved && run.fault == Some(Fault::Deadline) => {
                println!("STARVED: the machine had no time for a run that spins, which ended by its deadline");
            }
            Ends::Says(reason) if (run.outcome.reason, run.fault) != (reason, None) => return told("not as it says"),
            Ends::Says(_) => {}
            Ends::Faults(fault, words) => {
                if (run.fault, run.outcome.reason) != (Some(fault), fault.channel_reason()) {
                    return told("not the fault that it is");
                }
                if fault.blame() != Blame::Guest || !run.causes.iter().any(|line| line.contains(words)) {
                    return told("the log does not say whose and which fault it is");
                }
            }
        }
        let mut lines = run.causes.iter().chain(&run.advice);
        let is_allowed = |line: &String| line.len() <= 512 && is_plain(line) && !line.contains(SECRET);
        // The guest's own 16, a panic, and 16 of the host's.
        if run.causes.len() + run.advice.len() > 33 || !lines.all(is_allowed) {
            return told("lines that the log must not have");
        }
        (self.more)(run)
    }
}

fn row(behaviour: &'static str, ends: Ends) -> Row {
    Row {
        behaviour,
        settings: &[],
        acts: || vec![answer("200 OK", "", b"{}")],
        ends,
        requests: 0,
        lasts: false,
        pace: Pace::Alone,
        more: |_| Ok(()),
    }
}

fn fine(behaviour: &'static str) -> Row {
    row(behaviour, Ends::Says(ChannelReason::Ok))
}

fn faulty(behaviour: &'static str, fault: Fault, words: &'static str) -> Row {
    row(behaviour, Ends::Faults(fault, words))
}

/// One that spends all of its CPU time.
fn greedy(behaviour: &'static str) -> Row {
    Row { lasts: true, more: is_cut_in_time, ..faulty(behaviour, Fault::CpuBudget, "used up its CPU time") }
}

/// All of them, in the order of the guest's table.
pub(super) fn rows() -> Vec<Row> {
    [network(), resources(), rest()].into_iter().flatten().collect()
}

fn network() -> Vec<Row> {
    vec![
        Row { requests: 64, ..greedy("ask-a-million-times") },
        Row {
            acts: || vec![Act::Hang],
            // One of 8 seconds and one of what was left. The third was told that no time is left, and waits for the end.
            requests: 2,
            lasts: true,
            pace: Pace::Together,
            // To the millisecond on a paused clock, in the suite; here the machine may be busy.
            more: |run| same(run, (10_000..12_000).contains(&run.wall.as_millis())),
            ..faulty("ask-forever", Fault::Deadline, "the run was older than its wall time")
        },
        Row { requests: 64, ..fine("ask-too-much") },
        Row { more: says_why_it_was_refused, ..greedy("ask-wrongly-a-million-times") },
        Row { requests: 1, ..fine("fetch") },
        Row { requests: 1, ..fine("forbidden-bodies") },
        Row { more: was_refused, ..fine("forbidden-headers") },
        Row { more: was_refused, ..fine("forbidden-paths") },
        faulty("hand-over-megabytes", Fault::BadAnswer, "too much data"),
        faulty("lie-about-a-length", Fault::BadAnswer, "out of bounds"),
        faulty("lie-about-a-text", Fault::BadAnswer, "utf-8"),
        Row {
            acts: || vec![answer("200 OK", "", format!("your token is {SECRET}").as_bytes())],
            requests: 1,
            more: |run| {
                const LINE: [&str; 1] = ["your token is [masked]"];
                same(run, run.causes == LINE && run.advice == LINE)
            },
            ..fine("repeat-what-the-peer-says")
        },
        Row {
            acts: || vec![answer("500 Internal Server Error", "", b"spin")],
            requests: 1,
            ..greedy("spin-when-told-so")
        },
    ]
}

fn resources() -> Vec<Row> {
    vec![
        faulty("fill-memory", Fault::Memory, "memory: "),
        fine("live-with-a-full-memory"),
        faulty("panic", Fault::Panic, "this probe gives up"),
        // Though it used up its lines first.
        faulty("panic-after-a-flood", Fault::Panic, "this probe gives up"),
        faulty("recurse", Fault::Stack, "call stack exhausted"),
        // Rust keeps what has an address on a stack of its own, in memory, below which there is nothing.
        faulty("recurse-with-locals", Fault::Trap, "out of bounds memory access"),
        Row { settings: HALVES, ..fine("search-memory") },
        greedy("spin"),
        greedy("spin-in-host-calls"),
        faulty("trap", Fault::Trap, "unreachable"),
    ]
}

/// The secret in two, so that a guest that looks for it in its memory does not bring it there itself.
const HALVES: &[(&str, &str)] = {
    let (head, tail) = SECRET.split_at(13);
    &[("head", head), ("tail", tail)]
};

fn rest() -> Vec<Row> {
    vec![
        Row { settings: WORD, requests: 2, ..fine("hear") },
        Row { settings: WORD, requests: 4, ..fine("tell") },
        Row { more: is_cut_escaped_and_counted, ..fine("flood-the-journal") },
        fine("keep-a-global"),
    ]
}

fn same(run: &Run<ChannelReason>, is_so: bool) -> Checked {
    if is_so { Ok(()) } else { Err(format!("not as it should be: {run:?}")) }
}

/// A spinning guest overruns its budget by one look of the host's at most, and by what it takes to come to an end.
fn is_cut_in_time(run: &Run<ChannelReason>) -> Checked {
    same(run, (200..=250).contains(&run.cpu.as_millis()) && run.wall < Duration::from_secs(10))
}

fn was_refused(run: &Run<ChannelReason>) -> Checked {
    same(run, run.causes.iter().any(|cause| cause.starts_with("the probe's request was refused: ")))
}

/// Once, and not a million times.
fn says_why_it_was_refused(run: &Run<ChannelReason>) -> Checked {
    is_cut_in_time(run)?;
    was_refused(run)?;
    same(run, run.causes.len() == 2 && run.requests == 0)
}

fn is_cut_escaped_and_counted(run: &Run<ChannelReason>) -> Checked {
    same(run, (run.causes.len() + run.advice.len(), run.dropped) == (16, 84))?;
    let is_line = |line: &String| line.starts_with(r"\u{1b}[2J\r\n\u{202e}x") && line.ends_with('…');
    same(run, run.causes.iter().chain(&run.advice).all(is_line))
}
