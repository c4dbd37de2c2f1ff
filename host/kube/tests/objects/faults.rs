//! What goes wrong between the broker and the API server is found and made good.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_history_that_is_gone_is_listed_anew() {
    for as_event in [true, false] {
        let followed = Followed::new(bindings(
            |turn| match turn {
                0 => Answer::list("10", &[binding("one", "3"), binding("two", "4")]),
                _ => Answer::list("90", &[binding("one", "80")]),
            },
            move |turn, asked| match turn {
                0 if as_event => {
                    let gone = json!({ "kind": "Status", "code": 410, "message": "too old", "reason": "Expired" });
                    Answer::events_and_silence(&[event("ERROR", &gone)])
                }
                0 => Answer::status(410, "too old"),
                _ => Answer::quiet(asked, "90"),
            },
        ));
        followed.until("the new list", "one", Some("80")).await;
        assert_eq!(followed.version("two"), None, "what is not listed is gone");
        assert_eq!((followed.lists(), followed.times(Observation::WatchRestarted(Kind::Binding))), (2, 1));
        assert!(followed.script.asked().iter().any(|asked| asked.is_watch() && asked.has("resourceVersion", "90")));
        assert_eq!(followed.times(Observation::WatchRestarted(Kind::AgentBackend)), 0, "no other kind is concerned");
    }
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_always_says_gone_is_not_asked_without_a_pause() {
    let followed = Followed::new(bindings(|_| Answer::list("10", &[]), |_, _| Answer::status(410, "too old")));
    tokio::time::sleep(Duration::from_secs(120)).await;
    let lists = followed.lists();
    assert!((6..=12).contains(&lists), "{lists} lists in two minutes");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_always_ends_at_once_is_not_opened_without_a_pause() {
    let followed = Followed::new(bindings(|_| Answer::list("10", &[]), |_, _| Answer::events(&[])));
    tokio::time::sleep(Duration::from_secs(120)).await;
    let watches = followed.script.count(|asked| asked.of("bindings") && asked.is_watch());
    assert!((6..=12).contains(&watches), "{watches} watches in two minutes");
    assert_eq!(followed.lists(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_was_restored_is_found_at_the_next_watch() {
    let followed = Followed::new(|asked| match asked {
        asked if !asked.of("bindings") => Answer::quiet(asked, "5"),
        asked if asked.has("resourceVersion", "500") => Answer::quiet(asked, "5"),
        asked if asked.is_watch() => {
            // Up to 500, and then the server is restored to 5.
            let far = json!({ "kind": "Binding", "apiVersion": "x/v1", "metadata": { "resourceVersion": "500" } });
            Answer::events_and_silence(&[event("BOOKMARK", &far)])
        }
        _ => Answer::list("5", &[binding("one", "3")]),
    });
    eventually("all is listed anew", || followed.lists() == 2).await;
    assert_eq!(followed.times(Observation::Listed(Kind::Binding)), 2);
}

#[tokio::test(start_paused = true)]
async fn a_version_of_another_history_is_not_taken_for_the_one_that_is_known() {
    let mut edited = binding("one", "3");
    edited["spec"]["chat"]["channel"] = json!("C2");
    let lists = turns();
    let followed = Followed::new(move |asked| match asked {
        asked if !asked.of("bindings") => Answer::quiet(asked, "5"),
        asked if asked.is_watch() => Answer::events_and_silence(&[]),
        asked if asked.has("limit", "1") => Answer::list("2", &[]),
        _ if lists() == 0 => Answer::list("5", &[binding("one", "3")]),
        _ => Answer::list("4", &[edited.clone()]),
    });
    let channel = || followed.binding("one").map(|stored| stored.spec["chat"]["channel"].clone());
    eventually("what stands now", || channel() == Some(json!("C2"))).await;
}

/// A server whose watches are silent, because they are from a version that it has yet to reach.
fn blind(found: &Value) -> impl Fn(&Asked) -> Answer + Send + Sync + 'static + use<> {
    let (lists, found) = (turns(), found.clone());
    move |asked| match asked {
        asked if asked.path.ends_with("/namespaces/a/bindings/one") => Answer::json(&found),
        asked if !asked.of("bindings") || asked.is_watch() || asked.has("limit", "1") => Answer::quiet(asked, "900"),
        _ if lists() == 0 => Answer::list("900", &[binding("one", "800")]),
        _ => Answer::list("901", std::slice::from_ref(&found)),
    }
}

#[tokio::test(start_paused = true)]
async fn a_suspect_that_the_watch_does_not_tell_of_makes_everything_be_listed_anew() {
    let followed = Followed::new(blind(&binding("one", "12")));
    followed.until("the list", "one", Some("800")).await;
    let began = Instant::now();
    followed.refresh.suspect(&ObjectKey::new("a", "one"));
    followed.until("what stands now", "one", Some("12")).await;
    assert!(began.elapsed() < Duration::from_secs(5));
    for kind in Kind::ALL {
        eventually("each kind is listed anew", || followed.times(Observation::Listed(kind)) == 2).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_suspect_that_is_what_the_view_says_changes_nothing() {
    let followed = Followed::new(blind(&binding("one", "800")));
    followed.until("the list", "one", Some("800")).await;
    followed.refresh.suspect(&ObjectKey::new("a", "one"));
    eventually("it is looked at", || followed.script.count(|asked| asked.of("/one")) == 1).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(followed.lists(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspect_of_which_the_watch_tells_in_time_changes_nothing_else() {
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = Mutex::new(Some(receiver));
    let followed = Followed::new(move |asked| match asked {
        asked if asked.path.ends_with("/namespaces/a/bindings/one") => {
            sender.send(line(&event("MODIFIED", &binding("one", "11")))).unwrap();
            Answer::json(&binding("one", "11"))
        }
        asked if asked.of("bindings") && asked.is_watch() => {
            stream.lock().unwrap().take().map_or(Answer::Silence, Answer::Stream)
        }
        asked if asked.of("bindings") => Answer::list("10", &[binding("one", "3")]),
        asked => Answer::quiet(asked, "10"),
    });
    followed.until("the list", "one", Some("3")).await;
    followed.refresh.suspect(&ObjectKey::new("a", "one"));
    followed.until("the edit", "one", Some("11")).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(followed.lists(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_fell_silent_is_left_after_the_time_of_a_watch() {
    let followed = Followed::new(bindings(
        |_| Answer::list("10", &[binding("one", "3")]),
        |turn, asked| match turn {
            0 => Answer::events_and_silence(&[]),
            1 => Answer::events_and_silence(&[event("MODIFIED", &binding("one", "11"))]),
            _ => Answer::quiet(asked, "10"),
        },
    ));
    let began = Instant::now();
    followed.until("what the next peer tells", "one", Some("11")).await;
    assert!((60..70).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!(followed.lists(), 1, "the watch goes on where it was");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_is_given_up() {
    let followed = Followed::new(bindings(
        |turn| if turn == 0 { Answer::Silence } else { Answer::list("10", &[]) },
        |turn, _| match turn {
            0 => Answer::Silence,
            _ => Answer::events_and_silence(&[event("ADDED", &binding("one", "11"))]),
        },
    ));
    let began = Instant::now();
    followed.until("the second watch's object", "one", Some("11")).await;
    assert!((35..40).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_missing_right_is_said_once_and_holds_back_no_other_kind() {
    let (log, _guard) = Log::begin();
    let granted = Arc::new(Mutex::new(false));
    let asked_right = Arc::clone(&granted);
    let followed = Followed::new(move |asked| {
        if asked.of("agentbackends") && !*asked_right.lock().unwrap() {
            return Answer::status(403, "agentbackends is forbidden: User \"x\" cannot list");
        }
        Answer::quiet(asked, "10")
    });
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(followed.times(Observation::Listed(Kind::Binding)), 1);
    assert!(followed.views.borrow().is_none());
    let tries = followed.script.count(|asked| asked.of("agentbackends"));
    assert!((10..20).contains(&tries), "{tries} tries in five minutes");
    assert_eq!(log.count("may not list agentbackends.agentkourier.io: grant"), 1, "{}", log.text());
    assert_eq!(log.count("User \\\"x\\\" cannot list"), 1, "{}", log.text());

    *granted.lock().unwrap() = true;
    let began = Instant::now();
    eventually("there is a view", || followed.views.borrow().is_some()).await;
    assert!(began.elapsed() <= Duration::from_secs(31));
    assert_eq!(log.count("followed again"), 1, "{}", log.text());
}

#[tokio::test(start_paused = true)]
async fn a_crd_that_is_installed_later_is_found() {
    let (log, _guard) = Log::begin();
    let installed = Instant::now() + Duration::from_secs(100);
    let followed = Followed::new(move |asked| {
        let there = !asked.of("chatconnections") || Instant::now() > installed;
        if there { Answer::quiet(asked, "10") } else { Answer::Body(404, "404 page not found\n".to_owned()) }
    });
    eventually("there is a view", || followed.views.borrow().is_some()).await;
    assert!((100..135).contains(&(Instant::now() - installed + Duration::from_secs(100)).as_secs()));
    assert_eq!(log.count("no chatconnections.agentkourier.io in this cluster"), 1, "{}", log.text());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_lost_is_made_good_by_a_list() {
    let stream = || {
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send("{\"type\":\"MODIFIED\",\"object\":nonsense}\n".to_owned()).unwrap();
        std::mem::forget(sender);
        Answer::Stream(receiver)
    };
    let followed = Followed::new(bindings(
        |turn| Answer::list("10", &[binding("one", if turn == 0 { "3" } else { "9" })]),
        move |turn, asked| if turn == 0 { stream() } else { Answer::quiet(asked, "10") },
    ));
    followed.until("the second list", "one", Some("9")).await;
}
