//! The threads on which guests run.
//!
//! A run starts on the fast lane, unless the component's last one spun until it was cut. One that has used more CPU
//! time than nearly every probe needs is moved to the slow lane, which is a single thread: there those that spin take turns
//! with each other and with honest ones that need as much, and no thread from those that need less. Nor much of a core: to
//! the machine's scheduler the slow lane is nice.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use kourier_core::outcome::Fault;
use rustix::process::nice;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::meter::Meter;
use crate::task::Task;

/// Threads of the fast lane: while a run spins on one, until it is moved, the other goes on.
const FAST: usize = 2;
/// Threads of the slow lane. With more, guests that spin would take more than one core from everything else.
const SLOW: usize = 1;
/// By how much the slow lane is nicer than the rest of the broker: on a busy core it gets a tenth of what any other thread
/// gets, and yields the core at once to one that wakes. An idle core is all its own.
const NICE: i32 = 10;
/// CPU time of a run on the fast lane. A probe in Rust needs less for any usual answer. It is looked at when the run
/// yields, so a run that spins stays for at most this and one [`TICK`](crate::engine::TICK).
const ALLOWED: Duration = Duration::from_millis(4);

/// Both lanes. A run that has not ended when this is dropped is given up, and who waits for it is told.
pub(crate) struct Lanes {
    fast: Lane,
    slow: Lane,
}

impl Lanes {
    /// Starts the threads.
    pub(crate) fn start() -> std::io::Result<Self> {
        Ok(Self { fast: Lane::start("probe", FAST, None)?, slow: Lane::start("probe-slow", SLOW, Some(NICE))? })
    }

    /// Runs a future whose polls `meter` watches.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        start: Start,
        meter: Arc<Meter>,
        run: impl Future<Output = T> + Send + 'static,
    ) -> LaneTask<T> {
        if start == Start::Slow {
            return LaneTask(Task::spawn(&self.slow.handle, async { Some(run.await) }));
        }
        let slow = self.slow.handle.clone();
        let run = async move {
            let mut run = Box::pin(run);
            let on_fast = |context: &mut Context<'_>| match run.as_mut().poll(context) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending if meter.total() > ALLOWED => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            };
            match poll_fn(on_fast).await {
                Some(ended) => Some(ended),
                None => Task::spawn(&slow, run).await,
            }
        };
        LaneTask(Task::spawn(&self.fast.handle, run))
    }
}

/// The lane on which a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Fast,
    Slow,
}

/// Where the runs of a component start: one that spins each time it is tried costs the fast lane one run.
#[derive(Default)]
pub(crate) struct Habit {
    spins: AtomicBool,
}

impl Habit {
    /// For the next run.
    pub(crate) fn start(&self) -> Start {
        if self.spins.load(Ordering::Relaxed) { Start::Slow } else { Start::Fast }
    }

    /// Takes note of a run that ended, with its fault and its CPU time. Beside many that spin, one that does has its deadline
    /// before it has used up its budget.
    pub(crate) fn note(&self, fault: Option<Fault>, cpu: Duration) {
        self.spins.store(fault.is_some() && cpu > ALLOWED, Ordering::Relaxed);
    }
}

/// A run on its way. Dropping it ends the run.
pub(crate) struct LaneTask<T>(Task<Option<T>>);

impl<T: Send + 'static> Future for LaneTask<T> {
    /// None when the run panicked, or its lane is gone.
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(context).map(Option::flatten)
    }
}

struct Lane {
    handle: Handle,
    /// Always there until this is dropped.
    runtime: Option<Runtime>,
}

impl Lane {
    fn start(name: &str, threads: usize, more: Option<i32>) -> std::io::Result<Self> {
        // Linux keeps a nice value for each thread. Where a sandbox around the broker forbids to change it, the lane works
        // all the same.
        let on_start = move || {
            let _ = more.map(nice);
        };
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(threads).thread_name(name).on_thread_start(on_start).enable_time();
        let runtime = builder.build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // The last sandbox may be dropped inside a runtime, where waiting for another one to end would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_component_whose_last_run_spun_starts_on_the_slow_lane() {
        let lanes = Lanes::start().unwrap();
        let habit = Habit::default();
        let thread = async || {
            let name = async { std::thread::current().name().map(str::to_owned) };
            lanes.run(habit.start(), Arc::default(), name).await.flatten()
        };
        assert_eq!(thread().await.as_deref(), Some("probe"));
        let (little, much) = (Duration::from_millis(1), Duration::from_millis(200));
        for (fault, cpu, want) in [
            (Some(Fault::CpuBudget), much, "probe-slow"),
            (Some(Fault::Deadline), little, "probe"),
            (Some(Fault::Deadline), much, "probe-slow"),
            (None, much, "probe"),
        ] {
            habit.note(fault, cpu);
            assert_eq!(thread().await.as_deref(), Some(want), "{fault:?} after {cpu:?}");
        }
    }
}
