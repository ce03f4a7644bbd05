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

use crate::engine::{Engine, Observer, Run};
use crate::error::{Error, Result};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Contents, Ends, Graph, Kernel, List, Scalars, Shader, State, Step, Summary, Supersteps, Table,
    Visit,
};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role, U32Column, U64Column, zeroed};
use crate::pages::adjacency::{Adjacency, TableNeighbours, building_bytes, comes_before, degree, in_degrees, ranges};
use crate::report::RunReport;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::{Direction, Store};

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

/// Results for each vertex.
struct Found {
    /// The number of edges between the vertex's neighbours; empty if there was no earlier range.
    links: Vec<u64>,
    /// The number of the vertex's neighbours.
    neighbours: Vec<AtomicU32>,
}

impl Found {
    /// Reads the results from the checkpoint that the next run continues, and the range before which it was written.
    fn kept(engine: &Engine) -> Result<Option<(Self, Range<u64>)>> {
        let Some((mut kept, _)) = engine.kept(NAME)? else { return Ok(None) };
        let vertices = engine.store().vertices();
        let mut numbers = |count: u64| -> Result<Vec<u64>> {
            let words = kept.words(2 * count as usize)?;
            Ok(words.chunks_exact(2).map(|word| u64::from(word[1]) << 32 | u64::from(word[0])).collect())
        };
        let head = numbers(3)?;
        let (range, with_links) = (head[0]..head[1], head[2]);
        let mut links = Vec::with_capacity(if with_links > 0 { vertices as usize } else { 0 });
        while with_links > 0 && (links.len() as u64) < vertices {
            links.extend(numbers(KEPT_AT_ONCE.min(vertices - links.len() as u64))?);
        }
        let mut neighbours = Vec::with_capacity(vertices as usize);
        while (neighbours.len() as u64) < vertices {
            let count = KEPT_AT_ONCE.min(vertices - neighbours.len() as u64);
            neighbours.extend(kept.words(count as usize)?.into_iter().map(AtomicU32::new));
        }
        match range.start <= range.end && range.end <= vertices {
            true => Ok(Some((Self { links, neighbours }, range))),
            false => Err(kept.error(format!("a range of vertices {range:?} of {vertices}"))),
        }
    }

