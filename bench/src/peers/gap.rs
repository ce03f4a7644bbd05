//! The GAP Benchmark Suite (Beamer, Asanović and Patterson, 2015): everything in memory.

use super::process::{Launch, Printed, numbers, run};
use super::{Peer, Told};
use crate::error::Result;
use crate::measure::Spread;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Trials per process, since loading takes longer than a trial.
pub const TRIALS: usize = 3;
const ITERATIONS: u32 = 10;
/// The width of buckets that GAP's authors use for Kronecker graphs with weights from 1 to 255.
const DELTA: &str = "2";

/// GAP's binaries, and a graph in their serialized format.
pub struct Gap {
    folder: PathBuf,
    graph: PathBuf,
    threads: usize,
}

impl Gap {
    /// Binaries in a folder, for a graph.
    pub fn new(folder: &Path, graph: &Path, threads: usize) -> Self {
        Self { folder: folder.to_owned(), graph: graph.to_owned(), threads }
    }

    /// Nanoseconds of each trial of a direction-optimizing BFS.
    ///
    /// # Errors
    /// If it fails or prints no times.
    pub fn bfs_ns(&self, source: &str) -> Result<Vec<f64>> {
        trials(&run(self.command("bfs").args(["-r", source, "-n", &TRIALS.to_string()]))?)
    }

    /// Nanoseconds of one iteration of PageRank, by trial: `pr_spmv` is Jacobi's, `pr` Gauss and Seidel's.
    ///
    /// # Errors
    /// If it fails or prints no times.
    pub fn pagerank_ns(&self, program: &str) -> Result<Vec<f64>> {
        let iterations = ITERATIONS.to_string();
        let printed = run(self.command(program).args(["-i", &iterations, "-t", "0", "-n", &TRIALS.to_string()]))?;
        Ok(trials(&printed)?.into_iter().map(|ns| ns / f64::from(ITERATIONS)).collect())
    }

    /// Nanoseconds of each trial of connected components, by Afforest.
    ///
    /// # Errors
    /// If it fails or prints no times.
    pub fn components_ns(&self) -> Result<Vec<f64>> {
        trials(&run(self.command("cc").args(["-n", &TRIALS.to_string()]))?)
    }

    /// Nanoseconds of each trial of shortest paths, over a graph with weights.
    ///
    /// # Errors
    /// If it fails or prints no times.
    pub fn sssp_ns(&self, source: &str) -> Result<Vec<f64>> {
        trials(&run(self.command("sssp").args(["-r", source, "-d", DELTA, "-n", &TRIALS.to_string()]))?)
    }

    /// Nanoseconds of each trial of betweenness from one source.
    ///
    /// # Errors
    /// If it fails or prints no times.
    pub fn betweenness_ns(&self, source: &str) -> Result<Vec<f64>> {
        trials(&run(self.command("bc").args(["-r", source, "-i", "1", "-n", &TRIALS.to_string()]))?)
    }

    /// Nanoseconds of each trial of counting triangles, by lists of neighbours that are renumbered by degree.
    ///
    /// # Errors
    /// If it fails or prints no times.
    pub fn triangles_ns(&self) -> Result<Vec<f64>> {
        trials(&run(self.command("tc").args(["-n", &TRIALS.to_string()]))?)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join(program));
        command.env("OMP_NUM_THREADS", self.threads.to_string()).arg("-f").arg(&self.graph);
        command
    }
}

fn trials(printed: &Printed) -> Result<Vec<f64>> {
    let seconds = numbers(&printed.text, "Trial Time:");
    match seconds.is_empty() {
        true => Err(format!("no trial times in: {}", printed.text).into()),
        false => Ok(seconds.into_iter().map(|seconds| seconds * 1e9).collect()),
    }
}

impl Peer for Gap {
    fn name(&self) -> &'static str {
        "GAP, in memory"
    }

    fn is_out_of_core(&self) -> bool {
        false
    }

    fn bfs(&self, _launch: &Launch, source: u32) -> Result<Told> {
        Ok(Told { ns: Spread::of(&self.bfs_ns(&source.to_string())?).median, ..Told::default() })
    }

    fn pagerank(&self, _launch: &Launch) -> Result<Told> {
        Ok(Told { ns: Spread::of(&self.pagerank_ns("pr_spmv")?).median, ..Told::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_times() {
        let text = "Read Time:           1.31814\nTrial Time:          0.05665\nTrial Time:          0.05537\n\
            Average Time:        0.05601\n";
        let printed = |text: &str| Printed { text: text.into(), disk_bytes: None };
        let found = trials(&printed(text)).unwrap();
        assert_eq!(found.iter().map(|ns| (ns / 1e4).round()).collect::<Vec<_>>(), [5665.0, 5537.0]);
        assert!(trials(&printed("usage")).is_err());
    }
}
