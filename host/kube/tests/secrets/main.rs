//! The watch of Secrets, against a scripted API server: what a real one does not do when it is asked to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kourier_kube::secrets::{SecretCache, SecretRhythm, SecretTrouble};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

mod live;
#[path = "../script/mod.rs"]
mod script;

use script::{Answer, Asked, Log, Script, event, eventually, line};

const VALUE: &str = "xoxb-hidden";
const CODED: &str = "eG94Yi1oaWRkZW4=";

/// The Secret `name` at this version.
fn secret(name: &str, version: &str) -> Value {
    json!({
        "kind": "Secret", "apiVersion": "v1",
        "metadata": { "name": name, "namespace": "a", "uid": format!("u-{name}"), "resourceVersion": version },
        "data": { "token": CODED },
    })
}

struct Watched {
    script: Script,
    cache: SecretCache,
}

impl Watched {
    fn new(names: &[&str], answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let script = Script::default();
        let cache = SecretCache::new(script.client(answer), SecretRhythm::default());
        let watched = Self { script, cache };
        watched.want(names);
        watched
    }

    fn want(&self, names: &[&str]) {
        self.cache.want(&names.iter().map(|name| ("a".to_owned(), (*name).to_owned())).collect());
    }

    /// The version that is known, or the trouble.
    fn at(&self, name: &str) -> Option<Result<String, SecretTrouble>> {
        self.cache.get("a", name).map(|found| found.map(|data| data.version.0.clone()))
    }

    async fn until(&self, what: &str, name: &str, expected: Result<&str, SecretTrouble>) {
        eventually(what, || self.at(name) == Some(expected.map(str::to_owned))).await;
        self.never_listed();
    }

    /// Each request reads one Secret by its name, or watches one by its name.
    fn never_listed(&self) {
        for asked in self.script.asked() {
            let named = asked.path.strip_prefix("/api/v1/namespaces/a/secrets/").is_some_and(|name| !name.is_empty());
            let of_one = asked.query.get("fieldSelector").is_some_and(|only| only.starts_with("metadata.name="));
            assert!(named && asked.query.is_empty() || asked.is_watch() && of_one, "{asked:?}");
        }
    }
}

