//! The workspace: who is where, and what a method answers. Pure: a request in, JSON out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// A workspace, or an organisation with several.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The workspace's id, for example `T0001`.
    pub team: String,
    /// The organisation that it is part of.
    pub enterprise: Option<String>,
    /// By id.
    pub channels: BTreeMap<String, Channel>,
    /// By the token itself.
    pub tokens: BTreeMap<String, Token>,
}

/// A channel.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    /// Its name: lower case, not what a Binding wants.
    pub name: String,
    /// The workspace that it is in; none: the one that [`Workspace::team`] names.
    pub team: Option<String>,
    /// Whether only members see it.
    pub private: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// User ids.
    pub members: BTreeSet<String>,
}

/// A bot's token.
#[derive(Clone, Debug, Default)]
pub struct Token {
    /// The bot's user id.
    pub user: String,
    /// For example `channels:read`.
    pub scopes: BTreeSet<String>,
    /// The workspace that it was installed in; none: the one that [`Workspace::team`] names.
    pub team: Option<String>,
    /// Whether it was installed for the whole organisation: listings then want `team_id`.
    pub org_wide: bool,
    /// The error code that it gets, for example `token_revoked`; none: it works.
    pub dead: Option<String>,
}

impl Channel {
    /// A public channel of these users.
    #[must_use]
    pub fn of(members: &[&str]) -> Self {
        let members = members.iter().map(|&member| member.to_owned()).collect();
        Self { name: "talk".to_owned(), members, ..Self::default() }
    }
}

impl Token {
    /// A token of this bot, with these scopes.
    #[must_use]
    pub fn of(bot: &str, scopes: &[&str]) -> Self {
        let scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
        Self { user: bot.to_owned(), scopes, ..Self::default() }
    }
}

/// A method's parameters, from the query or the form.
pub(super) type Params = BTreeMap<String, String>;

/// An error code, or a whole error object.
type Refusal = Value;

const KINDS: [(&str, &str); 4] =
    [("public_channel", "channels:read"), ("private_channel", "groups:read"), ("mpim", "mpim:read"), ("im", "im:read")];

impl Workspace {
    /// An empty workspace.
    #[must_use]
    pub fn new(team: &str) -> Self {
        Self { team: team.to_owned(), ..Self::default() }
    }

    /// The same workspace with one more channel.
    #[must_use]
    pub fn channel(mut self, id: &str, channel: Channel) -> Self {
        self.channels.insert(id.to_owned(), channel);
        self
    }

    /// The same workspace with one more token.
    #[must_use]
    pub fn token(mut self, secret: &str, token: Token) -> Self {
        self.tokens.insert(secret.to_owned(), token);
        self
    }

    /// Archives a channel, which removes its bots. Yields whether there is one.
    pub fn archive(&mut self, id: &str) -> bool {
        let bots: BTreeSet<&String> = self.tokens.values().map(|token| &token.user).collect();
        self.channels.get_mut(id).is_some_and(|channel| {
            channel.archived = true;
            channel.members.retain(|member| !bots.contains(member));
            true
        })
    }

    /// Brings a channel back. Its bots do not come back with it.
    pub fn unarchive(&mut self, id: &str) -> bool {
        self.channels.get_mut(id).map(|channel| channel.archived = false).is_some()
    }

    /// Adds a user to a channel. Yields whether there is one.
    pub fn invite(&mut self, id: &str, user: &str) -> bool {
        self.channels.get_mut(id).map(|channel| channel.members.insert(user.to_owned())).is_some()
    }

    /// Removes a user from a channel. Yields whether there is one.
    pub fn kick(&mut self, id: &str, user: &str) -> bool {
        self.channels.get_mut(id).map(|channel| channel.members.remove(user)).is_some()
    }

    /// Makes a token answer with this error code. Yields whether there is one.
    pub fn revoke(&mut self, secret: &str, code: &str) -> bool {
        self.tokens.get_mut(secret).map(|token| token.dead = Some(code.to_owned())).is_some()
    }

    /// What a method answers.
    pub(super) fn answer(&self, method: &str, secret: Option<&str>, params: &Params) -> Value {
        self.authorize(secret)
            .and_then(|token| match method {
                "auth.test" => Ok(self.auth_test(token)),
                "conversations.info" => self.conversations_info(token, params),
                "users.conversations" => self.users_conversations(token, params),
                _ => Err(error("unknown_method")),
            })
            .unwrap_or_else(|refusal| refusal)
    }

    fn authorize(&self, secret: Option<&str>) -> Result<&Token, Refusal> {
        let secret = secret.ok_or_else(|| error("not_authed"))?;
        let token = self.tokens.get(secret).ok_or_else(|| error("invalid_auth"))?;
        token.dead.as_deref().map_or(Ok(token), |code| Err(error(code)))
    }

    fn auth_test(&self, token: &Token) -> Value {
        let mut answer = json!({
            "ok": true,
            "url": "https://fake.slack.com/",
            "team": "Fake",
            "user": "bot",
            "team_id": self.team_of(token.team.as_ref()),
            "user_id": token.user,
            "bot_id": format!("B{}", token.user),
            "is_enterprise_install": token.org_wide,
        });
        if let Some(enterprise) = &self.enterprise {
            answer["enterprise_id"] = json!(enterprise);
        }
        answer
    }

