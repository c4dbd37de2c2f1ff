//! From what is served to the peer of a probe: where it is, what is trusted, which credential is added.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kourier_core::accept::{Accepted, AgentPeer, ChatPeer, Served};
use kourier_core::id::ObjectKey;
use kourier_core::object::{Auth, AuthScheme, SecretRef, Tls};
use kourier_core::schedule::{Inputs, SecretVersions};
use kourier_sandbox::endpoint::{Credential, Endpoint};
use kourier_sandbox::{Secret, Transport, Trust};

use crate::secrets::{SecretError, Secrets, Version};

/// Every Binding that is served, with the versions of its Secrets. It blocks on the disk; a Secret that many Bindings
/// share is looked at once.
pub(super) fn served(accepted: &Accepted, secrets: &Secrets) -> BTreeMap<ObjectKey, Inputs> {
    let mut seen: BTreeMap<(String, SecretRef), Version> = BTreeMap::new();
    let mut version = |namespace: &str, reference: &SecretRef| {
        *seen.entry((namespace.to_owned(), reference.clone())).or_insert_with(|| secrets.version(namespace, reference))
    };
    let served = accepted.bindings.iter().filter_map(|(key, judged)| Some((key, judged, judged.served.as_ref()?)));
    served
        .map(|(key, judged, served)| {
            let secrets = versions(served, &mut version);
            (key.clone(), Inputs { uid: judged.uid.clone(), served: served.clone(), secrets })
        })
        .collect()
}

/// The versions of the Secrets that a Binding refers to, read now. It blocks on the disk.
pub(super) fn versions_now(served: &Served, secrets: &Secrets) -> SecretVersions {
    versions(served, &mut |namespace, reference| secrets.version(namespace, reference))
}

fn versions(served: &Served, version: &mut impl FnMut(&str, &SecretRef) -> Version) -> SecretVersions {
    let used = references(served).into_iter();
    // What it shows in `Debug` is all that a version has to say.
    SecretVersions(used.map(|(namespace, reference)| format!("{:?}", version(namespace, reference))).collect())
}

/// The Secrets that what is served refers to, by namespace and name.
pub(super) fn wanted(accepted: &Accepted) -> BTreeSet<(String, String)> {
    let served = accepted.bindings.values().filter_map(|judged| judged.served.as_ref());
    served.flat_map(references).map(|(namespace, reference)| (namespace.to_owned(), reference.name.clone())).collect()
}

fn references(served: &Served) -> Vec<(&str, &SecretRef)> {
    let (agent, chat) = (&served.agent, &served.chat);
    let (of_agent, of_chat) = (agent.backend.key.namespace.as_str(), chat.connection.key.namespace.as_str());
    let references = [
        (of_agent, agent.auth.as_ref().map(|auth| &auth.secret_ref)),
        (of_agent, agent.tls.as_ref().map(|tls| &tls.ca_secret_ref)),
        (of_chat, Some(&chat.secret_ref)),
        (of_chat, chat.tls.as_ref().map(|tls| &tls.ca_secret_ref)),
    ];
    references.into_iter().filter_map(|(namespace, reference)| Some((namespace, reference?))).collect()
}

/// The agent as a probe's peer. It blocks on the disk.
///
/// # Errors
///
/// Why a Secret cannot be used: for the log.
pub(super) fn of_agent(
    agent: &AgentPeer,
    secrets: &Secrets,
    transport: Arc<dyn Transport>,
) -> Result<Endpoint, SecretError> {
    let namespace = &agent.backend.key.namespace;
    let credential = match &agent.auth {
        Some(auth) => Some(agent_credential(auth, secrets.credential(namespace, &auth.secret_ref)?.0)),
        None => None,
    };
    let trust = trust(agent.tls.as_ref(), namespace, secrets)?;
    Ok(Endpoint { base: agent.url.clone(), credential, trust, absolute_name: false, transport })
}

/// The chat platform as a probe's peer. It blocks on the disk.
///
/// # Errors
///
/// Why a Secret cannot be used: for the log.
pub(super) fn of_chat(
    chat: &ChatPeer,
    secrets: &Secrets,
    transport: Arc<dyn Transport>,
) -> Result<Endpoint, SecretError> {
    let namespace = &chat.connection.key.namespace;
    let (secret, _) = secrets.credential(namespace, &chat.secret_ref)?;
    let trust = trust(chat.tls.as_ref(), namespace, secrets)?;
    let credential = Some(Credential::placed(&chat.credential, &chat.settings, secret));
    Ok(Endpoint { base: chat.url.clone(), credential, trust, absolute_name: chat.default_url, transport })
}

fn trust(tls: Option<&Tls>, namespace: &str, secrets: &Secrets) -> Result<Trust, SecretError> {
    tls.map_or(Ok(Trust::System), |tls| Ok(secrets.certificates(namespace, &tls.ca_secret_ref)?.0))
}

fn agent_credential(auth: &Auth, secret: Secret) -> Credential {
    match (auth.scheme, &auth.header) {
        (AuthScheme::Header, Some(header)) => {
            Credential::Header { name: header.to_ascii_lowercase(), prefix: String::new(), secret }
        }
        // Acceptance refuses scheme `header` without a header.
        (AuthScheme::Bearer, _) | (AuthScheme::Header, None) => Credential::bearer(secret),
    }
}