/// Gets are answered with `get`; the first watch tells what the sender sends, later ones nothing.
fn told(get: Value) -> (mpsc::UnboundedSender<String>, impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = Mutex::new(Some(receiver));
    let answer = move |asked: &Asked| match asked.is_watch() {
        true => stream.lock().unwrap().take().map_or_else(|| Answer::quiet(asked, "1"), Answer::Stream),
        false => Answer::json(&get),
    };
    (sender, answer)
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_read_and_each_change_of_it_is_known() {
    let (sender, answer) = told(secret("bot", "7"));
    let watched = Watched::new(&["bot"], answer);
    assert_eq!(watched.at("bot"), None, "it was not read yet");
    let mut changes = watched.cache.changes();
    watched.until("the first read", "bot", Ok("7")).await;
    let data = watched.cache.get("a", "bot").unwrap().unwrap();
    assert_eq!(data.values["token"].as_slice(), VALUE.as_bytes());
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();

    // A watch begins with what the server has in memory: that may be older than what was read.
    sender.send(line(&event("ADDED", &secret("bot", "6")))).unwrap();
    sender.send(line(&event("MODIFIED", &secret("bot", "7")))).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(watched.at("bot"), Some(Ok("7".to_owned())));
    assert!(!changes.has_changed().unwrap(), "nothing is new");

    let began = Instant::now();
    sender.send(line(&event("MODIFIED", &secret("bot", "8")))).unwrap();
    changes.changed().await.unwrap();
    watched.until("the change", "bot", Ok("8")).await;
    assert!(began.elapsed() < Duration::from_secs(1));

    sender.send(line(&event("DELETED", &secret("bot", "9")))).unwrap();
    watched.until("the deletion", "bot", Err(SecretTrouble::NotFound)).await;
    let mut again = secret("bot", "11");
    again["metadata"]["uid"] = json!("another");
    sender.send(line(&event("ADDED", &again))).unwrap();
    watched.until("the Secret made again", "bot", Ok("11")).await;
    assert_eq!(watched.cache.get("a", "bot").unwrap().unwrap().uid.0, "another");
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_made_later_is_known_at_once() {
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = Mutex::new(Some(receiver));
    let watched = Watched::new(&["bot"], move |asked| match asked.is_watch() {
        true => stream.lock().unwrap().take().map_or(Answer::Silence, Answer::Stream),
        false => Answer::status(404, "secrets \"bot\" not found"),
    });
    watched.until("it is missed", "bot", Err(SecretTrouble::NotFound)).await;
    let began = Instant::now();
    sender.send(line(&event("ADDED", &secret("bot", "7")))).unwrap();
    watched.until("it is there", "bot", Ok("7")).await;
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_missing_right_is_a_value_said_once_and_found_when_it_is_granted() {
    let (log, _guard) = Log::begin();
    let granted = Instant::now() + Duration::from_secs(600);
    let watched = Watched::new(&["bot", "open"], move |asked| {
        let bot = asked.of("/bot") || asked.has("fieldSelector", "metadata.name=bot");
        match bot && Instant::now() < granted {
            true => Answer::status(403, "secrets \"bot\" is forbidden"),
            false if asked.is_watch() => Answer::quiet(asked, "1"),
            false => Answer::json(&secret(if bot { "bot" } else { "open" }, "7")),
        }
    });
    watched.until("no right", "bot", Err(SecretTrouble::Forbidden)).await;
    watched.until("the other", "open", Ok("7")).await;
    tokio::time::sleep_until(granted).await;
    let tries = watched.script.count(|asked| asked.of("/bot"));
    assert!((10..20).contains(&tries), "{tries} tries in ten minutes");
    assert_eq!(log.count("the broker may not get a Secret: grant"), 1, "{}", log.text());
    watched.until("the right is there", "bot", Ok("7")).await;
    assert!(granted.elapsed() <= Duration::from_secs(61));
    assert_eq!(log.count("watched again"), 1, "{}", log.text());
}

#[tokio::test(start_paused = true)]
async fn a_right_that_is_taken_away_ends_the_use_of_the_secret() {
    let taken = Instant::now() + Duration::from_secs(10);
    let watched = Watched::new(&["bot"], move |asked| match Instant::now() > taken {
        true => Answer::status(403, "secrets \"bot\" is forbidden"),
        false if asked.is_watch() => Answer::quiet(asked, "1"),
        false => Answer::json(&secret("bot", "7")),
    });
    watched.until("the first read", "bot", Ok("7")).await;
    watched.until("no right", "bot", Err(SecretTrouble::Forbidden)).await;
}

#[tokio::test(start_paused = true)]
async fn with_the_right_to_get_alone_a_change_is_known_within_two_minutes() {
    let edited = Instant::now() + Duration::from_secs(200);
    let watched = Watched::new(&["bot"], move |asked| match asked.is_watch() {
        true => Answer::status(403, "secrets is forbidden: cannot watch"),
        false => Answer::json(&secret("bot", if Instant::now() < edited { "7" } else { "8" })),
    });
    watched.until("the first read", "bot", Ok("7")).await;
    watched.until("the change", "bot", Ok("8")).await;
    assert!(edited.elapsed() <= Duration::from_secs(120));
}

#[tokio::test(start_paused = true)]
async fn while_the_api_server_is_away_what_was_read_stays() {
    let away = Instant::now() + Duration::from_secs(10);
    for broken in [|| Answer::Reset, || Answer::Silence, || Answer::status(503, "busy"), || Answer::status(401, "who")]
    {
        let watched = Watched::new(&["bot"], move |asked| match Instant::now() > away {
            true => broken(),
            false if asked.is_watch() => Answer::events_and_silence(&[]),
            false => Answer::json(&secret("bot", "7")),
        });
        if Instant::now() < away {
            watched.until("the first read", "bot", Ok("7")).await;
            tokio::time::sleep(Duration::from_secs(600)).await;
            assert_eq!(watched.at("bot"), Some(Ok("7".to_owned())));
        } else {
            watched.until("nothing to keep", "bot", Err(SecretTrouble::Unreadable)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_longer_wanted_is_forgotten_and_asked_for_no_more() {
    let watched = Watched::new(&["bot", "ca"], |asked| match asked.is_watch() {
        true => Answer::quiet(asked, "1"),
        false => Answer::json(&secret(asked.path.rsplit('/').next().unwrap(), "7")),
    });
    watched.until("one", "bot", Ok("7")).await;
    watched.until("the other", "ca", Ok("7")).await;
    let held = watched.cache.get("a", "ca").unwrap().unwrap();
    let weak = Arc::downgrade(&held);
    drop(held);
    watched.want(&["bot"]);
    assert_eq!(watched.at("ca"), None);
    assert!(weak.upgrade().is_none(), "its values are wiped");
    let asked = watched.script.count(|asked| asked.of("/ca"));
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(watched.script.count(|asked| asked.of("/ca")), asked);
    assert!(watched.script.count(|asked| asked.of("/bot")) > 15);

    watched.want(&["bot", "ca"]);
    assert_eq!(watched.at("ca"), None, "it is to be read again");
    watched.until("wanted again", "ca", Ok("7")).await;
}

#[tokio::test(start_paused = true)]
async fn hundreds_of_secrets_are_no_burst() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inner, peak) = (Arc::clone(&now), Arc::clone(&most));
    let names: Vec<_> = (0..300).map(|n| format!("s{n}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let watched = Watched::new(&names, move |asked| {
        if asked.is_watch() {
            return Answer::quiet(asked, "1");
        }
        peak.fetch_max(inner.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let (inner, answer) = (Arc::clone(&inner), secret(asked.path.rsplit('/').next().unwrap(), "7"));
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(99)).await;
            inner.fetch_sub(1, Ordering::SeqCst);
        });
        Answer::After(Duration::from_millis(100), Box::new(Answer::json(&answer)))
    });
    eventually("all are read", || names.iter().all(|name| watched.at(name) == Some(Ok("7".to_owned())))).await;
    let most = most.load(Ordering::SeqCst);
    assert!((2..=8).contains(&most), "{most} reads at a time");
    watched.never_listed();
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_cannot_go_on_is_opened_again() {
    let gone = json!({ "kind": "Status", "code": 410, "message": "too old", "metadata": {} });
    let foreign = event("ADDED", &secret("other", "99"));
    let ends: [Arc<dyn Fn() -> Answer + Send + Sync>; 5] = [
        Arc::new(move || Answer::events(&[event("ERROR", &gone)])),
        Arc::new(|| Answer::events(&[])),
        Arc::new(|| Answer::events(&[json!({ "type": "MODIFIED", "object": [CODED] })])),
        Arc::new(|| Answer::events_and_silence(&[])),
        Arc::new(move || Answer::events(std::slice::from_ref(&foreign))),
    ];
    for end in ends {
        let watches = AtomicUsize::new(0);
        let watched = Watched::new(&["bot"], move |asked| match asked.is_watch() {
            true if watches.fetch_add(1, Ordering::SeqCst) == 0 => end(),
            true => Answer::events_and_silence(&[event("MODIFIED", &secret("bot", "8"))]),
            false => Answer::json(&secret("bot", "7")),
        });
        watched.until("what the second watch tells", "bot", Ok("8")).await;
        assert_eq!(watched.script.count(Asked::is_watch), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_each_watch_at_once_is_not_asked_without_a_pause() {
    let watched = Watched::new(&["bot"], |asked| match asked.is_watch() {
        true => Answer::events(&[]),
        false => Answer::json(&secret("bot", "7")),
    });
    tokio::time::sleep(Duration::from_secs(600)).await;
    let asked = watched.script.asked().len();
    assert!((20..40).contains(&asked), "{asked} requests in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_restored_is_followed_back() {
    let restored = Instant::now() + Duration::from_secs(10);
    let watched = Watched::new(&["bot"], move |asked| match asked.is_watch() {
        true => Answer::quiet(asked, "1"),
        false => Answer::json(&secret("bot", if Instant::now() < restored { "700" } else { "12" })),
    });
    watched.until("the first read", "bot", Ok("700")).await;
    watched.until("what stands now", "bot", Ok("12")).await;
    assert!(restored.elapsed() < Duration::from_secs(180));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_the_name_of_a_secret_is_never_asked_for() {
    let script = Script::default();
    let cache = SecretCache::new(script.client(|_| Answer::Reset), SecretRhythm::default());
    let bad =
        [("a", "../configmaps"), ("a/..", "bot"), ("", "bot"), ("a", ""), ("a", "x,metadata.name=y"), ("a", "b?c")];
    cache.want(&bad.iter().map(|(namespace, name)| ((*namespace).to_owned(), (*name).to_owned())).collect());
    for (namespace, name) in bad {
        let not_found = || matches!(cache.get(namespace, name), Some(Err(SecretTrouble::NotFound)));
        eventually("it is not found", not_found).await;
    }
    assert_eq!(script.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_secret_gets_into_the_log() {
    let (log, _guard) = Log::begin();
    let garbled = format!("{{\"metadata\":{{\"name\":\"bot\"}},\"data\":{{\"token\":[\"{CODED}\",\"{VALUE}\"]}}}}");
    let mut odd = secret("bot", "8");
    odd["data"]["token"] = json!([CODED, VALUE]);
    let gets = AtomicUsize::new(0);
    let watched = Watched::new(&["bot"], move |asked| match asked.is_watch() {
        true => Answer::events_and_silence(&[event("MODIFIED", &odd)]),
        false if gets.fetch_add(1, Ordering::SeqCst) == 0 => Answer::Body(200, garbled.clone()),
        false => Answer::json(&secret("bot", "7")),
    });
    watched.until("an answer that cannot be read", "bot", Err(SecretTrouble::Unreadable)).await;
    watched.until("one that can", "bot", Ok("7")).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let known = watched.cache.get("a", "bot");
    tracing::info!(?known, cache = ?watched.cache, "as a caller may log it");
    let text = log.text();
    assert!(text.contains("as a caller may log it") && text.contains("cannot be watched"), "{text}");
    for part in [CODED, VALUE, "eG94", "xoxb"] {
        assert!(!text.contains(part), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_dropped_ends_its_watches() {
    let watched = Watched::new(&["bot"], |asked| match asked.is_watch() {
        true => Answer::quiet(asked, "1"),
        false => Answer::json(&secret("bot", "7")),
    });
    watched.until("the first read", "bot", Ok("7")).await;
    let Watched { script, cache } = watched;
    drop(cache);
    let asked = script.asked().len();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(script.asked().len(), asked);
}

#[test]
fn nothing_is_wanted_at_first() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let script = Script::default();
        let cache = SecretCache::new(script.client(|_| Answer::Reset), SecretRhythm::default());
        cache.want(&BTreeSet::new());
        assert_eq!(cache.get("a", "bot"), None);
    });
}
