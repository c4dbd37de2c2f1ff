//! Looks for what must not be told: secrets, hosts, addresses, ports, and the words of a peer.
//!
//! A text is read as somebody would who wants to find something: also with its escapes undone, with what is hexadecimal,
//! base64 or a list of numbers decoded, and backwards: see `view`. How it is written does not matter: all letters are
//! small, and those that only look different are the same.

mod address;
mod view;

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use agent_kourier::cli::explain;
use url::{Host, Url};

pub use view::{Form, spellings};
use view::{folded, unescaped, views};

/// Characters at the beginning of a secret that are as good as the secret, if they are half of it.
const CUT: usize = 8;
/// Letters and digits that make a word: with fewer, two texts have one in common by chance.
const WORD: usize = 4;

/// What must not be told.
#[derive(Clone, Debug, Default)]
pub struct Forbidden {
    secrets: BTreeSet<String>,
    hosts: BTreeSet<String>,
    addresses: BTreeSet<IpAddr>,
    ports: BTreeSet<u16>,
    /// The words that peers said.
    said: BTreeSet<String>,
    /// The words that the program says by itself.
    own: BTreeSet<String>,
}

/// What was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A credential.
    Secret,
    /// A host's name.
    Host,
    /// An IP address, whosever it is.
    Address,
    /// The port of a peer.
    Port,
    /// A word that a peer said and the program does not.
    Word,
}

/// Something that must not be told, and was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Where.
    pub place: String,
    /// What.
    pub what: What,
    /// In which form.
    pub form: Form,
    /// What was found, as it was read.
    pub found: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what, form, found } = self;
        write!(f, "{what:?} ({form:?}) in {place}: {found:?}")
    }
}

impl Forbidden {
    /// Nothing but addresses is forbidden yet. The program's own words are those of the reasons.
    #[must_use]
    pub fn new() -> Self {
        let reasons = explain::all()
            .into_iter()
            .map(|entry| format!("{} {} {} {}", entry.name(), entry.status, entry.meaning, entry.advice));
        reasons.fold(Self::default(), |forbidden, words| forbidden.own(&words))
    }

    /// A credential.
    #[must_use]
    pub fn secret(mut self, secret: &str) -> Self {
        self.secrets.insert(folded(secret));
        self
    }

    /// The host and the port of a URL.
    ///
    /// # Panics
    ///
    /// When it is none.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        #[expect(clippy::expect_used, reason = "a test that cannot go on has failed")]
        let url = Url::parse(url).expect("a URL");
        match url.host() {
            Some(Host::Domain(name)) => drop(self.hosts.insert(folded(name))),
            Some(Host::Ipv4(address)) => drop(self.addresses.insert(address.into())),
            Some(Host::Ipv6(address)) => drop(self.addresses.insert(address.into())),
            None => {}
        }
        self.ports.extend(url.port());
        self
    }

    /// What a peer said.
    #[must_use]
    pub fn said(mut self, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        for text in [folded(&text), folded(&unescaped(&text))] {
            self.said.extend(words(&text).map(str::to_owned));
        }
        self
    }

    /// What the program says by itself, such as the names of the objects: its words and numbers are nobody else's.
    #[must_use]
    pub fn own(mut self, text: &str) -> Self {
        self.own.extend(words(&folded(text)).map(str::to_owned));
        self
    }

    /// What a text tells that anybody may read: a status, an Event, a label of a metric, the output of a subcommand.
    #[must_use]
    pub fn in_public(&self, place: &str, text: &str) -> Vec<Leak> {
        let views = views(text);
        let mut leaks = self.secrets_in(place, &views);
        for (form, text) in &views {
            let mut add = |what: What, found: Vec<String>| {
                leaks.extend(found.into_iter().map(|found| Leak { place: place.to_owned(), what, form: *form, found }));
            };
            add(What::Host, self.hosts.iter().filter(|host| text.contains(*host)).cloned().collect());
            add(What::Address, address::literal(text, &self.addresses));
            // In what is decoded by trial, chance makes numbers and words.
            if matches!(form, Form::Plain | Form::Escaped) {
                add(What::Address, address::any(text, &self.addresses));
                add(What::Port, self.ports_in(text));
                add(What::Word, self.foreign_words(text));
            }
        }
        leaks
    }

    /// What a text tells that the operator may read: of the log, credentials alone are kept out.
    #[must_use]
    pub fn in_log(&self, place: &str, text: &str) -> Vec<Leak> {
        self.secrets_in(place, &views(text))
    }

    fn secrets_in(&self, place: &str, views: &[(Form, String)]) -> Vec<Leak> {
        let find = |(form, text): &(Form, String)| {
            let found = self.secrets.iter().filter_map(|secret| {
                let half = secret.chars().count().div_ceil(2).max(CUT);
                let beginning: String = secret.chars().take(half).collect();
                text.contains(&beginning).then_some(beginning)
            });
            let leak = |found| Leak { place: place.to_owned(), what: What::Secret, form: *form, found };
            found.map(leak).collect::<Vec<_>>()
        };
        views.iter().flat_map(find).collect()
    }

    fn ports_in(&self, text: &str) -> Vec<String> {
        let numbers = text.split(|c: char| !c.is_alphanumeric() && c != '.').map(|word| word.trim_matches('.'));
        let is_port = |word: &&str| word.parse().is_ok_and(|port| self.ports.contains(&port));
        numbers.filter(|word| is_port(word) && !self.own.contains(*word)).map(str::to_owned).collect()
    }

    fn foreign_words(&self, text: &str) -> Vec<String> {
        let foreign: BTreeSet<&str> = words(text).filter(|word| !self.own.contains(*word)).collect();
        let is_said = |word: &&str| self.said.iter().any(|said| said.contains(word));
        foreign.into_iter().filter(is_said).map(str::to_owned).collect()
    }
}

/// Fails when there is a leak.
///
/// # Errors
///
/// All leaks.
pub fn none(leaks: &[Leak]) -> Result<(), String> {
    if leaks.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = leaks.iter().map(ToString::to_string).collect();
    Err(told.join("; "))
}

/// The names and labels of a text of metrics. Its values are left out: a port among them would be chance.
#[must_use]
pub fn series(metrics: &str) -> String {
    let names = metrics.lines().map(|line| match line.split_once('}') {
        Some((labels, _)) => labels,
        None if line.starts_with('#') => line,
        None => line.split(' ').next().unwrap_or_default(),
    });
    let names: Vec<&str> = names.collect();
    names.join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(WORD - 1).is_some())
}

#[cfg(test)]
mod tests;
