//! The built-in probe of Slack channels, in the real sandbox: over loopback against the fake, and with recorded cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use agent_kourier::cases::{folder, report, run};
use futures::stream::{self, StreamExt};
use kourier_core::egress::EgressRules;
use kourier_core::reason::ChannelReason;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{
    ChatTarget, Component, Connector, Credential, Endpoint, Limits, Pass, Run, Sandbox, Secret, Transport, Trust,
};
use suite::slack::{Channel, FakeSlack, Fault, Limit, Token, Workspace};

const TOKEN: &str = "xoxb-fake";
const BOT: &str = "U0BOT";
const LISTING: &str = "users.conversations";
const INFO: &str = "conversations.info";

/// The bot is in `C1` and in the private `C2`, and neither in `C3` nor in the private `C4`.
fn workspace() -> Workspace {
    Workspace::new("T0001")
        .token(TOKEN, Token::of(BOT, &["channels:read", "groups:read"]))
        .channel("C1", Channel::of(&[BOT]))
        .channel("C2", Channel { private: true, ..Channel::of(&[BOT]) })
        .channel("C3", Channel::of(&[]))
        .channel("C4", Channel { private: true, ..Channel::of(&[]) })
}

fn loaded(limits: Limits) -> (Sandbox, Component) {
    let sandbox = Sandbox::new(limits).unwrap();
    let built_in = agent_kourier::builtin::ALL.iter().find(|component| component.name == "slack").unwrap();
    let probe = sandbox.load(built_in.wasm).unwrap();
    (sandbox, probe)
}

/// A fake, and a broker that probes it.
struct Bench {
    fake: FakeSlack,
    sandbox: Sandbox,
    probe: Component,
    network: Arc<dyn Transport>,
    settings: BTreeMap<String, String>,
}

impl Bench {
    async fn new(workspace: Workspace) -> Self {
        // One engine and one compilation for all tests, as in a broker.
        static SANDBOX: LazyLock<(Sandbox, Component)> = LazyLock::new(|| loaded(Limits::default()));
        Self::with(SANDBOX.clone(), workspace).await
    }

    async fn with((sandbox, probe): (Sandbox, Component), workspace: Workspace) -> Self {
        let fake = FakeSlack::start(workspace).await.unwrap();
        let rules = EgressRules { allow_loopback: true, ..EgressRules::default() };
        let network = Arc::new(Connector::new(rules, Limits::default().body).unwrap());
        Self { fake, sandbox, probe, network, settings: BTreeMap::new() }
    }

    async fn through(&self, transport: Arc<dyn Transport>, channel: &str) -> Run<ChannelReason> {
        let peer = Endpoint {
            base: BaseUrl::parse(&self.fake.url()).unwrap(),
            credential: Some(Credential::Header {
                name: "authorization".to_owned(),
                prefix: "Bearer ".to_owned(),
                secret: Secret::new(TOKEN.to_owned()),
            }),
            trust: Trust::System,
            absolute_name: false,
            transport,
        };
        let target = ChatTarget { channel: channel.to_owned(), settings: self.settings.clone() };
        self.sandbox.check_chat(&self.probe, target, peer).await
    }

    async fn run(&self, channel: &str) -> Run<ChannelReason> {
        self.through(Arc::clone(&self.network), channel).await
    }

    async fn check(&self, channel: &str, reason: ChannelReason) {
        let run = self.run(channel).await;
        assert_eq!(run.outcome.reason, reason, "{channel}: {run:?}");
        assert!(reason == ChannelReason::Ok || !run.causes.is_empty(), "{channel}: {run:?}");
    }
}

#[tokio::test]
async fn a_channel_is_what_the_workspace_makes_of_it() {
    let bench = Bench::new(workspace()).await;
    bench.check("C1", ChannelReason::Ok).await;
    bench.check("C2", ChannelReason::Ok).await;
    bench.check("C3", ChannelReason::NotInChannel).await;
    bench.check("C4", ChannelReason::ChannelNotFound).await;
    bench.check("C9", ChannelReason::ChannelNotFound).await;
    bench.fake.invite("C4", BOT);
    bench.check("C4", ChannelReason::Ok).await;
    bench.fake.kick("C1", BOT);
    bench.check("C1", ChannelReason::NotInChannel).await;
}

