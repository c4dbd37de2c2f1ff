//! From the documents of all files to one reading.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use kourier_core::id::{Kind, ObjectId};
use kourier_core::line::escaped;
use kourier_core::snapshot::{Meta, Object, Problem};
use kourier_core::time::Timestamp;
use kourier_manifest::document::{Content, Document};
use kourier_manifest::fault::Fault;
use serde::de::DeserializeOwned;

use crate::source::{FileProblem, Origin, Reading};
use crate::store::{Seen, Store};

/// A file and what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// Its name in the folder: what the store remembers it by.
    pub(super) name: String,
    /// The file, as people are told of it.
    pub(super) file: PathBuf,
    /// What was read.
    pub(super) content: Arc<Content>,
    /// What it held before a part of it could not be read any more.
    pub(super) kept: Vec<Arc<Document>>,
}

/// How many of the other places of an object are named: all of an honest mistake, and of many copies not all to each.
const MAX_OTHERS: usize = 3;

/// A document and the file in which it stands.
type Place<'h> = (&'h Held, &'h Document);

/// Makes a reading of these files. Objects get their identity from `store`, which forgets those that are not here.
pub(crate) fn merge(files: &[Held], store: &Store, now: Timestamp) -> Reading {
    let places = places(files);
    let mut reading = Reading::default();
    for held in files {
        reading.problems.extend(held.content.nameless.iter().map(|fault| held.problem(None, fault)));
    }
    let seen = places.iter().filter_map(|(id, places)| {
        let (held, document) = places.first()?;
        Some(Seen { id: id.clone(), file: held.name.clone(), document: document.stored(places.len() > 1) })
    });
    let metas = store.identify(seen.collect(), now);
    for (id, places) in &places {
        if let Some(meta) = metas.get(id) {
            reading.add(id, meta, places);
        }
    }
    reading.problems.sort();
    reading
}

/// Where each object stands. What was kept of a file that cannot be read gives way to what can.
fn places(files: &[Held]) -> BTreeMap<ObjectId, Vec<Place<'_>>> {
    let mut places: BTreeMap<ObjectId, Vec<Place<'_>>> = BTreeMap::new();
    for held in files {
        for document in &held.content.documents {
            places.entry(document.id.clone()).or_default().push((held, document));
        }
    }
    for held in files {
        for document in &held.kept {
            places.entry(document.id.clone()).or_insert_with(|| vec![(held, document)]);
        }
    }
    places
}

impl Held {
    fn problem(&self, object: Option<&ObjectId>, fault: &Fault) -> FileProblem {
        let kept = match (object, self.kept.len()) {
            (None, 1..) if self.content.broken => "; what the file last held stays as it was",
            _ => "",
        };
        FileProblem {
            file: self.file.clone(),
            line: (fault.line > 0).then_some(fault.line),
            object: object.cloned(),
            path: fault.problem.path.clone(),
            what: format!("{}{kept}", fault.problem.what),
        }
    }
}

impl Reading {
    fn add(&mut self, id: &ObjectId, meta: &Meta, places: &[Place<'_>]) {
        let Some((held, document)) = places.first() else { return };
        for (held, document) in places {
            self.problems.extend(document.faults().map(|fault| held.problem(Some(id), fault)));
        }
        let twice = stands_twice(places);
        for ((held, document), what) in places.iter().zip(&twice) {
            let fault = Fault { line: document.line, problem: Problem::new("", what) };
            self.problems.push(held.problem(Some(id), &fault));
        }
        let twice = twice.first().map(String::as_str);
        match id.0 {
            Kind::Binding => {
                self.written.insert(id.1.clone(), document.written.clone());
                self.snapshot.bindings.push(object(meta, document, twice));
            }
            Kind::AgentBackend => self.snapshot.backends.push(object(meta, document, twice)),
            Kind::ChatConnection => self.snapshot.connections.push(object(meta, document, twice)),
        }
        let line = (document.line > 0).then_some(document.line);
        let origin = Origin { file: held.file.clone(), line, lines: document.lines.clone() };
        self.origins.insert(id.clone(), origin);
    }
}

/// For each place of an object that stands more than once, where the others are.
fn stands_twice(places: &[Place<'_>]) -> Vec<String> {
    if places.len() < 2 {
        return Vec::new();
    }
    let name = |(held, document): &Place<'_>| match document.line {
        0 => escaped(&held.name),
        // `FILE:LINE` would look like a host and its port, which no status shows.
        line => format!("line {line} of {}", escaped(&held.name)),
    };
    let other = places.len() - 1;
    let others = |this: usize| -> String {
        let named = places.iter().enumerate().filter(|(index, _)| *index != this).take(MAX_OTHERS);
        let mut words: Vec<String> = named.map(|(_, place)| name(place)).collect();
        if let Some(more @ 1..) = other.checked_sub(MAX_OTHERS) {
            words.push(format!("{more} more places"));
        }
        words.join(" and ")
    };
    (0..places.len()).map(|this| format!("stands also in {}: keep one", others(this))).collect()
}

fn object<S: DeserializeOwned>(meta: &Meta, document: &Document, twice: Option<&str>) -> Object<S> {
    let spec = match (document.spec(), twice) {
        (spec, None) => spec,
        (Ok(_), Some(what)) => Err(vec![Problem::new("metadata.name", what)]),
        (Err(mut problems), Some(what)) => {
            problems.insert(0, Problem::new("metadata.name", what));
            Err(problems)
        }
    };
    Object { meta: meta.clone(), spec }
}
