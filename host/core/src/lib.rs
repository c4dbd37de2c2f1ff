//! The rules of a Binding's status, as values and plain functions.
//!
//! A [`Snapshot`](snapshot::Snapshot) of the three kinds is judged by [`accept`], which yields the
//! [`Accepted`](accept::Accepted) set: what is served, at which generation, and what is refused and why. The prober
//! asks [`schedule`] what is due and turns what a probe says into an [`Outcome`](outcome::Outcome). [`condition`]
//! folds acceptance and outcomes into an assessment without times, and stamps the transition times last. A writer to a
//! cluster asks [`plan`] what to write and when, and [`lease`] who may. [`egress`] says which addresses may be reached.
//!
//! What is absent: this crate does no IO, reads no clock, no environment and no randomness, and starts nothing. `now`
//! is an argument, state machines return steps, and nothing here depends on the order in which objects were listed.

#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]
#![deny(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

pub mod accept;
pub mod check;
pub mod condition;
pub mod egress;
pub mod id;
pub mod lease;
pub mod line;
pub mod message;
pub mod object;
pub mod outcome;
mod path;
pub mod pause;
pub mod plan;
pub mod platform;
pub mod reason;
pub mod request;
pub mod rule;
pub mod schedule;
pub mod snapshot;
pub mod time;
pub mod url;

#[cfg(test)]
mod fixture;
