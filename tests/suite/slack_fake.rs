//! The fake Slack answers as Slack does, and does what it is told.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use suite::slack::{Channel, FakeSlack, Fault, Limit, Seed, Token, Workspace};

const TOKEN: &str = "xoxb-fake";
const BOT: &str = "U0BOT";
const LISTING: &str = "users.conversations?types=public_channel,private_channel&limit=2";

/// `C1`, `C2`, `C3` and the private `G4` have the bot; `C5` and the private `G6` do not.
fn workspace() -> Workspace {
    Workspace::new("T0001")
        .token(TOKEN, Token::of(BOT, &["channels:read", "groups:read"]))
        .channel("C1", Channel::of(&[BOT, "U0ANN"]))
        .channel("C2", Channel::of(&[BOT]))
        .channel("C3", Channel::of(&[BOT]))
        .channel("G4", Channel { private: true, ..Channel::of(&[BOT]) })
        .channel("C5", Channel::of(&["U0ANN"]))
        .channel("G6", Channel { private: true, ..Channel::of(&["U0ANN"]) })
}

struct Client {
    http: reqwest::Client,
    fake: FakeSlack,
}

impl Client {
    async fn new(workspace: Workspace) -> Self {
        // Loopback HTTP needs no TLS, but the client wants a provider all the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { http, fake: FakeSlack::start(workspace).await.unwrap() }
    }

    async fn get(&self, call: &str) -> reqwest::Response {
        let url = format!("{}/{call}", self.fake.url());
        self.http.get(url).bearer_auth(TOKEN).send().await.unwrap()
    }

    async fn json(&self, call: &str) -> Value {
        let answer = self.get(call).await;
        assert_eq!(answer.status(), 200, "{call}");
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    async fn error(&self, call: &str) -> String {
        let answer = self.json(call).await;
        assert_eq!(answer["ok"], false, "{call}: {answer}");
        answer["error"].as_str().unwrap().to_owned()
    }

    /// The ids of all pages of a listing.
    async fn listed(&self, call: &str) -> Vec<String> {
        let mut ids = Vec::new();
        let mut next = call.to_owned();
        loop {
            let page = self.json(&next).await;
            let entries = page["channels"].as_array().unwrap();
            ids.extend(entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()));
            match page["response_metadata"]["next_cursor"].as_str().unwrap() {
                "" => return ids,
                cursor => {
                    let cursor = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect::<String>();
                    next = format!("{call}&cursor={cursor}");
                }
            }
        }
    }

    async fn control(&self, change: &str) -> u16 {
        let url = format!("http://{}/fake/{change}", self.fake.address());
        self.http.post(url).send().await.unwrap().status().as_u16()
    }
}

#[tokio::test]
async fn a_listing_has_the_bots_own_channels_page_by_page() {
    let client = Client::new(workspace()).await;
    assert_eq!(client.listed(LISTING).await, ["C1", "C2", "C3", "G4"]);
    assert_eq!(client.fake.requests("users.conversations"), 2);
    assert_eq!(client.listed("users.conversations?types=private_channel").await, ["G4"]);
    assert_eq!(client.listed("users.conversations?").await, ["C1", "C2", "C3"]);
}

#[tokio::test]
async fn archiving_removes_the_bot_and_nobody_else() {
    let client = Client::new(workspace()).await;
    assert!(client.fake.archive("C1"));
    assert_eq!(client.listed(LISTING).await, ["C2", "C3", "G4"]);
    let info = client.json("conversations.info?channel=C1").await;
    assert_eq!((&info["channel"]["is_archived"], &info["channel"]["is_member"]), (&true.into(), &false.into()));
    client.fake.change(|workspace| {
        assert!(workspace.channels["C1"].members.contains("U0ANN"));
        assert!(workspace.unarchive("C1"));
    });
    let info = client.json("conversations.info?channel=C1").await;
    assert_eq!((&info["channel"]["is_archived"], &info["channel"]["is_member"]), (&false.into(), &false.into()));
    assert!(client.fake.archive("G4"));
    assert_eq!(client.error("conversations.info?channel=G4").await, "channel_not_found");
    assert!(!client.fake.archive("C9"));
}

