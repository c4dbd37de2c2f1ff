//! What is listed and watched gets into the view.

use super::*;

#[tokio::test(start_paused = true)]
async fn there_is_no_view_before_each_kind_was_listed() {
    let followed = Followed::new(|asked| {
        let answer = Answer::quiet(asked, "10");
        let late = asked.of("chatconnections") && asked.is_list();
        if late { Answer::After(Duration::from_secs(7), Box::new(answer)) } else { answer }
    });
    eventually("two kinds are listed", || followed.times(Observation::Listed(Kind::AgentBackend)) == 1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(followed.views.borrow().is_none());
    eventually("there is a view", || followed.views.borrow().is_some()).await;
    assert_eq!(followed.times(Observation::Listed(Kind::ChatConnection)), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_watch_tells_is_in_the_view_within_a_second() {
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = Mutex::new(Some(receiver));
    let followed = Followed::new(bindings(
        |_| Answer::list("10", &[binding("one", "3")]),
        move |_, _| stream.lock().unwrap().take().map_or(Answer::Silence, Answer::Stream),
    ));
    followed.until("the list", "one", Some("3")).await;
    let before = followed.views.borrow().clone().unwrap();

    let began = Instant::now();
    sender.send(line(&event("ADDED", &binding("two", "11")))).unwrap();
    sender.send(line(&event("MODIFIED", &binding("two", "12")))).unwrap();
    followed.until("an edit", "two", Some("12")).await;
    assert!(began.elapsed() < Duration::from_secs(1));
    let after = followed.views.borrow().clone().unwrap();
    let key = (Kind::Binding, ObjectKey::new("a", "one"));
    assert!(Arc::ptr_eq(&before.objects[&key], &after.objects[&key]), "what did not change is shared");

    let mut again = binding("two", "14");
    again["metadata"]["uid"] = json!("another");
    sender.send(line(&event("DELETED", &binding("two", "13")))).unwrap();
    sender.send(line(&event("ADDED", &again))).unwrap();
    followed.until("the object made again", "two", Some("14")).await;
    assert_eq!(followed.binding("two").unwrap().meta.uid, Uid("another".to_owned()));

    sender.send(line(&event("DELETED", &again))).unwrap();
    followed.until("the deletion", "two", None).await;
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_events_is_few_views() {
    let events: Vec<_> = (0..500).map(|n| event("ADDED", &binding(&format!("b{n}"), &(100 + n).to_string()))).collect();
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = Mutex::new(Some(receiver));
    let followed = Followed::new(bindings(
        |_| Answer::list("10", &[]),
        move |_, _| stream.lock().unwrap().take().map_or(Answer::Silence, Answer::Stream),
    ));
    eventually("there is a view", || followed.views.borrow().is_some()).await;
    let mut views = followed.views.clone();
    let published = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&published);
    let counting = tokio::spawn(async move {
        while views.changed().await.is_ok() {
            views.borrow_and_update();
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    for event in &events {
        sender.send(line(event)).unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    followed.until("the last", "b499", Some("599")).await;
    counting.abort();
    let published = published.load(Ordering::SeqCst);
    assert!((2..=13).contains(&published), "500 events in a second were {published} views");
}

#[tokio::test(start_paused = true)]
async fn an_odd_object_hides_no_other() {
    let mut odd = binding("odd", "4");
    odd["metadata"]["uid"] = Value::Null;
    let items = [json!(7), json!({}), odd.clone(), binding("one", "3")];
    odd["metadata"]["resourceVersion"] = json!("12");
    let mut once = binding("two", "13");
    once["metadata"]["creationTimestamp"] = json!("yesterday");
    let events = [
        event("ADDED", &binding("two", "11")),
        event("MODIFIED", &odd),
        event("MODIFIED", &once),
        event("ADDED", &binding("three", "14")),
    ];
    let followed =
        Followed::new(bindings(move |_| Answer::list("10", &items), move |_, _| Answer::events_and_silence(&events)));
    followed.until("the object after the odd one", "three", Some("14")).await;
    assert_eq!(followed.version("one").as_deref(), Some("3"));
    assert_eq!(followed.version("odd"), None);
    assert_eq!(followed.version("two"), None, "what it was is not so any more");
    assert_eq!(followed.lists(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_several_pages_is_one_list() {
    let followed = Followed::new(|asked| match asked {
        asked if !asked.of("bindings") || asked.is_watch() => Answer::quiet(asked, "10"),
        asked if asked.has("continue", "token") => Answer::list("10", &[binding("two", "4")]),
        _ => Answer::json(&json!({
            "metadata": { "resourceVersion": "10", "continue": "token" }, "items": [binding("one", "3")],
        })),
    });
    followed.until("the second page", "two", Some("4")).await;
    assert_eq!(followed.version("one").as_deref(), Some("3"));
    assert!(
        followed
            .script
            .asked()
            .iter()
            .all(|asked| asked.is_watch() || asked.query.get("limit").is_none_or(|l| l == "500"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_says_that_all_is_known_up_to_there() {
    let bookmark = json!({ "kind": "Binding", "apiVersion": "x/v1", "metadata": { "resourceVersion": "77" } });
    let followed = Followed::new(bindings(
        |_| Answer::list("10", &[]),
        move |turn, asked| match turn {
            0 => Answer::events_and_silence(&[event("BOOKMARK", &bookmark)]),
            _ => Answer::quiet(asked, "10"),
        },
    ));
    eventually("it was told", || followed.times(Observation::Fresh(Kind::Binding)) == 2).await;
    assert_eq!(followed.times(Observation::Listed(Kind::Binding)), 1);
}

#[tokio::test(start_paused = true)]
async fn another_schema_is_another_text_in_the_view() {
    let hashes = Arc::new(Mutex::new("A"));
    let hash = Arc::clone(&hashes);
    let followed = Followed::new(move |asked| {
        if asked.path != "/openapi/v3" {
            return Answer::quiet(asked, "10");
        }
        let hash = *hash.lock().unwrap();
        if hash.is_empty() {
            return Answer::Reset;
        }
        let url = format!("/openapi/v3/apis/agentkourier.io/v1alpha1?hash={hash}");
        Answer::json(&json!({ "paths": { "apis/agentkourier.io/v1alpha1": { "serverRelativeURL": url } } }))
    });
    let schema = || followed.views.borrow().as_ref().map(|view| view.schema.clone()).unwrap_or_default();
    eventually("the first", || schema().ends_with("hash=A")).await;
    *hashes.lock().unwrap() = "";
    tokio::time::sleep(Duration::from_secs(130)).await;
    assert!(schema().ends_with("hash=A"), "what cannot be asked is no change");
    *hashes.lock().unwrap() = "B";
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(schema().ends_with("hash=B"));
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_all_calls() {
    let script = Script::default();
    let client = script.client(|asked| Answer::quiet(asked, "10"));
    let objects = Objects::new(client, Rhythm::default(), Arc::new(|_| {}));
    let views = objects.views();
    objects.run(tokio::time::sleep(Duration::from_secs(10))).await;
    let asked = script.asked().len();
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(script.asked().len(), asked);
    assert!(views.borrow().is_some(), "the last view stays");
}
