//! Probes of one pass that ask the same peer, two at a time and one after them: it is asked once.

use std::sync::Arc;

use kourier_sandbox::{Pass, Transport};

use super::{Bounds, PROMPT, Script, body, check, check_peer, slack};
use crate::case::{Case, MEMORY, Pace};
use crate::memory::Peak;
use crate::published;
use crate::world::{PEERS, Probe, lost, near, probe_over};

/// Each prompt peer of those that say much, in a body or in Slack's words.
pub(super) fn cases() -> Vec<Case> {
    let scripts = [body::scripts(), slack::scripts()].into_iter().flatten();
    let prompt = scripts.filter(|script| script.pace == Pace::Alone && !script.may_be_late);
    prompt.flat_map(|script| Probe::ALL.into_iter().filter_map(move |which| asked_by_several(&script, which))).collect()
}

fn asked_by_several(script: &Script, which: Probe) -> Option<Case> {
    let reason = script.want.reason(which)?;
    let (gate, start) = (script.gate, Arc::clone(&script.start));
    Some(Case::new(format!("peer::{}::{}::asked-by-several", script.name, which.name()), move || async move {
        let (peer, trust) = PEERS.spawn(start()).await.expect("no panic");
        let pass: Arc<dyn Transport> = Arc::new(Pass::new(near()));
        let (peak, before, url) = (Peak::begin(), lost(), peer.url());
        let ask = || probe_over(which, &url, trust.clone(), Arc::clone(&pass));
        let (one, other) = tokio::join!(ask(), ask());
        let memory = peak.at_most(2 * MEMORY);
        let later = ask().await;
        let bounds = Bounds { wait: PROMPT, lost: lost().saturating_sub(before) };
        published::peer(peer.said());
        memory?;
        let seen = peer.seen().len();
        for judged in [&one, &other, &later] {
            check(judged, reason, gate, bounds)?;
            if judged.requests as usize != seen {
                return Err(format!("the peer saw {seen} requests: {judged:?}"));
            }
        }
        check_peer(&peer, which, &one, Pace::Alone).await
    }))
}
