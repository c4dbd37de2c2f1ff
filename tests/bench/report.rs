//! Every figure of a measurement, by name: printed, kept in a file, and compared with those of an earlier one.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

/// Figures by name. A name ends with the unit: `instance, alone, p50 µs`.
pub(crate) type Figures = BTreeMap<String, f64>;

/// What was measured.
#[derive(Default)]
pub(crate) struct Report {
    figures: Figures,
    /// The names of those that missed their bound.
    missed: Vec<String>,
}

impl Report {
    /// A heading.
    pub(crate) fn section(&self, title: &str) {
        println!("\n{title}");
    }

    /// Keeps and prints a figure.
    pub(crate) fn add(&mut self, name: impl Into<String>, figure: f64) {
        let name = name.into();
        println!("  {name:64} {figure:10.2}");
        self.keep(name, figure);
    }

    /// The same, with the bound that it should keep.
    pub(crate) fn add_bound(&mut self, name: impl Into<String>, figure: f64, bound: f64) {
        let name = name.into();
        let kept = figure <= bound;
        println!("  {name:64} {figure:10.2}   at most {bound:.2}: {}", if kept { "kept" } else { "MISSED" });
        self.missed.extend((!kept).then(|| name.clone()));
        self.keep(name, figure);
    }

    /// The names of the figures that missed their bound.
    pub(crate) fn missed(&self) -> &[String] {
        &self.missed
    }

    /// Keeps a figure that is printed elsewhere.
    pub(crate) fn keep(&mut self, name: impl Into<String>, figure: f64) {
        self.figures.insert(name.into(), figure);
    }

    /// Writes all figures as one JSON object.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(&self.figures)?;
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Prints each figure beside the one of an earlier run.
    pub(crate) fn compare(&self, earlier: &Figures) {
        println!("\n{:66} {:>10} {:>10}   now against then", "", "then", "now");
        for (name, now) in &self.figures {
            match earlier.get(name) {
                Some(then) => println!("  {name:64} {then:10.2} {now:10.2}   {:6.2}", now / then),
                None => println!("  {name:64} {:>10} {now:10.2}", "-"),
            }
        }
    }
}

/// The figures that an earlier run wrote.
pub(crate) fn read(file: &Path) -> anyhow::Result<Figures> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is no file of this program", file.display()))
}

/// The value below which this share of the sorted values lies.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let index = (share * (values.len() - 1) as f64).round() as usize;
    values[index]
}
