//! AsynGraph's sketch (Y. Zhang et al., *AsynGraph: Maximizing Data Parallelism for Efficient Iterative Graph
//! Processing on GPUs*, ACM TACO 2020), over arrays, with counters, beside the engine.
//!
//! ```text
//!             ┌─ rounds   values of the round before ─────────┐
//!             ├─ now      values are seen at once ────────────┤ updates, visits, pages through a buffer of 1/8,
//!  stores ────┼─ joining  vertices of later pages join ───────┤ time of one thread;
//!             ├─ sketch   paths between hubs, several times ──┤ answers and residuals compared
//!             ├─ changed  only edges that have a new value ───┤
//!             └─ engine   its own run, one thread ────────────┘
//! ```

mod lists;
mod monotone;
mod paths;
mod residual;
mod subject;
mod table;

use crate::arrays;
use crate::error::Result;
use crate::graph;
use crate::options::Common;
use crate::outcome::Outcome;
use monotone::{Distance, Label, Rule, Start};
use residual::System;
use std::path::PathBuf;
use subject::{Graph, Work};
use table::{Rows, Ways};
use topostream::algorithms::{Averaging, Components, DanglingMass, DeltaPageRank, Model, Sssp, Stop, UnionFind};
use topostream_formats::WeightType;
use topostream_oracles::{Compare, components, sssp};

const EXPECTATION: &str = "on power laws, sketches have fewer updates and visits than rounds by at least 30%, and not \
    than values that are seen at once; on grids and roads they have more. The engine, whose vertices join a superstep, \
    visits as many edges as values that are seen at once";
/// PageRank's probability of following an edge.
const DAMPING: f64 = 0.85;
/// Adsorption's probability of taking the label at a seed, and of going on.
const INJECT: f64 = 0.25;
const KEPT: f64 = 0.70;

/// AsynGraph's sketch over arrays in memory, with counters, beside the engine
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Stores with integer weights; components are found in undirected ones
    #[arg(required = true)]
    pub stores: Vec<PathBuf>,
    /// Which works
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Work::ALL)]
    pub only: Vec<Work>,
    /// The shares of vertices that are hubs
    #[arg(long, value_delimiter = ',', default_values_t = [0.025])]
    pub hubs: Vec<f64>,
    /// How many times a round the sketch is processed
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4])]
    pub times: Vec<u32>,
    /// What a vertex may keep back, as a share of what arrives from nowhere
    #[arg(long, default_value_t = 1e-3)]
    pub tolerance: f64,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    eprintln!("expected: {EXPECTATION}");
    let mut outcome = Outcome::new("sketch", EXPECTATION);
    outcome.verified("shortest paths: every distance by Dijkstra's algorithm; components: the same sets by union-find");
    outcome.verified("ranks and adsorption: the residual, in the table, from the lists and the values alone");
    outcome.notes.push(
        "one thread, arrays in memory, loops left out; an update is a changed value, or an edge along which a residual \
        was passed on; pages are of 8192 edges, loaded through a buffer of an eighth of them, least recently used \
        first, over all pages. The engine's: vertices that changed, packed pages, bytes read through such a buffer \
        over bytes of all pages"
            .into(),
    );
    let mut rows = Rows::new(options.common.runs);
    for path in &options.stores {
        let graph = Graph::open(path, &options.hubs)?;
        rows.sketches(&graph);
        for &work in &options.only {
            let done = match work {
                Work::Sssp => distances(&graph, options, &mut rows),
                Work::Components if graph.store.manifest().directed => Ok(()),
                Work::Components => labels(&graph, options, &mut rows),
                Work::Pagerank => ranks(&graph, options, &mut rows),
                Work::Adsorption => adsorption(&graph, options, &mut rows),
            };
            done.map_err(|error| format!("{}, {work}: {error}", graph::name(&graph.store)))?;
        }
    }
    rows.finish(&mut outcome);
    Ok(outcome)
}

/// The ways of a rule, each called with pages that are counted, or not.
fn monotone_ways<'a, R: Rule>(graph: &'a Graph, start: &'a Start, options: &'a Options) -> Ways<'a, u32> {
    let lists = &graph.lists;
    let mut ways = Ways::new();
    ways.add("rounds", None, move |pages| monotone::rounds::<R>(lists, start, pages));
    ways.add("now", None, move |pages| monotone::now::<R>(lists, start, pages, false));
    ways.add("joining", None, move |pages| monotone::now::<R>(lists, start, pages, true));
    for (share, sketch, _) in &graph.sketches {
        for &times in &options.times {
            let of = Some((*share, times));
            ways.add("sketch", of, move |pages| monotone::sketch::<R>(sketch, start, pages, times));
            ways.add("changed", of, move |pages| monotone::changed::<R>(sketch, start, pages, times));
        }
    }
    ways
}

