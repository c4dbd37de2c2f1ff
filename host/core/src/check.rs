//! What is wrong with a spec that could be read.
//!
//! All that the schemas check is checked again: a schema may have been tightened under a stored object, and files pass
//! no API server. A problem says the field, what is wrong and what would be right, and never the value of a URL, a
//! header or a Secret.

use std::collections::{BTreeMap, BTreeSet};

use crate::accept::Rules;
use crate::message::is_spacing;
use crate::object::{
    AgentBackendSpec, Auth, AuthScheme, BindingSpec, ChatConnectionSpec, MAX_ALLOWED_NAMESPACES, Reference, SecretRef,
};
use crate::platform::{Platform, Setting};
use crate::rule::{self, TextRule};
use crate::snapshot::Problem;
use crate::url::BaseUrl;

/// Every problem of a Binding that can be told from it alone.
#[must_use]
pub fn binding(spec: &BindingSpec) -> Vec<Problem> {
    let mut found = Found::default();
    found.reference("spec.agent.backendRef", &spec.agent.backend_ref);
    found.optional_text("spec.agent.path", spec.agent.path.as_deref(), &rule::AGENT_PATH);
    found.reference("spec.chat.connectionRef", &spec.chat.connection_ref);
    found.visible_text("spec.chat.channel", &spec.chat.channel, &rule::CHANNEL);
    found.0
}

/// Every problem of an AgentBackend.
#[must_use]
pub fn backend(spec: &AgentBackendSpec, rules: &Rules) -> Vec<Problem> {
    let mut found = Found::default();
    found.url("spec.url", &spec.url, rules);
    found.optional_text("spec.cardPath", spec.card_path.as_deref(), &rule::CARD_PATH);
    if let Some(auth) = &spec.auth {
        found.auth(auth);
    }
    if let Some(tls) = &spec.tls {
        found.secret("spec.tls.caSecretRef", &tls.ca_secret_ref);
    }
    found.allowed_namespaces(&spec.allowed_namespaces);
    found.0
}

/// Every problem of a ChatConnection.
#[must_use]
pub fn connection(spec: &ChatConnectionSpec, rules: &Rules) -> Vec<Problem> {
    let mut found = Found::default();
    found.text("spec.platform", &spec.platform, &rule::LABEL);
    let platform = rules.platforms.get(&spec.platform);
    if found.0.is_empty() && platform.is_none() {
        found.add("spec.platform", unknown_platform(rules));
    }
    found.optional_text("spec.broker", spec.broker.as_deref(), &rule::LABEL);
    match (&spec.url, platform) {
        (Some(url), _) => found.url("spec.url", url, rules),
        (None, Some(Platform { default_url: None, .. })) => {
            found.add("spec.url", "is missing: this platform has no API base of its own, write its http or https URL");
        }
        (None, _) => {}
    }
    if let Some(platform) = platform {
        found.0.extend(settings("spec.settings", &spec.settings, platform));
    }
    found.secret("spec.secretRef", &spec.secret_ref);
    if let Some(tls) = &spec.tls {
        found.secret("spec.tls.caSecretRef", &tls.ca_secret_ref);
    }
    found.allowed_namespaces(&spec.allowed_namespaces);
    found.0
}

/// What is wrong with a channel's id on its platform; none when it matches the platform's pattern.
#[must_use]
pub fn channel(channel: &str, platform: &Platform) -> Option<Problem> {
    let pattern = &platform.channel_pattern;
    let what = || format!("is not the id of a channel on this platform: write one that matches {pattern}");
    (!pattern.is_match(channel)).then(|| Problem::new("spec.chat.channel", what()))
}

/// What is wrong with the settings at `path` for a connection of their platform, in the order of their keys, and then
/// which are missing.
#[must_use]
pub fn settings(path: &str, settings: &BTreeMap<String, String>, platform: &Platform) -> Vec<Problem> {
    let mut found = Found::default();
    for (key, value) in settings {
        // Any text may be a key: one that cannot be a setting's is not repeated.
        if let Some(what) = rule::SETTING_KEY.fault(key) {
            found.add(path, format!("a key {what}"));
            continue;
        }
        let path = format!("{path}.{key}");
        match platform.settings.get(key) {
            None => found.add(&path, unknown_setting(platform)),
            Some(setting) => found.setting(&path, value, setting),
        }
    }
    let missing = platform.settings.iter().filter(|(key, it)| it.required && !settings.contains_key(*key));
    for (key, setting) in missing {
        found.add(&format!("{path}.{key}"), format!("is missing: {}", setting.summary));
    }
    found.0
}

