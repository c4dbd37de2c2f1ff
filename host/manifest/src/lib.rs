//! From the text of a manifest to the objects in it, and everything that is wrong with them, each with its line.
//!
//! [`yaml`] makes a tree that knows its lines, [`document`] finds the documents of the three kinds in it, and [`schema`]
//! says which shape their specs have.
//!
//! What is absent: files and the store, which are the program's, and what a text field may hold, which is core's.

#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

pub mod document;
pub mod schema;
mod shape;
pub mod yaml;
