//! Loading: from bytes to a component that can be run, or the reason why not.

mod describe;
mod inspect;
mod outline;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kourier_core::outcome::Fault;
use kourier_core::platform::Platform;
use sha2::{Digest as _, Sha256};

use crate::bindings::agent::AgentProbePre;
use crate::bindings::chat::ChatProbePre;
use crate::guest::Guest;
use crate::journal::one_line;
use crate::lanes::Habit;
use crate::run::Sandbox;
use crate::world::{Describe, TryAgent};
use inspect::{Interfaces, World};

/// A component that is compiled, checked and ready to run. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    inner: Arc<Inner>,
}

struct Inner {
    digest: String,
    kind: ProbeKind,
    imports: Vec<String>,
    pre: Pre,
    habit: Habit,
}

/// The component, linked to the host.
pub(crate) enum Pre {
    Agent(AgentProbePre<Guest>),
    Chat(ChatProbePre<Guest>),
}

/// What a component checks.
#[derive(Clone, Debug)]
pub enum ProbeKind {
    /// World `agent-probe`.
    Agent,
    /// World `chat-probe`, for this platform.
    Chat {
        /// `spec.platform` that selects it.
        platform: String,
        /// What it said of the platform.
        descriptor: Platform,
    },
}

/// Why a component is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Larger than [`Limits::component`](crate::Limits::component). It was not looked at.
    #[error("the file has {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Not WebAssembly, cut off, or damaged before its interfaces could be read.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// A core module, as compilers write it.
    #[error("a core module, not a component: build it for wasm32-wasip2, or wrap it with `wasm-tools component new`")]
    CoreModule,
    /// It imports what no probe gets. It was not compiled.
    #[error("it imports what a probe does not get: {}; {hint}", inspect::shown(imports))]
    ForeignImports {
        /// The foreign imports, sorted.
        imports: Vec<String>,
        /// What the author can do.
        hint: &'static str,
    },
    /// It exports neither `agentkourier:probe/agent` nor `agentkourier:probe/chat` of this version, or both.
    #[error("it exports {found}; a probe exports exactly one of {}", inspect::EXPORTS.join(" and "))]
    Exports {
        /// What it exports, in words.
        found: String,
    },
    /// It consists of more than the engine can take. It was not compiled.
    #[error("it consists of more than {limit} {what}")]
    TooMuch {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// The engine refuses it: it is not valid, uses a feature that is off, has a table larger than
    /// [`Limits::table_elements`](crate::Limits::table_elements), or does not fit the interface.
    #[error("the engine refuses it: {0}")]
    Refused(String),
    /// It could not be started, or could not describe itself within the limits of a run.
    #[error("it cannot be run: {fault}{}", Because(causes))]
    Faulty {
        /// What went wrong.
        fault: Fault,
        /// The run's journal.
        causes: Vec<String>,
    },
    /// Its descriptor breaks a rule of the interface.
    #[error("its descriptor is wrong: {field}: {problem}")]
    Descriptor {
        /// The field, as `wit/probe.wit` names it.
        field: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

struct Because<'a>(&'a [String]);

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|cause| write!(f, "; {cause}"))
    }
}

impl Component {
    /// SHA-256 of the file, in hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// What it checks.
    #[must_use]
    pub fn kind(&self) -> &ProbeKind {
        &self.inner.kind
    }

    /// The interfaces that it imports, sorted, for example `agentkourier:probe/endpoint@0.1.0`.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    pub(crate) fn pre(&self) -> &Pre {
        &self.inner.pre
    }

    pub(crate) fn habit(&self) -> &Habit {
        &self.inner.habit
    }

    pub(crate) fn load(sandbox: &Sandbox, bytes: &[u8]) -> Result<Self, LoadError> {
        let limit = sandbox.limits().component;
        if bytes.len() > limit {
            return Err(LoadError::TooLarge { bytes: bytes.len(), limit });
        }
        let Interfaces { imports, world } = inspect::interfaces(bytes)?;
        let linked = link(sandbox, bytes)?;
        let (kind, pre) = match world {
            World::Agent => {
                let pre = AgentProbePre::new(linked).map_err(refused)?;
                faultless(sandbox.alone::<TryAgent>(pre.clone(), ()))?;
                (ProbeKind::Agent, Pre::Agent(pre))
            }
            World::Chat => {
                let pre = ChatProbePre::new(linked).map_err(refused)?;
                let said = faultless(sandbox.alone::<Describe>(pre.clone(), ()))?;
                let (platform, descriptor) = describe::checked(said)?;
                (ProbeKind::Chat { platform, descriptor }, Pre::Chat(pre))
            }
        };
        let (digest, habit) = (hex(&Sha256::digest(bytes)), Habit::default());
        Ok(Self { inner: Arc::new(Inner { digest, kind, imports, pre, habit }) })
    }
}

fn link(sandbox: &Sandbox, bytes: &[u8]) -> Result<wasmtime::component::InstancePre<Guest>, LoadError> {
    // The compiler is given files of strangers: a bug in it must cost this file, not the broker.
    let compiled =
        catch_unwind(AssertUnwindSafe(|| wasmtime::component::Component::from_binary(sandbox.engine(), bytes)));
    let component = compiled.map_err(|_| LoadError::Refused("the compiler panicked".to_owned()))?.map_err(refused)?;
    sandbox.linker().instantiate_pre(&component).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "made to be given to map_err")]
fn refused(error: wasmtime::Error) -> LoadError {
    // The engine quotes names of the file.
    LoadError::Refused(one_line(&format!("{error:#}"), inspect::WORDS))
}

fn faultless<A>(ended: crate::run::Ended<A>) -> Result<A, LoadError> {
    let causes = ended.causes;
    ended.answer.map_err(|fault| LoadError::Faulty { fault, causes })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
