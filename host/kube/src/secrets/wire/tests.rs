use futures::io::{BufReader, Cursor};
use kourier_core::plan::Version;
use serde_json::json;

use super::{Event, Lines, MAX, Unreadable, event, secret, whole};

fn object() -> serde_json::Value {
    json!({
        "metadata": { "name": "bot", "namespace": "a", "uid": "u1", "resourceVersion": "7", "managedFields": [{}] },
        "data": { "token": "eG94Yi1oaWRkZW4=" }, "type": "Opaque",
    })
}

fn line(kind: &str, object: &serde_json::Value) -> Vec<u8> {
    json!({ "type": kind, "object": object }).to_string().into_bytes()
}

#[test]
fn an_answer_is_read_with_its_values_decoded() {
    let data = secret(object().to_string().as_bytes(), "bot").unwrap();
    assert_eq!(data.values["token"].as_slice(), b"xoxb-hidden");
    assert_eq!((data.version.0.as_str(), data.uid.0.as_str()), ("7", "u1"));
}

#[test]
fn nothing_of_a_value_shows() {
    let data = secret(object().to_string().as_bytes(), "bot").unwrap();
    let shown = format!("{data:?} {:#?}", Event::Is(data_again()));
    for secret in ["xoxb", "hidden", "eG94", "120"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("token"), "{shown}");
}

fn data_again() -> super::SecretData {
    secret(object().to_string().as_bytes(), "bot").unwrap()
}

#[test]
fn a_secret_without_data_is_a_secret() {
    for data in [json!(null), json!({})] {
        let mut object = object();
        object["data"] = data;
        assert!(secret(object.to_string().as_bytes(), "bot").unwrap().values.is_empty());
    }
}

#[test]
fn what_is_no_such_secret_is_unreadable() {
    let mut coded = object();
    coded["data"]["token"] = json!("not base64!");
    let mut typed = object();
    typed["data"] = json!(["x"]);
    let mut unnamed = object();
    unnamed["metadata"]["uid"] = json!("");
    for object in [coded, typed, unnamed, json!([]), json!({})] {
        assert_eq!(secret(object.to_string().as_bytes(), "bot").unwrap_err(), Unreadable);
    }
    assert_eq!(secret(b"{\"metadata\":", "bot").unwrap_err(), Unreadable);
}

#[test]
fn another_secret_than_was_asked_for_is_never_taken() {
    assert_eq!(secret(object().to_string().as_bytes(), "other").unwrap_err(), Unreadable);
    for kind in ["ADDED", "MODIFIED", "DELETED"] {
        assert!(matches!(event(&line(kind, &object()), "other"), Ok(Event::Foreign)));
    }
}

#[test]
fn each_kind_of_event_is_told_apart() {
    for kind in ["ADDED", "MODIFIED"] {
        assert!(matches!(event(&line(kind, &object()), "bot"), Ok(Event::Is(data)) if data.version.0 == "7"));
    }
    let deleted = event(&line("DELETED", &object()), "bot");
    assert!(matches!(deleted, Ok(Event::Deleted(Version(version))) if version == "7"));
    let bookmark = json!({ "kind": "Secret", "metadata": { "resourceVersion": "9" } });
    assert!(matches!(event(&line("BOOKMARK", &bookmark), "bot"), Ok(Event::Bookmark)));
    let status = json!({ "kind": "Status", "metadata": {}, "code": 410, "message": "too old" });
    assert!(matches!(event(&line("ERROR", &status), "bot"), Ok(Event::Error(410))));
    assert!(event(&line("RENAMED", &object()), "bot").is_err());
}

#[tokio::test]
async fn lines_come_one_by_one_however_they_were_cut_on_the_way() {
    for size in [1, 2, 3, 100] {
        let reader = BufReader::with_capacity(size, Cursor::new(b"ab\n\nlonger line\ncut off".to_vec()));
        let mut lines = Lines::new(reader);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(seen, ["ab", "", "longer line"], "what was cut off is no line");
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_cut() {
    let at_most = BufReader::new(Cursor::new(vec![b'x'; MAX]));
    assert_eq!(whole(at_most).await.unwrap().len(), MAX);
    let more = BufReader::new(Cursor::new(vec![b'x'; MAX + 1]));
    assert!(whole(more).await.is_err());
    let line = BufReader::new(Cursor::new(vec![b'x'; MAX + 1]));
    assert!(Lines::new(line).next().await.is_err());
}
