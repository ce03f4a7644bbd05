//! The regression gate: ratios of a suite, compared with those that were accepted on the same machine.
//!
//! ```text
//!  results/overlap.json, fetchers.json, … ─▶ ratios ─┬─▶ accepted: into results/ratios.json
//!                 results/ratios.json ─▶ accepted ───┴─▶ compared: an error names those that fell
//! ```
//!
//! Each ratio compares the engine with a bound measured in the same run, so that a slower hour of the machine does not
//! matter: raw reads, one thread over plain arrays, CUDA.

use crate::error::Result;
use crate::machine::Machine;
use crate::measure::digits;
use crate::outcome::Goal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A ratio that fell by more than this share is an error.
const FALL_MAX: f64 = 0.15;
/// The file of accepted ratios.
const FILE: &str = "ratios.json";

/// A column of ratios: the file of results, the columns that name a row, the column, and which side is good.
struct Source {
    file: &'static str,
    names: &'static [&'static str],
    column: &'static str,
    goal: Goal,
}

const SOURCES: [Source; 4] = [
    Source { file: "overlap", names: &["graph", "work"], column: "ratio", goal: Goal::AtMost },
    Source { file: "fetchers", names: &["page KiB", "fetcher"], column: "of raw", goal: Goal::AtLeast },
    Source { file: "buffered", names: &["work"], column: "speed-up", goal: Goal::AtLeast },
    Source { file: "gpu-cuda", names: &["graph", "work"], column: "speed of CUDA's", goal: Goal::AtLeast },
];

/// Ratios by name; the larger the better.
pub type Ratios = BTreeMap<String, f64>;

/// The accepted ratios of all machines.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Accepted {
    machines: Vec<OfMachine>,
}

/// The accepted ratios of a machine, for a size of the suite.
#[derive(Debug, Serialize, Deserialize)]
struct OfMachine {
    machine: String,
    scale: u32,
    version: String,
    ratios: Ratios,
}

/// The comparison of a suite's ratios with the accepted ones.
#[derive(Debug, Default, PartialEq)]
pub struct Comparison {
    /// The ratios that fell by more than 15%, in words.
    pub fell: Vec<String>,
    /// Ratios without a counterpart, in words.
    pub notes: Vec<String>,
}

