//! The broker's side of Kubernetes. Types of the client stop at this crate.
//!
//! * [`api`]: the three kinds as an API server spells them.
//! * [`client`]: the way to the API server.
//! * [`view`]: all objects of the three kinds as last seen.
//! * [`objects`]: what keeps that view.
//! * [`secrets`]: Secrets, one by one by name.
//! * [`lease`]: who leads.
//! * [`revisions`]: the last good specs, beside their objects.
//! * [`writer`]: the one way in which a status is written.
//! * [`events`]: what people hear of it.
//! * [`inquiry`]: what somebody asks about Bindings, once.
//! * [`observe`]: what happened, for metrics.
//!
//! What is absent: acceptance, the prober, and what a status should say. Those are values that this crate is given.

pub mod api;
pub mod client;
pub mod events;
mod gate;
pub mod inquiry;
pub mod lease;
pub mod objects;
pub mod observe;
mod retry;
pub mod revisions;
pub mod secrets;
pub mod view;
pub mod writer;

#[cfg(test)]
mod script;