#[tokio::test]
async fn an_archived_channel_is_archived_although_its_bot_was_removed() {
    let bench = Bench::new(workspace()).await;
    bench.fake.archive("C1");
    bench.check("C1", ChannelReason::ChannelArchived).await;
    bench.fake.change(|workspace| workspace.unarchive("C1"));
    bench.check("C1", ChannelReason::NotInChannel).await;
    bench.fake.invite("C1", BOT);
    bench.check("C1", ChannelReason::Ok).await;
    bench.fake.archive("C2");
    bench.check("C2", ChannelReason::ChannelNotFound).await;
}

#[tokio::test]
async fn a_token_that_does_not_work_is_rejected() {
    for code in ["token_revoked", "token_expired", "account_inactive"] {
        let bench = Bench::new(workspace()).await;
        bench.fake.revoke(TOKEN, code);
        bench.check("C1", ChannelReason::CredentialsRejected).await;
        assert_eq!(bench.fake.all_requests(), 1);
    }
}

#[tokio::test]
async fn a_scope_that_is_missing_for_one_kind_of_channel_does_not_blame_the_other() {
    let bench = Bench::new(workspace().token(TOKEN, Token::of(BOT, &["channels:read"]))).await;
    let run = bench.run("C1").await;
    assert_eq!(run.outcome.reason, ChannelReason::Ok);
    assert!(run.advice.iter().any(|advice| advice.contains("groups:read")), "{run:?}");
    bench.check("C2", ChannelReason::MissingScope).await;
    bench.check("C3", ChannelReason::NotInChannel).await;
    bench.fake.change(|workspace| workspace.tokens.get_mut(TOKEN).unwrap().scopes.clear());
    bench.check("C1", ChannelReason::MissingScope).await;
}

#[tokio::test]
async fn an_organisations_token_looks_where_the_setting_says() {
    let organisation = Workspace { enterprise: Some("E0001".to_owned()), ..workspace() }
        .channel("C7", Channel { team: Some("T0002".to_owned()), ..Channel::of(&[BOT]) })
        .token(TOKEN, Token { org_wide: true, ..Token::of(BOT, &["channels:read", "groups:read"]) });
    let mut bench = Bench::new(organisation).await;
    bench.settings.insert("teamId".to_owned(), "T0002".to_owned());
    bench.check("C7", ChannelReason::Ok).await;
    assert_eq!(bench.fake.all_requests(), 1);
    bench.settings.clear();
    bench.check("C7", ChannelReason::Ok).await;
    assert_eq!((bench.fake.requests(LISTING), bench.fake.requests(INFO)), (2, 1));
    bench.fake.fault(INFO, Fault::Error("missing_argument".to_owned()), 1);
    bench.check("C7", ChannelReason::InvalidChannel).await;
    bench.fake.change(|workspace| workspace.tokens.get_mut(TOKEN).unwrap().org_wide = false);
    bench.check("C7", ChannelReason::AccessRestricted).await;
}

#[tokio::test]
async fn a_limit_closes_the_gate_for_as_long_as_slack_asks() {
    let bench = Bench::new(workspace()).await;
    bench.fake.limit(LISTING, Some(Limit { requests: 1, window: Duration::from_secs(300) }));
    bench.check("C1", ChannelReason::Ok).await;
    let run = bench.run("C1").await;
    assert_eq!(run.outcome.reason, ChannelReason::RateLimited);
    let wait = run.outcome.gate.unwrap().as_secs();
    assert!((200..=300).contains(&wait), "{run:?}");
    bench.fake.limit(LISTING, None);
    bench.fake.fault(LISTING, Fault::Error("ratelimited".to_owned()), 1);
    assert_eq!(bench.run("C1").await.outcome.gate, Some(Duration::from_secs(30)));
    bench.fake.fault(INFO, Fault::Limited(7), 1);
    assert_eq!(bench.run("C3").await.outcome.gate, Some(Duration::from_secs(7)));
    bench.fake.fault(LISTING, Fault::Text(429, "You are being rate limited".to_owned()), 1);
    bench.check("C1", ChannelReason::RateLimited).await;
}

#[tokio::test]
async fn an_outage_leaves_the_channel_unknown() {
    let bench = Bench::new(workspace()).await;
    bench.fake.fault(LISTING, Fault::Html(503), 1);
    bench.check("C1", ChannelReason::PlatformUnavailable).await;
    bench.fake.fault(INFO, Fault::Html(500), 1);
    bench.check("C3", ChannelReason::PlatformUnavailable).await;
    bench.fake.fault(INFO, Fault::Cut(20), 1);
    bench.check("C3", ChannelReason::PlatformUnavailable).await;
    bench.fake.fault(INFO, Fault::Truncated(20), 1);
    bench.check("C3", ChannelReason::UnexpectedAnswer).await;
    bench.fake.fault(INFO, Fault::Text(200, "<html>Sign in</html>".to_owned()), 1);
    bench.check("C3", ChannelReason::UnexpectedAnswer).await;
    bench.check("C3", ChannelReason::NotInChannel).await;
}