/// The ways of a system.
fn residual_ways<'a>(graph: &'a Graph, system: &'a System, options: &'a Options) -> Ways<'a, f64> {
    let lists = &graph.lists;
    let mut ways = Ways::new();
    ways.add("rounds", None, move |pages| residual::rounds(system, lists, pages, false));
    ways.add("now", None, move |pages| residual::rounds(system, lists, pages, true));
    for (share, sketch, _) in &graph.sketches {
        for &times in &options.times {
            let of = Some((*share, times));
            ways.add("sketch", of, move |pages| residual::sketch(system, sketch, pages, (times, false)));
            ways.add("changed", of, move |pages| residual::sketch(system, sketch, pages, (times, true)));
        }
    }
    ways
}

fn distances(graph: &Graph, options: &Options, rows: &mut Rows) -> Result<()> {
    let source = graph::largest_vertex(&graph.store)?;
    let expected = sssp::shortest(&arrays::graph(&graph.store)?.out_lists, source.0);
    let start = Start::at(source.0, graph.lists.vertices());
    let number = |&value: &u32| if value == u32::MAX { f64::INFINITY } else { value.into() };
    rows.measure(graph, Work::Sssp, &monotone_ways::<Distance>(graph, &start, options), |values: &[u32]| {
        Compare::Exact.check(&values.iter().map(number).collect::<Vec<_>>(), &expected)?;
        Ok(None)
    })?;
    rows.engine(graph, (Work::Sssp, "engine"), &Sssp::new(source, WeightType::U32), |values| {
        Compare::Exact.check(values, &expected)?;
        Ok(None)
    })
}

fn labels(graph: &Graph, options: &Options, rows: &mut Rows) -> Result<()> {
    let expected = components::connected(&arrays::graph(&graph.store)?.out_lists);
    let start = Start::labels(graph.lists.vertices());
    rows.measure(graph, Work::Components, &monotone_ways::<Label>(graph, &start, options), |labels: &[u32]| {
        Compare::Groups.check(&labels.iter().map(|&label| label.into()).collect::<Vec<_>>(), &expected)?;
        Ok(None)
    })?;
    let check = |values: &[f64]| -> Result<Option<f64>> {
        Compare::Groups.check(values, &expected)?;
        Ok(None)
    };
    rows.engine(graph, (Work::Components, "engine, labels"), &Components { directed: false }, check)?;
    rows.engine(graph, (Work::Components, "engine"), &UnionFind::new(false, false), check)
}

fn ranks(graph: &Graph, options: &Options, rows: &mut Rows) -> Result<()> {
    let (lists, tolerance) = (&graph.lists, options.tolerance);
    let system = System::ranks(lists, DAMPING, tolerance);
    let ways = residual_ways(graph, &system, options);
    rows.measure(graph, Work::Pagerank, &ways, |values: &[f64]| Ok(Some(system.residual(lists, values))))?;
    let algorithm = DeltaPageRank { damping: DAMPING, dangling: DanglingMass::Ignored, tolerance };
    rows.engine(graph, (Work::Pagerank, "engine"), &algorithm, |values| {
        let scaled: Vec<f64> = values.iter().map(|value| value * values.len() as f64).collect();
        Ok(Some(system.residual(lists, &scaled)))
    })
}

fn adsorption(graph: &Graph, options: &Options, rows: &mut Rows) -> Result<()> {
    let (lists, tolerance, seeds) = (&graph.lists, options.tolerance, graph.seeds());
    let system = System::adsorption(lists, &seeds, (INJECT, KEPT), tolerance);
    let ways = residual_ways(graph, &system, options);
    rows.measure(graph, Work::Adsorption, &ways, |values: &[f64]| Ok(Some(system.residual(lists, values))))?;
    let seeds = seeds.into_iter().map(topostream_formats::VertexId).collect();
    let model = Model::Adsorption { inject: INJECT, abandon: 1.0 - INJECT - KEPT, seeds };
    let stop = Stop::Tolerance { l1: tolerance * INJECT * 0.3, iterations_max: 1000 };
    let algorithm = Averaging { model, weights: Some(WeightType::U32), stop };
    rows.engine(graph, (Work::Adsorption, "engine"), &algorithm, |values| Ok(Some(system.residual(lists, values))))
}
