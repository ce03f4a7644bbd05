//! Small supersteps: their cost besides kernels, in runs of thousands of them.

use super::bench::{Bench, over_runs};
use crate::error::Result;
use crate::graph::{self, Wanted};
use crate::outcome::{Goal, Outcome, Table};
use crate::rig::{DeviceChoice, Setup, Share};
use topostream::algorithms::{Bfs, KCore, Scc};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::report::RunReport;
use topostream::{Engine, Run};
use topostream_formats::{Direction, Store};

const EXPECTATION: &str = "a superstep that the device runs without the host costs its dispatches: six or seven, of 3 \
    to 5 us including barriers. A pass over the bits of 16.8 million vertices (2 MB) is 1 us at 3 TB/s, one over \
    their degrees, as in k-core's vertex phase, 20 to 40 us";
const TARGET_US: f64 = 30.0;
/// Vertices per side of the grid.
const GRID: u64 = 4096;
const GRID_QUICK: u64 = 128;

/// The algorithm to run.
#[derive(Clone, Copy)]
enum Small {
    Search,
    Cores,
    Strong,
}

impl Small {
    const fn name(self) -> &'static str {
        match self {
            Self::Search => "BFS top-down",
            Self::Cores => "k-core",
            Self::Strong => "strongly connected components",
        }
    }

    /// Runs it; returns its report, and a sum over the answer that does not depend on component ids.
    fn run(self, engine: &Engine) -> Result<(RunReport, u64)> {
        let (directed, vertices) = (engine.store().manifest().directed, engine.store().vertices());
        match self {
            Self::Search => {
                let bfs = Bfs { bottom_up: false, ..Bfs::from(graph::largest_vertex(engine.store())?) };
                Ok(digest(&engine.run(bfs)?, vertices, "level"))
            }
            Self::Cores => Ok(digest(&engine.run(KCore::new(directed, directed))?, vertices, "core")),
            Self::Strong => Ok(digest(&engine.run(Scc)?, vertices, "component")),
        }
    }
}

/// The sum of squares of an answer's values; for components, of their sizes.
fn digest<A: Algorithm>(run: &Run<A>, vertices: u64, name: &str) -> (RunReport, u64) {
    let answers = run.answers();
    let answer = answers.iter().find(|answer| answer.name == name).expect("the algorithm's answer");
    let square = |value: u64| value.wrapping_mul(value);
    let sum = match &answer.values {
        AnswerValues::Integer(of) => (0..vertices).map(|vertex| of.get(vertex as u32).map_or(0, square)).sum(),
        AnswerValues::Vertex(of) => {
            let mut sizes = vec![0u64; vertices as usize];
            (0..vertices).filter_map(|vertex| of.get(vertex as u32)).for_each(|name| sizes[name.0 as usize] += 1);
            sizes.into_iter().map(square).sum()
        }
        AnswerValues::F64(_) => 0,
    };
    (run.report.clone(), sum)
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = Outcome::new("gpu-small", EXPECTATION);
    outcome.verified("every run: the sum of the squares of its answer's values (of components' sizes) as on the CPU");
    let columns = [
        "graph",
        "work",
        "supersteps",
        "over lists of vertices",
        "ms",
        "us a superstep",
        "kernels us a superstep",
        "first run ms",
    ];
    let mut table = Table::new("Small supersteps, everything in device memory", &columns);
    let wanted = Wanted { page_bytes: bench.settings.resources.page_size, ..Wanted::default() };
    let side = if bench.settings.quick { GRID_QUICK } else { GRID };
    let grid = Wanted { in_edges: false, ..wanted.clone() }.grid(&bench.settings.resources.dir, side)?;
    let rmat = Wanted { in_edges: true, ..wanted }.rmat(&bench.settings.resources.dir, bench.density_scale())?;
    for (store, work) in [(&grid, Small::Search), (&grid, Small::Cores), (&rmat, Small::Cores), (&rmat, Small::Strong)]
    {
        let (reports, first) = measure(bench, store, work)?;
        let steps = reports[0].supersteps as f64;
        let us = |ns: u64| ns as f64 / 1e3 / steps;
        let wall = over_runs(&reports, |report| us(report.wall_ns));
        table.row(vec![
            graph::name(store).into(),
            work.name().into(),
            steps.into(),
            (reports[0].total.transfer.listed_steps as f64).into(),
            over_runs(&reports, |report| report.wall_ns as f64 / 1e6).into(),
            wall.into(),
            over_runs(&reports, |report| us(report.total.compute_ns + report.total.transfer.vertex_kernels_ns)).into(),
            (first.wall_ns as f64 / 1e6).into(),
        ]);
        let what = format!("{}, {}: us a superstep", graph::name(store), work.name());
        outcome.claim(what, Goal::AtMost, TARGET_US, wall);
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// The reports of repeated runs, and of the first run, which reads the pages.
fn measure(bench: &Bench, store: &Store, work: Small) -> Result<(Vec<RunReport>, RunReport)> {
    let pages: u64 = [Direction::Out, Direction::In]
        .into_iter()
        .filter_map(|direction| store.topology(direction))
        .map(|topology| u64::from(topology.page_count()) * u64::from(store.manifest().page_bytes))
        .sum();
    let engine = |devices: Option<Vec<DeviceChoice>>| -> Result<Engine> {
        let buffer = if devices.is_some() { Share::All } else { Share::Nothing };
        let options = Setup { buffer, ..bench.setup() }.options(store, pages);
        let options = if let Some(devices) = devices { options.with_devices(devices) } else { options };
        Ok(Engine::new(Store::open(store.path())?, options))
    };
    let (_, expected) = work.run(&engine(Some(vec![DeviceChoice::Cpu]))?)?;
    let engine = engine(None)?;
    let run = || -> Result<RunReport> {
        let (report, found) = work.run(&engine)?;
        if found != expected {
            Err(format!("wrong answer: {} differs from the CPU", work.name()).into())
        } else {
            Ok(report)
        }
    };
    let first = run()?;
    run()?;
    Ok(((0..bench.runs()).map(|_| run()).collect::<Result<_>>()?, first))
}
