//! From what a component says of its platform to the checked [`Platform`].

use std::collections::BTreeMap;

use kourier_core::platform::{CredentialPlace, Platform, Setting};
use kourier_core::request::is_token;
use kourier_core::rule::is_host_header;
use kourier_core::url::BaseUrl;
use regex::{Regex, RegexBuilder};

use super::LoadError;
use crate::bindings::chat_export::{Credential, Descriptor, Setting as Said};

/// Settings of a platform.
const SETTINGS: usize = 16;
/// Bytes of a pattern, a summary, a prefix.
const TEXT: usize = 255;
/// Bytes of a compiled pattern: a pattern like `\w{1000}` grows a thousandfold.
const PATTERN: usize = 256 << 10;
/// How deep a pattern may nest.
const NESTING: u32 = 32;

/// Checks a descriptor: the platform's name and what is known of it.
pub(super) fn checked(said: Descriptor) -> Result<(String, Platform), LoadError> {
    let named = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !(1..=63).contains(&said.platform.len()) || !said.platform.bytes().all(named) {
        return wrong("platform", "has to be 1 to 63 characters of [a-z0-9-]");
    }
    let default_url = match said.default_url {
        Some(url) => Some(BaseUrl::parse(&url).map_err(|problem| error("default-url", problem))?),
        None => None,
    };
    let channel_pattern = pattern("channel-pattern", &said.channel_pattern)?;
    let settings = settings(said.settings)?;
    let credential = credential(said.credential, &settings)?;
    Ok((said.platform, Platform { default_url, channel_pattern, credential, settings }))
}

fn settings(said: Vec<Said>) -> Result<BTreeMap<String, Setting>, LoadError> {
    if said.len() > SETTINGS {
        return wrong("settings", "has more than 16 entries");
    }
    let mut settings = BTreeMap::new();
    for (index, setting) in said.into_iter().enumerate() {
        let field = |name: &str| format!("settings[{index}].{name}");
        if !(1..=64).contains(&setting.name.len()) || !setting.name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return wrong(field("name"), "has to be 1 to 64 characters of [A-Za-z0-9]");
        }
        if setting.summary.is_empty() || setting.summary.len() > TEXT || setting.summary.chars().any(char::is_control) {
            return wrong(field("summary"), "has to be one line of 1 to 255 bytes");
        }
        let pattern = setting.pattern.map(|text| pattern(&field("pattern"), &text)).transpose()?;
        let checked = Setting { required: setting.required, pattern, summary: setting.summary };
        if settings.insert(setting.name, checked).is_some() {
            return wrong(field("name"), "is there twice");
        }
    }
    Ok(settings)
}

fn credential(said: Credential, settings: &BTreeMap<String, Setting>) -> Result<CredentialPlace, LoadError> {
    Ok(match said {
        Credential::Bearer => CredentialPlace::Bearer,
        Credential::Header(header) => {
            let name = header.name.to_ascii_lowercase();
            if !is_token(&name) || is_host_header(&name) {
                return wrong("credential.header.name", "has to be an HTTP token that is not the host's business");
            }
            if header.prefix.len() > TEXT || !header.prefix.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
            {
                return wrong("credential.header.prefix", "has to be at most 255 bytes of visible ASCII and spaces");
            }
            CredentialPlace::Header { name, prefix: header.prefix }
        }
        Credential::Basic(setting) => {
            if !settings.get(&setting).is_some_and(|setting| setting.required) {
                return wrong("credential.basic", "has to name a setting that is required");
            }
            CredentialPlace::Basic { setting }
        }
        Credential::PathPrefix(prefix) => {
            let fits = |byte: u8| byte.is_ascii_graphic() && !b"/?#%\\".contains(&byte);
            if prefix.len() > TEXT || !prefix.bytes().all(fits) {
                return wrong(
                    "credential.path-prefix",
                    "has to be at most 255 bytes of visible ASCII without / ? # % and \\",
                );
            }
            CredentialPlace::PathPrefix(prefix)
        }
    })
}

/// A pattern that has to match the whole text.
fn pattern(field: &str, text: &str) -> Result<Regex, LoadError> {
    if text.is_empty() || text.len() > TEXT {
        return wrong(field, "has to be 1 to 255 bytes");
    }
    let build = |text: &str| RegexBuilder::new(text).size_limit(PATTERN).nest_limit(NESTING).build();
    // By itself first: `a)|(b` is a pattern only between the parentheses that anchor it.
    build(text).and_then(|_| build(&format!("^(?:{text})$"))).map_err(|_| {
        error(field, "is no pattern in the syntax of the Rust crate `regex`, or a too large one".to_owned())
    })
}

fn wrong<T>(field: impl Into<String>, problem: &str) -> Result<T, LoadError> {
    Err(error(field, problem.to_owned()))
}

fn error(field: impl Into<String>, problem: String) -> LoadError {
    LoadError::Descriptor { field: field.into(), problem }
}

#[cfg(test)]
mod tests;
