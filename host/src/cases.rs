//! Recorded cases: how a probe is tested without a network.
//!
//! A folder of YAML files says, case by case, which requests a probe makes, what its peer answers, and what the probe
//! says in the end. [`folder::read`] turns the files into [`Case`]s, [`run::all`] runs a component against each in the
//! real sandbox, with [`recorded::Recorded`] in the network's place and a clock that only moves when everybody waits,
//! and [`report`] says what differed. Our own probes are tested this way, and so is anybody else's.
//!
//! What is absent: the network, the order of the files (no case knows of another), and a second way to run a probe.

pub mod case;
pub mod folder;
mod format;
pub mod recorded;
pub mod report;
pub mod run;

pub use case::{Case, Place, Problem};
