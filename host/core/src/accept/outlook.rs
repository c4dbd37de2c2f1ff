//! What one spec of a Binding comes to, and the words of a refusal.

use super::peer::{Found, Peer, PeerSpec};
use super::{Refusal, Served};
use crate::id::{Generation, ObjectKey};
use crate::message::Message;
use crate::reason::AcceptedReason;
use crate::rule::{LABEL, NAME};
use crate::snapshot::Problem;

/// How many problems of an object are told to each Binding that names it: more would not fit into a message.
const MAX_TOLD: usize = 10;

/// What one spec of a Binding comes to.
#[derive(Default)]
pub(super) struct Outlook {
    /// What is served if this spec counts; none when it cannot be served.
    pub served: Option<Served>,
    /// The problems, each with its reason.
    problems: Vec<(AcceptedReason, Problem)>,
    /// Names for the log only.
    log: Vec<String>,
}

/// A Binding's reference to another object.
pub(super) struct Link<'k> {
    /// The Binding.
    pub binding: &'k ObjectKey,
    /// The object that is meant.
    pub target: &'k ObjectKey,
    /// Whether the message says which older generation of the object runs.
    pub tells_running: bool,
}

impl Outlook {
    /// Of a spec that could not be read.
    pub(super) fn unreadable(problems: &[Problem]) -> Self {
        let mut outlook = Self::default();
        for problem in problems {
            outlook.add(AcceptedReason::InvalidSpec, problem.clone());
        }
        outlook
    }

    /// Adds a problem of this reason.
    pub(super) fn add(&mut self, reason: AcceptedReason, problem: Problem) {
        self.problems.push((reason, problem));
    }

    /// Adds that the Binding's channel is held by another.
    pub(super) fn conflict(&mut self, binding: &ObjectKey, winner: &ObjectKey, channel: &str) {
        let what = if winner.namespace == binding.namespace {
            format!("already bound by Binding {}", winner.name)
        } else {
            self.log.push(format!("channel {channel} is held by Binding {winner}"));
            "already bound by a Binding in another namespace".to_owned()
        };
        self.add(AcceptedReason::ChannelConflict, Problem::new("spec.chat.channel", what));
    }

    /// Adds what is wrong with the object to which a reference leads.
    pub(super) fn link<S: PeerSpec>(&mut self, link: &Link<'_>, found: &Found<'_, '_, S>) {
        let (reason, what) = match found {
            Found::Nothing => (S::NOT_FOUND, link.not_found::<S>()),
            Found::Forbidden => (AcceptedReason::NamespaceNotAllowed, link.forbidden::<S>()),
            Found::Peer(peer) if peer.problems.is_empty() => return,
            Found::Peer(peer) => return self.rejected(link, peer),
        };
        self.add(reason, Problem::new(S::FIELD, what));
    }

    /// An object's own problems are told in its namespace only.
    fn rejected<S: PeerSpec>(&mut self, link: &Link<'_>, peer: &Peer<'_, S>) {
        let kind = S::KIND;
        let what = match peer.running {
            Some((running, _)) if link.tells_running => {
                let newest = peer.meta.generation;
                format!("generation {newest} of its {kind} is invalid, running generation {running}")
            }
            Some(_) | None => format!("its {kind} is invalid"),
        };
        let problems = some_of(&peer.problems);
        if link.target.namespace == link.binding.namespace {
            self.add(S::REJECTED, Problem::new(S::FIELD, format!("{what} ({problems})")));
        } else {
            self.log.push(format!("{kind} {}: {problems}", link.target));
            self.add(S::REJECTED, Problem::new(S::FIELD, what));
        }
    }

    /// Whether nothing is wrong but that an object runs an older generation.
    pub(super) fn can_be_served(&self) -> bool {
        self.problems.iter().all(|(reason, _)| is_rejected(*reason))
    }

    /// The refusal, if there is a problem. `serving`: the refused generation, and the older one that is served.
    pub(super) fn refusal(mut self, serving: Option<(Generation, Generation)>) -> Option<Refusal> {
        self.problems.sort_by_key(|(reason, _)| *reason);
        let reason = self.problems.first().map(|(reason, _)| *reason)?;
        let problems: Vec<String> = self.problems.iter().map(|(reason, problem)| sentence(*reason, problem)).collect();
        let mut message = problems.join("; ");
        if let Some((refused, served)) = serving {
            message = format!("generation {refused} is invalid, serving generation {served}: {message}");
        }
        let log = (!self.log.is_empty()).then(|| self.log.join("; "));
        Some(Refusal { reason, message: Message::new(&message), problems: self.problems, log })
    }
}

/// The first problems of an object that a Binding names. Each of its Bindings repeats them.
fn some_of(problems: &[Problem]) -> String {
    let mut told: Vec<String> = problems.iter().take(MAX_TOLD).map(ToString::to_string).collect();
    if let Some(more @ 1..) = problems.len().checked_sub(MAX_TOLD) {
        told.push(format!("and {more} more"));
    }
    told.join("; ")
}

fn is_rejected(reason: AcceptedReason) -> bool {
    matches!(reason, AcceptedReason::BackendRejected | AcceptedReason::ConnectionRejected)
}

/// A problem in the message. That of an object which the Binding names says whose it is, so it needs no field.
fn sentence(reason: AcceptedReason, problem: &Problem) -> String {
    if is_rejected(reason) { problem.what.clone() } else { problem.to_string() }
}

impl Link<'_> {
    /// A reference that cannot be a name is not repeated.
    fn not_found<S: PeerSpec>(&self) -> String {
        let Self { target, .. } = self;
        if NAME.fault(&target.name).is_none() && LABEL.fault(&target.namespace).is_none() {
            format!("there is no {} {target}, create it or mend the reference", S::KIND)
        } else {
            format!("names no {}", S::KIND)
        }
    }

    fn forbidden<S: PeerSpec>(&self) -> String {
        format!(
            "the {} is in another namespace and does not allow {}, ask its owner to add that to allowedNamespaces",
            S::KIND,
            self.binding.namespace
        )
    }
}
