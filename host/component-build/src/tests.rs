use super::*;

#[test]
fn only_what_would_change_the_guests_is_kept_from_the_inner_build() {
    let dropped =
        ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_PROFILE_RELEASE_LTO", "RUSTC_WRAPPER"];
    let kept =
        ["PATH", "CARGO_HOME", "RUSTUP_TOOLCHAIN", "CARGO_NET_OFFLINE", "CARGO_MAKEFLAGS", "HTTPS_PROXY", "RUSTC"];
    for name in dropped {
        assert!(is_dropped(OsStr::new(name)), "{name}");
    }
    for name in kept {
        assert!(!is_dropped(OsStr::new(name)), "{name}");
    }
}

#[test]
fn a_dependency_file_lists_its_sources_with_escaped_spaces() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("probe.d");
    fs::write(&file, "/t/probe.wasm: /a/lib.rs /b\\ c/wit/probe.wit\n\n/a/lib.rs:\n").unwrap();
    assert_eq!(sources(&file), [PathBuf::from("/a/lib.rs"), PathBuf::from("/b c/wit/probe.wit")]);
    assert!(sources(&dir.path().join("none.d")).is_empty());
}

#[test]
fn the_manifest_above_a_source_is_watched_too() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("probe/src/lib.rs");
    fs::create_dir_all(source.parent().unwrap()).unwrap();
    fs::write(&source, "").unwrap();
    fs::write(dir.path().join("probe/Cargo.toml"), "").unwrap();
    let watched = with_manifests(&BTreeSet::from([source.clone()]));
    assert_eq!(watched, BTreeSet::from([source, dir.path().join("probe/Cargo.toml")]));
}

#[test]
fn ready_files_are_taken_as_they_are_and_a_missing_one_is_named() {
    let (ready, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(ready.path().join("one.wasm"), "1").unwrap();
    take_ready(ready.path(), &["one"], out.path()).unwrap();
    assert_eq!(fs::read(out.path().join("one.wasm")).unwrap(), b"1");
    let error = take_ready(ready.path(), &["two"], out.path()).unwrap_err().to_string();
    assert!(error.contains("two.wasm"), "{error}");
}

#[test]
fn the_missing_target_error_says_what_to_run() {
    assert!(BuildError::NoTarget.to_string().contains("rustup target add wasm32-wasip2"));
}
