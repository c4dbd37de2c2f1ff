//! Who leads: one replica of a broker, elected on a Lease that all of them share.
//!
//! What a candidate does, and why two never lead at once, is [`kourier_core::lease`]. Here is the loop around it: one
//! task that reads and writes the Lease, each call with a deadline of its own, and publishes the claim. A claim is a
//! value with an end: it ends by itself if nothing renews it, so whoever writes asks [`leads`] at that moment.
//!
//! What is absent: what a leader does. On a loss the claim falls before anything else happens; on a shutdown the caller
//! ends its own writes first, and then calls [`Elections::release`].

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kourier_core::lease::{Answer, Call, Election, Purpose, Step, Timing, TimingError};
use kourier_core::time::Moment;
use kube::{Api, Client};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use crate::observe::{Observation, Observer};

mod call;

pub(crate) use call::readable;
use call::{Asked, Trouble};

/// The right to lead, until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// When it ends, unless it is renewed.
    pub until: Instant,
    /// How often this candidate has begun to lead: another number is another term, and somebody may have led between.
    pub term: u64,
}

impl Claim {
    /// How long it lasts; zero when it is over.
    #[must_use]
    pub fn left(&self, now: Instant) -> Duration {
        self.until.saturating_duration_since(now)
    }
}

/// The claim, if this replica leads now. One that is past its end is none, whatever was published last.
#[must_use]
pub fn leads(claim: &watch::Receiver<Option<Claim>>, now: Instant) -> Option<Claim> {
    claim.borrow().filter(|claim| now < claim.until)
}

/// The name of the Lease of a broker's replicas.
#[must_use]
pub fn lease_name(broker: &str) -> String {
    format!("agent-kourier-{broker}")
}

/// A candidate's identity: the name of its pod or machine, for people, and a part that no other process has or had.
#[must_use]
pub fn identity(host: &str) -> String {
    format!("{host}_{}", Uuid::new_v4())
}

/// Who stands for election, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidacy {
    /// The Lease's namespace: the pod's own.
    pub namespace: String,
    /// The Lease's name: see [`lease_name`].
    pub name: String,
    /// Who this candidate is: see [`identity`].
    pub identity: String,
    /// How long a leader holds, and how often it says so.
    pub timing: Timing,
}

/// A candidate that runs. Dropping it ends the candidacy without releasing the Lease, as a crash does.
#[must_use = "a candidate that is dropped leads no more"]
#[derive(Debug)]
pub struct Elections {
    resign: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    patience: Duration,
}

impl Elections {
    /// Stands for election from now on. The value received is none while this replica does not lead, and changes with
    /// each renewal; it is none for good, and closed, when the candidate ends.
    ///
    /// # Errors
    ///
    /// When there could be two leaders, or none, with this timing.
    pub fn start(
        client: Client,
        candidacy: Candidacy,
        observer: Observer,
    ) -> Result<(watch::Receiver<Option<Claim>>, Self), TimingError> {
        let election = Election::new(&candidacy.identity, candidacy.timing.clone())?;
        let (claims, claim) = watch::channel(None);
        let (resign, resigned) = oneshot::channel();
        // One call that was under way, and the release.
        let patience = candidacy.timing.call * 2;
        let api = Api::namespaced(client, &candidacy.namespace);
        let candidate = Candidate {
            api,
            candidacy,
            election,
            standing: None,
            origin: Instant::now(),
            claims,
            observer,
            trouble: Trouble::default(),
            leader: None,
            term: 0,
        };
        let task = tokio::spawn(candidate.run(resigned));
        Ok((claim, Self { resign: Some(resign), task, patience }))
    }

    /// Ends the candidacy: the claim falls at once, and then the Lease is released, if this candidate holds it, so that
    /// another leads within one [`Timing::retry`]. To be called after the caller's last write has ended. It takes two
    /// [`Timing::call`]s at most; if that is not enough, another leads once the Lease is over.
    pub async fn release(mut self) {
        if let Some(resign) = self.resign.take() {
            let _ = resign.send(());
        }
        if !self.task.is_finished() && timeout(self.patience, &mut self.task).await.is_err() {
            tracing::warn!("the Lease could not be released in time: another leads when it is over");
        }
    }

    /// Waits until the candidate has ended, which it does not by itself: to be told of a defect. The claim has fallen.
    pub async fn ended(&mut self) {
        if !self.task.is_finished() {
            let _ = (&mut self.task).await;
        }
    }
}

