//! The integration tests: one binary, one module a subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod broker;
mod cli;
mod components;
mod imports;
mod kubernetes;
mod live_agents;
mod prober;
mod sandbox;
mod slack;
mod slack_fake;
mod statements;
