//! The broker: reads objects, judges them, probes what it serves, and says what it found.

pub mod admin;
pub mod app;
pub mod board;
pub mod builtin;
pub mod cases;
pub mod cli;
pub mod clock;
pub mod components;
pub mod config;
pub mod crd;
pub mod judge;
pub mod leader;
pub mod metrics;
pub mod prober;
pub mod pulse;
pub mod secrets;
pub mod source;
pub mod statuses;
pub mod store;
pub mod telemetry;

#[cfg(test)]
mod committed;
mod duration;
mod file;
#[cfg(test)]
mod pages;
mod shown;