impl Drop for Elections {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The state of the loop.
struct Candidate {
    api: Api<Lease>,
    candidacy: Candidacy,
    election: Election,
    /// The Lease as last seen: what is not ours in it is written back as it stands.
    standing: Option<Lease>,
    /// When this candidate's clock began.
    origin: Instant,
    claims: watch::Sender<Option<Claim>>,
    observer: Observer,
    trouble: Trouble,
    /// Who leads, as last logged.
    leader: Option<String>,
    /// The number of the last term.
    term: u64,
}

impl Candidate {
    async fn run(mut self, resigned: oneshot::Receiver<()>) {
        let mut resigned = Some(resigned);
        loop {
            let now = self.now();
            self.publish(now);
            match self.election.next(now) {
                Step::Done => return,
                Step::Wait { until } => tokio::select! {
                    () = sleep_until(self.instant(until)) => {}
                    () = asked(&mut resigned) => self.resign(),
                },
                step @ (Step::Read | Step::Write(_)) => self.call(step, &mut resigned).await,
            }
        }
    }

    /// Makes one call and takes note of its answer. A resignation is heeded at once; the call is awaited all the same,
    /// because it may make what has to be released.
    async fn call(&mut self, step: Step, resigned: &mut Option<oneshot::Receiver<()>>) {
        let sent = self.now();
        let purpose = call::purpose(&step);
        let left = self.election.claim(sent).map_or(Duration::MAX, |until| until.since(sent));
        let asked_for = Asked { within: left.min(self.candidacy.timing.call), step, standing: self.standing.clone() };
        let api = self.api.clone();
        let name = self.candidacy.name.clone();
        let answered = call::perform(&api, &name, asked_for);
        tokio::pin!(answered);
        let answered = tokio::select! {
            answered = &mut answered => answered,
            () = asked(resigned) => {
                self.resign();
                answered.await
            }
        };
        let answer = self.heard(answered, purpose);
        let jitter = Uuid::new_v4().into_bytes()[0];
        let ended = self.now();
        self.election.answered(answer, Call { sent, ended, jitter });
    }

    fn heard(&mut self, answered: call::Answered, purpose: Option<Purpose>) -> Answer {
        let Candidacy { namespace, name, .. } = &self.candidacy;
        self.trouble.note(&answered, namespace, name);
        if let Some(lease) = answered.lease {
            self.standing = Some(lease);
        }
        if matches!((&answered.answer, purpose), (Answer::Stored(..), Some(Purpose::Take | Purpose::Renew))) {
            (self.observer)(Observation::Renewed);
        }
        answered.answer
    }

    fn resign(&mut self) {
        self.election.resign();
        self.publish(self.now());
    }

    /// Publishes the claim as it is now, and only then says what changed.
    fn publish(&mut self, now: Moment) {
        let led = self.claims.borrow().is_some();
        let until = self.election.claim(now).map(|until| self.instant(until));
        self.term += u64::from(until.is_some() && !led);
        let claim = until.map(|until| Claim { until, term: self.term });
        self.claims.send_if_modified(|published| std::mem::replace(published, claim) != claim);
        let leads = claim.is_some();
        if led != leads {
            (self.observer)(Observation::Leading(leads));
            let (lease, identity) = (&self.candidacy.name, &self.candidacy.identity);
            if leads {
                tracing::info!(lease, identity, "this replica leads");
            } else {
                tracing::info!(lease, identity, "this replica leads no more");
            }
        }
        self.name_leader();
    }

    /// Logs who leads when it is another than before.
    fn name_leader(&mut self) {
        let holder = self.election.holder();
        if holder == self.leader.as_deref() {
            return;
        }
        self.leader = holder.map(str::to_owned);
        if let Some(leader) = holder.filter(|holder| *holder != self.candidacy.identity) {
            tracing::info!(lease = self.candidacy.name, leader, "this replica stands by: another holds the Lease");
        }
    }

    fn now(&self) -> Moment {
        Moment::after_origin(self.origin.elapsed())
    }

    fn instant(&self, moment: Moment) -> Instant {
        self.origin + moment.since(Moment::ORIGIN)
    }
}

impl Drop for Candidate {
    /// Whatever ends the task, a panic too: nobody leads by it any more.
    fn drop(&mut self) {
        if self.claims.send_replace(None).is_some() {
            (self.observer)(Observation::Leading(false));
        }
    }
}

/// Waits for the resignation, once. A sender that is gone is none: then the task is about to be aborted.
async fn asked(resigned: &mut Option<oneshot::Receiver<()>>) {
    if let Some(receiver) = resigned
        && receiver.await.is_ok()
    {
        *resigned = None;
        return;
    }
    *resigned = None;
    std::future::pending::<()>().await;
}
