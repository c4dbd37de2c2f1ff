//! The specs of the three kinds, as people write them.
//!
//! These types are the only definition of the manifests: the CRDs' schemas are generated from them and both sources
//! read them. They hold what was written; [`check`](crate::check) says what is wrong with it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::{AGENT_PATH, ALLOWED_NAMESPACE, CARD_PATH, CHANNEL, HEADER, LABEL, NAME, SECRET_KEY, URL};

/// The API group of the three kinds.
pub const GROUP: &str = "agentkourier.io";
/// The version of the three kinds.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of the three kinds.
pub const API_VERSION: &str = "agentkourier.io/v1alpha1";
/// The broker that a ChatConnection belongs to when it names none.
pub const DEFAULT_BROKER: &str = "default";
/// The most entries of `allowedNamespaces`.
pub const MAX_ALLOWED_NAMESPACES: usize = 256;

/// `Binding.spec`: joins a chat channel to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindingSpec {
    /// The agent.
    pub agent: Agent,
    /// The channel.
    pub chat: Chat,
}

/// `Binding.spec.agent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The AgentBackend on which the agent lives.
    pub backend_ref: Reference,
    /// Where the agent lives below the backend's URL: empty, or like `/a/b`, of unreserved characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = AGENT_PATH.min, max = AGENT_PATH.max), regex(pattern = AGENT_PATH.pattern))]
    pub path: Option<String>,
}

/// `Binding.spec.chat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    /// The ChatConnection through which the bot speaks.
    pub connection_ref: Reference,
    /// The channel's own id on the platform, never its display name.
    #[schemars(length(min = CHANNEL.min, max = CHANNEL.max), regex(pattern = CHANNEL.pattern))]
    pub channel: String,
}

/// Names an AgentBackend or a ChatConnection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// The object's name.
    #[schemars(length(min = NAME.min, max = NAME.max), regex(pattern = NAME.pattern))]
    pub name: String,
    /// The object's namespace; the Binding's own when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = LABEL.min, max = LABEL.max), regex(pattern = LABEL.pattern))]
    pub namespace: Option<String>,
}

/// `AgentBackend.spec`: an A2A agent's server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentBackendSpec {
    /// The http or https URL below which agents live: no user info, query or fragment.
    #[schemars(length(min = URL.min, max = URL.max), regex(pattern = URL.pattern))]
    pub url: String,
    /// Where the card is, below the URL and the Binding's path; the well-known path when it is not given, with the
    /// legacy one as second try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = CARD_PATH.min, max = CARD_PATH.max), regex(pattern = CARD_PATH.pattern))]
    pub card_path: Option<String>,
    /// The credential that the agent wants; none when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Trust in the agent's certificate; the system's roots when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Other namespaces whose Bindings may use this object: names, or `*` alone. Its own always may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_ALLOWED_NAMESPACES), inner(length(min = ALLOWED_NAMESPACE.min, max = ALLOWED_NAMESPACE.max), regex(pattern = ALLOWED_NAMESPACE.pattern)))]
    pub allowed_namespaces: Vec<String>,
}

/// `AgentBackend.spec.auth`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// How the credential travels.
    pub scheme: AuthScheme,
    /// The header that carries the credential: with scheme `header`, and only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = HEADER.min, max = HEADER.max), regex(pattern = HEADER.pattern))]
    pub header: Option<String>,
    /// The Secret that holds the credential.
    pub secret_ref: SecretRef,
}

/// `AgentBackend.spec.auth.scheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AuthScheme {
    /// `Authorization: Bearer SECRET`.
    Bearer,
    /// The header that `header` names, with the secret as its value.
    Header,
}

/// A key of a Secret in the namespace of the object that names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    /// The Secret's name.
    #[schemars(length(min = NAME.min, max = NAME.max), regex(pattern = NAME.pattern))]
    pub name: String,
    /// The key in the Secret.
    #[schemars(length(min = SECRET_KEY.min, max = SECRET_KEY.max), regex(pattern = SECRET_KEY.pattern))]
    pub key: String,
}

/// Trust in a peer's certificate. Nothing turns verification off.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// The Secret that holds the certificates (PEM) which are trusted instead of the system's roots.
    pub ca_secret_ref: SecretRef,
}

/// `ChatConnection.spec`: a bot's account on a chat platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatConnectionSpec {
    /// A platform for which a probe component is loaded.
    #[schemars(length(min = LABEL.min, max = LABEL.max), regex(pattern = LABEL.pattern))]
    pub platform: String,
    /// The broker that owns this connection; `default` when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = LABEL.min, max = LABEL.max), regex(pattern = LABEL.pattern))]
    pub broker: Option<String>,
    /// The API's base URL; the platform's own when it is not given. Required where the platform has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = URL.min, max = URL.max), regex(pattern = URL.pattern))]
    pub url: Option<String>,
    /// What the platform's component declares, for example `teamId` of Slack.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The Secret that holds the bot's credential.
    pub secret_ref: SecretRef,
    /// Trust in the platform's certificate; the system's roots when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Other namespaces whose Bindings may use this object: names, or `*` alone. Its own always may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_ALLOWED_NAMESPACES), inner(length(min = ALLOWED_NAMESPACE.min, max = ALLOWED_NAMESPACE.max), regex(pattern = ALLOWED_NAMESPACE.pattern)))]
    pub allowed_namespaces: Vec<String>,
}

impl ChatConnectionSpec {
    /// The broker that owns this connection.
    #[must_use]
    pub fn broker(&self) -> &str {
        self.broker.as_deref().unwrap_or(DEFAULT_BROKER)
    }
}
