//! The CUDA baseline, bench/cuda/baseline.cu: runs it, and parses its output.

use crate::case::Case;
use crate::error::Result;
use crate::export::export;
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};
use topostream_formats::Store;

/// The output of the baseline.
pub type Figures = Vec<Figure>;

/// A line of the output.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// The kernel, or what was measured.
    pub name: String,
    /// Its time.
    #[serde(default)]
    pub ms: f64,
    #[serde(default)]
    gedges_per_s: f64,
    #[serde(default)]
    gb_per_s: f64,
    #[serde(default)]
    teps: f64,
    #[serde(default)]
    reached: u64,
    /// The device's name, in its own line.
    #[serde(default)]
    pub device: String,
}

impl Figure {
    /// The speed: bytes, edges or traversed edges, in billions per second.
    pub fn speed(&self) -> f64 {
        self.gb_per_s + self.gedges_per_s + self.teps / 1e9
    }
}

/// The rate at which the baseline copies pinned memory to the device, in GB/s.
///
/// # Errors
/// If it does not run.
pub fn walls(baseline: &Path) -> Result<f64> {
    let figures = parse(Command::new(baseline).arg("--walls"))?;
    let copy = figures.iter().find(|figure| figure.name == "wall_copy_to_device");
    Ok(copy.ok_or("the baseline has no figure for copies")?.gb_per_s)
}

/// Runs the baseline on a graph, in the order of its store, with the sources of our searches.
///
/// # Errors
/// If it fails, or reaches other vertices than our searches.
pub fn figures(baseline: &Path, case: &Case, runs: u32) -> Result<Figures> {
    let dump = case.path.with_extension("arrays");
    export(&Store::open(&case.path)?, &dump)?;
    let sources: Vec<String> = case.sources.iter().map(|source| source.0.to_string()).collect();
    let mut command = Command::new(baseline);
    command.arg(&dump).args(["--runs", &runs.to_string(), "--sources", &sources.join(",")]);
    let figures = parse(&mut command);
    std::fs::remove_file(&dump)?;
    let figures = figures?;
    check_reached(case, &figures)?;
    Ok(figures)
}

/// Checks that both searches reach as many vertices as ours.
fn check_reached(case: &Case, figures: &Figures) -> Result<()> {
    let Some(ours) = case.reached(case.hub) else { return Ok(()) };
    match figures.iter().find(|figure| figure.reached > 0 && figure.reached != ours) {
        Some(wrong) => Err(format!("{} reaches {} vertices, not {ours}", wrong.name, wrong.reached).into()),
        None => Ok(()),
    }
}

fn parse(command: &mut Command) -> Result<Figures> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(|line| Ok(serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?)).collect()
}
