//! What the integration tests stand on: peers that can be told what to be.

pub mod agents;
pub mod broker;
pub mod cluster;
pub mod dns;
pub mod guests;
pub mod leak;
pub mod peer;
pub mod process;
pub mod release;
pub mod slack;
pub mod tls;
