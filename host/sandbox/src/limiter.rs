//! Memory, tables and instances of one run.

use wasmtime::{Error, ResourceLimiter, Result};

use crate::fault::is_of_machine;
use crate::limits::Limits;

/// Components made from JavaScript and Python consist of up to 38 core instances.
pub(crate) const INSTANCES: u32 = 100;
/// Tables of all instances together.
pub(crate) const TABLES: u32 = 100;
/// Memories of all instances together: each reserves address space, whatever it holds.
pub(crate) const MEMORIES: u32 = 8;

/// Counts what a run holds, and remembers that it was denied something.
pub(crate) struct Limiter {
    memory: usize,
    memory_limit: usize,
    elements: usize,
    elements_limit: usize,
    /// A request for more was denied. It does not end the run by itself: a guest may live with it.
    pub(crate) denied: bool,
    /// The machine itself had no memory to give.
    pub(crate) exhausted: Option<String>,
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory: 0,
            memory_limit: limits.memory,
            elements: 0,
            elements_limit: limits.table_elements,
            denied: false,
            exhausted: None,
        }
    }
}

/// The total after growing one part, if it stays within the limit.
fn grown(total: usize, current: usize, desired: usize, limit: usize) -> Option<usize> {
    total.checked_add(desired.checked_sub(current)?).filter(|total| *total <= limit)
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = grown(self.memory, current, desired, self.memory_limit);
        self.memory = total.unwrap_or(self.memory);
        self.denied |= total.is_none();
        Ok(total.is_some())
    }

    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        self.note_failure(&error);
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = grown(self.elements, current, desired, self.elements_limit);
        self.elements = total.unwrap_or(self.elements);
        self.denied |= total.is_none();
        Ok(total.is_some())
    }

    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        self.note_failure(&error);
        Ok(())
    }

    fn instances(&self) -> usize {
        INSTANCES as usize
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }

    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}

impl Limiter {
    /// A growth failed that we did not deny. The engine also says so of a guest that passed a maximum of its own.
    fn note_failure(&mut self, error: &Error) {
        if is_of_machine(error) {
            self.exhausted = Some(format!("{error:#}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn only_a_growth_that_the_machine_had_no_memory_for_is_the_machines_doing() {
        let mut limiter = Limiter::new(&Limits::default());
        assert!(limiter.memory_growing(0, 64 << 20, None).is_ok_and(|grows| !grows) && limiter.denied);
        limiter.memory_grow_failed(Error::msg("memory growth exceeds memory type's limits")).unwrap();
        limiter.table_grow_failed(Error::msg("table maximum size exceeded")).unwrap();
        assert_eq!(limiter.exhausted, None);
        limiter.memory_grow_failed(Error::from(Errno::NOMEM)).unwrap();
        assert!(limiter.exhausted.is_some_and(|cause| cause.contains("memory")));
    }
}
