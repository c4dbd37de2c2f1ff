//! What each misbehaviour of the rogue guest comes to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use kourier_core::outcome::{Blame, Fault};
use kourier_core::reason::ChannelReason;
use kourier_sandbox::{Component, Failure, HttpRequest, HttpResponse, Limits, Run, Sandbox, Transport};
use suite::guests::{self, ROGUE_SOURCE};
use suite::peer::{Act, Peer, answer};

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

#[test]
fn each_misbehaviour_has_a_test() {
    let table = ROGUE_SOURCE.split("BEHAVIOURS: ").nth(1).and_then(|rest| rest.split("];").next()).unwrap();
    let names: Vec<_> = table.split("(\"").skip(1).map(|entry| entry.split('"').next().unwrap()).collect();
    assert_eq!(format!("[(&str, Behaviour); {}]", names.len()), table.split(" =").next().unwrap());
    let tests = concat!(include_str!("rogue.rs"), include_str!("answers.rs"), include_str!("credentials.rs"));
    for name in names {
        assert!(tests.contains(&format!("\"{name}\"")), "no test runs {name}");
    }
}

#[tokio::test]
async fn a_guest_that_spins_is_cut_within_a_quarter_of_a_second_of_cpu() {
    for behaviour in ["spin", "spin-in-host-calls"] {
        let run = behave(behaviour, NOWHERE).await;
        is_fault(&run, Fault::CpuBudget);
        assert!(run.cpu >= Duration::from_millis(200), "{behaviour}: {:?}", run.cpu);
        assert!(run.cpu <= Duration::from_millis(250), "{behaviour}: {:?}", run.cpu);
    }
}

#[tokio::test]
async fn spinning_guests_do_not_hold_up_the_others() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"{}")]).await.unwrap();
    let spinners: Vec<_> = (0..4).map(|_| tokio::spawn(behave("spin", NOWHERE))).collect();
    let mut honest = 0;
    while !spinners.iter().all(tokio::task::JoinHandle::is_finished) {
        says(&behave("fetch", &peer.url()).await, ChannelReason::Ok);
        honest += 1;
    }
    for spinner in spinners {
        is_fault(&spinner.await.unwrap(), Fault::CpuBudget);
    }
    assert!(honest >= 3, "only {honest} runs came through beside four spinners");
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

/// The one proof in real time.
#[tokio::test]
async fn a_peer_that_says_nothing_costs_ten_seconds_and_no_more() {
    let peer = Peer::start(|_| vec![Act::Hang]).await.unwrap();
    let started = Instant::now();
    let run = behave("ask-forever", &peer.url()).await;
    is_fault(&run, Fault::Deadline);
    let took = started.elapsed();
    // To the millisecond on a paused clock, above; here the machine may be busy with other tests.
    assert!(took >= Duration::from_secs(10) && took < Duration::from_secs(12), "{took:?}");
}

#[tokio::test]
async fn a_guest_that_is_given_up_by_its_caller_ends() {
    let peer = Peer::start(|_| vec![Act::Hang]).await.unwrap();
    let given_up = tokio::time::timeout(Duration::from_millis(300), behave("ask-forever", &peer.url())).await;
    assert!(given_up.is_err());
    says(&behave("keep-a-global", NOWHERE).await, ChannelReason::Ok);
}

#[tokio::test]
async fn memory_is_limited_and_a_guest_may_live_with_it() {
    is_fault(&behave("fill-memory", NOWHERE).await, Fault::Memory);
    says(&behave("live-with-a-full-memory", NOWHERE).await, ChannelReason::Ok);
}

#[tokio::test]
async fn each_way_to_fail_has_its_own_name_and_is_the_guests_fault() {
    let cases = [
        ("recurse", Fault::Stack, "call stack exhausted"),
        // Rust keeps what has an address on a stack of its own, in memory, below which there is nothing.
        ("recurse-with-locals", Fault::Trap, "out of bounds memory access"),
        ("trap", Fault::Trap, "unreachable"),
        ("panic", Fault::Panic, "this probe gives up"),
        ("panic-after-a-flood", Fault::Panic, "this probe gives up"),
        ("lie-about-a-text", Fault::BadAnswer, "utf-8"),
    ];
    for (behaviour, fault, cause) in cases {
        let run = behave(behaviour, NOWHERE).await;
        is_fault(&run, fault);
        assert_eq!(fault.blame(), Blame::Guest);
        assert!(run.causes.iter().any(|line| line.contains(cause)), "{behaviour}: {:?}", run.causes);
    }
}

#[tokio::test]
async fn a_flood_of_words_is_cut_escaped_and_counted() {
    let run = behave("flood-the-journal", NOWHERE).await;
    says(&run, ChannelReason::Ok);
    assert_eq!((run.causes.len() + run.advice.len(), run.dropped), (16, 84));
    for line in run.causes.iter().chain(&run.advice) {
        assert!(line.len() <= 512 && line.ends_with('…'), "{} bytes", line.len());
        assert!(line.starts_with(r"\u{1b}[2J\r\n\u{202e}x"), "{line}");
        assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line}");
    }
}

#[tokio::test]
async fn nothing_is_kept_from_one_run_to_the_next() {
    for _ in 0..3 {
        says(&behave("keep-a-global", NOWHERE).await, ChannelReason::Ok);
    }
}

#[tokio::test]
async fn what_is_not_the_guests_business_is_refused_and_never_sent() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"")]).await.unwrap();
    for behaviour in ["forbidden-headers", "forbidden-paths"] {
        let run = behave(behaviour, &peer.url()).await;
        says(&run, ChannelReason::Ok);
        assert_eq!((run.requests, peer.connections()), (0, 0), "{behaviour}");
        assert!(run.causes.iter().any(|cause| cause.starts_with("the probe's request was refused: ")), "{run:?}");
    }
    says(&behave("forbidden-bodies", &peer.url()).await, ChannelReason::Ok);
    let seen = peer.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].head.split(' ').next(), seen[0].body.len()), (Some("POST"), 64 << 10));
}

#[tokio::test]
async fn a_run_makes_sixty_four_requests_and_no_more() {
    let peer = Peer::start(|_| vec![answer("200 OK", "", b"")]).await.unwrap();
    let run = behave("ask-too-much", &peer.url()).await;
    says(&run, ChannelReason::Ok);
    assert_eq!((run.requests, peer.seen().len()), (64, 64));
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
