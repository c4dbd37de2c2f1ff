//! CPU and wall time of each way, in turns.

use std::collections::BTreeMap;
use std::time::Instant;

use cpu_time::ProcessTime;

use crate::ways::Ways;

/// Microseconds for one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
}

/// By the name of the way.
pub(crate) type Figures = BTreeMap<&'static str, Figure>;

/// Runs each way `times` times in each round, and takes the median of the rounds. The first round only warms up.
pub(crate) async fn rounds(ways: &Ways, times: u32, rounds: usize) -> Figures {
    let mut all: BTreeMap<&'static str, Vec<Figure>> = BTreeMap::new();
    for round in 0..=rounds {
        for name in Ways::NAMES {
            let (cpu, wall) = (ProcessTime::now(), Instant::now());
            for _ in 0..times {
                ways.take(name).await;
            }
            let each = |time: std::time::Duration| time.as_secs_f64() * 1e6 / f64::from(times);
            let figure = Figure { cpu: each(cpu.elapsed()), wall: each(wall.elapsed()) };
            if round > 0 {
                all.entry(name).or_default().push(figure);
            }
        }
    }
    all.into_iter().map(|(name, figures)| (name, median(figures))).collect()
}

fn median(mut figures: Vec<Figure>) -> Figure {
    figures.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    let cpu = figures[figures.len() / 2].cpu;
    figures.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    Figure { cpu, wall: figures[figures.len() / 2].wall }
}
