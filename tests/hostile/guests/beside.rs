//! Guests that misbehave beside honest ones.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Pass, Run};
use suite::peer::Peer;

use super::behaviours::Row;
use super::{Rogue, Starvation};
use crate::case::{Case, Checked};
use crate::peers::honest;
use crate::published::{self, Published};
use crate::world::{Judged, PEERS, Probe, RUNTIME, SECRET, near};

/// Runs that misbehave at a time: as many as guests have threads.
const AT_ONCE: usize = 3;
/// Waiting of the guests' threads after which a run may not have got its 200 ms of CPU time within its 10 s.
const STARVED: Duration = Duration::from_secs(5);
/// Honest runs of each probe, one after the other, beside them.
const HONEST: usize = 3;

pub(super) fn case(row: Row) -> Case {
    Case::paced(row.pace, format!("guest::{}::beside-honest-ones", row.behaviour), move || beside_honest_ones(row))
}

async fn beside_honest_ones(row: Row) -> Checked {
    let acts = row.acts;
    let peer = PEERS.spawn(Peer::start(move |_| acts())).await.expect("no panic").expect("a port");
    let mut alone = Vec::new();
    for which in Probe::ALL {
        alone.push(honest(which).await?);
    }
    let clock = Starvation::begin();
    let hostile: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (behaviour, settings, url) = (row.behaviour, row.settings, peer.url());
            RUNTIME.spawn(published::of(async move {
                let transport = Arc::new(Pass::new(near()));
                Rogue { behaviour, settings, url: &url, secret: SECRET, transport }.run().await
            }))
        })
        .collect();
    for _ in 0..HONEST {
        for (which, alone) in Probe::ALL.into_iter().zip(&alone) {
            let beside = honest(which).await?;
            if outward(&beside) != outward(alone) {
                return Err(format!("{}: {beside:?} beside it, {alone:?} alone", which.name()));
            }
        }
    }
    // Order, not time: they began later, and not all of those that last have ended yet.
    if row.lasts && hostile.iter().all(tokio::task::JoinHandle::is_finished) {
        return Err("the honest ones took as long as those that misbehave".to_owned());
    }
    let hostile: Vec<_> =
        join_all(hostile).await.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let (hostile, all): (Vec<Run<ChannelReason>>, Vec<Published>) = hostile.into_iter().unzip();
    all.into_iter().for_each(published::include);
    published::peer(peer.said());
    let starved = clock.is_longer_than(STARVED);
    hostile.iter().try_for_each(|run| row.check(run, starved))?;
    let seen = peer.seen().len();
    if seen != AT_ONCE * row.requests {
        return Err(format!("its peer saw {seen} requests of {AT_ONCE} runs, not {} of each", row.requests));
    }
    Ok(())
}

/// What is to be the same beside whoever runs.
fn outward(judged: &Judged) -> (&str, Option<Duration>, u32, &[String]) {
    (judged.reason, judged.gate, judged.requests, &judged.lines)
}
