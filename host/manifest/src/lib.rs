//! From the text of a manifest to the objects in it, and everything that is wrong with them, each with its line.
//!
//! From below: [`yaml`] makes a tree that knows its lines, [`fault`] is what may be wrong with one, [`schema`] says which
//! shape the specs of the three kinds have, `shape` judges a tree by it, and [`document`] finds the documents in a text.
//!
//! What is absent: files and the store, which are the program's, and what a text field may hold, which is core's.

#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

pub mod document;
pub mod fault;
pub mod schema;
mod shape;
pub mod yaml;
