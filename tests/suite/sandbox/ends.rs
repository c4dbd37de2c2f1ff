//! How a run ends that neither its guest nor its peer ends, and whose fault that is. What each misbehaviour of a guest comes
//! to is in `hostile`.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use kourier_core::outcome::{Blame, Fault};
use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Component, Failure, HttpRequest, HttpResponse, Limits, Run, Sandbox, Transport};
use suite::guests;
use suite::peer::{Act, Peer};

use super::{ROGUE, SANDBOX, behave, endpoint, target};

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:9";

fn is_fault(run: &Run<ChannelReason>, fault: Fault) {
    assert_eq!(run.fault, Some(fault), "{run:?}");
    assert_eq!(run.outcome.reason, fault.channel_reason());
}

fn says(run: &Run<ChannelReason>, reason: ChannelReason) {
    assert_eq!((run.outcome.reason, run.fault), (reason, None), "{run:?}");
}

/// Never answers.
struct Silence;

impl Transport for Silence {
    fn send(&self, _: HttpRequest, _: tokio::time::Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_guest_that_waits_for_ever_is_cut_at_ten_seconds() {
    let peer = endpoint(NOWHERE, None, Arc::new(Silence));
    let run = SANDBOX.check_chat_here(&ROGUE, target("ask-forever", []), peer).await;
    is_fault(&run, Fault::Deadline);
    assert_eq!(run.outcome.reason, ChannelReason::ProbeTimeout);
    assert_eq!(run.wall, Duration::from_secs(10));
    // One of 8 seconds, one of what was left, and one that was told so and asked again.
    assert_eq!(run.requests, 3, "{run:?}");
}

#[tokio::test(start_paused = true)]
async fn one_request_has_eight_seconds_and_leaves_the_guest_time_to_say_so() {
    let peer = endpoint(NOWHERE, None, Arc::new(Silence));
    let run = SANDBOX.check_chat_here(&ROGUE, target("fetch", []), peer).await;
    says(&run, ChannelReason::PlatformTimeout);
    assert_eq!(run.wall, Duration::from_secs(8));
}

#[tokio::test]
async fn a_guest_that_is_given_up_by_its_caller_ends() {
    let peer = Peer::start(|_| vec![Act::Hang]).await.unwrap();
    let given_up = tokio::time::timeout(Duration::from_millis(300), behave("ask-forever", &peer.url())).await;
    assert!(given_up.is_err());
    says(&behave("keep-a-global", NOWHERE).await, ChannelReason::Ok);
}

/// The machine has nothing left.
struct Exhausted;

impl Transport for Exhausted {
    fn send(&self, _: HttpRequest, _: tokio::time::Instant) -> BoxFuture<'_, Result<HttpResponse, Failure>> {
        Box::pin(async { Err(Failure::Host("too many open files".to_owned())) })
    }
}

#[tokio::test]
async fn what_the_broker_lacks_is_not_the_guests_fault() {
    let peer = endpoint(NOWHERE, None, Arc::new(Exhausted));
    let run = SANDBOX.check_chat(&ROGUE, target("fetch", []), peer).await;
    is_fault(&run, Fault::Host);
    assert_eq!(Fault::Host.blame(), Blame::Host);
    assert!(run.causes.iter().any(|cause| cause.contains("too many open files")), "{run:?}");
}

/// A sandbox with room for one run, its rogue guest, and a run that waits for an answer.
async fn occupied() -> (Sandbox, Component, tokio::task::JoinHandle<Run<ChannelReason>>) {
    let sandbox = Sandbox::new(Limits { runs: 1, ..Limits::default() }).unwrap();
    let rogue = sandbox.load(guests::ROGUE).unwrap();
    let (one, peer, component) = (sandbox.clone(), endpoint(NOWHERE, None, Arc::new(Silence)), rogue.clone());
    let run = tokio::spawn(async move { one.check_chat_here(&component, target("ask-forever", []), peer).await });
    tokio::task::yield_now().await;
    (sandbox, rogue, run)
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_its_turn_and_its_time_does_not_run_yet() {
    let (sandbox, rogue, first) = occupied().await;
    let started = tokio::time::Instant::now();
    let peer = endpoint(NOWHERE, None, Arc::new(Silence));
    let second = sandbox.check_chat_here(&rogue, target("fetch", []), peer).await;
    says(&second, ChannelReason::PlatformTimeout);
    assert_eq!((second.wall, started.elapsed()), (Duration::from_secs(8), Duration::from_secs(18)));
    is_fault(&first.await.unwrap(), Fault::Deadline);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_given_up_gives_its_turn_back() {
    let (sandbox, rogue, first) = occupied().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let peer = endpoint(NOWHERE, None, Arc::new(Silence));
    says(&sandbox.check_chat_here(&rogue, target("keep-a-global", []), peer).await, ChannelReason::Ok);
}

/// The nice values of this process's threads of this name, from `/proc/self/task/ID/stat`: the 17th field after the name.
fn niceness(name: &str) -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let stats = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let nice = |stat: String| {
        let (head, rest) = stat.rsplit_once(") ")?;
        head.ends_with(&format!("({name}")).then(|| rest.split(' ').nth(16)?.parse().ok())?
    };
    stats.filter_map(nice).collect()
}

#[tokio::test]
async fn runs_that_spin_are_nice_to_everything_else() {
    behave("spin", NOWHERE).await;
    let (usual, slow) = (niceness("probe"), niceness("probe-slow"));
    assert!(!usual.is_empty() && !slow.is_empty(), "{usual:?} {slow:?}");
    let own = usual[0];
    assert!(usual.iter().all(|nice| *nice == own) && slow.iter().all(|nice| *nice == (own + 10).min(19)), "{slow:?}");
}

#[tokio::test]
async fn a_component_of_the_other_kind_is_not_run() {
    let run = SANDBOX
        .check_agent(
            &ROGUE,
            kourier_sandbox::AgentTarget { card_path: None },
            endpoint(NOWHERE, None, Arc::new(Silence)),
        )
        .await;
    assert_eq!((run.fault, run.requests), (Some(Fault::NotLoaded), 0));
}

#[test]
fn the_limits_are_those_of_the_page() {
    let limits = Limits::default();
    assert_eq!(limits.deadline, Duration::from_secs(10));
    assert_eq!(limits.body, 1 << 20);
}
