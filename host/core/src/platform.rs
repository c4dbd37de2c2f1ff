//! What a loaded chat-probe component says of its platform, checked.

use std::collections::BTreeMap;

use regex::Regex;

use crate::url::BaseUrl;

/// The platforms for which a probe component is loaded, by `spec.platform`.
pub type Platforms = BTreeMap<String, Platform>;

/// A chat platform that a loaded component can probe.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The API's base when a ChatConnection has no `spec.url`.
    pub default_url: Option<BaseUrl>,
    /// What a whole `spec.chat.channel` has to match. Anchored at both ends.
    pub channel_pattern: Regex,
    /// Where the credential goes.
    pub credential: CredentialPlace,
    /// The keys that `spec.settings` may have.
    pub settings: BTreeMap<String, Setting>,
}

/// A key of `spec.settings`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Whether a ChatConnection without it is refused.
    pub required: bool,
    /// What the whole value has to match. Anchored at both ends.
    pub pattern: Option<Regex>,
    /// One sentence for the person who writes the ChatConnection.
    pub summary: String,
}

/// Where the host puts a credential into a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CredentialPlace {
    /// `Authorization: Bearer SECRET`.
    Bearer,
    /// A header of its own: `prefix`, then the secret.
    Header {
        /// The field's name, in lower case.
        name: String,
        /// What stands before the secret.
        prefix: String,
    },
    /// `Authorization: Basic`, with the value of this setting as user name.
    Basic {
        /// The setting's key.
        setting: String,
    },
    /// In the path, before the probe's own: `/`, this, then the secret.
    PathPrefix(String),
}
