//! Guests that misbehave, and component files that mean harm.
//!
//! Each misbehaviour runs beside honest probes, whose verdicts have to be what they are without it. A guest, a
//! misbehaviour or a way to describe oneself that has no row here fails: see [`complete`].

mod behaviours;
mod beside;
mod bytes;
mod crowd;
mod descriptions;
mod faults;
mod files;
mod isolation;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use kourier_core::message::is_spacing;
use kourier_core::reason::ChannelReason;
use kourier_core::schedule::Said;
use kourier_core::url::BaseUrl;
use kourier_sandbox::{ChatTarget, Component, Credential, Endpoint, Run, Secret, Transport, Trust};
use suite::guests;
use suite::process::waited_for_a_core;

use crate::case::{Case, Checked};
use crate::published;
use crate::world::SANDBOX;

static ROGUE: LazyLock<Component> = LazyLock::new(|| SANDBOX.load(guests::ROGUE).expect("the rogue guest loads"));

/// Every case of this family.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![Case::new("guest::each-guest-and-each-of-its-ways-has-a-row", || async { complete() })];
    cases.extend(behaviours::rows().into_iter().map(beside::case));
    cases.extend(descriptions::cases());
    cases.extend(files::cases());
    cases.extend(isolation::cases());
    cases.extend(crowd::cases());
    cases.extend(faults::cases());
    cases
}

/// Whether there is a row for each folder of `tests/guests`, and for each name in the tables of its guests.
fn complete() -> Checked {
    published::by_itself();
    let rows = behaviours::rows();
    let lists = [
        ("guests", folders()?, files::GUESTS.into()),
        ("behaviours", owned(guests::behaviours()), rows.iter().map(|row| row.behaviour).collect()),
        ("ways to describe", owned(guests::ways()), descriptions::ways()),
    ];
    for (what, all, tested) in lists {
        if !all.iter().eq(&tested) || all.is_empty() {
            return Err(format!("{what}: there are {all:?}, and rows for {tested:?}"));
        }
    }
    Ok(())
}

/// The names of the folders with a crate, as they lie there now.
fn folders() -> Result<BTreeSet<String>, String> {
    let entries = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/guests")).map_err(|error| error.to_string())?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let crates = folders.filter(|folder| folder.join("Cargo.toml").is_file());
    Ok(crates.filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned())).collect())
}

fn owned(names: Vec<&str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// Whether a terminal and a log can stand a line: nothing breaks it, turns its direction, or is not seen.
fn is_plain(line: &str) -> bool {
    line.chars().all(|c| c == ' ' || !is_spacing(c))
}

/// For how long the threads on which guests run have waited for a core of the machine.
struct Starvation(Duration);

impl Starvation {
    /// From now on.
    fn begin() -> Self {
        Self(waited_for_a_core("probe"))
    }

    fn is_longer_than(&self, time: Duration) -> bool {
        waited_for_a_core("probe").saturating_sub(self.0) > time
    }
}

/// A run of the rogue guest: what it is to do, with which settings, and what it finds at its end of the world.
struct Rogue<'a> {
    behaviour: &'a str,
    settings: &'a [(&'a str, &'a str)],
    url: &'a str,
    secret: &'a str,
    transport: Arc<dyn Transport>,
}

impl Rogue<'_> {
    /// Runs it to its end. What of it would be published is looked at when the case is over.
    ///
    /// # Panics
    ///
    /// When the URL is none.
    async fn run(self) -> Run<ChannelReason> {
        let settings: BTreeMap<_, _> =
            self.settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let peer = Endpoint {
            base: BaseUrl::parse(self.url).expect("a URL"),
            credential: Some(Credential::bearer(Secret::new(self.secret.to_owned()))),
            trust: Trust::System,
            absolute_name: false,
            transport: self.transport,
        };
        let target = ChatTarget { channel: self.behaviour.to_owned(), settings };
        let run = SANDBOX.check_chat(&ROGUE, target, peer).await;
        published::ran(&run, Said::Channel, self.url);
        run
    }
}