#[tokio::test]
async fn a_channel_is_told_as_far_as_the_bot_may_see() {
    let client = Client::new(workspace()).await;
    let is_member = async |channel: &str| {
        client.json(&format!("conversations.info?channel={channel}")).await["channel"]["is_member"].clone()
    };
    assert_eq!(is_member("C1").await, true);
    assert_eq!(is_member("C5").await, false);
    assert_eq!(is_member("G4").await, true);
    assert_eq!(client.error("conversations.info?channel=G6").await, "channel_not_found");
    assert_eq!(client.error("conversations.info?channel=C9").await, "channel_not_found");
    assert_eq!(client.error("conversations.info").await, "invalid_arguments");
    assert!(client.fake.invite("G6", BOT));
    assert_eq!(is_member("G6").await, true);
    assert!(client.fake.kick("C1", BOT));
    assert_eq!(is_member("C1").await, false);
}

#[tokio::test]
async fn a_token_may_what_its_scopes_allow() {
    let client = Client::new(workspace().token(TOKEN, Token::of(BOT, &["channels:read"]))).await;
    let refused = client.json(LISTING).await;
    assert_eq!((&refused["error"], &refused["needed"]), (&"missing_scope".into(), &"groups:read".into()));
    assert_eq!(refused["provided"], "channels:read");
    assert_eq!(client.listed("users.conversations?").await, ["C1", "C2", "C3"]);
    assert_eq!(client.error("conversations.info?channel=G4").await, "missing_scope");
    assert_eq!(client.error("conversations.info?channel=G6").await, "channel_not_found");
    client.fake.change(|workspace| workspace.tokens.get_mut(TOKEN).unwrap().scopes.clear());
    assert_eq!(client.error("conversations.info?channel=C1").await, "missing_scope");
}

#[tokio::test]
async fn a_token_that_is_none_is_refused() {
    let client = Client::new(workspace()).await;
    let with = async |request: reqwest::RequestBuilder| {
        let answer = request.send().await.unwrap().bytes().await.unwrap();
        serde_json::from_slice::<Value>(&answer).unwrap()["error"].clone()
    };
    let url = format!("{}/auth.test", client.fake.url());
    assert_eq!(with(client.http.get(&url)).await, "not_authed");
    assert_eq!(with(client.http.get(&url).bearer_auth("xoxb-other")).await, "invalid_auth");
    assert_eq!(with(client.http.get(format!("{url}?token={TOKEN}")).bearer_auth(TOKEN)).await, "invalid_auth");
    assert_eq!(with(client.http.post(&url).bearer_auth(TOKEN)).await, Value::Null);
    assert!(client.fake.revoke(TOKEN, "token_revoked"));
    assert_eq!(client.error(LISTING).await, "token_revoked");
}

#[tokio::test]
async fn a_form_is_as_good_as_a_query() {
    let client = Client::new(workspace()).await;
    let url = format!("{}/conversations.info", client.fake.url());
    let request = client.http.post(url).body(format!("token={TOKEN}&channel=G4"));
    let answer = request.send().await.unwrap().bytes().await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap()["channel"]["id"], "G4");
}

#[tokio::test]
async fn an_organisations_token_has_to_say_which_workspace() {
    let organisation = Workspace { enterprise: Some("E0001".to_owned()), ..workspace() }
        .channel("C7", Channel { team: Some("T0002".to_owned()), ..Channel::of(&[BOT]) })
        .token(TOKEN, Token { org_wide: true, ..Token::of(BOT, &["channels:read", "groups:read"]) })
        .token("xoxb-one", Token::of(BOT, &["channels:read", "groups:read"]));
    let client = Client::new(organisation).await;
    assert_eq!(client.error(LISTING).await, "missing_argument");
    assert_eq!(client.listed(&format!("{LISTING}&team_id=T0002")).await, ["C7"]);
    assert_eq!(client.json("conversations.info?channel=C7").await["channel"]["context_team_id"], "T0002");
    client.fake.change(|workspace| {
        let one = workspace.tokens["xoxb-one"].clone();
        workspace.tokens.insert(TOKEN.to_owned(), one);
    });
    assert_eq!(client.error("conversations.info?channel=C7").await, "team_access_not_granted");
    assert_eq!(client.listed(&format!("{LISTING}&team_id=T0002")).await, ["C1", "C2", "C3", "G4"]);
}

