//! The one peer of a run: where it is, what is trusted, which credential is added.

use std::collections::BTreeMap;
use std::sync::Arc;

use kourier_core::platform::CredentialPlace;
use kourier_core::url::BaseUrl;

use crate::secret::Secret;
use crate::transport::{Transport, Trust};

/// The peer of one run.
#[derive(Clone)]
pub struct Endpoint {
    /// The guest's path is appended to this.
    pub base: BaseUrl,
    /// What is added to each request.
    pub credential: Option<Credential>,
    /// Whose certificates are trusted.
    pub trust: Trust,
    /// Whether the host is looked up as an absolute name.
    pub absolute_name: bool,
    /// How requests travel.
    pub transport: Arc<dyn Transport>,
}

/// A credential and its place in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A header; its name is in lower case, `prefix` stands before the secret.
    Header {
        /// The field's name.
        name: String,
        /// What stands before the secret.
        prefix: String,
        /// The secret.
        secret: Secret,
    },
    /// `Authorization: Basic`.
    Basic {
        /// The user name.
        user: String,
        /// The password.
        secret: Secret,
    },
    /// In the path, before the guest's: `/`, prefix, secret.
    PathPrefix {
        /// What stands before the secret.
        prefix: String,
        /// The secret.
        secret: Secret,
    },
}

impl Credential {
    /// `Authorization: Bearer SECRET`.
    #[must_use]
    pub fn bearer(secret: Secret) -> Self {
        Self::Header { name: "authorization".to_owned(), prefix: "Bearer ".to_owned(), secret }
    }

    /// The secret in the place that a platform wants. `settings` are the connection's: one may be the user name.
    #[must_use]
    pub fn placed(place: &CredentialPlace, settings: &BTreeMap<String, String>, secret: Secret) -> Self {
        match place {
            CredentialPlace::Bearer => Self::bearer(secret),
            CredentialPlace::Header { name, prefix } => {
                Self::Header { name: name.clone(), prefix: prefix.clone(), secret }
            }
            CredentialPlace::Basic { setting } => {
                Self::Basic { user: settings.get(setting).cloned().unwrap_or_default(), secret }
            }
            CredentialPlace::PathPrefix(prefix) => Self::PathPrefix { prefix: prefix.clone(), secret },
        }
    }

    /// The secret in it.
    #[must_use]
    pub const fn secret(&self) -> &Secret {
        match self {
            Self::Header { secret, .. } | Self::Basic { secret, .. } | Self::PathPrefix { secret, .. } => secret,
        }
    }
}
