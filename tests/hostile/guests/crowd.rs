//! As many guests that spin as may run at a time, beside honest ones that need more CPU time than most.

use std::sync::LazyLock;
use std::time::Duration;

use agent_kourier::builtin;
use futures::future::join_all;
use kourier_core::outcome::Fault;
use kourier_core::reason::BackendReason;
use kourier_core::schedule::Said;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{AgentTarget, ChatTarget, Component, Endpoint, Limits, Sandbox, Trust};
use suite::guests;
use suite::peer::{Peer, answer};

use super::Starvation;
use crate::case::{Case, Checked};
use crate::peers::honest_document;
use crate::published;
use crate::world::{PEERS, RUNTIME, near};

/// Less CPU time than usual, so that it is spent sooner.
const CPU: Duration = Duration::from_millis(30);
const DEADLINE: Duration = Duration::from_secs(3);
/// As many as the settings allow with the usual limits. Here they could be twice as many: the rest is for a machine that
/// has other work.
const SPINNERS: usize = 50;
/// Honest runs beside them.
const HONEST: usize = 4;
/// KiB of the card that they read. That takes them past the CPU time after which a run shares its thread with those that
/// spin.
const CARD: usize = 900;

/// Where nobody listens. Who spins asks for nothing.
const NOBODY: &str = "http://127.0.0.1:9";

pub(super) fn cases() -> Vec<Case> {
    vec![Case::new("guest::50-that-spin-at-a-time-beside-honest-ones-with-a-large-card", crowd)]
}

/// A sandbox of its own for these limits.
static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| {
    let limits = Limits { runs: 64, cpu: CPU, deadline: DEADLINE, request: DEADLINE / 2, ..Limits::default() };
    Sandbox::new(limits).expect("an engine")
});

fn load(bytes: &[u8]) -> Component {
    SANDBOX.load(bytes).expect("it loads")
}

fn endpoint(url: &str) -> Endpoint {
    let base = BaseUrl::parse(url).expect("a URL");
    Endpoint { base, credential: None, trust: Trust::System, absolute_name: false, transport: near() }
}

async fn crowd() -> Checked {
    let skills = format!(r#""description":"{}","#, r"a\n".repeat((CARD << 10) / 3));
    let document = honest_document(&skills);
    let peer = Peer::start(move |_| vec![answer("200 OK", "", document.as_bytes())]);
    let peer = PEERS.spawn(peer).await.expect("no panic").expect("a port");
    let agent_card = builtin::ALL.iter().find(|component| component.name == "agent-card").expect("it is built in");
    let (rogue, agent_card) = (load(guests::ROGUE), load(agent_card.wasm));

    let clock = Starvation::begin();
    let spin = |_| {
        let rogue = rogue.clone();
        let target = ChatTarget { channel: "spin".to_owned(), settings: [].into() };
        RUNTIME.spawn(async move { SANDBOX.check_chat(&rogue, target, endpoint(NOBODY)).await })
    };
    let spinners: Vec<_> = (0..SPINNERS).map(spin).collect();
    let url = peer.url();
    let check = |_| SANDBOX.check_agent(&agent_card, AgentTarget { card_path: None }, endpoint(&url));
    let honest = join_all((0..HONEST).map(check)).await;
    let all_spun = spinners.iter().all(tokio::task::JoinHandle::is_finished);
    let spun = join_all(spinners).await;
    let starved = clock.is_longer_than(DEADLINE / 4);
    let spun: Vec<_> = spun.into_iter().map(|run| run.expect("no panic")).collect();
    if starved {
        println!("STARVED: the machine had no time for the guests' threads, so that deadlines are excused");
    }
    honest.iter().for_each(|run| published::ran(run, Said::Agent, &url));
    spun.iter().for_each(|run| published::ran(run, Said::Channel, NOBODY));

    for run in &honest {
        if (run.outcome.reason, run.fault) != (BackendReason::Ok, None) && !starved {
            return Err(format!("an honest run did not come through beside those that spin: {run:?}"));
        }
    }
    if all_spun {
        return Err("the honest ones took as long as those that spin".to_owned());
    }
    for run in spun {
        let ends = if starved { &[Fault::CpuBudget, Fault::Deadline][..] } else { &[Fault::CpuBudget] };
        if !run.fault.is_some_and(|fault| ends.contains(&fault)) {
            return Err(format!("a run that spins is not told from one that waits: {run:?}"));
        }
    }
    Ok(())
}
