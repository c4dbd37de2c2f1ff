//! A workspace as a file has it, YAML or JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;

use super::{Channel, FakeSlack, Limit, TIER_3, Token, Workspace};

/// What a file says of a workspace and its limits.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seed {
    team: String,
    enterprise: Option<String>,
    channels: Vec<ChannelSeed>,
    tokens: Vec<TokenSeed>,
    /// Requests a minute, by method; a method that is not here has Slack's own limit.
    #[serde(default)]
    limits: BTreeMap<String, u32>,
}

/// Limits by method.
pub type Limits = BTreeMap<String, Limit>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChannelSeed {
    id: String,
    name: String,
    team: Option<String>,
    #[serde(default)]
    private: bool,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    members: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TokenSeed {
    token: String,
    user: String,
    team: Option<String>,
    #[serde(default)]
    org_wide: bool,
    scopes: BTreeSet<String>,
}

impl Seed {
    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        Ok(serde_saphyr::from_str(text)?)
    }

    /// The workspace and the limits that it describes.
    #[must_use]
    pub fn build(self) -> (Workspace, Limits) {
        let mut workspace = Workspace { enterprise: self.enterprise, ..Workspace::new(&self.team) };
        for seed in self.channels {
            let ChannelSeed { id, name, team, private, archived, members } = seed;
            workspace = workspace.channel(&id, Channel { name, team, private, archived, members });
        }
        for seed in self.tokens {
            let TokenSeed { token, user, team, org_wide, scopes } = seed;
            workspace = workspace.token(&token, Token { user, scopes, team, org_wide, dead: None });
        }
        let tier_3 = ["users.conversations", "conversations.info"].map(|method| (method.to_owned(), TIER_3));
        let mut limits = Limits::from(tier_3);
        let own = |requests| Limit { requests, window: Duration::from_secs(60) };
        limits.extend(self.limits.into_iter().map(|(method, requests)| (method, own(requests))));
        (workspace, limits)
    }
}

impl FakeSlack {
    /// Sets several limits.
    pub fn set_limits(&self, limits: Limits) {
        for (method, limit) in limits {
            self.limit(&method, Some(limit));
        }
    }
}
