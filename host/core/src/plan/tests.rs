use super::*;

mod failures;
mod model;
mod timelines;
mod world;

/// Compares what happened with these lines.
fn check(world: &world::World, expected: &str) {
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(world.log, expected, "\n{}\n", world.log.join("\n"));
}