#[tokio::test]
async fn a_listing_that_tells_nothing_leaves_it_to_the_call_for_the_channel() {
    let bench = Bench::new(workspace()).await;
    let faults = [
        Fault::Cut(20),
        Fault::Truncated(20),
        Fault::Endless,
        Fault::Text(200, "<html>Sign in</html>".to_owned()),
        Fault::Error("enterprise_is_restricted".to_owned()),
        Fault::Error("invalid_cursor".to_owned()),
    ];
    for fault in faults {
        let times = if fault == Fault::Error("invalid_cursor".to_owned()) { 2 } else { 1 };
        bench.fake.fault(LISTING, fault.clone(), times);
        let before = bench.fake.requests(INFO);
        bench.check("C1", ChannelReason::Ok).await;
        assert_eq!(bench.fake.requests(INFO), before + 1, "{fault:?}");
    }
}

#[tokio::test]
async fn a_slack_that_does_not_answer_in_time_leaves_the_channel_unknown() {
    let limits = Limits { request: Duration::from_millis(200), ..Limits::default() };
    let bench = Bench::with(loaded(limits), workspace()).await;
    bench.fake.fault(LISTING, Fault::Delay(Duration::from_secs(60)), 1);
    bench.check("C1", ChannelReason::PlatformTimeout).await;
    bench.fake.fault(INFO, Fault::Delay(Duration::from_secs(60)), 1);
    bench.check("C3", ChannelReason::PlatformTimeout).await;
}

#[tokio::test]
async fn five_hundred_channels_cost_three_requests_a_pass() {
    let ids: Vec<String> = (1..=500).map(|number| format!("C{number:04}")).collect();
    let crowded = ids.iter().fold(workspace(), |workspace, id| workspace.channel(id, Channel::of(&[BOT])));
    let bench = Bench::new(crowded).await;
    let pass = async |ids: &[String]| {
        let shared: Arc<dyn Transport> = Arc::new(Pass::new(Arc::clone(&bench.network)));
        let runs = stream::iter(ids).map(|id| bench.through(Arc::clone(&shared), id)).buffered(4);
        runs.map(|run| run.outcome.reason).collect::<Vec<_>>().await
    };
    assert_eq!(pass(&ids).await, vec![ChannelReason::Ok; 500]);
    assert_eq!((bench.fake.requests(LISTING), bench.fake.requests(INFO)), (3, 0));
    bench.fake.kick("C0500", BOT);
    assert_eq!(pass(&ids[498..]).await, [ChannelReason::Ok, ChannelReason::NotInChannel]);
    assert_eq!((bench.fake.requests(LISTING), bench.fake.requests(INFO)), (6, 1));
}

#[tokio::test]
async fn a_bot_in_more_channels_than_a_check_reads_is_found_by_its_channel() {
    let ids = (1..=5000).map(|number| format!("C{number:04}"));
    let huge = ids.fold(workspace(), |workspace, id| workspace.channel(&id, Channel::of(&[BOT])));
    let bench = Bench::new(huge).await;
    // Behind a pass, as in a broker: what a connection costs is then not the run's.
    let run = bench.through(Arc::new(Pass::new(Arc::clone(&bench.network))), "C5000").await;
    assert_eq!(run.outcome.reason, ChannelReason::Ok, "{run:?}");
    assert_eq!((bench.fake.requests(LISTING), bench.fake.requests(INFO)), (24, 1));
}

#[test]
fn every_recorded_case_comes_out_as_it_says() {
    let (sandbox, probe) = loaded(Limits::default());
    let folder = folder::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../probes/slack/cases")).unwrap();
    assert!(folder.cases.len() > 100);
    let ran = run::all(&sandbox, &probe, &folder.cases).unwrap();
    let failed: Vec<String> = (folder.cases.iter().zip(&ran))
        .filter(|(case, ran)| !report::differences(case, ran).is_empty())
        .map(|(case, ran)| report::text(case, ran))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let verdicts: BTreeSet<_> = folder.cases.iter().map(|case| format!("{:?}", case.verdict)).collect();
    assert!(verdicts.len() >= 12, "a verdict has no case: {verdicts:?}");
}
