//! What a sandboxed probe of an agent costs, against the same logic compiled into the program.
//!
//! It prints ratios, because they hold on another machine: both ways run in turns in one process, against one server in
//! another process. CPU time is the process's own (user and system), so it does not count the server and does not grow
//! on a busy machine.
//!
//!     bench [--cluster] [FILE] [EARLIER]
//!
//! With `--cluster` it measures another thing: a broker with many Bindings on a real API server.
//!
//! It writes all figures to FILE as JSON, and prints them beside those of EARLIER, a file of an earlier run, which may be
//! FILE. When a figure missed its bound it ends with 1, after all of that.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that cannot go on has failed"
)]

extern crate alloc;

// The agent probe's own modules, compiled for this machine: `build.rs` puts them there.
include!(concat!(env!("OUT_DIR"), "/agent_card.rs"));

mod blackbox;
mod cluster;
mod latency;
mod many;
mod measure;
mod memory;
mod report;
mod sdk;
mod ways;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;

use blackbox::Blackbox;
use report::Report;
use suite::peer::{Peer, answer};
use tokio::runtime::Runtime;
use ways::Ways;

/// A size of a card to measure with.
struct Size {
    name: &'static str,
    bytes: usize,
    /// How often each way is taken in a round.
    times: u32,
    /// At most so many times the CPU time of the native check.
    against_native: f64,
    /// At most so many times that of `blackbox_exporter`, which does not read a card, so that it says little of a large one.
    against_blackbox: Option<f64>,
}

/// A usual card, and one near the limit.
const SIZES: [Size; 2] = [
    Size { name: "4 KiB", bytes: 4 << 10, times: 1000, against_native: 3.0, against_blackbox: Some(1.0 / 3.0) },
    Size { name: "900 KiB", bytes: 900 << 10, times: 40, against_native: 2.0, against_blackbox: None },
];

/// Each way is measured so many times, in turns; the median counts.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "--spin") {
        std::thread::spawn(spin);
        // Until the one who started it goes away.
        let _ = std::io::stdin().lines().count();
        return ExitCode::SUCCESS;
    }
    let runtime = Runtime::new().unwrap();
    if arguments.first().is_some_and(|argument| argument == "--serve") {
        runtime.block_on(serve());
        return ExitCode::SUCCESS;
    }
    let in_a_cluster = arguments.first().is_some_and(|argument| argument == "--cluster");
    let mut files = arguments.iter().skip(usize::from(in_a_cluster)).map(PathBuf::from);
    let file = files.next();
    // Now: it may be the file that is written, and one that cannot be read is told before minutes of work.
    let earlier = files.next().map(|earlier| report::read(&earlier).unwrap());
    let mut report = Report::default();
    if in_a_cluster {
        cluster::bindings(&mut report);
    } else {
        probes(&runtime, &mut report);
        many::bindings(&mut report);
    }
    if let Some(file) = file {
        report.write(&file).unwrap();
    }
    if let Some(earlier) = earlier {
        report.compare(&earlier);
    }
    if report.missed().is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nMISSED: {}", report.missed().join("; "));
    ExitCode::FAILURE
}

fn spin() {
    loop {
        std::hint::spin_loop();
    }
}

/// What a probe costs, alone and beside others.
fn probes(runtime: &Runtime, report: &mut Report) {
    let server = Server::start();
    let ways: Vec<_> = SIZES.map(|size| Arc::new(Ways::new(&server.url, &card_of(size.bytes)))).into();
    runtime.block_on(checks(&server.url, &ways, report));
    let usual = &ways[0];
    latency::instances(usual, report);
    runtime.block_on(async {
        latency::instances_at_once(usual, report).await;
        latency::beside_spinners(usual, report).await;
        memory::in_flight(usual, report).await;
    });
    memory::loading(usual, report);
}

/// The server, in a process of its own: `/4096` is a card of 4096 bytes.
async fn serve() {
    let script = |seen: &suite::peer::Seen| {
        let size = seen.path().trim_start_matches('/').parse().unwrap_or(0);
        vec![answer("200 OK", "content-type: application/json\r\n", &card_of(size))]
    };
    let peer = Peer::start(script).await.unwrap();
    println!("{}", peer.url());
    // Until the one who started it goes away.
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().lines().count()).await;
}

/// The server's process. It is killed when this is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a check costs: in the sandbox, without it, in parts, and done by another program.
async fn checks(url: &str, ways: &[Arc<Ways>], report: &mut Report) {
    let blackbox = match Blackbox::start().await {
        Ok(blackbox) => Some(blackbox),
        Err(problem) => {
            assert!(std::env::var_os("CI").is_none(), "{problem:#}");
            println!("SKIPPED: no comparison with blackbox_exporter: {problem:#}");
            None
        }
    };
    for (Size { name, bytes, times, against_native, against_blackbox }, ways) in SIZES.into_iter().zip(ways) {
        report.section(&format!("card of {name}: CPU time, µs"));
        let figures = measure::rounds(ways, times, ROUNDS).await;
        for (way, figure) in &figures {
            report.add(format!("{name}: {way}, CPU µs"), figure.cpu);
            report.keep(format!("{name}: {way}, wall µs"), figure.wall);
        }
        let sandboxed = figures["whole check, sandboxed"].cpu;
        report.add_bound(
            format!("{name}: sandboxed against native"),
            sandboxed / figures["whole check, native"].cpu,
            against_native,
        );
        if let Some(blackbox) = &blackbox {
            let theirs = blackbox.cost(&format!("{url}/{bytes}"), times * 2).await.unwrap();
            report.add(format!("{name}: blackbox_exporter, a plain GET, CPU µs"), theirs);
            let ratio = format!("{name}: sandboxed against blackbox_exporter");
            match against_blackbox {
                Some(bound) => report.add_bound(ratio, sandboxed / theirs, bound),
                None => report.add(ratio, sandboxed / theirs),
            }
        }
    }
}

/// A card that the broker can use, of exactly so many bytes.
fn card_of(size: usize) -> Vec<u8> {
    let skill = |number: usize| {
        format!(
            r#"{{"id":"s{number}","name":"Skill {number}","description":"Does what skill {number} does.","tags":["a","b"]}}"#
        )
    };
    let head = r#"{"name":"Bench","description":"A card to measure with.","version":"1.0.0","protocolVersion":"0.3.0","url":"https://agent.example/a2a","preferredTransport":"JSONRPC","capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":["#;
    let mut text = head.to_owned();
    let mut number = 0;
    while text.len() + 200 < size {
        text += &skill(number);
        text.push(',');
        number += 1;
    }
    text += &skill(number);
    text += "]}";
    text += &" ".repeat(size.saturating_sub(text.len()));
    text.into_bytes()
}
