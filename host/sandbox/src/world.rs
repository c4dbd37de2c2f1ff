//! The ways to call a component: one for each exported function.

use std::future::Future;

use kourier_core::outcome::{Fault, Outcome, gate};
use kourier_core::reason::{BackendReason, ChannelReason};
use wasmtime::Store;

use crate::bindings::agent::AgentProbePre;
use crate::bindings::chat::ChatProbePre;
use crate::bindings::{agent_export, chat_export};
use crate::fault::{Stage, classify};
use crate::guest::Guest;
use crate::run::{AgentTarget, ChatTarget};

/// One exported function of a world.
pub(crate) trait World: Send + 'static {
    /// The world, linked.
    type Pre: Clone + Send + Sync + 'static;
    /// What the function is given.
    type Target: Send + 'static;
    /// What it says.
    type Answer: Send + 'static;

    /// Makes an instance and calls it.
    fn call(
        store: &mut Store<Guest>,
        pre: Self::Pre,
        target: Self::Target,
    ) -> impl Future<Output = Result<Self::Answer, Fault>> + Send;
}

/// `check` of an agent probe.
pub(crate) struct CheckAgent;

/// `check` of a chat probe.
pub(crate) struct CheckChat;

/// `describe` of a chat probe.
pub(crate) struct Describe;

/// Makes an instance of an agent probe, and no more.
pub(crate) struct TryAgent;

impl World for CheckAgent {
    type Pre = AgentProbePre<Guest>;
    type Target = AgentTarget;
    type Answer = Outcome<BackendReason>;

    async fn call(store: &mut Store<Guest>, pre: Self::Pre, target: AgentTarget) -> Result<Self::Answer, Fault> {
        let made = pre.instantiate_async(&mut *store).await;
        let probe = made.map_err(|error| classify(&error, Stage::Instantiate, store.data_mut()))?;
        let target = agent_export::Target { card_path: target.card_path };
        let said = probe.agentkourier_probe_agent().call_check(&mut *store, &target).await;
        said.map(backend).map_err(|error| classify(&error, Stage::Call, store.data_mut()))
    }
}

impl World for TryAgent {
    type Pre = AgentProbePre<Guest>;
    type Target = ();
    type Answer = ();

    async fn call(store: &mut Store<Guest>, pre: Self::Pre, (): ()) -> Result<(), Fault> {
        let made = pre.instantiate_async(&mut *store).await;
        made.map(drop).map_err(|error| classify(&error, Stage::Instantiate, store.data_mut()))
    }
}

impl World for CheckChat {
    type Pre = ChatProbePre<Guest>;
    type Target = ChatTarget;
    type Answer = Outcome<ChannelReason>;

    async fn call(store: &mut Store<Guest>, pre: Self::Pre, target: ChatTarget) -> Result<Self::Answer, Fault> {
        let made = pre.instantiate_async(&mut *store).await;
        let probe = made.map_err(|error| classify(&error, Stage::Instantiate, store.data_mut()))?;
        let target = chat_export::Target { channel: target.channel, settings: target.settings.into_iter().collect() };
        let said = probe.agentkourier_probe_chat().call_check(&mut *store, &target).await;
        said.map(channel).map_err(|error| classify(&error, Stage::Call, store.data_mut()))
    }
}

impl World for Describe {
    type Pre = ChatProbePre<Guest>;
    type Target = ();
    type Answer = chat_export::Descriptor;

    async fn call(store: &mut Store<Guest>, pre: Self::Pre, (): ()) -> Result<Self::Answer, Fault> {
        let made = pre.instantiate_async(&mut *store).await;
        let probe = made.map_err(|error| classify(&error, Stage::Instantiate, store.data_mut()))?;
        let said = probe.agentkourier_probe_chat().call_describe(&mut *store).await;
        said.map_err(|error| classify(&error, Stage::Call, store.data_mut()))
    }
}

fn backend(verdict: agent_export::Verdict) -> Outcome<BackendReason> {
    use agent_export::Verdict;
    Outcome::of(match verdict {
        Verdict::Ok => BackendReason::Ok,
        Verdict::Unreachable => BackendReason::Unreachable,
        Verdict::AgentNotFound => BackendReason::AgentNotFound,
        Verdict::AgentUnauthorized => BackendReason::AgentUnauthorized,
        Verdict::AgentRedirected => BackendReason::AgentRedirected,
        Verdict::AgentError => BackendReason::AgentError,
        Verdict::InvalidAgentCard => BackendReason::InvalidAgentCard,
        Verdict::UnsupportedProtocol => BackendReason::UnsupportedProtocol,
        Verdict::AgentBusy(asked) => return Outcome { reason: BackendReason::AgentBusy, gate: Some(gate(asked)) },
    })
}

fn channel(verdict: chat_export::Verdict) -> Outcome<ChannelReason> {
    use chat_export::Verdict;
    Outcome::of(match verdict {
        Verdict::Ok => ChannelReason::Ok,
        Verdict::ChannelNotFound => ChannelReason::ChannelNotFound,
        Verdict::ChannelArchived => ChannelReason::ChannelArchived,
        Verdict::NotInChannel => ChannelReason::NotInChannel,
        Verdict::CredentialsRejected => ChannelReason::CredentialsRejected,
        Verdict::MissingScope => ChannelReason::MissingScope,
        Verdict::AccessRestricted => ChannelReason::AccessRestricted,
        Verdict::InvalidChannel => ChannelReason::InvalidChannel,
        Verdict::RateLimited(asked) => return Outcome { reason: ChannelReason::RateLimited, gate: Some(gate(asked)) },
        Verdict::PlatformTimeout => ChannelReason::PlatformTimeout,
        Verdict::PlatformUnavailable => ChannelReason::PlatformUnavailable,
        Verdict::UnexpectedAnswer => ChannelReason::UnexpectedAnswer,
    })
}
