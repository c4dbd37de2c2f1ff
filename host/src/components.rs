//! Which probe components this broker has: the built-in ones, and those of a directory.
//!
//! There is one place for the agent probe and one for each platform. A component of the directory takes the place of a
//! built-in one: who puts it there means it, and gets a built-in probe mended without a new broker. Two files for one
//! place are a mistake: the first by file name serves, the second is refused, naming both. A component that cannot be
//! loaded leaves the others, and the built-in one of its place, running.
//!
//! What is absent: reloading. The set does not change while the broker runs.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use kourier_core::platform::Platforms;
use kourier_sandbox::{Component, LoadError, ProbeKind, Sandbox};

use crate::builtin;
use crate::file::{self, Unread};
use crate::shown::Shown;

mod listing;

pub use listing::{Listing, LoadedEntry, RefusedEntry};

/// The components of this broker.
#[derive(Clone, Default)]
pub struct Components {
    loaded: Vec<Loaded>,
    refused: Vec<Refused>,
}

/// A component that is ready to run.
#[derive(Clone)]
pub struct Loaded {
    /// The file's name without `.wasm`, or the built-in component's name: in lists, logs and metric labels.
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
    /// The file's size in bytes.
    pub size: usize,
    /// The component.
    pub component: Component,
    /// The built-in component whose place it has taken.
    pub replaces: Option<String>,
}

/// A component that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// As in [`Loaded`].
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
    /// Why, and what would be right.
    pub reason: String,
}

/// Where a component came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A file of the components' directory. It comes first: it takes the place of a built-in component.
    File(PathBuf),
    /// Embedded in this program.
    BuiltIn,
}

impl Loaded {
    /// The platform whose channels it probes; none for the probe of agents.
    #[must_use]
    pub fn platform(&self) -> Option<&str> {
        match self.component.kind() {
            ProbeKind::Agent => None,
            ProbeKind::Chat { platform, .. } => Some(platform),
        }
    }

    fn place(&self) -> Place {
        Place::of(&self.component)
    }

    /// What decides who gets a place.
    fn rank(&self) -> (Place, &Origin) {
        (self.place(), &self.origin)
    }

    /// The refusal of this file, whose place another one has.
    fn beaten_by(&self, holder: &Self) -> Refused {
        let reason = format!("{} already probes {}: remove one of the two files", holder.origin, self.place());
        Refused { name: self.name.clone(), origin: self.origin.clone(), reason }
    }

    /// The world that it implements.
    #[must_use]
    pub fn world(&self) -> &'static str {
        match self.component.kind() {
            ProbeKind::Agent => "agent-probe",
            ProbeKind::Chat { .. } => "chat-probe",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File(path) => Shown(path).fmt(f),
        }
    }
}

/// What a component is for: there is at most one for each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Agent,
    Chat(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent => f.write_str("agents"),
            Self::Chat(platform) => write!(f, "the platform {platform}"),
        }
    }
}

impl Place {
    fn of(component: &Component) -> Self {
        match component.kind() {
            ProbeKind::Agent => Self::Agent,
            ProbeKind::Chat { platform, .. } => Self::Chat(platform.clone()),
        }
    }
}

impl Components {
    /// Compiles the built-in components and the `*.wasm` files of `dir`, on as many threads as there are processors.
    /// Blocks. What cannot be loaded is in [`Self::refused`].
    #[must_use]
    pub fn load(sandbox: &Sandbox, dir: Option<&Path>) -> Self {
        let mut refused = Vec::new();
        let mut candidates = built_in();
        if let Some(dir) = dir {
            match files(dir) {
                Ok(files) => candidates.extend(files),
                Err(reason) => refused.push(Refused::folder(dir, reason)),
            }
        }
        let mut loaded = Vec::new();
        for result in compile(sandbox, &candidates) {
            match result {
                Ok(component) => loaded.push(component),
                Err(reason) => refused.push(reason),
            }
        }
        Self::settle(loaded, refused)
    }

    /// Gives each place to one component: a file before a built-in one, then by file name.
    fn settle(mut loaded: Vec<Loaded>, mut refused: Vec<Refused>) -> Self {
        loaded.sort_by(|a, b| a.rank().cmp(&b.rank()));
        let mut kept: Vec<Loaded> = Vec::new();
        for candidate in loaded {
            match kept.last_mut() {
                Some(holder) if holder.place() == candidate.place() => match candidate.origin {
                    Origin::BuiltIn => holder.replaces = Some(candidate.name),
                    Origin::File(_) => refused.push(candidate.beaten_by(holder)),
                },
                Some(_) | None => kept.push(candidate),
            }
        }
        kept.sort_by(|a, b| a.name.cmp(&b.name));
        refused.sort_by(|a, b| (&a.name, &a.origin).cmp(&(&b.name, &b.origin)));
        Self { loaded: kept, refused }
    }

    /// The probe of agents.
    #[must_use]
    pub fn agent_probe(&self) -> Option<&Loaded> {
        self.at(&Place::Agent)
    }

    /// The probe of this platform's channels.
    #[must_use]
    pub fn chat_probe(&self, platform: &str) -> Option<&Loaded> {
        self.at(&Place::Chat(platform.to_owned()))
    }

    /// The components that run, by name.
    #[must_use]
    pub fn loaded(&self) -> &[Loaded] {
        &self.loaded
    }

    /// The components that do not run, by name.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// What acceptance has to know of the platforms.
    #[must_use]
    pub fn platforms(&self) -> Platforms {
        let mut platforms = Platforms::new();
        for loaded in &self.loaded {
            if let ProbeKind::Chat { platform, descriptor } = loaded.component.kind() {
                platforms.insert(platform.clone(), descriptor.clone());
            }
        }
        platforms
    }

