//! Credentials and certificates: from a folder, as mounted Secrets have it (`NAMESPACE/NAME/KEY`), or from a cluster.
//!
//! What is absent: a cache of the folder (each look reads the file, so that a rotated Secret counts at once), a
//! fall-back (a CA that cannot be used is never the system's roots), and a way out of the folder of the Secret that was
//! named.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kourier_core::object::SecretRef;
use kourier_core::rule::{LABEL, NAME, SECRET_KEY};
use kourier_kube::secrets::{SecretCache, SecretTrouble};
use kourier_sandbox::{Secret, Trust};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use zeroize::Zeroizing;

use crate::file::{self, Unread};

/// The longest credential, in bytes: no header that a server takes is longer.
const MAX_CREDENTIAL: u64 = 64 << 10;
/// The longest file of certificates, in bytes: what a Secret can hold.
const MAX_CERTIFICATES: u64 = 1 << 20;

/// What is wrong when a file that a person names is not there.
const NO_FILE: SecretFault = SecretFault::Unreadable(io::ErrorKind::NotFound);

/// Where the Secrets are.
#[derive(Debug)]
pub struct Secrets {
    place: Place,
    /// Keyed with randomness of this process.
    hasher: RandomState,
}

#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Cluster(SecretCache),
}

/// A value that changes when the content does, and says nothing else of it: it is keyed with randomness of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

/// Why a Secret cannot be used. The text is for the operator's log: it names the Secret and its key, never the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("key {key} of Secret {namespace}/{name}: {fault}")]
pub struct SecretError {
    /// The Secret's namespace.
    pub namespace: String,
    /// The Secret's name.
    pub name: String,
    /// The key in the Secret.
    pub key: String,
    /// What is wrong with it.
    #[source]
    pub fault: SecretFault,
}

/// What is wrong with the content of a Secret's key, or with the way to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum SecretFault {
    /// A part of its name cannot be a name.
    #[error("cannot be the name of a Secret and a key")]
    BadName,
    /// It was not read yet: nothing can be said of it.
    #[error("has not been read yet")]
    NotRead,
    /// There is no such Secret.
    #[error("there is no such Secret")]
    NoSecret,
    /// The broker lacks the right to read it.
    #[error("the broker may not read it: allow its service account to get and watch this Secret")]
    Forbidden,
    /// The Secret has no such key.
    #[error("the Secret has no such key")]
    NoKey,
    /// It leads to a file outside the Secret's folder.
    #[error("leads out of the folder of the Secret")]
    Outside,
    /// It is not a file.
    #[error("is not a file")]
    NotAFile,
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    /// The API server does not give it.
    #[error("cannot be read from the API server")]
    NotGiven,
    /// It has more bytes than this.
    #[error("has more than {0} bytes")]
    TooLong(u64),
    /// It is not text.
    #[error("is not UTF-8 text")]
    NotText,
    /// There is nothing in it but a line end.
    #[error("is empty")]
    Empty,
    /// It begins or ends with white space, beside one line end.
    #[error("has white space at an edge (one line end at its end would be fine)")]
    EdgeSpace,
    /// It holds a control character.
    #[error("holds a control character")]
    ControlCharacter,
    /// It holds no certificate.
    #[error("holds no PEM certificate")]
    NoCertificate,
    /// A certificate in it cannot be read.
    #[error("holds a certificate that cannot be read")]
    BadCertificate,
}

impl Secrets {
    /// The Secrets below `dir`.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { place: Place::Folder(dir), hasher: RandomState::new() }
    }

    /// The Secrets of a cluster. Those that are not [wanted](Self::want) read as not read yet.
    #[must_use]
    pub fn of_cluster(cache: SecretCache) -> Self {
        Self { place: Place::Cluster(cache), hasher: RandomState::new() }
    }

    /// From now on, these Secrets and no others are needed, by namespace and name. To be called within a runtime.
    pub fn want(&self, wanted: &BTreeSet<(String, String)>) {
        match &self.place {
            // A folder is read when it is needed.
            Place::Folder(_) => {}
            Place::Cluster(cache) => cache.want(wanted),
        }
    }

    /// Ends when something is known of each Secret that is wanted.
    pub async fn read(&self) {
        match &self.place {
            Place::Folder(_) => {}
            Place::Cluster(cache) => cache.read().await,
        }
    }

    /// The credential that `reference` names in `namespace`. It blocks on the disk.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn credential(&self, namespace: &str, reference: &SecretRef) -> Result<(Secret, Version), SecretError> {
        self.use_as(namespace, reference, MAX_CREDENTIAL, credential)
    }

    /// The certificates that `reference` names in `namespace`: always [`Trust::Only`], never the system's roots. It
    /// blocks on the disk.
    ///
    /// # Errors
    ///
    /// Why they cannot be used.
    pub fn certificates(&self, namespace: &str, reference: &SecretRef) -> Result<(Trust, Version), SecretError> {
        self.use_as(namespace, reference, MAX_CERTIFICATES, trust)
    }

    /// The version of what `reference` names in `namespace`, usable or not: what cannot be read has a version too. It
    /// blocks on the disk.
    #[must_use]
    pub fn version(&self, namespace: &str, reference: &SecretRef) -> Version {
        self.version_of(&self.content(namespace, reference, MAX_CERTIFICATES))
    }

    fn use_as<T>(
        &self,
        namespace: &str,
        reference: &SecretRef,
        most: u64,
        parse: fn(&[u8]) -> Result<T, SecretFault>,
    ) -> Result<(T, Version), SecretError> {
        let content = self.content(namespace, reference, MAX_CERTIFICATES);
        let version = self.version_of(&content);
        let parsed = content.and_then(|content| {
            if content.len() as u64 > most { Err(SecretFault::TooLong(most)) } else { parse(&content) }
        });
        parsed.map(|value| (value, version)).map_err(|fault| SecretError {
            namespace: namespace.to_owned(),
            name: reference.name.clone(),
            key: reference.key.clone(),
            fault,
        })
    }

    fn version_of(&self, content: &Result<Zeroizing<Vec<u8>>, SecretFault>) -> Version {
        Version(self.hasher.hash_one(content.as_ref().map(|content| content.as_slice())))
    }

    fn content(&self, namespace: &str, reference: &SecretRef, most: u64) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
        let faults = [LABEL.fault(namespace), NAME.fault(&reference.name), SECRET_KEY.fault(&reference.key)];
        let dots = reference.key == "." || reference.key.starts_with("..");
        if dots || faults.iter().any(Option::is_some) {
            return Err(SecretFault::BadName);
        }
        match &self.place {
            Place::Folder(dir) => {
                let folder = folder(dir, namespace, &reference.name)?;
                read(&real(&folder, SecretFault::NoSecret)?, &folder.join(&reference.key), most)
            }
            Place::Cluster(cache) => {
                let secret = cache.get(namespace, &reference.name).ok_or(SecretFault::NotRead)??;
                let content = secret.values.get(&reference.key).ok_or(SecretFault::NoKey)?;
                if content.len() as u64 > most { Err(SecretFault::TooLong(most)) } else { Ok(content.clone()) }
            }
        }
    }
}

