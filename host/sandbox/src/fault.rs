//! Why a run ended without a verdict.

use kourier_core::outcome::Fault;
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
        _ if guest.limiter.exhausted.is_some() => Fault::Host,
        (None, Some(trap)) => of_trap(*trap, guest),
        (None, None) if guest.limiter.denied => Fault::Memory,
        (None, None) => match stage {
            // The engine could not make an instance of a component that it had compiled and linked.
            Stage::Instantiate => Fault::Host,
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
