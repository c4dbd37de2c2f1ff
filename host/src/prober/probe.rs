//! One probe: from a Binding's inputs to what it ended with.

use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::Accepted;
use kourier_core::egress::DenyRule;
use kourier_core::id::ObjectKey;
use kourier_core::outcome::{Fault, Outcome};
use kourier_core::schedule::{Check, Inputs, Said};
use kourier_sandbox::{AgentTarget, ChatTarget, Endpoint, Run, Transport};
use tokio::sync::watch;

use super::{Guests, Prober, peer};
use crate::components::Loaded;
use crate::metrics::Probe;
use crate::secrets::{SecretError, SecretFault};

/// A probe to run, and all that it needs.
pub(super) struct Errand {
    pub(super) prober: Arc<Prober>,
    pub(super) accepted: watch::Receiver<Arc<Accepted>>,
    pub(super) key: ObjectKey,
    pub(super) check: Check,
    pub(super) inputs: Arc<Inputs>,
    pub(super) component: Loaded,
    pub(super) transport: Arc<dyn Transport>,
}

/// How an errand ended.
pub(super) enum Ended {
    /// With a result.
    Told(Told),
    /// The Binding is another than it was when the pass began, so nothing was sent.
    LeftOut,
}

/// What a probe told. Everything but `said` is for the operator.
pub(super) struct Told {
    pub(super) said: Said,
    pub(super) fault: Option<Fault>,
    pub(super) causes: Vec<String>,
    pub(super) advice: Vec<String>,
    pub(super) denied: Vec<DenyRule>,
    pub(super) requests: u32,
    /// None when no component ran.
    pub(super) wall: Option<Duration>,
}

/// The peer of a probe, or why there is none.
enum Peer {
    Found(Endpoint),
    Unusable(String),
    Changed,
}

impl Errand {
    /// Runs the probe.
    pub(super) async fn run(self) -> Ended {
        let probe = match self.check {
            Check::Agent => Probe::Agent,
            Check::Channel => Probe::Chat,
        };
        let _in_flight = self.prober.metrics.probe_starts(probe);
        if !self.is_served() {
            return Ended::LeftOut;
        }
        match self.peer().await {
            Peer::Found(endpoint) => Ended::Told(self.check(endpoint).await),
            Peer::Unusable(cause) => Ended::Told(Told::fault(self.check, Fault::Credential, &cause)),
            Peer::Changed => Ended::LeftOut,
        }
    }

    /// Whether this very configuration is served now. What lost its permission, or changed, since the pass began is not
    /// probed with what was.
    fn is_served(&self) -> bool {
        let accepted = self.accepted.borrow();
        let judged = accepted.bindings.get(&self.key);
        judged
            .is_some_and(|judged| judged.uid == self.inputs.uid && judged.served.as_ref() == Some(&self.inputs.served))
    }

    /// Reads the Secrets. They are looked at again after they were read: when they are the pass's, so is the credential.
    async fn peer(&self) -> Peer {
        let (inputs, check) = (Arc::clone(&self.inputs), self.check);
        let (secrets, transport) = (Arc::clone(&self.prober.secrets), Arc::clone(&self.transport));
        let read = move || {
            let served = &inputs.served;
            let endpoint = match check {
                Check::Agent => peer::of_agent(&served.agent, &secrets, transport),
                Check::Channel => peer::of_chat(&served.chat, &secrets, transport),
            };
            if peer::versions_now(served, &secrets) != inputs.secrets {
                return Peer::Changed;
            }
            match endpoint {
                Ok(endpoint) => Peer::Found(endpoint),
                // Nothing can be said yet. When it has been read it is another version, and the Binding is due.
                Err(SecretError { fault: SecretFault::NotRead, .. }) => Peer::Changed,
                Err(error) => Peer::Unusable(error.to_string()),
            }
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.unwrap_or_else(|error| Peer::Unusable(format!("the Secrets could not be read: {error}")))
    }

    async fn check(&self, endpoint: Endpoint) -> Told {
        let (sandbox, component) = (&self.prober.sandbox, &self.component.component);
        match self.check {
            Check::Agent => {
                let target = AgentTarget { card_path: self.inputs.served.agent.card_path.clone() };
                let run = match self.prober.guests {
                    Guests::Apart => sandbox.check_agent(component, target, endpoint).await,
                    Guests::Here => sandbox.check_agent_here(component, target, endpoint).await,
                };
                Told::of(run, Said::Agent)
            }
            Check::Channel => {
                let chat = &self.inputs.served.chat;
                let target = ChatTarget { channel: chat.channel.clone(), settings: chat.settings.clone() };
                let run = match self.prober.guests {
                    Guests::Apart => sandbox.check_chat(component, target, endpoint).await,
                    Guests::Here => sandbox.check_chat_here(component, target, endpoint).await,
                };
                Told::of(run, Said::Channel)
            }
        }
    }
}

impl Told {
    fn of<R>(run: Run<R>, said: impl Fn(Outcome<R>) -> Said) -> Self {
        let mut causes = run.causes;
        if run.dropped > 0 {
            causes.push(format!("{} more lines of its journal were dropped", run.dropped));
        }
        Self {
            said: said(run.outcome),
            fault: run.fault,
            causes,
            advice: run.advice,
            denied: run.denied,
            requests: run.requests,
            wall: Some(run.wall),
        }
    }

    /// A fault for which no component ran.
    pub(super) fn fault(check: Check, fault: Fault, cause: &str) -> Self {
        let said = match check {
            Check::Agent => Said::Agent(Outcome::of(fault.backend_reason())),
            Check::Channel => Said::Channel(Outcome::of(fault.channel_reason())),
        };
        Self { fault: Some(fault), ..Self::without_run(said, cause) }
    }

    /// What the schedule said of a probe behind a closed gate.
    pub(super) fn left_alone(said: Said) -> Self {
        Self::without_run(said, "its peer asked to be left alone, so no request was made")
    }

    fn without_run(said: Said, cause: &str) -> Self {
        let causes = vec![cause.to_owned()];
        Self { said, fault: None, causes, advice: Vec::new(), denied: Vec::new(), requests: 0, wall: None }
    }
}
