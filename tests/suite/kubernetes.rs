//! The whole program on a real API server: what it writes into statuses, when, and who of several replicas does.
//!
//! The rhythm is quick where a test is not about it: see [`suite::cluster::QUICK`].

mod chart;
mod edits;
mod foreign;
mod frozen;
mod leaders;
mod redaction;
mod rhythm;
mod takeover;
mod written;
