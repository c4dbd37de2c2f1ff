use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::*;

/// Answers after a second, each time with the next answer of a list, and counts.
struct Slow {
    answers: Mutex<Vec<Answer>>,
    asked: AtomicUsize,
    rested: AtomicUsize,
}

impl Slow {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), asked: AtomicUsize::new(0), rested: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Transport for Slow {
    fn send(&self, _: HttpRequest, deadline: Instant) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let answer = self.answers.lock().unwrap().pop().unwrap_or_else(|| ok("more"));
            match timeout_at(deadline, tokio::time::sleep(Duration::from_secs(1))).await {
                Ok(()) => answer,
                Err(_) => Err(Failure::TimedOut),
            }
        })
    }

    fn rest(&self) {
        self.rested.fetch_add(1, Ordering::SeqCst);
    }
}

fn ok(body: &'static str) -> Answer {
    Ok(HttpResponse { status: 200, headers: Vec::new(), body: Bytes::from_static(body.as_bytes()) })
}

fn get(path: &str) -> HttpRequest {
    HttpRequest {
        method: Method::Get,
        url: format!("https://a.example{path}").parse().unwrap(),
        headers: vec![("authorization".to_owned(), "Bearer a".to_owned())],
        body: None,
        trust: Trust::System,
        absolute_name: false,
    }
}

fn within(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn an_identical_question_is_asked_once_and_shared() {
    let slow = Slow::new([ok("first"), ok("second")]);
    let pass = Pass::new(slow.clone());
    let (a, b) = tokio::join!(pass.send(get("/"), within(5)), pass.send(get("/"), within(5)));
    let c = pass.send(get("/"), within(5)).await;
    assert_eq!([a, b, c], [ok("first"), ok("first"), ok("first")]);
    assert_eq!(slow.asked(), 1);
    drop(pass);
    assert_eq!(slow.rested.load(Ordering::SeqCst), 1);
    // Another pass asks anew.
    assert_eq!(Pass::new(slow.clone()).send(get("/"), within(5)).await, ok("second"));
}

#[tokio::test(start_paused = true)]
async fn whatever_an_answer_may_depend_on_makes_another_question() {
    let slow = Slow::new([]);
    let pass = Pass::new(slow.clone());
    let others = [
        get("/"),
        get("/b"),
        get("/?b"),
        HttpRequest { headers: vec![("authorization".to_owned(), "Bearer b".to_owned())], ..get("/") },
        HttpRequest { headers: vec![("authorizatio".to_owned(), "nBearer a".to_owned())], ..get("/") },
        HttpRequest { headers: Vec::new(), ..get("/") },
        HttpRequest { trust: Trust::Only(Arc::from("a")), ..get("/") },
        HttpRequest { trust: Trust::Only(Arc::from("b")), ..get("/") },
        HttpRequest { absolute_name: true, ..get("/") },
    ];
    let count = others.len();
    for request in others {
        pass.send(request, within(5)).await.unwrap();
    }
    assert_eq!(slow.asked(), count);
}

#[tokio::test(start_paused = true)]
async fn a_post_is_never_shared() {
    let slow = Slow::new([ok("first"), ok("second")]);
    let pass = Pass::new(slow.clone());
    let post = HttpRequest { method: Method::Post, ..get("/") };
    assert_eq!(pass.send(post.clone(), within(5)).await, ok("first"));
    assert_eq!(pass.send(post, within(5)).await, ok("second"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_shared_unless_it_is_the_hosts_own() {
    for failure in [Failure::Unreachable("refused".to_owned()), Failure::TimedOut, Failure::TooLarge] {
        let slow = Slow::new([Err(failure.clone()), ok("second")]);
        let pass = Pass::new(slow.clone());
        for _ in 0..3 {
            assert_eq!(pass.send(get("/"), within(5)).await, Err(failure.clone()));
        }
        assert_eq!(slow.asked(), 1);
    }
    let lacks = Failure::Host("no files left".to_owned());
    let slow = Slow::new([Err(lacks.clone()), ok("second")]);
    let pass = Pass::new(slow.clone());
    let (a, b) = tokio::join!(pass.send(get("/"), within(5)), pass.send(get("/"), within(5)));
    assert_eq!([a, b], [Err(lacks.clone()), Err(lacks)]);
    assert_eq!(pass.send(get("/"), within(5)).await, ok("second"));
}

#[tokio::test(start_paused = true)]
async fn an_asker_with_less_time_times_out_and_the_request_goes_on_for_the_others() {
    let slow = Slow::new([ok("first"), ok("second")]);
    let pass = Pass::new(slow.clone());
    let hasty = Instant::now() + Duration::from_millis(100);
    assert_eq!(pass.send(get("/"), hasty).await, Err(Failure::TimedOut));
    // Given up altogether, as when a run is cut.
    assert!(tokio::time::timeout(Duration::from_millis(100), pass.send(get("/"), within(5))).await.is_err());
    assert_eq!(pass.send(get("/"), within(5)).await, ok("first"));
    assert_eq!(slow.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_shared_request_has_the_whole_time_of_a_request() {
    let slow = Slow::new([ok("first")]);
    let pass = Pass::with_request_time(slow.clone(), Duration::from_millis(500));
    assert_eq!(pass.send(get("/"), within(5)).await, Err(Failure::TimedOut));
    assert_eq!(pass.send(get("/"), within(5)).await, Err(Failure::TimedOut));
    assert_eq!(slow.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn for_one_probe_all_but_large_answers_are_kept() {
    let of = |bytes: usize| Ok(HttpResponse { status: 200, headers: Vec::new(), body: Bytes::from(vec![0; bytes]) });
    let fits = KEPT_FOR_ONE as usize - ENTRY;
    for (answer, asked) in [(of(fits), 1), (of(fits + 1), 2), (Err(Failure::Unreachable("refused".to_owned())), 1)] {
        let slow = Slow::new([answer.clone(), answer.clone()]);
        let pass = Arc::new(Pass::new(slow.clone()));
        let one = Arc::clone(&pass).for_one();
        let (a, b) = tokio::join!(one.send(get("/"), within(5)), one.send(get("/"), within(5)));
        assert_eq!([&a, &b], [&answer, &answer], "askers of one moment share whatever it is");
        assert_eq!(slow.asked(), 1);
        assert_eq!(one.send(get("/"), within(5)).await, answer);
        assert_eq!(slow.asked(), asked);
        drop((one, pass));
        assert_eq!(slow.rested.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn what_is_kept_is_weighed_by_its_bytes() {
    let body = Bytes::from(vec![0; 1 << 20]);
    let large: Answer = Ok(HttpResponse { status: 200, headers: vec![("a".repeat(100), "b".repeat(100))], body });
    assert_eq!(weight(&large), (1 << 20) + 264 + 512);
    assert_eq!(weight(&Err(Failure::TimedOut)), 512);
}
