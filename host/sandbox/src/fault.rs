//! Why a run ended without a verdict.

use std::io;

use kourier_core::outcome::Fault;
use rustix::io::Errno;
use wasmtime::error::OutOfMemory;
use wasmtime::{Error, Trap};

use crate::guest::Guest;

/// The host's own ways to end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Cut {
    /// The CPU budget is used up.
    #[error("the probe used up its CPU time")]
    CpuBudget,
    /// The host lacked something: the journal has it.
    #[error("the host lacked what a request needs")]
    Host,
}

/// Whether the guest had begun to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Making the instance.
    Instantiate,
    /// Calling it.
    Call,
}

/// Names the fault behind an error of the engine, and writes the engine's words into the journal.
pub(crate) fn classify(error: &Error, stage: Stage, guest: &mut Guest) -> Fault {
    let fault = match (error.downcast_ref::<Cut>(), error.downcast_ref::<Trap>()) {
        (Some(Cut::CpuBudget), _) => Fault::CpuBudget,
        (Some(Cut::Host), _) => Fault::Host,
        _ if guest.limiter.exhausted.is_some() || is_of_machine(error) => Fault::Host,
        (None, Some(trap)) => of_trap(*trap, guest),
        (None, None) if guest.limiter.denied => Fault::Memory,
        (None, None) => match stage {
            // More instances, memories or tables than a run may have: it is compiled and linked, so nothing else is left.
            Stage::Instantiate => Fault::Memory,
            // What the guest returned was not what the interface says.
            Stage::Call => Fault::BadAnswer,
        },
    };
    if fault != Fault::Panic {
        let cause = guest.limiter.exhausted.clone().unwrap_or_else(|| format!("{:#}", error.root_cause()));
        guest.journal.note(&format!("{fault}: {cause}"));
    }
    fault
}

/// Whether this machine lacked something, such as memory to map: the system said so with a number.
pub(crate) fn is_of_machine(error: &Error) -> bool {
    error.is::<Errno>() || error.is::<io::Error>() || error.is::<OutOfMemory>()
}

fn of_trap(trap: Trap, guest: &Guest) -> Fault {
    match trap {
        Trap::StackOverflow => Fault::Stack,
        // Rust's panic, abort and failed allocation all end here.
        Trap::UnreachableCodeReached if guest.limiter.denied => Fault::Memory,
        Trap::UnreachableCodeReached if guest.journal.panicked => Fault::Panic,
        Trap::InvalidChar
        | Trap::InvalidDiscriminant
        | Trap::StringOutOfBounds
        | Trap::ListOutOfBounds
        | Trap::UnalignedPointer => Fault::BadAnswer,
        _ => Fault::Trap,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::Instant;
    use wasmtime::ResourceLimiter as _;

    use super::*;
    use crate::journal::Journal;
    use crate::limiter::Limiter;
    use crate::limits::Limits;
    use crate::mask::Mask;

    #[test]
    fn an_error_with_a_number_of_the_system_is_the_machines_however_it_is_wrapped() {
        let wrapped = Error::from(Errno::NOMEM).context("mmap failed to reserve 0x100000000 bytes").context("more");
        assert!(is_of_machine(&wrapped));
        assert!(is_of_machine(&Error::from(io::Error::from_raw_os_error(12))));
        assert!(is_of_machine(&Error::from(OutOfMemory::new(1 << 20))));
        // The engine's words for what a guest asked too much of.
        for words in
            ["memory growth exceeds memory type's limits", "resource limit exceeded: instance count too high at 101"]
        {
            assert!(!is_of_machine(&Error::msg(words)), "{words}");
        }
        assert!(!is_of_machine(&Error::from(Trap::MemoryOutOfBounds)));
    }

    fn guest() -> Guest {
        let limits = Limits::default();
        Guest {
            limiter: Limiter::new(&limits),
            journal: Journal::new(&limits, Mask::default()),
            limits: Arc::new(limits),
            meter: Arc::default(),
            requests: 0,
            denied: Vec::new(),
            peer: None,
            network: None,
            deadline: Instant::now(),
            told_late: false,
        }
    }

    #[test]
    fn what_the_machine_lacks_and_what_a_guest_asks_too_much_of_are_told_apart() {
        let lacks = || Error::from(Errno::NOMEM).context("mmap failed to reserve 0x100000000 bytes");
        let too_many = || Error::msg("resource limit exceeded: instance count too high at 101");
        for (error, stage, want) in [
            (lacks(), Stage::Instantiate, Fault::Host),
            // The stack of a call.
            (lacks(), Stage::Call, Fault::Host),
            (too_many(), Stage::Instantiate, Fault::Memory),
            (Error::msg("invalid utf-8"), Stage::Call, Fault::BadAnswer),
            (Error::from(Trap::UnreachableCodeReached), Stage::Instantiate, Fault::Trap),
            (Error::from(Cut::CpuBudget), Stage::Call, Fault::CpuBudget),
        ] {
            assert_eq!(classify(&error, stage, &mut guest()), want, "{error:#}");
        }
    }

    #[test]
    fn a_guest_that_gives_up_because_the_machine_has_no_memory_is_not_to_blame() {
        let gives_up = Error::from(Trap::UnreachableCodeReached);
        let mut poor = guest();
        poor.limiter.memory_grow_failed(Error::from(Errno::NOMEM)).unwrap();
        assert_eq!(classify(&gives_up, Stage::Call, &mut poor), Fault::Host);
        let mut greedy = guest();
        assert!(greedy.limiter.memory_growing(0, 64 << 20, None).is_ok_and(|grows| !grows));
        assert_eq!(classify(&gives_up, Stage::Call, &mut greedy), Fault::Memory);
    }
}
