//! The largest graph that fits: the purpose of Strategy-S.

use super::Bench;
use crate::Result;
use crate::gpu::api::{Setup, Share, Strategy, Work};
use crate::gpu::case::Case;
use crate::graph::Wanted;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use std::path::PathBuf;
use topostream::Error;

const EXPECTATION: &str = "under a cap on the memory of each device, PageRank by push takes at least 12 bytes for each \
    of the device's own vertices, and read-only attributes stay in main memory: N devices run graphs of nearly N times \
    as many vertices. Exchanges go through 8 MiB of each device for any graph, and page directories grow with the \
    whole graph, by 16 bytes a page";
/// Relative to the vertices of one device times the number of devices.
const TARGET: f64 = 0.9;
/// A lower bound of the bytes per vertex on the device that owns it.
const VERTEX_BYTES_LEAST: u64 = 8;
/// The gap between the largest that runs and the smallest that is refused at which the search ends.
const NEAR: f64 = 0.02;
/// Small pages leave most of the cap to attributes.
const PAGE_BYTES: u32 = 64 << 10;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-capacity", EXPECTATION);
    let columns =
        ["devices", "cap of each, MB", "vertices, millions", "of one device's", "bytes of a cap by vertex", "ms"];
    let title = "The largest uniform graph of edge factor 1 whose PageRank push runs, shard";
    let mut table = Table::new(title, &columns);
    let mut one = f64::NAN;
    for count in bench.counts() {
        let graphs = Graphs::new(bench, count)?;
        let (vertices, refusal) = graphs.largest()?;
        outcome.notes.push(format!("the least that {count} devices refused: {refusal}"));
        let ms = graphs.check(vertices)?;
        if count == 1 {
            one = vertices as f64;
        }
        let growth = ratio(vertices as f64, one);
        let by_vertex = ratio(bench.options.cap as f64 * count as f64, vertices as f64);
        table.row(vec![
            count.to_string().into(),
            (bench.options.cap as f64 / 1e6).into(),
            (vertices as f64 / 1e6).into(),
            growth.into(),
            by_vertex.into(),
            Cell::from(ms),
        ]);
        if count > 1 {
            let share = Spread::of(&[ratio(growth, count as f64)]);
            outcome.claim(format!("vertices on {count} devices, of {count} times one's"), Goal::AtLeast, TARGET, share);
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// Graphs of different sizes, one at a time, and devices that may or may not run them.
struct Graphs<'a> {
    bench: &'a Bench,
    count: usize,
    setup: Setup,
    path: PathBuf,
}

impl<'a> Graphs<'a> {
    fn new(bench: &'a Bench, count: usize) -> Result<Self> {
        let device_bytes = Some(bench.options.cap);
        let setup = Setup { device_bytes, cache: Share::All, ..bench.setup(count, Strategy::Shard) };
        Ok(Self { bench, count, setup, path: bench.options.resources.dir.join("devices-capacity") })
    }

    /// The largest graph that runs, and why larger ones do not.
    fn largest(&self) -> Result<(u64, String)> {
        let cap = self.bench.options.cap;
        let refused = (cap / VERTEX_BYTES_LEAST * self.count as u64).min(1 << 32);
        let mut search = Search { runs: 0, refused, estimate: None };
        let mut why = String::new();
        while let Some(vertices) = search.next() {
            match self.refusal(vertices)? {
                None => search.runs = vertices,
                Some(Refusal { needed_bytes, message }) => {
                    search.refused = vertices;
                    search.estimate = Some((vertices as f64 * ratio(cap as f64, needed_bytes as f64)) as u64);
                    why = format!("{vertices} vertices: {message}");
                }
            }
            if search.refused < 1024 {
                return Err(format!("--cap {cap}: no graph runs; {why}").into());
            }
        }
        Ok((search.runs, why))
    }

    /// Why the devices do not run a graph; `None` if they do.
    fn refusal(&self, vertices: u64) -> Result<Option<Refusal>> {
        self.make(vertices)?;
        let Err(error) = self.setup.rig(&self.path, Work::Push)?.run() else { return Ok(None) };
        let message = error.to_string();
        match error.downcast_ref().and_then(needed_bytes) {
            Some(needed_bytes) => Ok(Some(Refusal { needed_bytes, message })),
            None => Err(error),
        }
    }

    /// Repeats a run and checks its answer; returns milliseconds of an iteration.
    fn check(&self, vertices: u64) -> Result<f64> {
        let store = self.make(vertices)?;
        let case = Case::new(&store, format!("uniform, {vertices} vertices"), 0, self.bench.threads())?;
        let rig = self.setup.rig(&self.path, Work::Push)?;
        let (measured, report) = case.run_with_report(&rig)?;
        self.bench.keep("capacity", &format!("PageRank push, shard, {} devices", self.count), &report);
        std::fs::remove_dir_all(&self.path)?;
        Ok(measured.ns / 1e6)
    }

    fn make(&self, vertices: u64) -> Result<topostream::Store> {
        let wanted = Wanted { page_bytes: PAGE_BYTES, ..self.bench.wanted() };
        wanted.uniform(&self.path, vertices)
    }
}

/// The device memory that would be needed, if it is too little.
pub(super) fn needed_bytes(error: &Error) -> Option<u64> {
    match error {
        Error::DeviceMemory { needed_bytes, .. } => Some(*needed_bytes),
        Error::Device { source, .. } => needed_bytes(source),
        _ => None,
    }
}

/// A device's error about a graph that is too large.
struct Refusal {
    needed_bytes: u64,
    message: String,
}

/// A search for the largest number that runs.
struct Search {
    /// The largest that has run.
    runs: u64,
    /// The smallest that was refused.
    refused: u64,
    /// The limit, or somewhat above it, according to the need of the last refused graph.
    estimate: Option<u64>,
}

impl Search {
    /// The next size to try: just below the estimate, then just above it, otherwise the middle. `None` if the bounds
    /// are close to each other.
    fn next(&self) -> Option<u64> {
        let near = (self.refused as f64 * NEAR) as u64;
        if self.refused - self.runs <= near.max(1) {
            return None;
        }
        let around = self.estimate.into_iter().flat_map(|at| [at.saturating_sub(near / 3), at + near / 3]);
        let inside = |at: &u64| (self.runs + 1..self.refused).contains(at);
        Some(around.into_iter().find(inside).unwrap_or(self.runs + (self.refused - self.runs) / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_found_in_a_few_tries() {
        for (fixed, limit) in [(0u64, 10_000_000u64), (50_000_000, 3_000_000), (1_000, 2_000)] {
            let need = |vertices: u64| fixed + 12 * vertices;
            let cap = need(limit);
            let mut search = Search { runs: 0, refused: cap / VERTEX_BYTES_LEAST, estimate: None };
            let mut tries = 0;
            while let Some(vertices) = search.next() {
                tries += 1;
                match need(vertices) <= cap {
                    true => search.runs = vertices,
                    false => {
                        search.refused = vertices;
                        search.estimate = Some((vertices as f64 * cap as f64 / need(vertices) as f64) as u64);
                    }
                }
            }
            assert!(search.runs <= limit && search.refused > limit, "{limit}: {} {}", search.runs, search.refused);
            assert!(search.runs as f64 >= limit as f64 * (1.0 - 1.1 * NEAR), "{limit}: {}", search.runs);
            assert!(tries <= 12, "{limit}: {tries} tries");
        }
    }
}