impl From<SecretTrouble> for SecretFault {
    fn from(trouble: SecretTrouble) -> Self {
        match trouble {
            SecretTrouble::NotFound => Self::NoSecret,
            SecretTrouble::Forbidden => Self::Forbidden,
            SecretTrouble::Unreadable => Self::NotGiven,
        }
    }
}

/// The Secret's folder below `dir`. Its names were checked, because they become a path: none holds a slash, none is `..`.
fn folder(dir: &Path, namespace: &str, name: &str) -> Result<PathBuf, SecretFault> {
    let root = real(dir, SecretFault::NoSecret)?;
    let folder = root.join(namespace).join(name);
    if real(&folder, SecretFault::NoSecret)?.starts_with(&root) { Ok(folder) } else { Err(SecretFault::Outside) }
}

/// The credential in a file that a person names, wherever it is. It blocks on the disk.
///
/// # Errors
///
/// Why it cannot be used.
pub fn credential_file(path: &Path) -> Result<Secret, SecretFault> {
    credential(&wiped(path, MAX_CREDENTIAL, NO_FILE)?)
}

/// The certificates in a file that a person names, wherever it is. It blocks on the disk.
///
/// # Errors
///
/// Why they cannot be used.
pub fn trust_file(path: &Path) -> Result<Trust, SecretFault> {
    trust(&wiped(path, MAX_CERTIFICATES, NO_FILE)?)
}

/// Takes the content of a file as a credential: one line end at its end is dropped.
///
/// # Errors
///
/// Why it cannot be one.
pub fn credential(content: &[u8]) -> Result<Secret, SecretFault> {
    let text = std::str::from_utf8(content).map_err(|_| SecretFault::NotText)?;
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    if text.is_empty() {
        Err(SecretFault::Empty)
    } else if text.trim() != text {
        Err(SecretFault::EdgeSpace)
    } else if text.chars().any(char::is_control) {
        Err(SecretFault::ControlCharacter)
    } else {
        Ok(Secret::new(text.to_owned()))
    }
}

/// Takes the content of a file as the certificates that are trusted, and no others.
///
/// # Errors
///
/// Why it cannot be them.
pub fn trust(content: &[u8]) -> Result<Trust, SecretFault> {
    let text = std::str::from_utf8(content).map_err(|_| SecretFault::NotText)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(content) {
        let certificate = certificate.map_err(|_| SecretFault::BadCertificate)?;
        roots.add(certificate).map_err(|_| SecretFault::BadCertificate)?;
    }
    if roots.is_empty() { Err(SecretFault::NoCertificate) } else { Ok(Trust::Only(Arc::from(text))) }
}

/// Reads a file that lies in `folder`, through the symbolic links with which a mounted Secret is swapped.
fn read(folder: &Path, path: &Path, most: u64) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
    let path = real(path, SecretFault::NoKey)?;
    if !path.starts_with(folder) {
        return Err(SecretFault::Outside);
    }
    wiped(&path, most, SecretFault::NoKey)
}

/// Reads a file into memory that is wiped when it is dropped.
fn wiped(path: &Path, most: u64, missing: SecretFault) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
    let mut content = Zeroizing::new(Vec::new());
    file::read(path, most, &mut content).map_err(|unread| match unread {
        Unread::NotAFile => SecretFault::NotAFile,
        Unread::TooLong(most) => SecretFault::TooLong(most),
        Unread::NotText => SecretFault::NotText,
        Unread::Io(error) => unreadable(&error, missing),
    })?;
    Ok(content)
}

fn real(path: &Path, missing: SecretFault) -> Result<PathBuf, SecretFault> {
    fs::canonicalize(path).map_err(|error| unreadable(&error, missing))
}

fn unreadable(error: &io::Error, missing: SecretFault) -> SecretFault {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing,
        kind => SecretFault::Unreadable(kind),
    }
}

#[cfg(test)]
mod tests;
