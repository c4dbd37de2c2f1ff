//! Files that others write, read with care: nothing that blocks, nothing without end.
//!
//! What is absent: a way to read anything but a regular file. A FIFO would hold the program for as long as nobody writes,
//! and a device may never end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The largest file of manifests, settings or cases, in bytes: what a ConfigMap can hold.
pub(crate) const MAX_TEXT: u64 = 1 << 20;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    /// It is a folder, a FIFO, a device or a socket.
    #[error("is not a file")]
    NotAFile,
    /// It has more bytes than this.
    #[error("has more than {}", size(*.0))]
    TooLong(u64),
    /// It is not text.
    #[error("is not UTF-8 text")]
    NotText,
    /// It cannot be read at all.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Reads a regular file of at most `most` bytes.
pub(crate) fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    let mut content = Vec::new();
    read(path, most, &mut content)?;
    Ok(content)
}

/// Reads a regular file of at most `most` bytes that is text.
pub(crate) fn text(path: &Path, most: u64) -> Result<String, Unread> {
    String::from_utf8(bytes(path, most)?).map_err(|_| Unread::NotText)
}

/// Reads a regular file of at most `most` bytes into an empty buffer, which is made large enough at once: one that grows
/// would leave copies of a secret behind.
pub(crate) fn read(path: &Path, most: u64, content: &mut Vec<u8>) -> Result<(), Unread> {
    // Opening a FIFO would block, so it is asked for before; and again, as it may have been swapped meanwhile.
    let before = fs::metadata(path)?;
    if !before.is_file() {
        return Err(Unread::NotAFile);
    }
    if before.len() > most {
        return Err(Unread::TooLong(most));
    }
    let file = File::open(path)?;
    let length =
        file.metadata().map(|metadata| metadata.is_file().then_some(metadata.len()))?.ok_or(Unread::NotAFile)?;
    content.reserve_exact(usize::try_from(length.min(most)).unwrap_or_default() + 1);
    file.take(most + 1).read_to_end(content)?;
    if content.len() as u64 > most { Err(Unread::TooLong(most)) } else { Ok(()) }
}

/// A bound as people write it.
fn size(bytes: u64) -> String {
    match (bytes % (1 << 20), bytes % (1 << 10)) {
        (0, _) => format!("{} MiB", bytes >> 20),
        (_, 0) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_no_regular_file_or_has_no_end_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let said = |path: &Path, most| text(path, most).map_err(|error| error.to_string());
        for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
            assert_eq!(said(path, 8), Err("is not a file".to_owned()), "{}", path.display());
        }
        // The length of a file of /proc is told as none.
        assert_eq!(said(Path::new("/proc/self/maps"), 8), Err("has more than 8 bytes".to_owned()));
        let file = folder.path().join("file");
        fs::write(&file, "12345678").unwrap();
        assert_eq!(said(&file, 8), Ok("12345678".to_owned()));
        fs::write(&file, vec![b'x'; 1025]).unwrap();
        assert_eq!(said(&file, 1024), Err("has more than 1 KiB".to_owned()));
        fs::write(&file, b"\xff").unwrap();
        assert_eq!(said(&file, MAX_TEXT), Err("is not UTF-8 text".to_owned()));
        assert!(said(&folder.path().join("none"), 8).unwrap_err().starts_with("cannot be read: No such file"));
    }

    #[test]
    fn a_buffer_for_a_secret_does_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, vec![b'x'; 5000]).unwrap();
        let content = bytes(&file, MAX_TEXT).unwrap();
        assert_eq!((content.len(), content.capacity()), (5000, 5001));
    }
}
