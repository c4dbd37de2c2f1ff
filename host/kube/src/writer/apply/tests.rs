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

#[test]
fn what_a_schema_does_not_have_is_left_out_and_nothing_else() {
    let check = |refusal: &str, expected: Value| {
        let condition = serde_json::json!({"type": "Ready", "observedGeneration": 1});
        let whole = serde_json::json!({"observedGeneration": 1, "conditions": [condition]});
        let mut status = whole.clone();
        assert_eq!(leave_out(&mut status, refusal), status != whole);
        assert_eq!(status, expected, "{refusal}");
        assert!(!leave_out(&mut status, refusal), "twice");
    };
    let of = |path: &str| format!("failed to create typed patch object (a/one; x/v1, Kind=Binding): {path}{UNKNOWN}");
    check(
        &of(".status.observedGeneration"),
        serde_json::json!({"conditions": [{"type": "Ready", "observedGeneration": 1}]}),
    );
    let in_conditions = of(r#".status.conditions[type="Ready"].observedGeneration"#);
    check(&in_conditions, serde_json::json!({"observedGeneration": 1, "conditions": [{"type": "Ready"}]}));
    let both = format!("errors:\n  {in_conditions}\n  .status.observedGeneration{UNKNOWN}");
    check(&both, serde_json::json!({"conditions": [{"type": "Ready"}]}));
    let whole =
        serde_json::json!({"observedGeneration": 1, "conditions": [{"type": "Ready", "observedGeneration": 1}]});
    check(&of(".status.conditions[0].reason"), whole.clone());
    check("etcdserver: request timed out", whole);
}
