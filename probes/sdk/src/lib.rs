//! Write a probe for Agent Kourier in Rust.
//!
//! A probe checks one thing about one peer. It sends requests through [`endpoint`], tells the operator why through
//! [`journal`], and says one verdict. It has no clock, no file, no environment, no second peer and no secret: the
//! host adds the credential. Each run is a fresh instance, so nothing in memory survives a run.
//!
//! A whole probe of chat channels:
//!
//! ```
//! #![cfg_attr(target_arch = "wasm32", no_std)]
//! extern crate alloc;
//!
//! use kourier_probe_sdk::chat::{ChatProbe, Credential, Descriptor, Target, Verdict};
//! use kourier_probe_sdk::endpoint::{self, Failure, Request};
//! use kourier_probe_sdk::journal;
//!
//! struct Example;
//!
//! impl ChatProbe for Example {
//!     fn describe() -> Descriptor {
//!         Descriptor {
//!             platform: "example".into(),
//!             default_url: Some("https://chat.example/api".into()),
//!             channel_pattern: "[A-Z0-9]+".into(),
//!             credential: Credential::Bearer,
//!             settings: alloc::vec![],
//!         }
//!     }
//!
//!     fn check(target: Target) -> Verdict {
//!         // The pattern above is what makes it safe to put the channel into a path.
//!         let request = Request::get(alloc::format!("/channels/{}", target.channel)).header("accept", "application/json");
//!         match endpoint::send(&request) {
//!             Ok(answer) if answer.status == 200 => Verdict::Ok,
//!             Ok(answer) if answer.status == 404 => Verdict::ChannelNotFound,
//!             Ok(answer) if answer.status == 429 => Verdict::RateLimited(answer.retry_after()),
//!             Ok(answer) => {
//!                 journal::cause(&alloc::format!("GET /channels answered {}", answer.status));
//!                 Verdict::UnexpectedAnswer
//!             }
//!             Err(Failure::TimedOut) => Verdict::PlatformTimeout,
//!             Err(_) => Verdict::PlatformUnavailable,
//!         }
//!     }
//! }
//!
//! kourier_probe_sdk::export_chat_probe!(Example);
//! ```
//!
//! Its `Cargo.toml` says `[lib] crate-type = ["cdylib"]`, its release profile `panic = "abort"`, and
//! `cargo build --release --target wasm32-wasip2` makes the component. Keep the decisions in a module that takes an
//! answer and returns a verdict: everything here compiles for the build machine too, where only
//! [`endpoint::send`] is missing and [`journal`] says nothing, and `cargo test` runs the rest.
//!
//! # Without the standard library
//!
//! On `wasm32-wasip2` the standard library imports WASI, and the host has none, so a probe is `no_std` with `alloc`.
//! The feature `runtime` (on by default) brings what is then missing: the allocator, `cabi_realloc`, and a panic handler
//! that writes file, line and message to the journal before it traps. A probe that cannot do without `std` turns the
//! feature off, builds for `wasm32-unknown-unknown` and makes a component of the module with `wasm-tools component new`.
//!
//! What is absent: URLs, retries. A probe brings what it needs; of JSON, [`json`] is enough for most.

#![no_std]

extern crate alloc;

pub mod agent;
mod bindings;
pub mod chat;
pub mod endpoint;
pub mod journal;
pub mod json;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
mod runtime;

/// What the export macros expand to. Not for use by hand.
#[doc(hidden)]
pub mod export {
    pub use crate::bindings::{agent_world, chat_world};
}
