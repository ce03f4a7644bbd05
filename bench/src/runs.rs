//! Runs of the engine, with their answers checked.

use crate::answers::{LevelCheck, RankCheck};
use crate::arrays;
use crate::error::Result;
use crate::measure::{ratio, timed};
use serde::{Deserialize, Serialize};
use std::path::Path;
use topostream::algorithms::{Bfs, DanglingMass, PageRank, Stop};
use topostream::pages::fetch::FetcherKind;
use topostream::report::RunReport;
use topostream::{Engine, EngineOptions};
use topostream_formats::{Direction, Store, VertexId};
use topostream_oracles::Csr;
use topostream_oracles::bfs::bfs;
use topostream_oracles::pagerank::{DAMPING, Dangling, pagerank as pulled};

/// The algorithm of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// PageRank, by pull if there are in-lists; dangling rank is spread over all vertices.
    PageRank {
        /// The number of iterations.
        iterations: u32,
    },
    /// Breadth-first search.
    Bfs {
        /// The source.
        source: u32,
        /// Whether it may use bottom-up steps.
        bottom_up: bool,
    },
}

/// The expected answers of runs over a graph.
pub struct Expected {
    /// The number of iterations of `ranks`.
    iterations: u32,
    ranks: Option<RankCheck>,
    source: u32,
    levels: LevelCheck,
}

impl Expected {
    /// Computes the expected ranks after `iterations` iterations (0: none), and the levels from a source.
    pub fn new(out_lists: &Csr, iterations: u32, source: VertexId) -> Self {
        let ranks = (iterations > 0).then(|| RankCheck::new(out_lists, iterations, DanglingMass::Redistributed));
        Self { iterations, ranks, source: source.0, levels: LevelCheck::new(out_lists, source.0) }
    }

    /// The number of vertices that a search reaches.
    pub fn reached(&self) -> u64 {
        self.levels.reached()
    }
}

impl Work {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::PageRank { .. } => "PageRank iteration",
            Self::Bfs { bottom_up: false, .. } => "BFS top-down",
            Self::Bfs { bottom_up: true, .. } => "BFS direction-optimizing",
        }
    }

    /// Runs it, and checks the answer.
    ///
    /// # Errors
    /// If the engine fails or the answer is wrong.
    pub fn run(self, engine: &Engine, expected: &mut Expected) -> Result<RunReport> {
        self.run_then(engine, || Ok(expected))
    }

    /// Runs it, and checks the answer against values that are computed after the run.
    ///
    /// # Errors
    /// If the engine fails or the answer is wrong.
    pub fn run_then<E: std::borrow::BorrowMut<Expected>>(
        self,
        engine: &Engine,
        expected: impl FnOnce() -> Result<E>,
    ) -> Result<RunReport> {
        match self {
            Self::PageRank { iterations } => {
                let run = engine.run(pagerank(iterations, DanglingMass::Redistributed))?;
                let mut expected = expected()?;
                let Expected { iterations: of, ranks, .. } = expected.borrow_mut();
                let ranks = ranks.as_mut().filter(|_| iterations == *of);
                ranks.ok_or("no ranks to compare with")?.check(&run)?;
                Ok(run.report)
            }
            Self::Bfs { source, bottom_up } => {
                let run = engine.run(Bfs { bottom_up, ..Bfs::from(VertexId(source)) })?;
                let mut expected = expected()?;
                let Expected { source: from, levels, .. } = expected.borrow_mut();
                assert_eq!(source, *from, "levels are for one source");
                levels.check(&run)?;
                Ok(run.report)
            }
        }
    }

    /// The baseline's time in nanoseconds; for PageRank, of one iteration.
    pub fn baseline_ns(self, arrays: &Arrays) -> f64 {
        match self {
            Self::PageRank { iterations } => {
                let ranks = || pulled(&arrays.in_lists, &arrays.out_degrees, DAMPING, Dangling::Spread, iterations);
                timed(ranks).0.as_nanos() as f64 / f64::from(iterations)
            }
            Self::Bfs { source, .. } => timed(|| bfs(&arrays.out_lists, source)).0.as_nanos() as f64,
        }
    }

    /// The measurements of a run; for PageRank, means over all iterations except the first.
    pub fn measured(self, report: &RunReport) -> Measured {
        let Self::PageRank { .. } = self else {
            return Measured::of_run(report);
        };
        let mut total = topostream::report::StepReport::default();
        let steady = report.steps.get(1..).filter(|steps| !steps.is_empty()).unwrap_or(&report.steps);
        steady.iter().for_each(|step| total.add(step));
        Measured::of(&total, steady.len() as f64)
    }
}

/// The measurements of a search, or of one iteration.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Nanoseconds.
    pub ns: f64,
    /// Neighbours visited.
    pub edges: f64,
    /// Bytes read from disk.
    pub disk_bytes: f64,
    /// The share of pages that were in the page buffer.
    pub hit_rate: f64,
    /// The share of page checks in the threads' busy time.
    pub check_share: f64,
}

impl Measured {
    /// The measurements of a whole run.
    pub fn of_run(report: &RunReport) -> Self {
        Self { ns: report.wall_ns as f64, ..Self::of(&report.total, 1.0) }
    }

    fn of(total: &topostream::report::StepReport, parts: f64) -> Self {
        let busy_ns = total.check_ns + total.compute_ns;
        Self {
            ns: total.wall_ns as f64 / parts,
            edges: total.edges as f64 / parts,
            disk_bytes: total.disk_bytes as f64 / parts,
            hit_rate: total.hit_rate(),
            check_share: ratio(total.check_ns as f64, busy_ns as f64),
        }
    }
}

/// A graph as plain arrays.
pub struct Arrays {
    /// The out-lists.
    pub out_lists: Csr,
    /// The in-lists.
    pub in_lists: Csr,
    /// The lengths of the out-lists.
    pub out_degrees: Vec<u32>,
}

impl Arrays {
    /// Reads a store with in-lists.
    ///
    /// # Errors
    /// If it has no in-lists, or a page is corrupt.
    pub fn read(store: &Store) -> Result<Self> {
        let out_lists = arrays::lists(store, Direction::Out)?;
        let out_degrees = (0..out_lists.vertices()).map(|vertex| out_lists.degree(vertex)).collect();
        Ok(Self { out_lists, in_lists: arrays::lists(store, Direction::In)?, out_degrees })
    }
}

/// PageRank with a fixed number of iterations.
pub fn pagerank(iterations: u32, dangling: DanglingMass) -> PageRank {
    let stop = Stop::Iterations(iterations);
    PageRank { damping: DAMPING, dangling, stop, ..PageRank::default() }
}

/// An engine over a store with a page buffer of this many bytes; by default as large as the store.
///
/// # Errors
/// If the store does not open.
pub fn engine(path: &Path, buffer_bytes: Option<u64>, threads: usize) -> Result<Engine> {
    let options = EngineOptions::default()
        .with_memory_bytes(1 << 50)
        .with_buffer_bytes(buffer_bytes)
        .with_threads(threads)
        // With all pages in memory, the first run reads what later runs find there.
        .with_alternatives(buffer_bytes.is_some())
        .with_fetcher(FetcherKind::Auto);
    Ok(Engine::new(Store::open(path)?, options))
}
