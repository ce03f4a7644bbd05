//! Local clustering coefficients: `coefficient[v]` is the share of all ordered pairs of neighbours of `v` that have an
//! edge between them, 0 for fewer than two neighbours; and, in undirected graphs, the number of triangles that contain
//! `v`. Neighbours are those along edges and against them, each once; an edge of a directed graph counts in its own
//! direction only (LDBC Graphalytics, section 2.3.6). Loops are ignored; a repeated edge that is met ends the run with
//! an error.
//!
//! A superstep reads every list and, for each edge, intersects two lists of neighbours in main or device memory:
//! tables of the neighbours among a range of vertices. Each vertex in both lists has the
//! edge between its neighbours. Ranges are chosen so that a table fits in the memory that it is given; the graph is
//! read once for each range.
//!
//! - Directed: an edge adds one to each vertex that both of its ends neighbour.
//! - Undirected: each triangle is found once, from the edge between the two of its vertices that come first in the
//!   order of degrees, over lists of the neighbours that come later; it adds to its three vertices. No such list is
//!   longer than the square root of twice the edges.
//!
//! Writable attributes are 8 bytes a vertex, and 4 more if the graph is undirected; tables take 4 bytes a vertex and
//! 4 an edge of the range.

#[cfg(feature = "cli")]
pub mod command;
mod found;
mod kernel;
mod meet;
mod ranges;

use crate::engine::{Engine, Observer, Run};
use crate::error::Result;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Scalars, Shader, State, Step, Supersteps, Table, Visit, declaration_of,
};
use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use crate::pages::adjacency::{Adjacency, TableNeighbours};
use crate::report::RunReport;
use found::Found;
use kernel::ClusteringKernel;
use meet::SEARCH_RATIO;
use ranges::Ranges;
use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::Direction;
use topostream_formats::huge::zeroed;

/// Local clustering coefficients and triangles: one range of vertices, and the results of earlier ranges.
pub struct Clustering {
    directed: bool,
    table: Adjacency,
    before: Found,
    /// The range whose neighbours are in the table.
    range: Range<u64>,
    /// The number of ranges from this one on, if the run is only planned.
    rounds: u32,
}

/// The name in reports.
const NAME: &str = "clustering";
/// Indices of the declared attributes.
const LINKS: usize = 0;
const DEGREE: usize = 1;

impl Clustering {
    /// Computes the coefficients of all vertices. `table_bytes` is the size of a table, in main memory and on each
    /// device; by default a quarter of main memory, at most 1 GiB, and no more than a device can bind.
    ///
    /// # Errors
    /// The errors of [`Engine::run`].
    pub fn run(engine: &Engine, table_bytes: Option<u64>, observer: &mut Observer<'_>) -> Result<Run<Self>> {
        let store = engine.store();
        let directed = store.manifest().directed;
        let empty = Self::without_table(directed);
        engine.check_checkpoint(&declaration_of(&empty, engine.store()))?;
        let (mut before, counted) = match Found::kept(engine, NAME)? {
            Some((found, range)) => (found, range),
            None => (Found { links: Vec::new(), neighbours: zeroed(store.vertices()) }, 0..0),
        };
        let Ranges { ranges, building_bytes, .. } = Ranges::of(engine, &empty, table_bytes, &counted)?;
        let mut ranges = ranges.into_iter().peekable();
        let mut reports: Option<RunReport> = None;
        // With checkpoints, the results of a range are in one before the run stops; ranks stop after the same
        // superstep.
        let (at_once, later) = (&engine.options().cancel, Arc::default());
        let waits = engine.options().checkpoints.is_some() || engine.options().ranks().is_some();
        loop {
            let range = ranges.next().expect("there is a range, and another where it was not the last");
            engine.make_room(building_bytes);
            let out_degrees = store.out_degrees()?;
            let keeps = if directed { TableNeighbours::All } else { TableNeighbours::After(&out_degrees) };
            let patient = waits && reports.is_some();
            let table = Adjacency::among(store, &range, keeps, if patient { &later } else { at_once })?;
            // Freed here: the run has its own.
            drop(out_degrees);
            if range.end > counted.end || counted.is_empty() {
                before.count(&table, directed);
            }
            let mut run = engine.run_observed(Self { directed, table, before, range, rounds: 1 }, observer)?;
            run.report = match reports {
                Some(reports) => reports.followed_by(run.report),
                None => run.report,
            };
            if ranges.peek().is_none() {
                return Ok(run);
            }
            let (report, algorithm, state) = run.into_parts();
            reports = Some(report);
            before = algorithm.before;
            before.links.resize(store.vertices() as usize, 0);
            let links = state.attributes.u64(LINKS);
            before.links.par_iter_mut().enumerate().for_each(|(vertex, sum)| *sum += links.get(vertex as u32));
        }
    }

