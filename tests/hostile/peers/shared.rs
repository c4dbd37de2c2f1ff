//! Two probes of one pass that ask the same peer: what it answers is kept for both, and it is asked once.

use std::sync::Arc;

use kourier_sandbox::{Pass, Transport};

use super::{Bounds, PROMPT, Script, body, check, check_peer, slack};
use crate::case::{Case, MEMORY, Pace};
use crate::memory::Peak;
use crate::published;
use crate::world::{PEERS, Probe, lost, near, probe};

/// Each peer whose answers are worth keeping, or too large to be kept.
pub(super) fn cases() -> Vec<Case> {
    let scripts = [body::scripts(), slack::scripts()].into_iter().flatten();
    let prompt = scripts.filter(|script| script.pace == Pace::Alone && !script.may_be_late);
    prompt.flat_map(|script| Probe::ALL.into_iter().filter_map(move |which| asked_by_two(&script, which))).collect()
}

fn asked_by_two(script: &Script, which: Probe) -> Option<Case> {
    let reason = script.want.reason(which)?;
    let (gate, start) = (script.gate, Arc::clone(&script.start));
    Some(Case::new(format!("peer::{}::{}::asked-by-two", script.name, which.name()), move || async move {
        let (peer, trust) = PEERS.spawn(start()).await.expect("no panic");
        let pass: Arc<dyn Transport> = Arc::new(Pass::new(near()));
        let (peak, before, url) = (Peak::begin(), lost(), peer.url());
        let ask = || probe(which, &url, trust.clone(), Arc::clone(&pass));
        let (one, other) = tokio::join!(ask(), ask());
        let memory = peak.at_most(2 * MEMORY);
        let bounds = Bounds { wait: PROMPT, lost: lost().saturating_sub(before) };
        published::peer(peer.said());
        check(&one, reason, gate, bounds).and(check(&other, reason, gate, bounds)).and(memory)?;
        let seen = peer.seen().len();
        if [one.requests, other.requests].iter().any(|requests| *requests as usize != seen) {
            return Err(format!("the peer saw {seen} requests: {one:?}, {other:?}"));
        }
        check_peer(&peer, which, &one, Pace::Alone).await
    }))
}
