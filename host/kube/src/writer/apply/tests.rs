use tokio::net::TcpListener;

use super::*;

async fn ask(uri: &str) -> ApiError {
    let mut config = kube::Config::new(uri.parse().unwrap());
    config.default_retry = false;
    let client = Client::try_from(config).unwrap();
    let call = async {
        let request = Request::new("/apis").get("one", &kube::api::GetParams::default()).unwrap();
        client.send(request.map(Body::from)).await.map(|_| ())
    };
    timely(Duration::from_secs(5), call).await.unwrap_err()
}

#[tokio::test]
async fn a_refused_connection_is_a_failure_and_one_that_breaks_later_a_doubt() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    let accepts = tokio::spawn(async move { drop(listener.accept().await.unwrap()) });
    let broken = unanswered(&ask(&uri).await);
    assert!(matches!(broken.answer, Answer::InDoubt(_)), "{:?}", broken.cause);
    accepts.await.unwrap();
    let refused = unanswered(&ask(&uri).await);
    assert!(matches!(refused.answer, Answer::Failed(_)), "{:?}", refused.cause);
    let cause = refused.cause.unwrap();
    assert_eq!(cause.matches("Connection refused").count(), 1, "{cause}");
}

#[test]
fn a_long_refusal_is_cut_in_the_log() {
    let said = Said { code: 502, retry_after: None, body: "ä".repeat(9000).into_bytes() };
    assert_eq!(cause(&said, &Status::default()).chars().count(), "502: ".len() + CAUSE);
}
