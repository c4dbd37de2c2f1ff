use kourier_core::id::{Generation, Uid};
use kourier_core::object::{Auth, AuthScheme, SecretRef};
use kourier_core::url::BaseUrl;

mod log;
mod world;

use world::World;

#[tokio::test(start_paused = true)]
async fn a_fresh_broker_lists_after_the_start_delay_and_then_publishes_what_it_finds() {
    let world = World::start();
    world.serve("a/one");
    world.peers.answer("agent-one.example", 2, 200, None);
    world.until(14).await;
    assert_eq!(world.says("a/one"), "not listed");
    world.until(15).await;
    assert_eq!(world.says("a/one"), "-, 1 OK", "what ended is published before the rest of the pass");
    world.until(17).await;
    assert_eq!(world.says("a/one"), "1 OK, 1 OK");
}

#[tokio::test(start_paused = true)]
async fn a_pass_asks_each_question_once_and_the_next_pass_asks_again() {
    let world = World::start();
    for name in ["a/one", "a/two", "a/three"] {
        world.serve(name);
    }
    world.until(20).await;
    assert_eq!(world.peers.seconds("chat-a.example"), [15]);
    world.until(330).await;
    assert_eq!(world.peers.seconds("chat-a.example"), [15, 315]);
    assert_eq!(world.says("a/three"), "1 OK, 1 OK");
}

