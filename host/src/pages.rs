//! The pages in `docs`: their generated parts are what the program makes, and their links lead somewhere.

mod broker_checks;
mod interface;
mod links;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use kourier_core::accept::Rules;
use kourier_core::object::DEFAULT_BROKER;
use kourier_sandbox::{Limits, Sandbox};

use crate::committed::root;
use crate::components::Components;

/// The rules of a broker that reads custom resources, with the built-in probes alone.
fn rules() -> Rules {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let platforms = Components::load(&sandbox, None).platforms();
    Rules { broker: DEFAULT_BROKER.to_owned(), platforms, single_label_hosts: false }
}

/// The pages of the book, by file name, in the order of their names.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| is_page(path)).collect();
    pages.sort();
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The text of a page outside of its fenced blocks.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}
