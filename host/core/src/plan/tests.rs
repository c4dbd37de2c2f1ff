use super::*;

mod model;
mod timelines;
mod world;
