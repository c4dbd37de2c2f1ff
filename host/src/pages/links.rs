//! Links, and names that pages use, against what is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::{is_page, pages, prose};
use crate::committed::root;
use crate::metrics::CATALOGUE;

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\(([^)\s]+)\)").unwrap());
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("(?s)``.+?``|`[^`]*`").unwrap());

/// Where a page's links lead.
fn targets(page: &Path) -> Vec<String> {
    let text = prose(&fs::read_to_string(page).unwrap());
    let text = CODE.replace_all(&text, "code");
    LINK.captures_iter(&text).map(|found| found[1].to_owned()).collect()
}

/// The anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = prose(&fs::read_to_string(page).unwrap());
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// What is wrong with a link of a page; none when it leads somewhere.
fn fault(page: &Path, target: &str) -> Option<String> {
    if target.starts_with("https://") || target.starts_with("http://") {
        return None;
    }
    let (file, heading) = target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let led = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    let is_there = led.exists() && heading.is_none_or(|heading| is_page(&led) && anchors(&led).contains(heading));
    (!is_there).then(|| format!("{}: {target}", page.display()))
}

/// All texts of the repository that people read: the pages, and those beside the code.
fn texts() -> Vec<PathBuf> {
    let beside = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "deploy/README.md"].map(|name| root().join(name));
    beside.into_iter().chain(pages()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let texts = texts();
    let links: Vec<_> = texts.iter().flat_map(|page| targets(page).into_iter().map(move |link| (page, link))).collect();
    assert!(links.len() > 50, "the pages have lost their links, or this test its eyes");
    let dead: Vec<_> = links.iter().filter_map(|(page, link)| fault(page, link)).collect();
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn a_link_to_nowhere_is_found() {
    let page = root().join("docs/limits.md");
    for good in ["metrics.md", "../README.md", "#fixed", "limits.md#limits-and-settings", "https://example.org/x"] {
        assert_eq!(fault(&page, good), None);
    }
    for dead in ["nothing.md", "#nothing", "metrics.md#nothing", "../docs"] {
        assert_eq!(fault(&page, dead).is_none(), dead == "../docs", "{dead}");
    }
}

#[test]
fn every_page_stands_once_in_the_summary() {
    let summary = root().join("docs/SUMMARY.md");
    let mut listed = targets(&summary);
    listed.sort();
    let names = pages().into_iter().map(|page| page.file_name().unwrap().to_str().unwrap().to_owned());
    let there: Vec<_> = names.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}

#[test]
fn every_metric_that_is_named_exists() {
    let name = Regex::new(r"\bagentkourier_[a-z_]*[a-z]").unwrap();
    let known: BTreeSet<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    let mut found = 0;
    for page in texts() {
        let text = fs::read_to_string(&page).unwrap();
        for name in name.find_iter(&text).map(|name| name.as_str()) {
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
            assert!(known.contains(family.unwrap_or(name)), "{}: {name} is no metric", page.display());
            found += 1;
        }
    }
    assert!(found > CATALOGUE.len());
}
