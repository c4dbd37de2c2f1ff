//! Resident memory of runs that wait for their peer, and the time that components take to load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agent_kourier::builtin;
use futures::future::BoxFuture;
use kourier_core::reason::BackendReason;
use kourier_sandbox::{Failure, HttpRequest, HttpResponse, Transport};
use suite::process::memory;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::report::Report;
use crate::ways::Ways;

/// The longest until all runs have asked: their own time is 10 s, and this is less.
const ASKED: Duration = Duration::from_secs(8);

/// Answers nobody until it is told to.
struct Held {
    asked: AtomicUsize,
    gate: Semaphore,
}

impl Transport for Held {
    fn send(&self, _: HttpRequest, _: tokio::time::Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {
            let _ = self.gate.acquire().await;
            Err(Failure::Unreachable(String::new()))
        })
    }
}

/// What so many runs hold while all of them wait for an answer.
pub(crate) async fn in_flight(ways: &Arc<Ways>, report: &mut Report) {
    report.section("resident memory of runs that wait for an answer");
    for count in [1, 100, 1000] {
        let held = Arc::new(Held { asked: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let before = resident();
        let run = |_| {
            let (ways, held) = (Arc::clone(ways), Arc::clone(&held));
            tokio::spawn(async move { ways.sandboxed(held, BackendReason::Unreachable).await })
        };
        let runs: Vec<_> = (0..count).map(run).collect();
        let all_asked = async {
            while held.asked.load(Ordering::SeqCst) < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(ASKED, all_asked).await.expect("every run asks");
        let rise = resident() - before;
        held.gate.add_permits(count);
        for run in runs {
            run.await.unwrap();
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 1000")]
        report.add(format!("{count} in flight, KiB for each"), rise / count as f64);
    }
}

/// From the bytes of a component to one that can be run.
pub(crate) fn loading(ways: &Ways, report: &mut Report) {
    report.section("loading a component");
    for component in builtin::ALL {
        let started = Instant::now();
        ways.load(component.wasm);
        let took = started.elapsed().as_secs_f64() * 1e3;
        report.add(format!("{}, {} KiB, loaded in ms", component.name, component.wasm.len() >> 10), took);
    }
}

/// Resident memory of this process, in KiB.
fn resident() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let resident = memory("self", "VmRSS").expect("Linux tells it") as f64;
    resident
}