#[tokio::test]
async fn a_parameter_that_is_wrong_is_named_by_a_code() {
    let client = Client::new(workspace()).await;
    let cases = [
        ("users.conversations?types=channel", "invalid_types"),
        ("users.conversations?limit=0", "invalid_limit"),
        ("users.conversations?limit=1000", "invalid_limit"),
        ("users.conversations?limit=many", "invalid_limit"),
        ("users.conversations?cursor=next", "invalid_cursor"),
        ("chat.postMessage", "unknown_method"),
    ];
    for (call, code) in cases {
        assert_eq!(client.error(call).await, code, "{call}");
    }
}

#[tokio::test]
async fn a_used_up_limit_answers_429_and_says_how_long() {
    let client = Client::new(workspace()).await;
    client.fake.limit("auth.test", Some(Limit { requests: 2, window: Duration::from_secs(40) }));
    for _ in 0..2 {
        assert_eq!(client.json("auth.test").await["ok"], true);
    }
    let refused = client.get("auth.test").await;
    assert_eq!(refused.status(), 429);
    let wait: u32 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=40).contains(&wait), "{wait}");
    assert_eq!(refused.bytes().await.unwrap(), r#"{"error":"ratelimited","ok":false}"#);
    assert_eq!(client.json(LISTING).await["ok"], true);
    assert_eq!(client.fake.requests("auth.test"), 3);
    client.fake.limit("auth.test", None);
    assert_eq!(client.json("auth.test").await["ok"], true);
}

