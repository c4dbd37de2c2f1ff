//! The files of a folder, read with care: nothing outside it, nothing that blocks, nothing without end.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::file::{self, MAX_TEXT, Unread};

/// The most entries of a folder: one with more is not a folder of manifests.
const MAX_ENTRIES: usize = 10_000;
/// How often a folder that is swapped while it is read is read again.
const ATTEMPTS: usize = 5;

/// Tells contents apart.
pub(super) type Digest = [u8; 32];

/// A manifest file.
#[derive(Debug)]
pub(super) struct Found {
    /// Its name in the folder.
    pub(super) name: String,
    /// Its text, or why it has none.
    pub(super) content: Result<(Digest, String), String>,
}

/// Reads the manifest files of a folder, in the order of their names. A mounted ConfigMap that is swapped meanwhile is
/// read again, so that no reading is half old and half new.
pub(super) fn look(dir: &Path) -> io::Result<Vec<Found>> {
    let mut attempt = 1;
    loop {
        let before = fs::read_link(dir.join("..data")).ok();
        let found = look_once(dir);
        let after = fs::read_link(dir.join("..data")).ok();
        if before == after || attempt == ATTEMPTS {
            return found;
        }
        attempt += 1;
    }
}

fn look_once(dir: &Path) -> io::Result<Vec<Found>> {
    let root = fs::canonicalize(dir)?;
    let mut names: Vec<OsString> = Vec::new();
    for (count, entry) in fs::read_dir(&root)?.enumerate() {
        if count == MAX_ENTRIES {
            return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} entries")));
        }
        names.push(entry?.file_name());
    }
    names.retain(|name| is_manifest(&name.to_string_lossy()));
    names.sort();
    // A file that is removed after the folder was listed is not there.
    Ok(names.into_iter().filter_map(|name| found(&root, &name)).collect())
}

fn is_manifest(name: &str) -> bool {
    !name.starts_with('.') && [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

fn found(root: &Path, name: &OsString) -> Option<Found> {
    let path = root.join(name);
    let content = match real(root, &path) {
        Ok(Some(real)) => read_file(&real).map(|text| (Sha256::digest(&text).into(), text)).map_err(|why| told(&why)),
        Ok(None) => Err("is a link that leads out of the folder".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(&path).is_err() => return None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("is a link that leads nowhere".to_owned()),
        Err(error) => Err(format!("cannot be read: {error}")),
    };
    Some(Found { name: name.to_string_lossy().into_owned(), content })
}

/// The file that a path leads to; none when it is outside the folder.
fn real(root: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let real = fs::canonicalize(path)?;
    Ok(real.starts_with(root).then_some(real))
}

/// Reads one manifest file, wherever it is.
pub(super) fn read_file(path: &Path) -> Result<String, Unread> {
    file::text(path, MAX_TEXT)
}

/// Why a manifest file is not read, and what would be right.
pub(super) fn told(unread: &Unread) -> String {
    match unread {
        Unread::TooLong(_) => format!("{unread}: split it"),
        Unread::NotAFile | Unread::NotText | Unread::Io(_) => unread.to_string(),
    }
}
