//! The largest graph that fits: the purpose of Strategy-S.

use super::bench::Bench;
use crate::case::Case;
use crate::error::Result;
use crate::graph::{Order, Wanted};
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{Setup, Share, Strategy, Work, needed_bytes};
use std::path::PathBuf;
use topostream::VertexId;
use topostream_formats::{Store, WeightType};

const EXPECTATION: &str = "under a cap on the memory of each device, PageRank by push takes at least 12 bytes for each \
    of the device's own vertices, and read-only attributes stay in main memory: N devices run graphs of nearly N times \
    as many vertices. The other algorithms read values of other devices' vertices; a grid limits them to one section \
    at a time. They also take 2 bits for each vertex of the graph to find these, and traversals 2 for frontiers: two \
    devices run 0.95 of twice the vertices by pull, which takes 12 bytes for each own one, and 0.85 where it is 4. \
    Exchanges go through 8 MiB of each device for any graph, and page directories grow with the whole graph, by 16 \
    bytes a page";
/// Relative to the vertices of one device times the number of devices.
const TARGET: f64 = 0.9;
/// A lower bound of the bytes per vertex on the device that owns it.
const VERTEX_BYTES_LEAST: u64 = 4;
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
    let columns = [
        "graph",
        "work",
        "devices",
        "cap of each, MB",
        "vertices, millions",
        "of one device's",
        "bytes of a cap by vertex",
        "ms",
    ];
    let mut table = Table::new("The largest graph that runs, shard", &columns);
    for subject in SUBJECTS {
        let mut one = f64::NAN;
        for count in bench.counts() {
            let graphs = Graphs::new(bench, count, subject);
            let (vertices, refusal) = graphs.largest()?;
            let name = format!("{}, {}, {count} devices", subject.graph.name(), subject.work.name());
            outcome.notes.push(format!("the least that is refused: {name}, {refusal}"));
            eprintln!("{name}: {vertices} vertices");
            let ms = graphs.check(vertices)?;
            if count == 1 {
                one = vertices as f64;
            }
            let growth = ratio(vertices as f64, one);
            let by_vertex = ratio(bench.settings.cap as f64 * count as f64, vertices as f64);
            table.row(vec![
                subject.graph.name().into(),
                subject.work.name().into(),
                count.to_string().into(),
                (bench.settings.cap as f64 / 1e6).into(),
                (vertices as f64 / 1e6).into(),
                growth.into(),
                by_vertex.into(),
                Cell::from(ms),
            ]);
            if count > 1 {
                let share = Spread::of(&[ratio(growth, count as f64)]);
                outcome.claim(format!("{name}: vertices, of {count} times one's"), Goal::AtLeast, TARGET, share);
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// An algorithm, and the graphs that it runs over.
#[derive(Clone, Copy)]
struct Subject {
    graph: Kind,
    work: Work,
}

/// A kind of graphs.
#[derive(Clone, Copy)]
enum Kind {
    /// With as many edges as vertices.
    Uniform,
    /// Square, with an edge to the right and one downwards.
    Grid,
    /// Square, without directions.
    Undirected,
}

/// Push, which reads no values of other devices' vertices, and algorithms that do.
const SUBJECTS: [Subject; 4] = [
    Subject { graph: Kind::Uniform, work: Work::Push },
    Subject { graph: Kind::Grid, work: Work::Pull },
    Subject { graph: Kind::Grid, work: Work::Distances(VertexId(0)) },
    Subject { graph: Kind::Undirected, work: Work::Components },
];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Grid => "grid",
            Self::Undirected => "undirected grid",
        }
    }
}

/// Graphs of different sizes, one at a time, and devices that may or may not run them.
struct Graphs<'a> {
    bench: &'a Bench,
    count: usize,
    subject: Subject,
    setup: Setup,
    path: PathBuf,
}

impl<'a> Graphs<'a> {
    fn new(bench: &'a Bench, count: usize, subject: Subject) -> Self {
        let device_bytes = Some(bench.settings.cap);
        let setup = Setup { device_bytes, cache: Share::All, ..bench.setup(count, Strategy::Shard) };
        Self { bench, count, subject, setup, path: bench.settings.resources.dir.join("devices-capacity") }
    }

    /// The largest graph that runs, and why larger ones do not.
    fn largest(&self) -> Result<(u64, String)> {
        let cap = self.bench.settings.cap;
        let refused = (cap / VERTEX_BYTES_LEAST * self.count as u64).min(1 << 32);
        let mut search = Search { runs: 0, refused, estimate: None };
        let mut why = String::new();
        // Grids are smaller than requested by up to two rows, far less than the gap at which the search ends.
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
        let Err(error) = self.setup.rig(&self.path, self.subject.work)?.start() else { return Ok(None) };
        let message = error.to_string();
        match error.downcast_ref().and_then(needed_bytes) {
            Some(needed_bytes) => Ok(Some(Refusal { needed_bytes, message })),
            None => Err(error),
        }
    }

    /// Repeats a run and checks its answer; returns milliseconds of an iteration.
    fn check(&self, vertices: u64) -> Result<f64> {
        let store = self.make(vertices)?;
        let Subject { graph, work } = self.subject;
        let case = Case::new(&store, format!("{}, {vertices} vertices", graph.name()), 0, self.bench.threads())?;
        let rig = self.setup.rig(&self.path, work)?;
        let (measured, report) = case.run_with_report(&rig)?;
        self.bench.keep("capacity", &format!("{}, shard, {} devices", work.name(), self.count), &report);
        std::fs::remove_dir_all(&self.path)?;
        Ok(measured.ns / 1e6)
    }

    /// Makes a graph of this many vertices; of a grid, as many as make a square.
    fn make(&self, vertices: u64) -> Result<Store> {
        let wanted = Wanted { page_bytes: PAGE_BYTES, mirrors: true, order: Order::Natural, ..self.bench.wanted() };
        let weights = matches!(self.subject.work, Work::Distances(_)).then_some(WeightType::U32);
        let grid = Wanted { weights, ..wanted.clone() };
        match self.subject.graph {
            Kind::Uniform => Wanted { mirrors: false, ..wanted }.uniform(&self.path, vertices),
            Kind::Grid => grid.grid_at(&self.path, vertices.isqrt()),
            Kind::Undirected => {
                Wanted { undirected: true, in_edges: false, ..grid }.grid_at(&self.path, vertices.isqrt())
            }
        }
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
