//! A probe of chat channels: what it says of its platform, what it is asked, and what it may say.

pub use crate::bindings::chat_world::exports::agentkourier::probe::chat::{
    Credential, CredentialHeader, Descriptor, Setting, Target, Verdict,
};

/// Checks whether a platform's bot is in a channel.
pub trait ChatProbe {
    /// Says what this component is for. Called once, when the host loads it, without a peer.
    fn describe() -> Descriptor;

    /// Checks the channel. Called once in the life of an instance, within 10 seconds of wall time and 200 milliseconds of
    /// CPU time.
    fn check(target: Target) -> Verdict;
}

/// Makes a type that is a [`ChatProbe`] what this component exports. Once in a component, at the crate's root.
///
/// On the build machine it only makes sure that the type is a probe.
#[macro_export]
macro_rules! export_chat_probe {
    ($probe:ty) => {
        const _: fn() -> $crate::chat::Descriptor = <$probe as $crate::chat::ChatProbe>::describe;
        const _: fn($crate::chat::Target) -> $crate::chat::Verdict = <$probe as $crate::chat::ChatProbe>::check;

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Export;

            impl $crate::export::chat_world::exports::agentkourier::probe::chat::Guest for Export {
                fn describe() -> $crate::chat::Descriptor {
                    <$probe as $crate::chat::ChatProbe>::describe()
                }

                fn check(target: $crate::chat::Target) -> $crate::chat::Verdict {
                    <$probe as $crate::chat::ChatProbe>::check(target)
                }
            }

    $crate::export::chat_world::export_chat_world!(Export with_types_in $crate::export::chat_world);
        };
    };
}
