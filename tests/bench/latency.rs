//! How long a run takes: alone, among many, and beside guests that spin.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::future::join_all;
use kourier_sandbox::Component;
use suite::guests;

use crate::report::{Report, quantile};
use crate::ways::Ways;

/// Runs of which the quantiles are taken.
const RUNS: usize = 4000;
/// Whole checks of which the quantiles are taken: alone, beside guests that spin, and beside another program that does, in
/// turns.
const CHECKS: usize = 400;
/// So many times the quantiles are taken, and the median of each counts: a core that others share is slow for a second.
const TURNS: usize = 15;
/// Guests that spin.
const SPINNERS: usize = 4;

/// An instance, its call and its drop: no request is sent.
pub(crate) fn instances(ways: &Ways, report: &mut Report) {
    report.section("one run that sends nothing: store, instance, call, drop");
    // On one thread, so that no waking of another one is in it.
    let alone = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut turns = Turns::default();
    for _ in 0..TURNS {
        let times = alone.block_on(async {
            let mut times = Vec::with_capacity(RUNS);
            for _ in 0..RUNS {
                let started = Instant::now();
                ways.instance_here().await;
                times.push(micros(started));
            }
            times
        });
        turns.note(times);
    }
    let [p50, p99] = turns.medians();
    report.add_bound("instance, 1 in flight, p50 µs", p50, 50.0);
    report.add("instance, 1 in flight, p99 µs", p99);
}

/// The same on the guests' own threads, 64 at a time. The time is from one run's end to the next one's.
pub(crate) async fn instances_at_once(ways: &Arc<Ways>, report: &mut Report) {
    const AT_ONCE: usize = 64;
    let worker = || {
        let ways = Arc::clone(ways);
        tokio::spawn(async move {
            let mut times = Vec::new();
            for _ in 0..RUNS / AT_ONCE {
                let started = Instant::now();
                ways.instance().await;
                times.push(micros(started));
            }
            times
        })
    };
    let (mut each, mut turns) = (Vec::new(), Turns::default());
    for _ in 0..TURNS {
        let started = Instant::now();
        let done = join_all((0..AT_ONCE).map(|_| worker())).await;
        let all = micros(started);
        let times: Vec<f64> = done.into_iter().flat_map(Result::unwrap).collect();
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        each.push(all / times.len() as f64);
        turns.note(times);
    }
    report.add("instance, 64 in flight, µs of wall time for each", quantile(&mut each, 0.5));
    let [p50, p99] = turns.medians();
    report.add("instance, 64 in flight, p50 µs", p50);
    report.add("instance, 64 in flight, p99 µs", p99);
}

/// Whole checks of a card, one after the other: alone, while guests spin, and while another program does, which shows what a
/// busy core does to another one of this machine.
pub(crate) async fn beside_spinners(ways: &Arc<Ways>, report: &mut Report) {
    report.section("whole check of a 4 KiB card, honest, beside guests that spin");
    // Once, as the broker does: what spun starts on the slow lane. Not measured is how it came there: on the fast ones, for up
    // to 9 ms.
    let rogue = ways.load(guests::ROGUE);
    let (mut alone, mut beside_guests, mut beside_program) = (Turns::default(), Turns::default(), Turns::default());
    for _ in 0..TURNS {
        alone.note(checks(ways).await);
        let spinners = Spinners::start(ways, &rogue);
        beside_guests.note(checks(ways).await);
        spinners.stop().await;
        let program = SpinningProgram::start();
        beside_program.note(checks(ways).await);
        drop(program);
    }
    let [alone, beside_guests, beside_program] = [alone, beside_guests, beside_program].map(Turns::medians);
    for (index, name) in ["p50", "p99"].into_iter().enumerate() {
        let (alone, beside_guests, beside_program) = (alone[index], beside_guests[index], beside_program[index]);
        report.add(format!("honest, no spinner, {name} µs"), alone);
        report.add(format!("honest, {SPINNERS} spinners, {name} µs"), beside_guests);
        report.add(format!("honest, another program spins, {name} µs"), beside_program);
        report.add_bound(format!("honest, {SPINNERS} spinners against none, {name}"), beside_guests / alone, 1.2);
        report.add(format!("honest, another program spins against none, {name}"), beside_program / alone);
    }
}

/// The quantiles of each turn.
#[derive(Default)]
struct Turns {
    p50: Vec<f64>,
    p99: Vec<f64>,
}

impl Turns {
    fn note(&mut self, mut times: Vec<f64>) {
        self.p50.push(quantile(&mut times, 0.5));
        self.p99.push(quantile(&mut times, 0.99));
    }

    fn medians(mut self) -> [f64; 2] {
        [quantile(&mut self.p50, 0.5), quantile(&mut self.p99, 0.5)]
    }
}

async fn checks(ways: &Ways) -> Vec<f64> {
    let mut times = Vec::with_capacity(CHECKS);
    for _ in 0..CHECKS {
        let started = Instant::now();
        ways.take("whole check, sandboxed").await;
        times.push(micros(started));
    }
    times
}

/// Guests that spin, each again as soon as it was cut.
struct Spinners {
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Spinners {
    fn start(ways: &Arc<Ways>, rogue: &Component) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let (stop, ways, rogue) = (Arc::clone(&stop), Arc::clone(ways), rogue.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    ways.spin(&rogue).await;
                }
            })
        };
        let tasks = (0..SPINNERS).map(spin).collect();
        Self { stop, tasks }
    }

    async fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        join_all(self.tasks).await;
    }
}

/// Another program that spins. It is killed when this is dropped, and ends when the one who started it does.
struct SpinningProgram(Child);

impl SpinningProgram {
    /// As nice as the slow lane of the sandbox.
    const NICE: &str = "10";

    fn start() -> Self {
        let mut command = Command::new("nice");
        command.args(["-n", Self::NICE]).arg(std::env::current_exe().unwrap()).arg("--spin");
        Self(command.stdin(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for SpinningProgram {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}
