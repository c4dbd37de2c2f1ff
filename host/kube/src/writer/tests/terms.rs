//! What ends with a term of leadership, and how a stop goes.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_standby_writes_nothing() {
    let desk = Desk::new(&["one"]);
    desk.lead_for(Duration::ZERO);
    let _at_work = desk.start(Pace::default());
    pass(600).await;
    assert!(desk.server.calls().is_empty());
    desk.lead_for(Duration::from_secs(60));
    pass(2).await;
    assert_eq!(desk.server.times("one").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_does_not_outlive_the_claim() {
    let desk = Desk::new(&["one"]);
    desk.server.play(Play::Hang);
    desk.lead_for(Duration::from_secs(2));
    let mut at_work = desk.start(Pace::default());
    pass(1).await;
    let before = Instant::now();
    at_work.stop();
    at_work.task.await.unwrap();
    assert_eq!(before.elapsed().as_millis() / 100, 10, "a second was left");
    assert_eq!(desk.results(), [WriteResult::Timeout]);
}

#[tokio::test(start_paused = true)]
async fn what_one_term_had_queued_is_not_sent_in_the_next() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let desk = Desk::new(&names);
    let _at_work = desk.start(Pace { spacing: Duration::from_secs(1), ..Pace::default() });
    desk.lead_for(Duration::from_millis(2500));
    pass(20).await;
    assert_eq!(desk.server.calls().iter().filter(|call| call.method == "PATCH").count(), 3);
    // Another leader said it meanwhile, of all but the last.
    let status = desk.server.records().objects["a"]["status"].clone();
    for name in &names[3..7] {
        desk.server.edit(name, |object| object["status"] = status.clone());
    }
    desk.lead_for(Duration::from_secs(600));
    pass(60).await;
    let rest: Vec<_> = names.iter().map(|name| desk.server.times(name).len()).collect();
    assert_eq!(rest, [1, 1, 1, 0, 0, 0, 0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_term_that_was_lost_and_won_between_two_looks_is_another() {
    let desk = Desk::new(&["one"]);
    let _at_work = desk.start(Pace::default());
    pass(20).await;
    // Somebody else led meanwhile, and wrote: in this term it is what stood before, and nobody's edit.
    desk.begin_term(2);
    desk.server.edit("one", |object| object["status"]["conditions"][3]["reason"] = "Odd".into());
    pass(60).await;
    assert_eq!(desk.results(), [WriteResult::Changed; 2]);
    assert_eq!(desk.count(Observation::PutBack), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stop_awaits_the_writes_under_way_and_begins_no_other() {
    let desk = Desk::new(&["a", "b", "c", "d", "e", "f"]);
    desk.server.play(Play::Well(Duration::from_secs(3)));
    let mut at_work = desk.start(Pace::default());
    pass(1).await;
    at_work.stop();
    at_work.task.await.unwrap();
    assert_eq!(desk.results(), [WriteResult::Changed; 4]);
    assert_eq!(desk.server.records().answered, 4);
}

#[tokio::test(start_paused = true)]
async fn how_many_bindings_wait_is_told_and_none_do_where_nobody_leads() {
    let desk = Desk::new(&["a", "b", "c"]);
    desk.server.play(Play::refuse(403, "no"));
    desk.lead_for(Duration::from_secs(5));
    let _at_work = desk.start(Pace::default());
    pass(4).await;
    assert!(desk.count(Observation::Waiting(3)) >= 4);
    assert_eq!(desk.count(Observation::Waiting(0)), 0);
    pass(4).await;
    assert_eq!(desk.count(Observation::Waiting(0)), 1);
}