#[tokio::test]
async fn faults_are_met_in_the_order_they_were_asked_for() {
    let client = Client::new(workspace()).await;
    client.fake.fault("auth.test", Fault::Html(503), 2);
    client.fake.fault("auth.test", Fault::Error("ratelimited".to_owned()), 1);
    client.fake.fault("auth.test", Fault::Text(429, "You are being rate limited".to_owned()), 1);
    client.fake.fault("auth.test", Fault::Limited(30), 1);
    client.fake.fault("auth.test", Fault::Delay(Duration::from_millis(1)), 1);
    let mut seen = Vec::new();
    for _ in 0..7 {
        let answer = client.get("auth.test").await;
        let status = answer.status().as_u16();
        let wait = answer.headers().get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
        let body = answer.bytes().await.unwrap();
        seen.push((status, wait, body.slice(..8)));
    }
    let expected = [
        (503, None, "<!DOCTYP"),
        (503, None, "<!DOCTYP"),
        (200, None, r#"{"error""#),
        (429, None, "You are "),
        (429, Some("30"), r#"{"error""#),
        (200, None, r#"{"bot_id"#),
        (200, None, r#"{"bot_id"#),
    ];
    let expected = expected.map(|(status, wait, body)| (status, wait.map(str::to_owned), body.into()));
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_body_can_break_off_end_early_or_never_end() {
    let client = Client::new(workspace()).await;
    client.fake.fault("auth.test", Fault::Cut(9), 1);
    client.fake.fault("auth.test", Fault::Truncated(9), 1);
    client.fake.fault("auth.test", Fault::Endless, 1);
    assert!(client.get("auth.test").await.bytes().await.is_err());
    assert_eq!(client.get("auth.test").await.bytes().await.unwrap().len(), 9);
    let mut endless = client.get("auth.test").await;
    let mut read = 0;
    while read < 4 << 20 {
        read += endless.chunk().await.unwrap().unwrap().len();
    }
    drop(endless);
    client.fake.fault("auth.test", Fault::Html(500), u32::MAX);
    client.fake.clear_faults();
    assert_eq!(client.json("auth.test").await["ok"], true);
}

/// Adds each scalar of `value` to `shape`, by its path, with its type.
fn shape_of(value: &Value, path: &str, shape: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Object(members) => {
            let dot = if path.is_empty() { "" } else { "." };
            return members.iter().for_each(|(name, value)| shape_of(value, &format!("{path}{dot}{name}"), shape));
        }
        Value::Array(items) => return items.iter().for_each(|item| shape_of(item, &format!("{path}[]"), shape)),
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
    };
    shape.insert(path.to_owned(), kind);
}

#[tokio::test]
async fn every_member_of_an_answer_is_one_that_slack_publishes() {
    let organisation = Workspace { enterprise: Some("E0001".to_owned()), ..workspace() };
    let client = Client::new(organisation.token("xoxb-poor", Token::of(BOT, &["channels:read"]))).await;
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/slack");
    let calls = [
        ("auth.test", "auth.test"),
        ("conversations.info", "conversations.info?channel=C1"),
        ("conversations.info", "conversations.info?channel=G4"),
        ("conversations.info", "conversations.info?channel=C9"),
        ("users.conversations", LISTING),
        ("users.conversations", "users.conversations?types=im"),
    ];
    for (method, call) in calls {
        let published = std::fs::read_to_string(golden.join(format!("{method}.json"))).unwrap();
        let published: BTreeMap<String, String> = serde_json::from_str(&published).unwrap();
        let mut shape = BTreeMap::new();
        shape_of(&client.json(call).await, "", &mut shape);
        assert!(shape.contains_key("ok"), "{call}");
        for (member, kind) in shape {
            assert_eq!(published.get(&member).map(String::as_str), Some(kind), "{call}: {member}");
        }
    }
}

#[tokio::test]
async fn a_person_can_change_the_workspace_from_a_command_line() {
    let client = Client::new(workspace()).await;
    for change in ["archive?channel=C1", "kick?channel=C2&user=U0BOT", "invite?channel=C5&user=U0BOT"] {
        assert_eq!(client.control(change).await, 200, "{change}");
    }
    assert_eq!(client.listed(LISTING).await, ["C3", "C5", "G4"]);
    assert_eq!(client.control("unarchive?channel=C1").await, 200);
    assert_eq!(client.control("outage?method=auth.test&times=1").await, 200);
    assert_eq!(client.get("auth.test").await.status(), 503);
    assert_eq!(client.control("limit?method=auth.test&requests=0&seconds=60").await, 200);
    assert_eq!(client.get("auth.test").await.status(), 429);
    assert_eq!(client.control("revoke?token=xoxb-fake").await, 200);
    assert_eq!(client.error(LISTING).await, "token_revoked");
    for wrong in ["archive", "archive?channel=C9", "explode", "limit?method=m&requests=x&seconds=1"] {
        assert_eq!(client.control(wrong).await, 400, "{wrong}");
    }
    let url = format!("http://{}/fake/requests", client.fake.address());
    let counts = client.http.get(url).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&counts).unwrap()["auth.test"], 2);
}

#[tokio::test]
async fn a_workspace_can_be_read_from_a_file() {
    let text = "
team: T0001
channels:
  - {id: C1, name: general, members: [U0BOT]}
  - {id: G2, name: secret, private: true}
  - {id: C3, name: old, archived: true}
tokens:
  - {token: xoxb-fake, user: U0BOT, scopes: [channels:read, groups:read]}
limits: {conversations.info: 1}
";
    let (workspace, limits) = Seed::read(text).unwrap().build();
    let client = Client::new(workspace).await;
    client.fake.set_limits(limits);
    assert_eq!(client.listed(LISTING).await, ["C1"]);
    assert_eq!(client.json("conversations.info?channel=C3").await["channel"]["is_archived"], true);
    assert_eq!(client.get("conversations.info?channel=C3").await.status(), 429);
    assert!(Seed::read("team: T0001\nchannels: []\ntokens: []\nchanels: []\n").is_err());
}

#[tokio::test]
async fn a_fake_does_not_listen_to_the_network() {
    let everywhere = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
    assert!(FakeSlack::start_at(everywhere, workspace()).await.is_err());
}