    fn conversations_info(&self, token: &Token, params: &Params) -> Result<Value, Refusal> {
        let id = params.get("channel").ok_or_else(|| error("invalid_arguments"))?;
        if !KINDS.iter().any(|(_, scope)| token.scopes.contains(*scope)) {
            return Err(missing_scope("channels:read,groups:read,mpim:read,im:read", token));
        }
        let channel = self.channels.get(id).ok_or_else(|| error("channel_not_found"))?;
        let elsewhere = !token.org_wide && self.team_of(channel.team.as_ref()) != self.team_of(token.team.as_ref());
        if elsewhere {
            return Err(error(if self.enterprise.is_some() { "team_access_not_granted" } else { "channel_not_found" }));
        }
        let is_member = channel.members.contains(&token.user);
        if channel.private && !is_member {
            return Err(error("channel_not_found"));
        }
        let (_, scope) = KINDS[usize::from(channel.private)];
        if !token.scopes.contains(scope) {
            return Err(missing_scope(scope, token));
        }
        let mut object = self.conversation(id, channel);
        object["is_member"] = json!(is_member);
        object["last_read"] = json!("1700000000.000000");
        Ok(json!({"ok": true, "channel": object}))
    }

    fn users_conversations(&self, token: &Token, params: &Params) -> Result<Value, Refusal> {
        let (public, private) = kinds(token, params)?;
        let team = match (token.org_wide, params.get("team_id")) {
            (true, None) => return Err(error("missing_argument")),
            (true, Some(team)) => team,
            // A workspace's token ignores the parameter.
            (false, _) => self.team_of(token.team.as_ref()),
        };
        let limit = params.get("limit").map_or(Ok(100), |limit| limit.parse()).unwrap_or(0_usize);
        if !(1..=999).contains(&limit) {
            return Err(error("invalid_limit"));
        }
        let with_archived = params.get("exclude_archived").is_none_or(|flag| flag != "true" && flag != "1");
        let mine = |channel: &Channel| {
            channel.members.contains(&token.user)
                && self.team_of(channel.team.as_ref()) == team
                && (if channel.private { private } else { public })
                && (with_archived || !channel.archived)
        };
        let all: Vec<_> = self.channels.iter().filter(|(_, channel)| mine(channel)).collect();
        let from = start(params.get("cursor"), &all)?;
        let end = all.len().min(from + limit);
        let cursor = all.get(end).map(|(id, _)| cursor(id)).unwrap_or_default();
        let page: Vec<_> = all[from..end].iter().map(|(id, channel)| self.conversation(id, channel)).collect();
        Ok(json!({"ok": true, "channels": page, "response_metadata": {"next_cursor": cursor}}))
    }

    /// The members of a conversation object that listings and single answers have in common.
    fn conversation(&self, id: &str, channel: &Channel) -> Value {
        let team = self.team_of(channel.team.as_ref());
        let text = |value: &str| json!({"value": value, "creator": "U00000000", "last_set": 1_700_000_000});
        json!({
            "id": id,
            "name": channel.name,
            "is_channel": !channel.private,
            "is_group": channel.private,
            "is_im": false,
            "created": 1_700_000_000,
            "is_archived": channel.archived,
            "is_general": false,
            "unlinked": 0,
            "name_normalized": channel.name,
            "is_shared": false,
            "creator": "U00000000",
            "is_ext_shared": false,
            "is_org_shared": false,
            "shared_team_ids": [team],
            "pending_shared": [],
            "pending_connected_team_ids": [],
            "is_pending_ext_shared": false,
            "is_private": channel.private,
            "is_mpim": false,
            "topic": text("What we talk about"),
            "purpose": text("Why we talk about it"),
            "previous_names": [],
            "context_team_id": team,
            "updated": 1_700_000_000_000_u64,
        })
    }

    fn team_of<'a>(&'a self, own: Option<&'a String>) -> &'a String {
        own.unwrap_or(&self.team)
    }
}

/// Whether public and private channels are wanted; direct messages may be asked for, and there are none.
fn kinds(token: &Token, params: &Params) -> Result<(bool, bool), Refusal> {
    let types = params.get("types").map_or("public_channel", String::as_str);
    let (mut public, mut private) = (false, false);
    for kind in types.split(',').map(str::trim) {
        let (_, scope) = KINDS.iter().find(|(name, _)| *name == kind).ok_or_else(|| error("invalid_types"))?;
        if !token.scopes.contains(*scope) {
            return Err(missing_scope(scope, token));
        }
        public |= kind == "public_channel";
        private |= kind == "private_channel";
    }
    Ok((public, private))
}

/// A cursor names the entry that it begins with. It has characters that a query has to encode.
fn cursor(id: &str) -> String {
    format!("next:{id}+/=")
}

fn start(given: Option<&String>, all: &[(&String, &Channel)]) -> Result<usize, Refusal> {
    match given.filter(|given| !given.is_empty()) {
        None => Ok(0),
        Some(given) => all.iter().position(|(id, _)| cursor(id) == **given).ok_or_else(|| error("invalid_cursor")),
    }
}

pub(super) fn error(code: &str) -> Value {
    json!({"ok": false, "error": code})
}

fn missing_scope(needed: &str, token: &Token) -> Value {
    let provided = token.scopes.iter().map(String::as_str).collect::<Vec<_>>().join(",");
    json!({"ok": false, "error": "missing_scope", "needed": needed, "provided": provided})
}
