//! Running cases: each in the real sandbox, all cores at once, on clocks that cost no time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use kourier_sandbox::{AgentTarget, ChatTarget, Component, Endpoint, ProbeKind, Sandbox, Trust};
use tokio::runtime::{Builder, Runtime};

use super::case::{Case, Verdict};
use super::recorded::{Made, Recorded, credential};

/// How a case went.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What the run ended with.
    pub verdict: Verdict,
    /// What the probe asked, in order.
    pub made: Vec<Made>,
    /// The journal's causes and the host's own words.
    pub causes: Vec<String>,
    /// The journal's advice.
    pub advice: Vec<String>,
    /// From start to end on the case's own clock, which jumps over waits.
    pub clock: Duration,
}

/// Runs every case and yields how each went, in their order. One that fails does not stop the others.
///
/// # Errors
///
/// When a runtime cannot be started.
pub fn all(sandbox: &Sandbox, component: &Component, cases: &[Case]) -> anyhow::Result<Vec<Ran>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(cases.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(cases.len()));
    std::thread::scope(|scope| {
        let worker = || -> anyhow::Result<()> {
            let runtime = paused()?;
            while let Some((index, case)) = take(&next, cases) {
                let ran = runtime.block_on(one(sandbox, component, case))?;
                done.lock().unwrap_or_else(PoisonError::into_inner).push((index, ran));
            }
            Ok(())
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|it| it.join().map_err(|_| anyhow::anyhow!("a worker panicked"))?)
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, ran)| ran).collect())
}

fn take<'a>(next: &AtomicUsize, cases: &'a [Case]) -> Option<(usize, &'a Case)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    cases.get(index).map(|case| (index, case))
}

/// A runtime whose clock stands still while anything can go on, and jumps to the next timer when nothing can.
fn paused() -> anyhow::Result<Runtime> {
    Builder::new_current_thread().enable_time().start_paused(true).build().context("cannot start a runtime")
}

async fn one(sandbox: &Sandbox, component: &Component, case: &Case) -> anyhow::Result<Ran> {
    let place = match component.kind() {
        ProbeKind::Agent => None,
        ProbeKind::Chat { descriptor, .. } => Some(descriptor.credential.clone()),
    };
    let peer = Arc::new(Recorded::new(case.exchanges.clone(), place.clone()));
    let endpoint = Endpoint {
        base: Recorded::base().map_err(anyhow::Error::msg)?,
        credential: place.as_ref().map(credential),
        trust: Trust::System,
        absolute_name: false,
        transport: Arc::clone(&peer) as _,
    };
    let target = &case.target;
    let (verdict, causes, advice, clock) = match component.kind() {
        ProbeKind::Agent => {
            let target = AgentTarget { card_path: target.card_path.clone() };
            let run = sandbox.check_agent_here(component, target, endpoint).await;
            (Verdict::of_agent(run.outcome, run.fault), run.causes, run.advice, run.wall)
        }
        ProbeKind::Chat { .. } => {
            let channel = target.channel.clone().unwrap_or_default();
            let target = ChatTarget { channel, settings: target.settings.clone() };
            let run = sandbox.check_chat_here(component, target, endpoint).await;
            (Verdict::of_chat(run.outcome, run.fault), run.causes, run.advice, run.wall)
        }
    };
    Ok(Ran { verdict, made: peer.made(), causes, advice, clock })
}