#[tokio::test(start_paused = true)]
async fn four_probes_run_at_a_time() {
    let world = World::start();
    for n in 0..6 {
        world.serve(&format!("n{n}/b{n}"));
        world.peers.answer(&format!("agent-b{n}.example"), 3, 200, None);
        world.peers.answer(&format!("chat-n{n}.example"), 3, 200, None);
    }
    world.until(40).await;
    assert_eq!(world.peers.most(), 4);
    assert_eq!(world.says("n5/b5"), "1 OK, 1 OK");
    let starts: Vec<_> = (0..6).map(|n| world.peers.seconds(&format!("agent-b{n}.example"))).collect();
    assert_eq!(starts, [[15], [15], [18], [18], [21], [21]]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_probed_in_the_next_pass_and_a_change_during_a_pass_is_not_claimed() {
    let world = World::start();
    world.serve("a/one");
    world.peers.answer("agent-one.example", 5, 200, None);
    world.until(16).await;
    world.edit("a/one", |judged| {
        judged.generation = Generation(2);
        judged.served.as_mut().unwrap().generation = Generation(2);
    });
    world.until(21).await;
    assert_eq!(world.says("a/one"), "1 OK, 1 OK");
    world.until(44).await;
    assert_eq!(world.peers.seconds("agent-one.example"), [15]);
    world.until(51).await;
    assert_eq!(world.says("a/one"), "2 OK, 2 OK");
    assert_eq!(world.peers.seconds("agent-one.example"), [15, 45]);
}

/// Four probes that take from second 15 to 18, with two Bindings behind them. The next look is at 20.
fn busy_world() -> World {
    let world = World::start();
    for name in ["a/slow1", "a/slow2", "b/last", "b/other"] {
        world.serve(name);
    }
    for host in ["agent-slow1.example", "agent-slow2.example", "chat-a.example", "agent-last.example"] {
        world.peers.answer(host, 3, 200, None);
    }
    world.peers.answer("chat-b.example", 3, 200, None);
    world
}

#[tokio::test(start_paused = true)]
async fn a_new_credential_does_not_go_where_the_pass_began_with_an_old_one() {
    let world = busy_world();
    world.until(16).await;
    world.secret("a", "bot", "xoxb-second");
    world.until(44).await;
    let sent =
        |host: &str| world.peers.seen(host).into_iter().filter_map(|seen| seen.authorization).collect::<Vec<_>>();
    assert_eq!(sent("chat-a.example"), ["Bearer xoxb-first"]);
    assert_eq!(world.peers.seen("agent-slow2.example"), [], "its Binding changed before its turn");
    world.until(60).await;
    assert_eq!(sent("chat-a.example"), ["Bearer xoxb-first", "Bearer xoxb-second"]);
    assert_eq!(world.says("a/slow2"), "1 OK, 1 OK");
}

#[tokio::test(start_paused = true)]
async fn what_changed_before_its_turn_is_not_asked_at_its_old_address() {
    let world = busy_world();
    world.until(16).await;
    world.edit("b/other", |judged| {
        judged.served.as_mut().unwrap().agent.url = BaseUrl::parse("http://agent-new.example").unwrap();
    });
    world.until(44).await;
    assert_eq!((world.peers.seconds("agent-other.example"), world.says("b/other")), (vec![], "-, -".to_owned()));
    world.until(60).await;
    assert_eq!(world.peers.seconds("agent-new.example"), [45]);
    assert_eq!(world.says("b/other"), "1 OK, 1 OK");
}

#[tokio::test(start_paused = true)]
async fn a_result_whose_permission_was_revoked_meanwhile_is_dropped_and_the_rest_is_not_sent() {
    let world = World::start();
    world.serve("a/one");
    world.serve("b/two");
    world.serve("c/three");
    for host in ["agent-one.example", "agent-two.example", "chat-a.example", "chat-b.example"] {
        world.peers.answer(host, 4, 200, None);
    }
    world.until(16).await;
    world.edit("a/one", |judged| judged.served = None);
    world.remove("c/three");
    world.until(17).await;
    assert_eq!((world.says("a/one"), world.says("b/two")), ("not listed".to_owned(), "-, -".to_owned()));
    world.until(30).await;
    assert_eq!((world.says("a/one"), world.says("b/two")), ("not listed".to_owned(), "1 OK, 1 OK".to_owned()));
    assert_eq!(world.peers.seen("agent-three.example"), []);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_was_made_again_starts_without_its_predecessor_s_results() {
    let world = World::start();
    world.serve("a/one");
    world.until(17).await;
    world.edit("a/one", |judged| judged.uid = Uid("another".to_owned()));
    world.until(18).await;
    assert_eq!(world.says("a/one"), "not listed");
    world.until(20).await;
    assert_eq!(world.says("a/one"), "-, -");
    world.until(46).await;
    assert_eq!(world.says("a/one"), "1 OK, 1 OK");
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_asks_to_wait_gets_no_request_meanwhile() {
    let world = World::start();
    world.serve("a/one");
    world.peers.answer("chat-a.example", 0, 429, Some(("retry-after", "120")));
    world.until(20).await;
    assert_eq!(world.says("a/one"), "1 OK, 1 RateLimited");
    world.edit("a/one", |judged| judged.served.as_mut().unwrap().generation = Generation(2));
    world.until(50).await;
    assert_eq!(world.says("a/one"), "2 OK, 2 RateLimited");
    assert_eq!(world.peers.seconds("chat-a.example"), [15]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_missing_costs_no_request_and_is_looked_for_again() {
    let world = World::start();
    world.serve("a/one");
    world.edit("a/one", |judged| {
        let secret_ref = SecretRef { name: "card".to_owned(), key: "token".to_owned() };
        let auth = Auth { scheme: AuthScheme::Header, header: Some("X-Api-Key".to_owned()), secret_ref };
        judged.served.as_mut().unwrap().agent.auth = Some(auth);
    });
    world.until(20).await;
    assert_eq!(world.says("a/one"), "1 CredentialUnavailable, 1 OK");
    assert_eq!(world.peers.seen("agent-one.example"), []);
    world.secret("a", "card", "sesame");
    world.until(50).await;
    assert_eq!(world.says("a/one"), "1 OK, 1 OK");
}

#[tokio::test(start_paused = true)]
async fn another_cause_why_there_is_no_credential_is_told() {
    let log = log::Log::default();
    let _capturing = log.capture();
    let world = World::start();
    world.serve("a/one");
    world.secret("a", "bot", "");
    world.until(20).await;
    world.secret("a", "bot", "two\nlines");
    world.until(80).await;
    let lines = log.lines("CredentialUnavailable");
    assert_eq!(lines.iter().filter(|line| line.contains("verdict changed")).count(), 2, "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_platform_without_a_component_fails_its_own_probe_alone() {
    let log = log::Log::default();
    let _capturing = log.capture();
    let world = World::start();
    world.serve("a/one");
    world.edit("a/one", |judged| judged.served.as_mut().unwrap().chat.platform = "unheard-of".to_owned());
    world.until(20).await;
    assert_eq!(world.says("a/one"), "1 OK, 1 ProbeFailed");
    let counted = r#"agentkourier_component_faults_total{component="",kind="not-loaded",blame="host"} 1"#;
    assert!(world.metrics.encode().contains(counted), "{}", world.metrics.encode());
    let told = r#"fault="not-loaded" blame="host" cause="no component is loaded for it""#;
    assert_eq!(log.lines(told).len(), 1, "{:?}", log.lines("verdict changed"));
}

#[tokio::test(start_paused = true)]
async fn a_prober_that_no_longer_leads_sends_nothing_more() {
    let mut world = World::start();
    world.serve("a/one");
    world.peers.answer("agent-one.example", 6, 200, None);
    world.until(16).await;
    world.shut_down();
    world.until(17).await;
    assert!(world.task.is_finished());
    world.until(400).await;
    assert_eq!(world.says("a/one"), "-, 1 OK");
    assert_eq!(world.peers.seconds("agent-one.example"), [15]);
}

#[tokio::test(start_paused = true)]
async fn a_changed_verdict_is_logged_once_with_its_cause_and_without_the_secret() {
    let log = log::Log::default();
    let _capturing = log.capture();
    let world = World::start();
    world.serve("a/one");
    world.peers.answer("agent-one.example", 0, 500, None);
    world.until(16).await;
    let lines = log.lines("verdict changed");
    let [agent, channel] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(channel.contains("INFO") && channel.contains("reason=\"OK\""), "{channel}");
    assert!(agent.contains("WARN") && agent.contains("binding=a/one probe=\"agent\""), "{agent}");
    assert!(agent.contains("reason=\"AgentError\"") && agent.contains("cause=\"") && agent.contains("500"), "{agent}");
    world.until(330).await;
    assert_eq!(world.peers.seconds("chat-a.example"), [15, 315]);
    assert_eq!(log.lines("verdict changed").len(), 2, "the second pass found the same");
    world.peers.answer("agent-one.example", 0, 200, None);
    world.until(630).await;
    assert_eq!(log.lines("verdict changed").len(), 3);
    assert_eq!(log.lines("xoxb"), Vec::<String>::new());
}
