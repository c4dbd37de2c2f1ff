//! What a leader does, one term after another.
//!
//! A prober lives as long as a term. When it ends, what was found is forgotten: the next term, here or elsewhere, begins
//! at Pending, and at what stands.
//!
//! What is absent: the election ([`kourier_kube::lease`]), and any opinion on what is written.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kourier_core::accept::Accepted;
use kourier_kube::lease::{self, Claim, Elections};
use kourier_kube::writer::Writer;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::app::end;
use crate::prober::{Found, Prober};
use crate::pulse::Pulse;
use crate::secrets::Secrets;
use crate::statuses::Statuses;

/// How long a claim of the only replica lasts at any time: longer than any wait.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Whether this replica leads.
#[derive(Clone)]
pub enum Leadership {
    /// It is the only replica.
    Alone,
    /// As long as a claim lasts, once it is prepared for its term.
    Elected {
        /// The claim.
        claims: watch::Receiver<Option<Claim>>,
        /// The last term for which it is prepared.
        prepared: watch::Receiver<u64>,
    },
}

/// What a replica does before it leads: it learns what its predecessor knew.
pub struct Preparation {
    claims: watch::Receiver<Option<Claim>>,
    prepared: watch::Sender<u64>,
}

impl Preparation {
    /// Waits for a term for which this replica is not prepared, and yields its number.
    pub async fn wanted(&self) -> u64 {
        let mut claims = self.claims.clone();
        loop {
            let claim = lease::leads(&claims, Instant::now());
            if let Some(Claim { term, .. }) = claim.filter(|claim| claim.term != *self.prepared.borrow()) {
                return term;
            }
            if claims.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// From now on it leads, if this is still its term.
    pub fn done(&self, term: u64) {
        self.prepared.send_replace(term);
    }
}

impl Leadership {
    /// That of a replica with these claims, and what it has to do first.
    #[must_use]
    pub fn elected(claims: watch::Receiver<Option<Claim>>) -> (Self, Preparation) {
        // Terms count from 1.
        let (sender, prepared) = watch::channel(0);
        (Self::Elected { claims: claims.clone(), prepared }, Preparation { claims, prepared: sender })
    }

    /// The claim by which this replica leads; none while it does not lead.
    #[must_use]
    pub fn claim(&self) -> Option<Claim> {
        let now = Instant::now();
        match self {
            Self::Alone => Some(Claim { until: now + FOR_EVER, term: 0 }),
            Self::Elected { claims, prepared } => {
                lease::leads(claims, now).filter(|claim| claim.term == *prepared.borrow())
            }
        }
    }

    /// For how long this replica leads from now on, unless the claim is renewed; none while it does not lead.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.claim().map(|claim| claim.left(Instant::now()))
    }

    /// Ends when this replica leads, with the number of the term.
    async fn begins(&mut self) -> u64 {
        loop {
            match self.claim() {
                Some(Claim { term, .. }) => return term,
                None => self.changes().await,
            }
        }
    }

    /// Ends when it does not lead in this term any more.
    async fn ends(&mut self, term: u64) {
        while let Some(Claim { until, .. }) = self.claim().filter(|claim| claim.term == term) {
            tokio::select! {
                () = self.changes() => {}
                () = sleep_until(until) => {}
            }
        }
    }

    async fn changes(&mut self) {
        let over = match self {
            Self::Alone => true,
            Self::Elected { claims, prepared } => tokio::select! {
                changed = claims.changed() => changed.is_err(),
                changed = prepared.changed() => changed.is_err(),
            },
        };
        if over {
            std::future::pending::<()>().await;
        }
    }
}

/// What a leader works with.
pub struct Leader {
    /// Whether this replica leads.
    pub leadership: Leadership,
    /// The election, to be left at the end; none when this replica is the only one.
    pub elections: Option<Elections>,
    /// The prober of a term.
    pub prober: Box<dyn Fn() -> Prober + Send + Sync>,
    /// At rest between terms.
    pub pulse: Pulse,
    /// Writes as long as this replica leads.
    pub writer: Writer,
    /// What is to be written.
    pub statuses: Statuses,
    /// What the prober probes.
    pub accepted: watch::Receiver<Arc<Accepted>>,
    /// What it found.
    pub results: watch::Sender<Found>,
    /// The Secrets, of which none is wanted between terms.
    pub secrets: Arc<Secrets>,
}

impl Leader {
    /// Leads whenever this replica is elected, until `shutdown` ends. The Lease is released after the last write.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let (stop, told) = watch::channel(false);
        let Self { leadership, mut elections, prober, pulse, writer, statuses, accepted, results, secrets } = self;
        let leads = leadership.clone();
        let writes = writer.run(statuses, move || leads.claim(), end(&told));
        let probes = Terms { leadership, prober, pulse, accepted, results, secrets }.run(end(&told));
        let mut work = pin!(async { tokio::join!(writes, probes) });
        tokio::select! {
            biased;
            () = shutdown => {}
            _ = &mut work => {}
            () = died(elections.as_mut()) => tracing::error!("the election ended by itself"),
        }
        stop.send_replace(true);
        work.await;
        if let Some(elections) = elections {
            elections.release().await;
        }
    }
}

/// The prober, one term after another.
struct Terms {
    leadership: Leadership,
    prober: Box<dyn Fn() -> Prober + Send + Sync>,
    pulse: Pulse,
    accepted: watch::Receiver<Arc<Accepted>>,
    results: watch::Sender<Found>,
    secrets: Arc<Secrets>,
}

impl Terms {
    async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        loop {
            self.pulse.rest();
            let term = tokio::select! {
                biased;
                () = &mut shutdown => return,
                term = self.leadership.begins() => term,
            };
            let prober = (self.prober)().run(self.accepted.clone(), self.results.clone(), std::future::pending());
            let over = tokio::select! {
                biased;
                () = &mut shutdown => true,
                () = self.leadership.ends(term) => false,
                // Nobody accepts any more.
                () = prober => true,
            };
            self.results.send_replace(Found::default());
            self.secrets.want(&BTreeSet::new());
            if over {
                return;
            }
        }
    }
}

/// Ends when the candidate does, which is a defect: without it nobody would ever lead here again.
async fn died(elections: Option<&mut Elections>) {
    match elections {
        Some(elections) => elections.ended().await,
        None => std::future::pending().await,
    }
}
