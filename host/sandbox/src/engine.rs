//! The engine, and the thread that lets it look at its guests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::limiter::{INSTANCES, MEMORIES, TABLES};
use crate::limits::Limits;

/// How often a running guest is looked at. A spinning guest overruns its CPU budget by at most this, and others wait
/// for at most this: measured, 10 ms is enough and 1 ms costs nothing that shows.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Stack beyond the guest's own, for the host's functions that run on the same stack.
const HOST_STACK: usize = 1 << 20;

/// The one engine of a process.
///
/// Its instances lie in a pool, because to map and to unmap a memory and a stack takes the kernel longer than a run itself.
/// For each run that may be under way a pool reserves 34 GB of address space, and maps 18 MB that nothing touches; where a
/// limit forbids that (`ulimit -v`, strict overcommit), each instance is made anew.
///
/// With the engine comes why it has no pool, if it has none.
pub(crate) fn engine(limits: &Limits) -> wasmtime::Result<(Engine, Option<String>)> {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .concurrency_support(false)
        .max_wasm_stack(limits.stack)
        .async_stack_size(limits.stack + HOST_STACK)
        .async_stack_zeroing(true)
        .wasm_memory64(false)
        // A trap's place is in stripped code, so a backtrace would be numbers; a panic says its place in the journal.
        .wasm_backtrace_max_frames(None);
    let anew = config.clone();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    match Engine::new(&config) {
        Ok(engine) => Ok((engine, None)),
        Err(error) => Ok((Engine::new(&anew)?, Some(format!("{error:#}")))),
    }
}

/// Bytes at the start of a memory that are overwritten after a run, and stay resident; what is beyond them goes back to the
/// kernel. They are the 4 pages with which a built-in probe begins and 17 for an answer as long as [`Limits::body`] usually
/// lets it be: a page that comes new from the kernel takes longer than to overwrite one. Only what a run has grown to is
/// overwritten. So much may stay for each memory that is in use and for each that [waits](pool): 10.5 MiB for the prober's 4
/// runs of components with one memory.
const KEPT_MEMORY: usize = 21 * (64 << 10);
/// The same of a table: all of any that a probe in Rust has.
const KEPT_TABLE: usize = 4 << 10;
/// The same of the stack, from its upper end, where it begins.
const KEPT_STACK: usize = 32 << 10;
/// Bytes of address space of a memory: all that 32 bits can name, so that the engine need not check bounds. What a run may
/// have of it is the limiter's to say.
const MEMORY: usize = 1 << 32;
/// Bytes of the engine's own notes of an instance, for as many functions and types as Python needs. Nothing is reserved.
const NOTES: usize = 8 << 20;

/// Room for so many runs, whatever a component may have. A part is reset when its run ends: overwritten, or given back.
/// Never with `pagemap_scan`, which would find out what to overwrite: it misses pages that were swapped out, and so lets a
/// run begin with another run's bytes (<https://github.com/bytecodealliance/wasmtime/pull/14357>).
fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(limits.runs)
        .max_component_instance_size(NOTES)
        .total_core_instances(limits.runs * INSTANCES)
        .max_core_instances_per_component(INSTANCES)
        .max_core_instance_size(NOTES)
        .total_memories(limits.runs * MEMORIES)
        .max_memories_per_component(MEMORIES)
        .max_memories_per_module(MEMORIES)
        .max_memory_size(MEMORY)
        .total_tables(limits.runs * TABLES)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(TABLES)
        .table_elements(limits.table_elements)
        // Memories beyond those in use that are kept for the component that had them last: as many again, so that two
        // components in turns find theirs. Where there are more components, they take each other's.
        .max_unused_warm_slots(limits.runs)
        .total_stacks(limits.runs)
        .pagemap_scan(Enabled::No)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(KEPT_TABLE)
        .async_stack_keep_resident(KEPT_STACK);
    pool
}

/// A thread of its own that advances the engine's epoch while something runs. It is no task of a runtime, because a
/// spinning guest could starve that; it sleeps without waking while no guest runs, and ends with the engine.
pub(crate) struct Ticker {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let (seen, engine) = (Arc::clone(&running), engine.weak());
        let handle = thread::Builder::new().name("probe-ticker".to_owned()).spawn(move || tick(&engine, &seen))?;
        Ok(Self { running, thread: handle.thread().clone() })
    }

    /// Ticks for as long as the value lives.
    pub(crate) fn hold(&self) -> Ticking<'_> {
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Ticking { running: &self.running }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.thread.unpark();
    }
}

pub(crate) struct Ticking<'a> {
    running: &'a AtomicUsize,
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(engine: &EngineWeak, running: &AtomicUsize) {
    let mut idle = 0;
    // The engine is not held while the thread sleeps, so that it can go away meanwhile.
    while let Some(engine) = engine.upgrade() {
        engine.increment_epoch();
        drop(engine);
        idle = if running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        if idle > LINGER {
            thread::park_timeout(IDLE);
        } else {
            thread::sleep(TICK);
        }
    }
}

/// Ticks after the last run ended before the ticker sleeps: 100 ms. Runs come in passes, and to wake it is a system call in
/// each run that follows a pause.
const LINGER: u32 = 20;

/// How long the ticker sleeps at most while nothing runs: so that it notices that its engine has gone even when the
/// engine outlived the sandbox in a component.
const IDLE: Duration = Duration::from_secs(60);
