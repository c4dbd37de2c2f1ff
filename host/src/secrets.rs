//! Credentials and certificates from a folder, as mounted Secrets have it: `NAMESPACE/NAME/KEY`.

use std::path::PathBuf;

use kourier_core::object::SecretRef;
use kourier_sandbox::{Secret, Trust};

/// The folder of Secrets. Nothing is cached: each look reads the file.
#[derive(Debug)]
pub struct Secrets {
    dir: PathBuf,
}

/// A value that changes when the content does, and says nothing else of it: it is keyed with randomness of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

/// Why a Secret cannot be used. The text is for the operator's log: it names the Secret and its key, never the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The file is not there.
    #[error("todo")]
    Missing,
}

impl Secrets {
    /// The Secrets below `dir`.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The credential that `reference` names in `namespace`. It blocks on the disk.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn credential(&self, _namespace: &str, _reference: &SecretRef) -> Result<(Secret, Version), SecretError> {
        let _ = &self.dir;
        unimplemented!()
    }

    /// The certificates that `reference` names in `namespace`: always [`Trust::Only`], never the system's roots. It
    /// blocks on the disk.
    ///
    /// # Errors
    ///
    /// Why they cannot be used.
    pub fn certificates(&self, _namespace: &str, _reference: &SecretRef) -> Result<(Trust, Version), SecretError> {
        unimplemented!()
    }

    /// The version of what `reference` names in `namespace`, usable or not: what cannot be read has a version too. It
    /// blocks on the disk.
    #[must_use]
    pub fn version(&self, _namespace: &str, _reference: &SecretRef) -> Version {
        unimplemented!()
    }
}
