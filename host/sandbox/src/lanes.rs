//! The threads on which guests run.
//!
//! A run starts on a fast lane, unless the component's last one was cut for its CPU time. One that has used more CPU time
//! than nearly every probe needs is moved to the slow lane: there those that spin take turns with each other and with honest
//! ones that need as much, and no thread from those that need less. Nor much of a core: to the machine's scheduler the slow
//! lane is nice.
//!
//! Each lane is one thread. Threads that take work from each other wake each other whenever there is some, and for a usual
//! check, which is woken three times, that took a tenth of its CPU time.

use std::borrow::Borrow;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use kourier_core::outcome::Fault;
use rustix::process::nice;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::meter::Meter;
use crate::task::Task;

/// By how much the slow lane is nicer than the rest of the broker: on a busy core it gets a tenth of what any other thread
/// gets, and yields the core at once to one that wakes. An idle core is all its own.
const NICE: i32 = 10;
/// CPU time of a run on a fast lane. A probe in Rust needs less for any usual answer. It is looked at when the run
/// yields, so a run that spins stays for at most this and one [`TICK`](crate::engine::TICK).
const ALLOWED: Duration = Duration::from_millis(4);

/// All lanes. A run that has not ended when this is dropped is given up, and who waits for it is told.
pub(crate) struct Lanes {
    /// While a run spins on one, for at most [`ALLOWED`] and a tick, those that are already there wait, and new ones start on
    /// the other.
    fast: [Lane; 2],
    slow: Lane,
}

impl Lanes {
    /// Starts the threads.
    pub(crate) fn start() -> std::io::Result<Self> {
        let fast = [Lane::start("probe", None)?, Lane::start("probe", None)?];
        Ok(Self { fast, slow: Lane::start("probe-slow", Some(NICE))? })
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
        let [one, other] = &self.fast;
        let fast = if other.load.size() < one.load.size() { other } else { one };
        let (slow, load) = (self.slow.handle.clone(), fast.load.clone());
        let here = Counted::of(Arc::clone(&load.runs));
        let run = async move {
            let mut run = Box::pin(run);
            let on_fast = |context: &mut Context<'_>| {
                let _polled = Counted::of(&*load.polled);
                match run.as_mut().poll(context) {
                    Poll::Ready(ended) => Poll::Ready(Some(ended)),
                    Poll::Pending if meter.total() > ALLOWED => Poll::Ready(None),
                    Poll::Pending => Poll::Pending,
                }
            };
            let ended = poll_fn(on_fast).await;
            drop(here);
            match ended {
                Some(ended) => Some(ended),
                None => Task::spawn(&slow, run).await,
            }
        };
        LaneTask(Task::spawn(&fast.handle, run))
    }
}

/// What a fast lane has to do.
#[derive(Clone, Default)]
struct Load {
    /// Runs that use its thread at this moment: one or none.
    polled: Arc<AtomicUsize>,
    /// Runs on it, those that wait included.
    runs: Arc<AtomicUsize>,
}

impl Load {
    /// A thread in use counts as so many runs: it may be in use for milliseconds, but one run that spins must not drive a
    /// crowd to the other lane.
    const IN_USE: usize = 4;

    /// The lane with less is the better one for another run. Two that start at once may take the same.
    fn size(&self) -> usize {
        self.runs.load(Ordering::Relaxed) + Self::IN_USE * self.polled.load(Ordering::Relaxed)
    }
}

/// One of a count, for as long as it lives.
struct Counted<C: Borrow<AtomicUsize>>(C);

impl<C: Borrow<AtomicUsize>> Counted<C> {
    fn of(count: C) -> Self {
        count.borrow().fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl<C: Borrow<AtomicUsize>> Drop for Counted<C> {
    fn drop(&mut self) {
        self.0.borrow().fetch_sub(1, Ordering::Relaxed);
    }
}

/// The lane on which a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// One of the fast ones.
    Fast,
    /// The slow one.
    Slow,
}

/// Where the runs of a component start. Of one that spins, only those that begin before the first of them has ended cost the
/// fast lanes anything; one run that ends otherwise takes it back to them.
#[derive(Default)]
pub(crate) struct Habit {
    spins: AtomicBool,
}

impl Habit {
    /// Where the next run starts.
    pub(crate) fn start(&self) -> Start {
        if self.spins.load(Ordering::Relaxed) { Start::Slow } else { Start::Fast }
    }

    /// Takes note of a run that ended. No other fault counts: a peer can bring about most of them, and so would have the
    /// component run slower for everyone.
    pub(crate) fn note(&self, fault: Option<Fault>) {
        self.spins.store(fault == Some(Fault::CpuBudget), Ordering::Relaxed);
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
    load: Load,
}

impl Lane {
    fn start(name: &str, more: Option<i32>) -> std::io::Result<Self> {
        // Linux keeps a nice value for each thread. Where a sandbox around the broker forbids to change it, the lane works
        // all the same.
        let on_start = move || {
            let _ = more.map(nice);
        };
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name(name).on_thread_start(on_start).enable_time();
        let runtime = builder.build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime), load: Load::default() })
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
    use std::future::pending;
    use std::thread::{self, ThreadId};

    use super::*;

    /// The thread on which a run starts there.
    async fn thread(lanes: &Lanes, start: Start) -> (ThreadId, String) {
        let run = async { (thread::current().id(), thread::current().name().unwrap_or_default().to_owned()) };
        lanes.run(start, Arc::default(), run).await.unwrap()
    }

    #[tokio::test]
    async fn a_run_starts_on_the_lane_that_is_named() {
        let lanes = Lanes::start().unwrap();
        assert_eq!(thread(&lanes, Start::Fast).await.1, "probe");
        assert_eq!(thread(&lanes, Start::Slow).await.1, "probe-slow");
    }

    #[tokio::test]
    async fn a_run_starts_on_the_fast_lane_that_has_less_to_do() {
        let lanes = Lanes::start().unwrap();
        let (first, _) = thread(&lanes, Start::Fast).await;
        assert_eq!(thread(&lanes, Start::Fast).await.0, first, "a lane that is free again");
        let waiting = lanes.run(Start::Fast, Arc::default(), pending::<()>());
        assert_ne!(thread(&lanes, Start::Fast).await.0, first, "beside one that waits");
        drop(waiting);
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (send, receive) = tokio::sync::oneshot::channel();
        let spinning = lanes.run(Start::Fast, Arc::default(), async move {
            send.send(thread::current().id()).unwrap();
            stopped.recv()
        });
        let busy = receive.await.unwrap();
        for _ in 0..10 {
            assert_ne!(thread(&lanes, Start::Fast).await.0, busy, "beside one that uses its thread");
        }
        drop(stop);
        assert!(spinning.await.unwrap().is_err());
    }

    #[test]
    fn a_component_starts_slow_after_a_run_that_was_cut_for_its_cpu_time() {
        let habit = Habit::default();
        assert_eq!(habit.start(), Start::Fast);
        for (fault, want) in [
            (Some(Fault::CpuBudget), Start::Slow),
            (Some(Fault::Deadline), Start::Fast),
            (Some(Fault::CpuBudget), Start::Slow),
            (None, Start::Fast),
        ] {
            habit.note(fault);
            assert_eq!(habit.start(), want, "{fault:?}");
        }
    }
}