    /// Writes the results, with a range whose neighbours they include.
    fn keep(&self, range: &Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        let head = [range.start, range.end, u64::from(!self.links.is_empty())];
        head.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        let mut bytes = Vec::new();
        for links in self.links.chunks(KEPT_AT_ONCE as usize) {
            bytes.clear();
            bytes.extend(links.iter().flat_map(|links| links.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        for neighbours in self.neighbours.chunks(KEPT_AT_ONCE as usize) {
            bytes.clear();
            bytes.extend(neighbours.iter().flat_map(|count| count.load(Relaxed).to_le_bytes()));
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    fn links(&self, vertex: u32) -> u64 {
        self.links.get(vertex as usize).copied().unwrap_or(0)
    }

    /// Counts the neighbours in a table.
    fn count(&self, table: &Adjacency, directed: bool) {
        let count = |vertex: u32, more| _ = self.neighbours[vertex as usize].fetch_add(more, Relaxed);
        table.entries.par_iter().for_each(|&vertex| count(vertex, 1));
        if !directed {
            // The table holds each edge at one of its ends.
            let starts = table.starts.par_windows(2).enumerate();
            starts.for_each(|(vertex, starts)| count(vertex as u32, starts[1] - starts[0]));
        }
    }
}

/// The name in reports.
const NAME: &str = "clustering";
/// The number of values that are written or read at once.
const KEPT_AT_ONCE: u64 = 1 << 14;
/// Indices of the declared attributes.
const LINKS: usize = 0;
const DEGREE: usize = 1;

/// The size of a table in bytes, unless another is requested.
const TABLE_BYTES: u64 = 1 << 30;
/// A list this many times as long as another is searched instead of read.
const SEARCH_RATIO: usize = 16;

/// Intersects lists of neighbours.
#[doc(hidden)]
pub struct ClusteringKernel<'a> {
    starts: &'a [u32],
    entries: &'a [u32],
    links: &'a U64Column,
    degree: Option<&'a U32Column>,
}

impl ClusteringKernel<'_> {
    #[inline(always)]
    fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.entries[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    #[inline(always)]
    fn found(&self, vertex: u32) {
        self.links.add(vertex, if self.degree.is_some() { 2 } else { 1 });
    }

    /// Adds to every vertex that is in both lists; returns their number.
    fn meet(&self, one: &[u32], other: &[u32]) -> u64 {
        let (short, mut long) = if one.len() < other.len() { (one, other) } else { (other, one) };
        if short.len() * SEARCH_RATIO < long.len() {
            let mut met = 0;
            for &vertex in short {
                long = &long[long.partition_point(|&theirs| theirs < vertex)..];
                if long.first() == Some(&vertex) {
                    self.found(vertex);
                    met += 1;
                }
            }
            return met;
        }
        let (mut at, mut theirs, mut met) = (0, 0, 0);
        while at < short.len() && theirs < long.len() {
            match short[at].cmp(&long[theirs]) {
                Ordering::Less => at += 1,
                Ordering::Greater => theirs += 1,
                Ordering::Equal => {
                    self.found(short[at]);
                    (at, theirs, met) = (at + 1, theirs + 1, met + 1);
                }
            }
        }
        met
    }
}

impl Kernel for ClusteringKernel<'_> {
    /// The vertex, and the triangles in which it comes first.
    type Record = (u32, u64);

    #[inline(always)]
    fn open(&self, list: List) -> Option<(u32, u64)> {
        (!self.neighbours(list.vertex).is_empty()).then_some((list.vertex, 0))
    }

    #[inline(always)]
    fn edge(&self, (vertex, met): &mut (u32, u64), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let (one, other) = (self.neighbours(*vertex), self.neighbours(neighbour));
        if other.is_empty() || neighbour == *vertex {
            return ControlFlow::Continue(());
        }
        let Some(degree) = self.degree else {
            self.meet(one, other);
            return ControlFlow::Continue(());
        };
        if comes_before((*vertex, degree.get(*vertex)), (neighbour, degree.get(neighbour))) {
            let both = self.meet(one, other);
            *met += both;
            if both > 0 {
                self.links.add(neighbour, 2 * both);
            }
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, (vertex, met): (u32, u64)) {
        if met > 0 {
            self.links.add(vertex, 2 * met);
        }
    }
}

impl Clustering {
    /// Computes the coefficients of all vertices. `table_bytes` is the size of a table, in main memory and on each
    /// device; by default a quarter of main memory, at most 1 GiB, and no more than a device can bind.
    ///
    /// # Errors
    /// The errors of [`Engine::run`].
    pub fn run(engine: &Engine, table_bytes: Option<u64>, observer: &mut Observer<'_>) -> Result<Run<Self>> {
        let store = engine.store();
        let directed = store.manifest().directed;
        engine.check_checkpoint(&Self::without_table(directed))?;
        let (mut before, counted) = match Found::kept(engine)? {
            Some((found, range)) => (found, range),
            None => (Found { links: Vec::new(), neighbours: zeroed(store.vertices()) }, 0..0),
        };
        let Ranges { ranges, building_bytes, .. } = Ranges::of(engine, table_bytes, &counted)?;
        let mut ranges = ranges.into_iter().peekable();
        let mut reports: Option<RunReport> = None;
        // With checkpoints, the results of a range are in one before the run stops.
        let (at_once, later) = (&engine.options().cancel, Arc::default());
        loop {
            let range = ranges.next().expect("there is a range, and another where it was not the last");
            engine.make_room(building_bytes);
            let out_degrees = store.out_degrees()?;
            let keeps = if directed { TableNeighbours::All } else { TableNeighbours::After(&out_degrees) };
            let patient = engine.options().checkpoints.is_some() && reports.is_some();
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
    pub fn without_table(directed: bool) -> Self {
        let table = Adjacency { starts: Arc::default(), entries: Arc::default() };
        Self { directed, table, before: Found { links: Vec::new(), neighbours: Vec::new() }, range: 0..0, rounds: 1 }
    }

    /// The algorithm that [`run`](Self::run) would run, for planning only: over all ranges, with an empty table whose
    /// size is the maximum over the ranges. Only degrees are read; for a directed graph without in-lists, all pages.
    /// pages.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn planned(engine: &Engine, table_bytes: Option<u64>) -> Result<Self> {
        let (vertices, directed) = (engine.store().vertices(), engine.store().manifest().directed);
        let Ranges { ranges, entries_max, .. } = Ranges::of(engine, table_bytes, &(0..0))?;
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

/// Ranges of vertices. The table holds the lists of one range at a time.
struct Ranges {
    ranges: Vec<Range<u64>>,
    /// The largest number of entries of a table.
    entries_max: u64,
    /// Main memory while such a table is built, in bytes.
    building_bytes: u64,
}

impl Ranges {
    /// All ranges, or the remaining ones of a resumed run: they begin with `counted`, whose neighbours are already
    /// counted.
    fn of(engine: &Engine, table_bytes: Option<u64>, counted: &Range<u64>) -> Result<Self> {
        let (store, cancel) = (engine.store(), &engine.options().cancel);
        let directed = store.manifest().directed;
        let memory = Memory::of(engine)?;
        memory.check_counting(store, engine)?;
        let out_degrees = store.out_degrees()?;
        let in_degrees = if directed { in_degrees(store, cancel)? } else { Vec::new() };
        let neighbours = |vertex: u64| degree(out_degrees.values(), &in_degrees, vertex as usize);
        let all = || (0..store.vertices()).map(neighbours);
        let edges_max = match table_bytes {
            Some(bytes) => memory.entries_of(bytes)?,
            None => memory.entries(engine, all().max().unwrap_or(0), all().sum())?,
        };
        let among = |part: Range<u64>| {
            let found = ranges(part.clone().map(neighbours), edges_max.min(u32::MAX.into())).into_iter();
            found.map(move |range| part.start + range.start..part.start + range.end)
        };
        let mut ranges: Vec<_> =
            among(counted.start..counted.end).chain(among(counted.end..store.vertices())).collect();
        // A part without vertices has no ranges, unless it is the only part.
        let empty = ranges.iter().filter(|range| range.is_empty()).count();
        if empty < ranges.len() {
            ranges.retain(|range| !range.is_empty());
        } else {
            ranges.truncate(1);
        }
        let most = ranges.iter().map(|range| range.clone().map(neighbours).sum()).max().unwrap_or(0);
        // Only one end of an undirected edge is kept.
        let entries_max = if directed { most } else { most.min(store.edges() / 2) };
        Ok(Self { ranges, entries_max, building_bytes: memory.building_bytes + 4 * entries_max })
    }
}

/// Main memory in addition to the entries of a table, in bytes.
struct Memory {
    /// For the run, over one range and over several.
    run_bytes: [u64; 2],
    /// While a table is built.
    building_bytes: u64,
    /// The offsets of the lists in a table.
    starts_bytes: u64,
}

impl Memory {
    fn of(engine: &Engine) -> Result<Self> {
        let store = engine.store();
        let vertices = store.vertices();
        let starts_bytes = 4 * (vertices + 1);
        let run_bytes = engine.needed_bytes(&Clustering::without_table(store.manifest().directed))?;
        let (neighbours_bytes, links_bytes) = (4 * vertices, 8 * vertices);
        let run_bytes = run_bytes + starts_bytes + neighbours_bytes;
        let building_bytes = building_bytes(store) + neighbours_bytes + links_bytes + engine.options().trace_bytes();
        Ok(Self { run_bytes: [run_bytes, run_bytes + links_bytes], building_bytes, starts_bytes })
    }

    /// Returns the memory needed for this number of entries in the largest of one or several ranges.
    fn needed_bytes(&self, several: bool, entries: u64) -> u64 {
        (self.run_bytes[usize::from(several)]).max(self.building_bytes) + 4 * entries
    }

    /// Reports errors before lists are counted that would otherwise be reported after.
    fn check_counting(&self, store: &Store, engine: &Engine) -> Result<()> {
        if self.needed_bytes(true, 0) <= engine.options().memory_bytes {
            return Ok(());
        }
        // Without in-lists the in-degrees are not known yet.
        let largest = |direction| store.topology(direction).map(|topology| u64::from(topology.summary().degree_max));
        let out = largest(Direction::Out).unwrap_or(0);
        let against = if store.manifest().directed { largest(Direction::In).unwrap_or(store.edges()) } else { 0 };
        Err(self.refusal(engine, out + against))
    }

    /// Returns the number of entries of a table of this size.
    fn entries_of(&self, bytes: u64) -> Result<u64> {
        match bytes.saturating_sub(self.starts_bytes) / 4 {
            0 => {
                let starts_bytes = self.starts_bytes;
                let message = format!(
                    "tables of clustering coefficients: {bytes} bytes were given, and lists begin behind {starts_bytes}"
                );
                Err(Error::Parameter(message))
            }
            entries => Ok(entries),
        }
    }

    /// Returns the number of entries of a table unless another size is requested: a quarter of the memory, and no more
    /// than everything else leaves free. The longest list must fit; if all do, they are one range.
    fn entries(&self, engine: &Engine, longest: u64, all: u64) -> Result<u64> {
        let memory_bytes = engine.options().memory_bytes;
        let share = (memory_bytes / 4).min(TABLE_BYTES).min(engine.binding_bytes_max()?);
        let share = (share.saturating_sub(self.starts_bytes) / 4).max(longest).max(1);
        if all <= share && self.needed_bytes(false, all) <= memory_bytes {
            return Ok(share);
        }
        let left = memory_bytes.saturating_sub(self.needed_bytes(true, 0)) / 4;
        if left < longest.max(1) {
            return Err(self.refusal(engine, longest));
        }
        Ok(share.min(left))
    }

    fn refusal(&self, engine: &Engine, longest: u64) -> Error {
        let longest = longest.max(1);
        Error::Memory {
            what: "clustering".into(),
            needed_bytes: self.needed_bytes(true, longest),
            budget_bytes: engine.options().memory_bytes,
            parts: format!(
                "run {}, or making a table {}; neighbours of one vertex {}",
                self.run_bytes[1],
                self.building_bytes,
                4 * longest
            ),
        }
    }
}

impl Algorithm for Clustering {
    type Kernel<'a> = ClusteringKernel<'a>;

    fn name(&self) -> &'static str {
        NAME
    }

    fn attributes(&self, _has_in_lists: bool) -> Vec<Attribute> {
        let (initial, merge) = (Initial::Bits(0), Merge::Add);
        let (of, role) = (AttributeType::U64, Role::Accumulated);
        let mut attributes = vec![Attribute { name: "links", of, role, merge, initial }];
        if !self.directed {
            let (of, role) = (AttributeType::U32, Role::Gathered);
            attributes.push(Attribute { name: "degree", of, role, merge, initial });
        }
        attributes
    }

    fn tables(&self) -> Vec<Table> {
        let given = |name, words: &Arc<Vec<u32>>| Table { name, contents: Contents::Given(Arc::clone(words)) };
        vec![given("starts", &self.table.starts), given("entries", &self.table.entries)]
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

    fn parameters(&self) -> Option<Parameters> {
        Some(Parameters::none().with("directed", self.directed))
    }

    fn keep(&self, out: &mut dyn Write) -> io::Result<()> {
        self.before.keep(&self.range, out)
    }

    fn visits(&self, _has_in_lists: bool) -> Vec<(Direction, Visit)> {
        vec![(Direction::Out, Visit::All)]
    }

    fn writes(&self, _direction: Direction) -> Ends {
        Ends::Any
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        if !self.directed {
            let degree = state.attributes.u32(DEGREE);
            vertices.map(|vertex| vertex as u32).for_each(|vertex| degree.set(vertex, state.graph.out_degree(vertex)));
        }
        Scalars::default()
    }

    fn shader(&self) -> Option<Shader> {
        let text = include_str!("clustering.wgsl");
        let shader =
            Shader::of_program("src/algorithms/clustering/clustering.wgsl", text, vec![("ORIENTED", !self.directed)]);
        Some(shader.with_constants([("SEARCH_RATIO", (SEARCH_RATIO as u32).into())]))
    }

    fn held_bytes(&self) -> u64 {
        4 * self.before.neighbours.len() as u64 + 8 * self.before.links.len() as u64
    }

    fn supersteps(&self) -> Supersteps {
        Supersteps::Exactly(self.rounds)
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

    fn next(&self, _graph: &Graph, _step: &Step, _summary: &Summary) -> Option<Step> {
        None
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
