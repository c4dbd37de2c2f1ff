//! What a sandboxed probe of an agent costs, against the same logic compiled into the program.
//!
//! It prints ratios, because they hold on another machine: both ways run in turns in one process, against one server in
//! another process. CPU time is the process's own (user and system), so it does not count the server and does not grow
//! on a busy machine. With a file name as argument it writes the figures there as JSON, too.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that cannot go on has failed"
)]

extern crate alloc;

// The agent probe's own modules, compiled for this machine: `build.rs` puts them there.
include!(concat!(env!("OUT_DIR"), "/agent_card.rs"));

mod measure;
mod sdk;
mod ways;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use measure::Figures;
use suite::peer::{Peer, answer};
use ways::Ways;

/// The sizes of a card: a usual one, and one near the limit.
const SIZES: [(&str, usize, u32); 2] = [("4 KiB", 4 << 10, 1000), ("900 KiB", 900 << 10, 40)];

/// Each way is measured so many times, in turns; the median counts.
const ROUNDS: usize = 7;

#[tokio::main]
async fn main() {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        Some("--serve") => serve().await,
        file => measure_all(file).await,
    }
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

async fn measure_all(file: Option<&str>) {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("--serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let mut all = Vec::new();
    for (name, size, times) in SIZES {
        let ways = Ways::new(url.trim(), &card_of(size));
        let figures = measure::rounds(&ways, times, ROUNDS).await;
        print_figures(name, &figures);
        all.push(serde_json::json!({ "card": name, "times": times, "rounds": ROUNDS, "figures": figures }));
    }
    if let Some(file) = file {
        std::fs::write(file, serde_json::to_vec_pretty(&all).unwrap()).unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
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

fn print_figures(name: &str, figures: &Figures) {
    println!("card of {name}                          CPU µs   wall µs   CPU against native");
    for (way, figure) in figures {
        let ratio = figure.cpu / figures["whole check, native"].cpu;
        println!("  {way:36} {:8.1}  {:8.1}   {ratio:6.2}", figure.cpu, figure.wall);
    }
}