    /// Logs what is loaded, and what is not and why.
    pub fn report(&self) {
        for loaded in &self.loaded {
            let (platform, digest) = (loaded.platform(), loaded.component.digest());
            let (origin, replaces) = (&loaded.origin, &loaded.replaces);
            tracing::info!(component = loaded.name, platform, digest, %origin, replaces, "a probe is loaded");
        }
        for refused in &self.refused {
            tracing::warn!(component = refused.name, origin = %refused.origin, cause = refused.reason, "a probe is refused");
        }
    }

    fn at(&self, place: &Place) -> Option<&Loaded> {
        self.loaded.iter().find(|loaded| loaded.place() == *place)
    }
}

impl Refused {
    fn folder(dir: &Path, reason: String) -> Self {
        let name = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
        Self { name, origin: Origin::File(dir.to_owned()), reason }
    }
}

/// Compiles one component: the built-in one of this name, or a file.
///
/// # Errors
///
/// When it is neither, or is refused.
pub fn load_one(sandbox: &Sandbox, name_or_file: &str) -> anyhow::Result<Loaded> {
    let known = built_in();
    let candidate = known.iter().find(|candidate| candidate.name == name_or_file).cloned().unwrap_or_else(|| {
        let path = PathBuf::from(name_or_file);
        Candidate { name: stem(&path), origin: Origin::File(path) }
    });
    candidate.load(sandbox).map_err(|Refused { reason, .. }| {
        // Where there is a file, that is what was meant.
        if Path::new(name_or_file).is_file() {
            return anyhow::anyhow!("{name_or_file}: {reason}");
        }
        let names: Vec<&str> = known.iter().map(|candidate| candidate.name.as_str()).collect();
        let names = names.join(", ");
        anyhow::anyhow!("{name_or_file}: {reason}; a component is a file, or one of the built-in ones: {names}")
    })
}

/// A component that has not been compiled.
#[derive(Clone)]
struct Candidate {
    name: String,
    origin: Origin,
}

impl Candidate {
    fn bytes(&self, limit: usize) -> Result<Cow<'static, [u8]>, String> {
        match &self.origin {
            Origin::BuiltIn => builtin::ALL
                .iter()
                .find(|built_in| built_in.name == self.name)
                .map(|built_in| Cow::Borrowed(built_in.wasm))
                .ok_or_else(|| "there is no built-in component of this name".to_owned()),
            Origin::File(path) => read(path, limit).map(Cow::Owned),
        }
    }

    fn load(&self, sandbox: &Sandbox) -> Result<Loaded, Refused> {
        let refuse = |reason| Refused { name: self.name.clone(), origin: self.origin.clone(), reason };
        let bytes = self.bytes(sandbox.limits().component).map_err(refuse)?;
        let why = |error: LoadError| lacks(&bytes).map_or_else(|| error.to_string(), ToOwned::to_owned);
        let component = sandbox.load(&bytes).map_err(|error| refuse(why(error)))?;
        Ok(Loaded {
            name: self.name.clone(),
            origin: self.origin.clone(),
            size: bytes.len(),
            component,
            replaces: None,
        })
    }
}

/// What a file of WebAssembly lacks that was not written or copied to its end; none where it has all that it tells of.
fn lacks(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        return Some("it is empty: build it, or copy it again");
    }
    const MAGIC: &[u8] = b"\0asm";
    if bytes.len() < MAGIC.len() + 4 && (MAGIC.starts_with(bytes) || bytes.starts_with(MAGIC)) {
        return Some("it ends in the middle of its header: build it, or copy it again");
    }
    let mut rest = bytes.strip_prefix(MAGIC)?.get(4..)?;
    while let Some((_, section)) = rest.split_first() {
        let Some(after) = after(section) else {
            return Some("it ends in the middle of a section: build it, or copy it again");
        };
        rest = after;
    }
    None
}

/// What stands behind a section: its length, LEB128 of at most 32 bits, comes before its content.
fn after(section: &[u8]) -> Option<&[u8]> {
    let mut length = 0;
    for (index, byte) in section.iter().enumerate().take(5) {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return section.get(index + 1..)?.get(length..);
        }
    }
    None
}

/// Reads a file that is no larger than the sandbox would load.
fn read(path: &Path, limit: usize) -> Result<Vec<u8>, String> {
    file::bytes(path, limit as u64).map_err(|unread| match unread {
        Unread::TooLong(_) => format!("it {unread}, the bound of a component (`probe.component`)"),
        Unread::NotAFile | Unread::NotText | Unread::Io(_) => format!("it {unread}"),
    })
}

fn built_in() -> Vec<Candidate> {
    builtin::ALL.iter().map(|built_in| Candidate { name: built_in.name.to_owned(), origin: Origin::BuiltIn }).collect()
}

/// The `*.wasm` files of the folder itself, by name. Names that begin with a dot are left out.
fn files(dir: &Path) -> Result<Vec<Candidate>, String> {
    let entries = fs::read_dir(dir).map_err(|error| format!("the folder cannot be read: {error}"))?;
    let mut candidates = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("the folder cannot be read: {error}"))?.path();
        let stem = stem(&path);
        if path.extension().is_some_and(|extension| extension == "wasm") && !stem.starts_with('.') {
            candidates.push(Candidate { name: stem, origin: Origin::File(path) });
        }
    }
    candidates.sort_by(|a, b| a.origin.cmp(&b.origin));
    Ok(candidates)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Compiles on as many threads as there are processors, each of which takes the next candidate.
fn compile(sandbox: &Sandbox, candidates: &[Candidate]) -> Vec<Result<Loaded, Refused>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(candidate) = candidates.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(candidate.load(sandbox));
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(candidates.len());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
