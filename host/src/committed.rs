//! Files of the repository that are generated: a test of each keeps it equal to what the program makes.

use std::path::Path;

/// Compares a file, named from the root of the repository, with what it has to hold. With `UPDATE_COMMITTED=1` in the
/// environment it is written instead.
pub(crate) fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    if std::env::var_os("UPDATE_COMMITTED").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{file} is not what the program makes: run this test with UPDATE_COMMITTED=1");
}
