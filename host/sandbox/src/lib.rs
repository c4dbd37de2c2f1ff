//! Runs probe components: one peer, no secret, no clock, bounded in every direction.
//!
//! [`Sandbox::load`] compiles a component once and refuses one that imports anything but our package.
//! [`Sandbox::check_agent`] and [`Sandbox::check_chat`] run it: a fresh instance, one [`Endpoint`], a wall deadline and
//! a CPU budget, then the instance is dropped. Requests leave through a [`Transport`]: the [`Connector`] (the network,
//! behind the egress rules), a [`Pass`] in front of it (identical GETs of a pass are made once), or recorded cases.
//!
//! What is absent: WASI, a second peer, redirects, decompression, a proxy, the secret in a guest, guest text in an
//! outcome. WIT types stop here.

pub mod component;
pub mod connector;
pub mod endpoint;
pub mod limits;
pub mod pass;
pub mod run;
pub mod secret;
pub mod transport;

mod bindings;
mod engine;
mod fault;
mod guest;
mod journal;
mod lanes;
mod limiter;
mod mask;
mod meter;
mod peer;
mod request;
mod task;
mod world;

pub use component::{Component, LoadError, ProbeKind};
pub use connector::{Connector, Lookup};
pub use endpoint::{Credential, Endpoint};
pub use limits::Limits;
pub use pass::Pass;
pub use run::{AgentTarget, ChatTarget, Run, Sandbox};
pub use secret::Secret;
pub use transport::{Failure, HttpRequest, HttpResponse, Method, Transport, Trust};
