//! Everybody whom the broker talks to, on loopback.

use std::net::{SocketAddr, TcpListener};

use anyhow::Context;
use axum::Router;
use axum::routing::get;
use serde_json::json;
use suite::agents::{self, Agent, Sdk};
use suite::slack::{Channel, FakeSlack, Fault, Token, Workspace};

use crate::pigeon;

/// The bot's token.
pub(crate) const TOKEN: &str = "demo-token";
/// A token that was revoked.
pub(crate) const REVOKED: &str = "demo-revoked-token";
/// The bot's user id.
const BOT: &str = "U0001";

/// The peers, running until they are dropped.
pub(crate) struct Peers {
    recipes: Agent,
    weather: Agent,
    travel: Agent,
    asleep: SocketAddr,
    odd: SocketAddr,
    slack: FakeSlack,
    busy: FakeSlack,
    pigeons: SocketAddr,
}

impl Peers {
    /// Starts them all.
    ///
    /// # Errors
    ///
    /// When the SDKs cannot be installed, or something does not start.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let installed = agents::install().context("the A2A SDKs")?;
        Ok(Self {
            recipes: installed.start(Sdk::Python1, "")?,
            weather: installed.start(Sdk::Python03, "")?,
            travel: installed.start(Sdk::Js, "/agents/travel")?,
            asleep: nobody()?,
            odd: serve(odd_cards()).await?,
            slack: FakeSlack::start(workspace()).await?,
            busy: busy().await?,
            pigeons: serve(pigeon::platform()).await?,
        })
    }

    /// The ports of deploy/samples and who has them here, as `host:port`.
    pub(crate) fn places(&self) -> Vec<(&'static str, String)> {
        let root = |agent: &Agent| {
            let rest = agent.url().trim_start_matches("http://");
            rest.split('/').next().unwrap_or_default().to_owned()
        };
        vec![
            ("127.0.0.1:7301", root(&self.recipes)),
            ("127.0.0.1:7302", root(&self.weather)),
            ("127.0.0.1:7303", root(&self.travel)),
            ("127.0.0.1:7304", self.asleep.to_string()),
            ("127.0.0.1:7305", self.odd.to_string()),
            ("127.0.0.1:7310", self.slack.address().to_string()),
            ("127.0.0.1:7311", self.busy.address().to_string()),
            ("127.0.0.1:7320", self.pigeons.to_string()),
        ]
    }

    /// Who they are, for people.
    pub(crate) fn describe() -> Vec<(&'static str, String)> {
        [
            ("recipes", "Python a2a-sdk 1.3, a card of A2A 1.0"),
            ("weather", "Python a2a-sdk 0.3, a card of A2A 0.3"),
            ("travel", "JavaScript @a2a-js/sdk 1.3, below a path"),
            ("talkative, early", "a card over 1 MiB, and one of a protocol to come"),
            ("slack", "a workspace with a bot in some of its channels"),
            ("slack-busy", "one that asks everybody to wait"),
            ("pigeons", "Pigeon Post"),
        ]
        .map(|(name, what)| (name, what.to_owned()))
        .into()
    }

    /// Where they are, for as long as they run.
    pub(crate) fn addresses(&self) -> Vec<(&'static str, String)> {
        vec![
            ("recipes", self.recipes.url().to_owned()),
            ("weather", self.weather.url().to_owned()),
            ("travel", self.travel.url().to_owned()),
            ("talkative, early", format!("http://{}", self.odd)),
            ("slack", self.slack.url()),
            ("slack-busy", self.busy.url()),
            ("pigeons", format!("http://{}", self.pigeons)),
        ]
    }
}

async fn serve(routes: Router) -> anyhow::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(address)
}

/// An address at which nothing listens.
fn nobody() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

fn odd_cards() -> Router {
    let huge = format!("{{\"name\":\"Talkative\",\"description\":\"{}\"}}", " ".repeat(1 << 20));
    let interface = json!({"url": "https://early.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "9.0"});
    let future = json!({"name": "Early", "supportedInterfaces": [interface]}).to_string();
    let card = |body: String| get(move || std::future::ready(([("content-type", "application/json")], body.clone())));
    Router::new().route("/huge.json", card(huge)).route("/future.json", card(future))
}

fn workspace() -> Workspace {
    let joined = ["C001", "C002", "C003", "C004", "C021", "C022", "C023", "C024", "C031", "C032"];
    let channel = |id: &str, archived: bool, members: &[&str]| Channel {
        name: id.to_lowercase(),
        archived,
        ..Channel::of(members)
    };
    let token = |dead: Option<&str>| Token {
        dead: dead.map(ToOwned::to_owned),
        ..Token::of(BOT, &["channels:read", "groups:read"])
    };
    let mut workspace = Workspace::new("T0001");
    for id in joined {
        workspace = workspace.channel(id, channel(id, false, &[BOT]));
    }
    workspace
        .channel("C025", channel("C025", false, &[]))
        .channel("C026", channel("C026", true, &[]))
        .token(TOKEN, token(None))
        .token(REVOKED, token(Some("token_revoked")))
}

async fn busy() -> anyhow::Result<FakeSlack> {
    let slack = FakeSlack::start(workspace()).await?;
    for method in ["users.conversations", "conversations.info"] {
        slack.fault(method, Fault::Limited(60), u32::MAX);
    }
    Ok(slack)
}