    /// Without a table: enough to compose its shader.
    pub(super) fn without_table(directed: bool) -> Self {
        let table = Adjacency { starts: Arc::default(), entries: Arc::default() };
        Self { directed, table, before: Found { links: Vec::new(), neighbours: Vec::new() }, range: 0..0, rounds: 1 }
    }

    /// The algorithm that [`run`](Self::run) would run, for planning only: over all ranges, with an empty table whose
    /// size is the maximum over the ranges. Only degrees are read; for a directed graph without in-lists, all pages.
    /// pages.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    #[doc(hidden)]
    pub fn planned(engine: &Engine, table_bytes: Option<u64>) -> Result<Self> {
        let (vertices, directed) = (engine.store().vertices(), engine.store().manifest().directed);
        let Ranges { ranges, entries_max, .. } =
            Ranges::of(engine, &Self::without_table(directed), table_bytes, &(0..0))?;
        // Zeros that are never read take no memory.
        let words = |count: u64| Arc::new(vec![0; count as usize]);
        let table = Adjacency { starts: words(vertices + 1), entries: words(entries_max) };
        let links = if ranges.len() > 1 { vec![0; vertices as usize] } else { Vec::new() };
        let before = Found { links, neighbours: zeroed(vertices) };
        Ok(Self { directed, table, before, range: 0..vertices, rounds: ranges.len() as u32 })
    }

    /// Edges between a vertex's neighbours: an undirected one counts twice, once in each direction.
    fn links(&self, state: &State, vertex: u32) -> u64 {
        self.before.links(vertex) + state.attributes.u64(LINKS).get(vertex)
    }
}

impl Algorithm for Clustering {
    type Kernel<'a> = ClusteringKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let links = Attribute::new("links", AttributeType::U64, Role::Accumulated, Merge::Add);
        let degree = Attribute::u32("degree", Role::Gathered, Merge::Add);
        let attributes = if self.directed { vec![links] } else { vec![links, degree] };
        let (file, text) = ("src/algorithms/clustering/clustering.wgsl", include_str!("clustering.wgsl"));
        let shader = Shader::of_program(file, text, vec![("ORIENTED", !self.directed)]);
        Declaration {
            tables: vec![Table::given("starts", &self.table.starts), Table::given("entries", &self.table.entries)],
            writes: Ends::Any.into(),
            parameters: Some(Parameters::none().with("directed", self.directed)),
            shader: Some(shader.with_constants([("SEARCH_RATIO", (SEARCH_RATIO as u32).into())])),
            held_bytes: 4 * self.before.neighbours.len() as u64 + 8 * self.before.links.len() as u64,
            supersteps: Supersteps::Exactly(self.rounds),
            ..Declaration::new(NAME, attributes, vec![(Direction::Out, Visit::All)])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let (starts, entries) = (&self.table.starts, &self.table.entries);
        let sizes = [starts.len() as u64, self.before.neighbours.len() as u64];
        let fits = sizes == [graph.vertices + 1, graph.vertices] && self.directed == graph.directed;
        if fits && starts.last().is_some_and(|&end| end as usize <= entries.len()) {
            return Ok(());
        }
        Err("clustering: the table of neighbours was made for another store".into())
    }

    fn keep(&self, out: &mut dyn Write) -> io::Result<()> {
        self.before.keep(&self.range, out)
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        if !self.directed {
            let degree = state.attributes.u32(DEGREE);
            vertices.map(|vertex| vertex as u32).for_each(|vertex| degree.set(vertex, state.graph.out_degree(vertex)));
        }
        Scalars::default()
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let some = graph.edges > 0 && !self.table.entries.is_empty();
        some.then(|| Step::new(0, Direction::Out, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> ClusteringKernel<'a> {
        let degree = (!self.directed).then(|| state.attributes.u32(DEGREE));
        let (starts, entries) = (&self.table.starts, &self.table.entries);
        ClusteringKernel { starts, entries, links: state.attributes.u64(LINKS), degree }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let neighbours = |vertex: u32| u64::from(self.before.neighbours[vertex as usize].load(Relaxed));
        let coefficient = move |vertex: u32| match neighbours(vertex) {
            0 | 1 => 0.0,
            neighbours => self.links(state, vertex) as f64 / (neighbours as f64 * (neighbours - 1) as f64),
        };
        let mut answers = vec![Answer::f64("coefficient", coefficient)];
        if !self.directed {
            answers.push(Answer::integer("triangles", move |vertex| Some(self.links(state, vertex) / 2)));
        }
        answers
    }
}
