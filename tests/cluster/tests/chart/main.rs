//! The chart, the image and the health rules of `deploy`: what they say fits the program, and the real helm and the real
//! API server take it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod chart;
mod docs;
mod image;
mod release;
mod render;
mod rights;
mod rules;
mod server;