/// Collects the ratios of some benchmarks from the files of their results.
///
/// # Errors
/// If a file cannot be read, or lacks a column.
pub fn collect(results: &Path, benchmarks: &[&str]) -> Result<Ratios> {
    let mut ratios = Ratios::new();
    for source in SOURCES.iter().filter(|source| benchmarks.contains(&source.file)) {
        let path = results.join(format!("{}.json", source.file));
        let place = |what: String| format!("{}: {what}", path.display());
        let value: Value = serde_json::from_str(&read(&path)?).map_err(|error| place(error.to_string()))?;
        ratios.extend(source.ratios(&value).map_err(place)?);
    }
    Ok(ratios)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

impl Source {
    /// The ratios of an outcome's first table.
    fn ratios(&self, outcome: &Value) -> Result<Ratios, String> {
        let table = &outcome["tables"][0];
        let columns = table["columns"].as_array().ok_or("no table")?;
        let index = |name: &str| columns.iter().position(|column| column == name).ok_or(format!("no column {name:?}"));
        let names = self.names.iter().map(|name| index(name)).collect::<Result<Vec<_>, _>>()?;
        let column = index(self.column)?;
        let ratio = |row: &Value| {
            let names = names.iter().filter_map(|&name| row[name].as_str());
            let name = std::iter::once(self.file).chain(names).collect::<Vec<_>>().join(", ");
            let median = row[column]["median"].as_f64().filter(|&median| median > 0.0)?;
            Some((name, if self.goal == Goal::AtLeast { median } else { 1.0 / median }))
        };
        Ok(table["rows"].as_array().ok_or("no rows")?.iter().filter_map(ratio).collect())
    }
}

/// Compares ratios with those that were accepted. `None` if nothing was accepted on this machine at this scale.
///
/// # Errors
/// If the file of accepted ratios exists and cannot be read.
pub fn compare(results: &Path, scale: u32, ratios: &Ratios) -> Result<Option<Comparison>> {
    let accepted = accepted(results)?;
    let machine = machine();
    let same = accepted.machines.iter().find(|one| one.machine == machine && one.scale == scale);
    Ok(same.map(|accepted| Comparison::of(&accepted.ratios, ratios)))
}

impl Comparison {
    fn of(accepted: &Ratios, ratios: &Ratios) -> Self {
        let mut comparison = Self::default();
        for (name, &before) in accepted {
            match ratios.get(name) {
                None => comparison.notes.push(format!("{name}: accepted at {}, not measured", digits(before))),
                Some(&now) if now < before * (1.0 - FALL_MAX) => {
                    let percent = 100.0 * (1.0 - now / before);
                    comparison.fell.push(format!("{name}: {} → {}, −{percent:.0}%", digits(before), digits(now)));
                }
                Some(_) => {}
            }
        }
        let new = ratios.iter().filter(|(name, _)| !accepted.contains_key(*name));
        comparison.notes.extend(new.map(|(name, &now)| format!("{name}: {}, not accepted yet", digits(now))));
        comparison
    }
}

/// Accepts ratios for this machine and scale; ratios of benchmarks that did not run remain.
///
/// # Errors
/// If the file of accepted ratios cannot be read or written.
pub fn accept(results: &Path, scale: u32, ratios: Ratios) -> Result<()> {
    let (mut accepted, machine, version) = (accepted(results)?, machine(), Machine::this().version);
    match accepted.machines.iter_mut().find(|one| one.machine == machine && one.scale == scale) {
        Some(one) => {
            one.version = version;
            one.ratios.extend(ratios);
        }
        None => accepted.machines.push(OfMachine { machine, scale, version, ratios }),
    }
    let (path, text) = (results.join(FILE), serde_json::to_string_pretty(&accepted)? + "\n");
    // Whole or not at all: the other machines' ratios are in the same file.
    let unfinished = path.with_extension("json.new");
    let written = std::fs::write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, &path));
    written.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn accepted(results: &Path) -> Result<Accepted> {
    let path = results.join(FILE);
    if !path.exists() {
        return Ok(Accepted::default());
    }
    Ok(serde_json::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// The machine by its processor and memory; kernels and versions change.
fn machine() -> String {
    let Machine { cores, cpu, memory_bytes, .. } = Machine::this();
    format!("{cores} cores, {cpu}, {} GiB", (memory_bytes + (1 << 29)) >> 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(list: &[(&str, f64)]) -> Ratios {
        list.iter().map(|&(name, ratio)| (name.to_owned(), ratio)).collect()
    }

    #[test]
    fn ratios_are_the_larger_the_better() {
        let figure = |median: f64| serde_json::json!({ "median": median });
        let rows = serde_json::json!([["g", "a", figure(2.0)], ["g", "b", figure(0.0)], ["g", "c", "-"]]);
        let table = serde_json::json!({ "columns": ["graph", "work", "ratio"], "rows": rows });
        let outcome = serde_json::json!({ "tables": [table] });
        assert_eq!(SOURCES[0].ratios(&outcome).unwrap(), ratios(&[("overlap, g, a", 0.5)]));
        assert_eq!(SOURCES[3].ratios(&outcome).unwrap_err(), "no column \"speed of CUDA's\"");
    }

    #[test]
    fn a_fall_is_more_than_15_percent() {
        let accepted = ratios(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("gone", 2.0)]);
        let now = ratios(&[("a", 0.86), ("b", 0.8), ("c", 3.0), ("new", 1.0)]);
        let comparison = Comparison::of(&accepted, &now);
        assert_eq!(comparison.fell, ["b: 1.00 → 0.800, −20%"]);
        assert_eq!(comparison.notes, ["gone: accepted at 2.00, not measured", "new: 1.00, not accepted yet"]);
    }

    #[test]
    fn accepted_ratios_are_of_a_machine_and_a_scale() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(compare(folder.path(), 9, &Ratios::new()).unwrap(), None);
        accept(folder.path(), 9, ratios(&[("a", 1.0), ("b", 1.0)])).unwrap();
        accept(folder.path(), 9, ratios(&[("a", 2.0)])).unwrap();
        accept(folder.path(), 10, ratios(&[("a", 3.0)])).unwrap();
        assert_eq!(compare(folder.path(), 8, &Ratios::new()).unwrap(), None);
        let comparison = compare(folder.path(), 9, &ratios(&[("a", 1.0), ("b", 1.0)])).unwrap().unwrap();
        assert_eq!(comparison, Comparison { fell: vec!["a: 2.00 → 1.00, −50%".into()], notes: vec![] });
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(compare(folder.path(), 9, &Ratios::new()).unwrap_err().to_string().contains(FILE));
    }
}