fn unknown_platform(rules: &Rules) -> String {
    let loaded: Vec<&str> = rules.platforms.keys().map(String::as_str).collect();
    if loaded.is_empty() {
        return "no probe component is loaded for it, and none for any other platform".into();
    }
    format!("no probe component is loaded for it: write one of {}, or ask the operator to add it", loaded.join(", "))
}

/// The problems found so far, in the order of the fields.
#[derive(Default)]
struct Found(Vec<Problem>);

impl Found {
    fn add(&mut self, path: &str, what: impl Into<String>) {
        self.0.push(Problem::new(path, what));
    }

    fn text(&mut self, path: &str, text: &str, rule: &TextRule) {
        if let Some(what) = rule.fault(text) {
            self.add(path, what);
        }
    }

    fn optional_text(&mut self, path: &str, text: Option<&str>, rule: &TextRule) {
        if let Some(text) = text {
            self.text(path, text, rule);
        }
    }

    /// Text that the rule cannot judge alone: a pattern of a schema does not know every character that is not seen.
    fn visible_text(&mut self, path: &str, text: &str, rule: &TextRule) {
        let before = self.0.len();
        self.text(path, text, rule);
        if self.0.len() == before && text.contains(is_spacing) {
            self.add(path, "has a character that cannot be seen: remove it");
        }
    }

    fn reference(&mut self, path: &str, reference: &Reference) {
        self.text(&format!("{path}.name"), &reference.name, &rule::NAME);
        self.optional_text(&format!("{path}.namespace"), reference.namespace.as_deref(), &rule::LABEL);
    }

    fn secret(&mut self, path: &str, secret: &SecretRef) {
        self.text(&format!("{path}.name"), &secret.name, &rule::NAME);
        self.text(&format!("{path}.key"), &secret.key, &rule::SECRET_KEY);
    }

    fn url(&mut self, path: &str, url: &str, rules: &Rules) {
        match BaseUrl::parse(url) {
            Err(what) => self.add(path, what),
            Ok(url) if url.is_single_label_host() && !rules.single_label_hosts => self.add(
                path,
                "has a host without a dot, which would be looked up in the broker's namespace: \
                 write NAME.NAMESPACE.svc",
            ),
            Ok(_) => {}
        }
    }

    fn auth(&mut self, auth: &Auth) {
        const PATH: &str = "spec.auth.header";
        match (auth.scheme, &auth.header) {
            (AuthScheme::Bearer, None) => {}
            (AuthScheme::Bearer, Some(_)) => self.add(PATH, "has no place with scheme bearer: remove it"),
            (AuthScheme::Header, None) => self.add(PATH, "is missing: scheme header needs the header's name"),
            (AuthScheme::Header, Some(header)) => {
                self.text(PATH, header, &rule::HEADER);
                if rule::is_host_header(&header.to_ascii_lowercase()) {
                    self.add(PATH, "is a header of the connection itself: write one that carries a credential");
                }
            }
        }
        self.secret("spec.auth.secretRef", &auth.secret_ref);
    }

    fn allowed_namespaces(&mut self, names: &[String]) {
        const PATH: &str = "spec.allowedNamespaces";
        if names.len() > MAX_ALLOWED_NAMESPACES {
            self.add(PATH, format!("has {} entries: at most {MAX_ALLOWED_NAMESPACES} are allowed", names.len()));
        }
        let mut seen = BTreeSet::new();
        for (index, name) in names.iter().take(MAX_ALLOWED_NAMESPACES).enumerate() {
            let path = format!("{PATH}[{index}]");
            self.text(&path, name, &rule::ALLOWED_NAMESPACE);
            if name == "*" && names.len() > 1 {
                self.add(&path, "is *, which stands alone: remove it, or all other entries");
            } else if !seen.insert(name) {
                self.add(&path, "stands twice: remove it");
            }
        }
    }

    fn setting(&mut self, path: &str, value: &str, setting: &Setting) {
        let before = self.0.len();
        self.text(path, value, &rule::SETTING_VALUE);
        match &setting.pattern {
            Some(pattern) if self.0.len() == before && !pattern.is_match(value) => {
                self.add(path, format!("does not match {pattern}: {}", setting.summary));
            }
            Some(_) | None => {}
        }
    }
}

fn unknown_setting(platform: &Platform) -> String {
    let known: Vec<&str> = platform.settings.keys().map(String::as_str).collect();
    if known.is_empty() {
        return "this platform has no settings: remove it".into();
    }
    format!("is no setting of this platform: it knows {}", known.join(", "))
}

#[cfg(test)]
mod tests;
