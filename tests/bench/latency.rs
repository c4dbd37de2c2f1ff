//! How long a run takes: alone, among many, and beside guests that spin.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::future::join_all;
use suite::guests;

use crate::report::{Report, quantile};
use crate::ways::Ways;

/// Runs of which the quantiles are taken.
const RUNS: usize = 4000;
/// Whole checks of which the quantiles are taken, beside spinning guests and without them in turns.
const CHECKS: usize = 400;
const TURNS: usize = 5;
/// Guests that spin.
const SPINNERS: usize = 4;

/// An instance, its call and its drop: no request is sent.
pub(crate) fn instances(ways: &Ways, report: &mut Report) {
    report.section("one run that sends nothing: store, instance, call, drop");
    // On one thread, so that no waking of another one is in it.
    let alone = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut times = alone.block_on(async {
        let mut times = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let started = Instant::now();
            ways.instance_here().await;
            times.push(micros(started));
        }
        times
    });
    report.add_bound("instance, 1 in flight, p50 µs", quantile(&mut times, 0.5), 50.0);
    report.add("instance, 1 in flight, p99 µs", quantile(&mut times, 0.99));
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
    let started = Instant::now();
    let done = join_all((0..AT_ONCE).map(|_| worker())).await;
    let all = micros(started);
    let mut times: Vec<f64> = done.into_iter().flat_map(Result::unwrap).collect();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let count = times.len() as f64;
    report.add("instance, 64 in flight, µs of wall time for each", all / count);
    report.add("instance, 64 in flight, p50 µs", quantile(&mut times, 0.5));
    report.add("instance, 64 in flight, p99 µs", quantile(&mut times, 0.99));
}

/// Whole checks of a card, one after the other, while guests spin and while none does.
pub(crate) async fn beside_spinners(ways: &Arc<Ways>, report: &mut Report) {
    report.section("whole check of a 4 KiB card, honest, beside guests that spin");
    let (mut quiet, mut beside) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..TURNS {
        note(&mut quiet, checks(ways).await);
        let spinners = Spinners::start(ways);
        note(&mut beside, checks(ways).await);
        spinners.stop().await;
    }
    for (index, name) in ["p50", "p99"].into_iter().enumerate() {
        let (without, with) = (quantile(&mut quiet[index], 0.5), quantile(&mut beside[index], 0.5));
        report.add(format!("honest, no spinner, {name} µs"), without);
        report.add(format!("honest, {SPINNERS} spinners, {name} µs"), with);
        report.add_bound(format!("honest, {SPINNERS} spinners against none, {name}"), with / without, 1.2);
    }
}

fn note(all: &mut [Vec<f64>; 2], mut times: Vec<f64>) {
    all[0].push(quantile(&mut times, 0.5));
    all[1].push(quantile(&mut times, 0.99));
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
    fn start(ways: &Arc<Ways>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let rogue = ways.load(guests::ROGUE);
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

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}
