//! A probe of agents: what it is asked, and what it may say.

pub use crate::bindings::agent_world::exports::agentkourier::probe::agent::{Target, Verdict};

/// Checks one agent's card.
pub trait AgentProbe {
    /// Checks the agent. Called once in the life of an instance, within 10 seconds of wall time and 200 milliseconds of
    /// CPU time.
    fn check(target: Target) -> Verdict;
}

/// Makes a type that is an [`AgentProbe`] what this component exports. Once in a component, at the crate's root.
///
/// On the build machine it only makes sure that the type is a probe.
#[macro_export]
macro_rules! export_agent_probe {
    ($probe:ty) => {
        const _: fn($crate::agent::Target) -> $crate::agent::Verdict = <$probe as $crate::agent::AgentProbe>::check;

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Export;

            impl $crate::export::agent_world::exports::agentkourier::probe::agent::Guest for Export {
                fn check(target: $crate::agent::Target) -> $crate::agent::Verdict {
                    <$probe as $crate::agent::AgentProbe>::check(target)
                }
            }

    $crate::export::agent_world::export_agent_world!(Export with_types_in $crate::export::agent_world);
        };
    };
}
