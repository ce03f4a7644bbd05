//! The outcome of a benchmark: Markdown for people, JSON for programs.
//!
//! ```text
//!  expectation (written before) ─┐
//!  machine, version, command ────┼─▶ Outcome ─▶ Markdown on stdout, JSON in a file
//!  tables, claims, checks ───────┘
//! ```

use crate::error::Result;
use crate::machine::Machine;
use crate::measure::{Spread, digits};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;

/// The outcome of a benchmark.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The subcommand.
    pub name: &'static str,
    /// The expectation, written before the first measurement.
    pub expectation: &'static str,
    /// The machine.
    pub machine: Machine,
    /// The command line, without the program's name.
    pub command: String,
    /// The checks of answers; a benchmark with a wrong answer has no outcome.
    pub verified: Vec<String>,
    /// Notes on the numbers.
    pub notes: Vec<String>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The claims, with what was measured.
    pub claims: Vec<Claim>,
    /// Reports of individual runs, by name.
    pub reports: Vec<(String, serde_json::Value)>,
}

/// A table.
#[derive(Debug, Serialize)]
pub struct Table {
    /// The title.
    pub title: String,
    /// The names of the columns, with units.
    pub columns: Vec<&'static str>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Text, or an exact number.
    Text(String),
    /// A measurement.
    Figure(Spread),
}

/// Whether a target is an upper or a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// An upper bound.
    AtMost,
    /// A lower bound.
    AtLeast,
}

/// A claim, and whether the median meets it.
#[derive(Debug, Serialize)]
pub struct Claim {
    /// The figure, in words.
    pub what: String,
    /// The kind of bound.
    pub goal: Goal,
    /// The bound.
    pub target: f64,
    /// The measured figure.
    pub measured: Spread,
    /// Whether the median is within the bound.
    pub met: bool,
}

impl Outcome {
    /// An empty outcome.
    pub fn new(name: &'static str, expectation: &'static str) -> Self {
        let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        let (verified, notes, tables, claims, reports) = Default::default();
        Self { name, expectation, machine: Machine::this(), command, verified, notes, tables, claims, reports }
    }

    /// Adds a claim.
    pub fn claim(&mut self, what: impl Into<String>, goal: Goal, target: f64, measured: Spread) {
        let met = match goal {
            Goal::AtMost => measured.median <= target,
            Goal::AtLeast => measured.median >= target,
        };
        let met = met && measured.runs > 0;
        self.claims.push(Claim { what: what.into(), goal, target, measured, met });
    }

    /// Adds the report of a run.
    pub fn report(&mut self, name: impl Into<String>, report: &impl Serialize) {
        let value = serde_json::to_value(report).expect("reports have string keys only");
        self.reports.push((name.into(), value));
    }

    /// Adds the description of a check, once.
    pub fn verified(&mut self, how: impl Into<String>) {
        let how = how.into();
        if !self.verified.contains(&how) {
            self.verified.push(how);
        }
    }

    /// Prints the Markdown, and writes the JSON to a file if given.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn publish(&self, json: Option<&Path>) -> Result<()> {
        println!("{self}");
        let Some(path) = json else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&'static str]) -> Self {
        Self { title: title.into(), columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, a cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column of {}", self.title);
        self.rows.push(cells);
    }
}

impl From<Spread> for Cell {
    fn from(spread: Spread) -> Self {
        Self::Figure(spread)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Figure(Spread::of(&[value]))
    }
}

impl Display for Cell {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Figure(spread) => spread.fmt(f),
        }
    }
}

impl Display for Claim {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { what, goal, target, measured, met } = self;
        let goal = if *goal == Goal::AtMost { "at most" } else { "at least" };
        let verdict = if *met { "met" } else { "MISSED" };
        write!(f, "| {what} | {goal} {} | {measured} | {verdict} |", digits(*target))
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "\n### {}\n\n| {} |", self.title, self.columns.join(" | "))?;
        writeln!(f, "|{}", " --- |".repeat(self.columns.len()))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::to_string).collect();
            writeln!(f, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { name, expectation, machine, command, .. } = self;
        writeln!(f, "## {name}\n\nExpected beforehand: {expectation}\n")?;
        writeln!(f, "- machine: {machine}\n- version: {}\n- command: `{command}`", machine.version)?;
        self.verified.iter().try_for_each(|how| writeln!(f, "- verified: {how}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "- note: {note}"))?;
        writeln!(f, "- figures: median (min–max)")?;
        self.tables.iter().try_for_each(|table| table.fmt(f))?;
        if !self.claims.is_empty() {
            writeln!(f, "\n### Claims\n\n| claim | target | measured | verdict |\n| --- | --- | --- | --- |")?;
        }
        self.claims.iter().try_for_each(|claim| writeln!(f, "{claim}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_in_markdown() {
        let mut outcome = Outcome::new("test", "a table");
        let mut table = Table::new("Numbers", &["what", "ms"]);
        table.row(vec!["a pass".into(), Spread::of(&[1.0, 2.0, 3.0]).into()]);
        outcome.tables.push(table);
        outcome.claim("a pass", Goal::AtMost, 1.5, Spread::of(&[2.0]));
        outcome.claim("speed", Goal::AtLeast, 1.5, Spread::of(&[2.0]));
        outcome.claim("nothing", Goal::AtMost, 1.5, Spread::of(&[]));
        let text = outcome.to_string();
        assert!(text.contains("| what | ms |\n| --- | --- |\n| a pass | 2.00 (1.00–3.00) |"), "{text}");
        assert!(text.contains("| a pass | at most 1.50 | 2.00 | MISSED |"), "{text}");
        assert!(text.contains("| speed | at least 1.50 | 2.00 | met |"), "{text}");
        assert!(text.contains("| nothing | at most 1.50 | - | MISSED |"), "{text}");
    }
}
