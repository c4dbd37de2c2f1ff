//! Files of the repository that are generated, as a whole or in part: a test of each keeps it equal to what the program
//! makes.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Compares a file, named from the root of the repository, with what it has to hold. With `UPDATE_COMMITTED=1` in the
/// environment it is written instead.
pub(crate) fn check(file: &str, text: &str) {
    let path = root().join(file);
    if std::env::var_os("UPDATE_COMMITTED").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{file} is not what the program makes: run this test with UPDATE_COMMITTED=1");
}

/// Compares the generated parts of a page, each between `<!-- generated: NAME -->` and `<!-- end -->`, with what they
/// have to hold, as [`check`] does. The rest of the page is written by hand.
pub(crate) fn check_parts(file: &str, parts: &[(&str, String)]) {
    let mut page = fs::read_to_string(root().join(file)).unwrap();
    assert_eq!(page.matches(BEGIN).count(), parts.len(), "{file} has other generated parts");
    for (name, text) in parts {
        page = with_part(&page, name, text).unwrap_or_else(|| panic!("{file} has no part {name}"));
    }
    check(file, &page);
}

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

fn with_part(page: &str, name: &str, text: &str) -> Option<String> {
    let begin = format!("{BEGIN}{name} -->\n");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{}\n\n{END}{after}", text.trim()))
}

#[test]
fn a_part_is_replaced_and_the_rest_stays() {
    let page = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n";
    let want = "a\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nb\n";
    assert_eq!(with_part(page, "x", "new\n").as_deref(), Some(want));
    assert_eq!(with_part(want, "x", "new\n").as_deref(), Some(want));
    assert_eq!(with_part(page, "y", "new"), None);
}
