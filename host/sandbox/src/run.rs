//! One run of a component.

use std::collections::BTreeMap;
use std::time::Duration;

use kourier_core::outcome::{Fault, Outcome};
use kourier_core::reason::{BackendReason, ChannelReason};

use crate::component::{Component, LoadError};
use crate::endpoint::Endpoint;
use crate::limits::Limits;

/// The engine, its ticker, and the runtime on which guests run. One for a process; cheap to clone.
#[derive(Clone)]
pub struct Sandbox {}

/// What an agent probe is to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTarget {
    /// The only place of the card; none: the well-known ones.
    pub card_path: Option<String>,
}

/// What a chat probe is to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTarget {
    /// The channel's id.
    pub channel: String,
    /// The connection's settings.
    pub settings: BTreeMap<String, String>,
}

/// How a run ended. Everything but `outcome` is for the operator.
#[derive(Clone, Debug)]
pub struct Run<R> {
    /// What it comes to.
    pub outcome: Outcome<R>,
    /// The fault, when the probe could not say anything.
    pub fault: Option<Fault>,
    /// Why, for the log: the journal's causes, escaped, cut and masked, and the host's own words (which egress rule,
    /// which TLS error).
    pub causes: Vec<String>,
    /// The journal's advice, treated likewise.
    pub advice: Vec<String>,
    /// Journal lines that were dropped.
    pub dropped: u32,
    /// Requests that the probe made.
    pub requests: u32,
    /// From start to end.
    pub wall: Duration,
}

impl Sandbox {
    /// Starts the engine, the ticker and the guests' runtime.
    ///
    /// # Errors
    ///
    /// When the machine cannot run the engine, or no thread can be started.
    pub fn new(_limits: Limits) -> anyhow::Result<Self> {
        unimplemented!()
    }

    /// Compiles a component, checks its imports, and asks a chat probe to describe itself. Blocks for as long as the
    /// compilation takes: tens of milliseconds for a probe in Rust.
    ///
    /// # Errors
    ///
    /// See [`LoadError`].
    pub fn load(&self, _bytes: &[u8]) -> Result<Component, LoadError> {
        unimplemented!()
    }

    /// Runs an agent probe on the guests' runtime.
    pub async fn check_agent(&self, _probe: &Component, _target: AgentTarget, _peer: Endpoint) -> Run<BackendReason> {
        unimplemented!()
    }

    /// Runs a chat probe on the guests' runtime.
    pub async fn check_chat(&self, _probe: &Component, _target: ChatTarget, _peer: Endpoint) -> Run<ChannelReason> {
        unimplemented!()
    }

    /// [`Self::check_agent`] on the runtime of the caller: for recorded cases, whose clock may be paused.
    pub async fn check_agent_here(
        &self,
        _probe: &Component,
        _target: AgentTarget,
        _peer: Endpoint,
    ) -> Run<BackendReason> {
        unimplemented!()
    }

    /// [`Self::check_chat`] on the runtime of the caller: for recorded cases, whose clock may be paused.
    pub async fn check_chat_here(
        &self,
        _probe: &Component,
        _target: ChatTarget,
        _peer: Endpoint,
    ) -> Run<ChannelReason> {
        unimplemented!()
    }
}
