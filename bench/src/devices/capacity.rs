//! The most vertices that fit: what Strategy-S is for.

use super::Bench;
use crate::Result;
use crate::gpu::api::{Setup, Share, Strategy, Work};
use crate::gpu::case::Case;
use crate::graph::Wanted;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use std::path::PathBuf;
use topostream::Error;

const EXPECTATION: &str = "under a cap on the memory of each device, PageRank by push holds 12 bytes and more of each of the \
    device's own vertices, and what is only read stays in main memory: N devices run graphs of nearly N times as many \
    vertices. Only page directories grow with the whole graph, by 16 bytes a page";
/// Of the vertices of one device, times the number of devices.
const TARGET: f64 = 0.9;
/// A vertex takes more than so many bytes of a device that owns it.
const VERTEX_BYTES_LEAST: u64 = 8;
/// How near the largest and the smallest that is refused come to each other.
const NEAR: f64 = 0.02;
/// Small pages leave the cap to attributes.
const PAGE_BYTES: u32 = 64 << 10;

/// Measures.
///
/// # Errors
/// Where anything fails, a wrong answer among it.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("devices-capacity", EXPECTATION);
    let columns =
        ["devices", "cap of each, MB", "vertices, millions", "of one device's", "bytes of a cap by vertex", "ms"];
    let title = "The largest uniform graph of edge factor 1 whose PageRank push runs, shard";
    let mut table = Table::new(title, &columns);
    let mut one = f64::NAN;
    for count in bench.counts() {
        let graphs = Graphs::new(bench, count)?;
        let vertices = graphs.largest()?;
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

/// Graphs of different sizes, one at a time, and devices that run them or do not.
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
        Ok(Self { bench, count, setup, path: bench.options.dir.join("devices-capacity") })
    }

    /// The most vertices that run, by halving what is between those that run and those that are refused.
    fn largest(&self) -> Result<u64> {
        let least = self.bench.options.cap / VERTEX_BYTES_LEAST * self.count as u64;
        let (mut runs, mut refused) = (0, least.min(1 << 32));
        while (refused - runs) as f64 > NEAR * refused as f64 {
            let middle = runs + (refused - runs) / 2;
            match self.fits(middle)? {
                true => runs = middle,
                false => refused = middle,
            }
            if refused < 1024 {
                return Err(format!("--cap {}: no graph runs", self.bench.options.cap).into());
            }
        }
        Ok(runs)
    }

    /// Whether the devices run a graph.
    fn fits(&self, vertices: u64) -> Result<bool> {
        self.make(vertices)?;
        match self.setup.rig(&self.path, Work::Push)?.run() {
            Ok(_) => Ok(true),
            Err(error) if error.downcast_ref().is_some_and(refuses) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Runs a graph once more, with the answer checked; milliseconds of an iteration.
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

/// Whether a device has too little memory.
fn refuses(error: &Error) -> bool {
    match error {
        Error::DeviceMemory { .. } => true,
        Error::Device { source, .. } => refuses(source),
        _ => false,
    }
}
