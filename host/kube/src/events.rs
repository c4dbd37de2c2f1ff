//! Events: a line in `kubectl describe` when a Binding becomes Ready, or stops being it.
//!
//! They tell of transitions that were written, from one status to another: not of each probe, and not of what stood
//! when this replica began to lead. They are a courtesy: one that cannot be sent is counted and not tried again, and
//! without the right to send them (`create` and `patch` of `events.events.k8s.io`) everything else works.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kourier_core::condition::Condition;
use kourier_core::id::{Kind, ObjectKey, Uid};
use kourier_core::object::API_VERSION;
use kourier_core::reason::{ConditionType, Status};
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use tokio::time::Instant;

use crate::api::FIELD_MANAGER;
use crate::client::{ApiError, CALL, timely};
use crate::observe::{Observation, Observer};

/// For how long no Event is sent after one was forbidden. 10 min: a right that was given is noticed, and an audit log
/// is not filled.
const PAUSE: Duration = Duration::from_secs(600);

/// The longest `reportingInstance`, in bytes.
const INSTANCE: usize = 128;

/// Where Events go.
pub struct Events {
    recorder: Recorder,
    observer: Observer,
    forbidden: Mutex<Forbidden>,
}

/// What is known of the right to send Events.
#[derive(Debug, Default)]
struct Forbidden {
    /// None is sent before this.
    until: Option<Instant>,
    /// Whether the operator was told.
    told: bool,
}

/// A change of a Binding that people should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    is_warning: bool,
    reason: String,
    note: String,
}

impl Events {
    /// Events that name `instance`, the pod, as their sender.
    #[must_use]
    pub fn new(client: Client, instance: &str, observer: Observer) -> Self {
        let end = instance.floor_char_boundary(INSTANCE);
        let instance = Some(instance.get(..end).unwrap_or_default().to_owned()).filter(|name| !name.is_empty());
        let reporter = Reporter { controller: FIELD_MANAGER.to_owned(), instance };
        Self { recorder: Recorder::new(client, reporter), observer, forbidden: Mutex::default() }
    }

    /// Sends one Event on this Binding, in its namespace.
    pub(crate) async fn tell(&self, key: ObjectKey, uid: Uid, transition: Transition) {
        if self.is_paused() {
            return (self.observer)(Observation::EventLost);
        }
        let regarding = ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some(Kind::Binding.as_str().to_owned()),
            name: Some(key.name.clone()),
            namespace: Some(key.namespace.clone()),
            uid: Some(uid.0),
            ..ObjectReference::default()
        };
        match timely(CALL, self.recorder.publish(&transition.event(), &regarding)).await {
            Ok(()) => *self.forbidden() = Forbidden::default(),
            Err(error) => {
                self.failed(&key, &error);
                (self.observer)(Observation::EventLost);
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.forbidden().until.is_some_and(|until| Instant::now() < until)
    }

    fn failed(&self, key: &ObjectKey, error: &ApiError) {
        if !lacks_the_right(error) {
            tracing::debug!(binding = %key, cause = %error, "an Event could not be sent");
            return;
        }
        let mut forbidden = self.forbidden();
        forbidden.until = Some(Instant::now() + PAUSE);
        if !std::mem::replace(&mut forbidden.told, true) {
            tracing::warn!(cause = %error, "no Events are sent: the right to create and patch events.events.k8s.io is missing");
        }
    }

    fn forbidden(&self) -> std::sync::MutexGuard<'_, Forbidden> {
        self.forbidden.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A namespace that is being deleted takes no Events either, with the same code; that says nothing of the others.
fn lacks_the_right(error: &ApiError) -> bool {
    let ApiError::Api(kube::Error::Api(status)) = error else { return false };
    let causes = status.details.as_ref().map_or(&[][..], |details| &details.causes);
    status.code == 403 && !causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// What people should hear of a write that made `after` of `before`: a warning when Ready becomes False or is True no
/// more, or Accepted becomes False; good news when Ready becomes True.
#[must_use]
pub fn transition(before: &[Condition], after: &[Condition]) -> Option<Transition> {
    let ready = after.iter().find(|condition| condition.kind == ConditionType::Ready)?;
    let (was, is) = (status_of(before, ConditionType::Ready), ready.status);
    let accepted = status_of(after, ConditionType::Accepted);
    let refused = accepted == Some(Status::False) && status_of(before, ConditionType::Accepted) != accepted;
    let is_warning = match is {
        Status::True if was == Some(Status::True) => return None,
        Status::True => false,
        Status::False if was != Some(Status::False) => true,
        Status::False | Status::Unknown if was == Some(Status::True) || refused => true,
        Status::False | Status::Unknown => return None,
    };
    Some(Transition::of(ready, is_warning))
}

fn status_of(conditions: &[Condition], kind: ConditionType) -> Option<Status> {
    conditions.iter().find(|condition| condition.kind == kind).map(|condition| condition.status)
}

impl Transition {
    /// The reason is spelled as the status spells it, with its colon, which the API allows: one word to search for.
    /// Good news has the condition's name instead of the bare OK, and a sentence, because True has no message.
    fn of(ready: &Condition, is_warning: bool) -> Self {
        if is_warning {
            return Self { is_warning, reason: ready.reason.clone(), note: ready.message.clone() };
        }
        let note = "The agent answers with a usable card and the bot is in the channel.".to_owned();
        Self { is_warning, reason: ConditionType::Ready.as_str().to_owned(), note }
    }

    /// The Event that tells of it.
    #[must_use]
    pub fn event(self) -> Event {
        Event {
            type_: if self.is_warning { EventType::Warning } else { EventType::Normal },
            reason: self.reason,
            note: Some(self.note),
            action: "WriteStatus".to_owned(),
            secondary: None,
        }
    }
}

#[cfg(test)]
mod tests;
