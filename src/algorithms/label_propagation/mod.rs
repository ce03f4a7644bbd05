//! Community detection by label propagation, with LDBC Graphalytics' deterministic rule (section 2.3.5; after Raghavan,
//! Albert and Kumara, Phys. Rev. E 76, 2007). Every vertex starts with its own id as its label: a number, or the place
//! of its name in the order of the names' bytes. In each iteration all vertices simultaneously take the label that most
//! of their neighbours had in the previous iteration, the smallest of them in case of a tie. In a directed graph a
//! neighbour counts once for an edge along and once for one against it; repeated edges and loops count each time. A
//! vertex without neighbours keeps its label. The run ends after a number of iterations, or earlier if one changes
//! nothing.
//!
//! Labels are gathered and counted in a [table](crate::model::algorithm::Contents::Own) that each device has for
//! itself: every vertex has room there for one label, with its count, for each of its neighbours, and finds a label's
//! slot by its hash. Vertices are processed range by range, so that the table has the requested size; an undirected
//! graph is still read only once an iteration, a directed one once for each range. Counts stay with the vertex's owner:
//! several devices share a run as under Strategy-S, whichever strategy is requested.
//!
//! A list of an undirected graph that is in one page, and not very long, is counted outside of the table, and only the
//! winning label is written to it: on the CPU in memory of the thread that reads the list, on a GPU by the kernel
//! `plurality`, in registers or workgroup memory. If only CPUs compute, or only GPUs and all vertices are one range,
//! such a vertex has room for just that label; and labels have a bit that says whether they are new, so that a list
//! without a new label is not counted again. If both compute, GPUs count all lists in the table.
//! In the first iteration every vertex has a label of its own, and lists are ascending, so that equal labels follow one
//! another: CPUs count them as runs, in lists of any length.
//!
//! 4 bytes a vertex for a single range, otherwise 8 and a bit; 8 bytes of the table for each neighbour of the vertices
//! of a range, or for each vertex of it whose list is counted outside of the table; 4 bytes a vertex for the offsets
//! into the table.

mod alone;
#[cfg(feature = "cli")]
pub mod command;
mod kernel;
mod memory;
mod ranks;
mod tally;

use crate::engine::{Engine, Observer, Run};
use crate::error::{Error, Result};
use crate::model::algorithm::{
    Algorithm, Answer, Contents, Declaration, Ends, Graph, Iteration, PLURALITY_MAX, Scalars, Shader, State, Step,
    Summary, Supersteps, Table, Visit,
};
use crate::model::attributes::{Attribute, Initial, Merge, Role};
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use crate::pages::adjacency::{degree, in_degrees, ranges};
use alone::Alone;
use kernel::{Counts, LabelPropagationKernel, NEW, WON};
use memory::Memory;
use ranks::Ranks;
use rayon::prelude::*;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;
use tally::SPREAD;
use topostream_formats::Direction;

/// Community detection by label propagation.
pub struct LabelPropagation {
    iterations: u32,
    directed: bool,
    /// The offset of each vertex's room, in slots of two words, modulo 2^32; then the end of the last one.
    starts: Arc<Vec<u32>>,
    /// The start of each range of vertices, then the end of the last one.
    bounds: Arc<Vec<u32>>,
    /// The number of slots of the largest range.
    places: u64,
    /// The lists that are counted outside of the table.
    alone: Alone,
    /// Whether labels that are [`NEW`] are marked.
    marked: bool,
    /// Vertices by ascending original id, number or name, and their ranks; `None` if their numbers are in that order.
    ranks: Option<Ranks>,
}

/// The name in reports.
const NAME: &str = "label propagation";
/// Indices of the declared attributes.
const LABEL: usize = 0;
const NEXT: usize = 1;
const TURN: usize = 2;
/// The table of counts.
const COUNTS: usize = 2;

impl LabelPropagation {
    /// Propagates labels for this number of iterations. `table_bytes` is the size of the table of counts on each
    /// device; by default a quarter of main memory, at most 1 GiB, and no more than a device can bind. GPUs that count
    /// lists outside of it have one of up to 4 GiB by default, and of what is needed only.
    ///
    /// # Errors
    /// The errors of [`Engine::run`].
    pub fn run(
        engine: &Engine,
        iterations: u32,
        table_bytes: Option<u64>,
        observer: &mut Observer<'_>,
    ) -> Result<Run<Self>> {
        engine.run_observed(Self::new(engine, iterations, table_bytes)?, observer)
    }

    /// The algorithm that [`run`](Self::run) runs: the table is not filled, but its size is known. For a directed graph
    /// without in-lists all pages are read.
    ///
    /// # Errors
    /// The errors of [`Engine::run`].
    pub fn new(engine: &Engine, iterations: u32, table_bytes: Option<u64>) -> Result<Self> {
        let (store, cancel) = (engine.store(), &engine.options().cancel);
        // A label and one more fit in 32 bits, and so do the ends of ranges.
        if store.vertices() > u32::MAX.into() {
            let message = format!("communities: {} vertices: expected fewer than 2^32", store.vertices());
            return Err(Error::Parameter(message));
        }
        let directed = store.manifest().directed;
        let memory = Memory::of(engine, |ranges| Self::without_table(directed, ranges))?;
        memory.check_counting(engine)?;
        let ranks = Ranks::of(store, cancel)?;
        let in_degrees = if directed { in_degrees(store, cancel)? } else { Vec::new() };
        let out_degrees = store.out_degrees()?;
        let degrees = || (0..store.vertices() as usize).map(|vertex| degree(out_degrees.values(), &in_degrees, vertex));
        let kept = kept_ranges(engine)?;
        let alone = match Alone::of(engine)? {
            // GPUs count lists so if all vertices are one range.
            Alone::Gpus(max) => {
                let all_bytes = 8 * degrees().map(|degree| Alone::Gpus(max).room(degree)).sum::<u64>();
                let fits = memory.fits_gpus(engine, table_bytes, all_bytes)?;
                let whole = fits && kept.as_ref().is_none_or(|kept| kept.len() == 1);
                if engine.least_of_ranks(whole.into())? > 0 { Alone::Gpus(max) } else { Alone::None }
            }
            alone => alone,
        };
        let room = |vertex: usize| alone.room(degree(out_degrees.values(), &in_degrees, vertex));
        let all = || (0..store.vertices() as usize).map(room);
        let table_bytes = match (table_bytes, alone) {
            (Some(bytes), _) => bytes,
            (None, Alone::Gpus(_)) => 8 * all().sum::<u64>(),
            (None, _) => memory.table_bytes(engine, all().max().unwrap_or(0), all().sum())?,
        };
        let table_bytes = engine.least_of_ranks(table_bytes)?;
        let places_max = (table_bytes / 8).min(u32::MAX.into());
        let vertices = store.vertices() as usize;
        let ranges = match kept {
            Some(kept) => kept,
            None => ranges((0..vertices).map(room), places_max),
        };
        let (mut starts, mut at) = (vec![0], 0u64);
        starts.reserve_exact(vertices);
        for vertex in 0..vertices {
            at += room(vertex);
            starts.push(at as u32);
        }
        let places_of = |range: &Range<u64>| (range.start..range.end).map(|vertex| room(vertex as usize)).sum::<u64>();
        let places = ranges.iter().map(places_of).max().unwrap_or(0);
        if places > places_max {
            let message = format!(
                "communities: {places} neighbours, of one vertex or of a range in a checkpoint, take {} bytes \
                 of table; {table_bytes} were given (--table, or a quarter of --memory)",
                8 * places
            );
            return Err(Error::Parameter(message));
        }
        let bounds = ranges.iter().map(|range| range.start).chain([store.vertices()]).map(|bound| bound as u32);
        let (starts, bounds) = (Arc::new(starts), Arc::new(bounds.collect()));
        let marked = alone.max() > 0 && vertices <= NEW as usize;
        Ok(Self { iterations, directed, starts, bounds, places, alone, marked, ranks })
    }

    /// Without a graph, for this number of ranges: enough to compose its shader.
    pub(super) fn without_table(directed: bool, ranges: usize) -> Self {
        let (starts, bounds) = (Arc::new(vec![0]), Arc::new(vec![0; ranges + 1]));
        let alone = if directed || ranges > 1 { Alone::None } else { Alone::Gpus(PLURALITY_MAX.into()) };
        Self { iterations: 1, directed, starts, bounds, places: 0, alone, marked: alone.max() > 0, ranks: None }
    }

    fn ranges(&self) -> u32 {
        self.bounds.len() as u32 - 1
    }

    fn supersteps_max(&self) -> u32 {
        self.iterations.saturating_mul(self.ranges())
    }

    /// Whether one range contains all vertices.
    fn is_whole(&self) -> bool {
        self.ranges() == 1
    }

    /// Mask of the bits that hold the label.
    fn mask(&self) -> u32 {
        if self.marked { !NEW } else { u32::MAX }
    }

    /// The range that a superstep processes.
    fn range(&self, step: &Step) -> Range<u32> {
        let number = step.integers[0] as usize;
        self.bounds[number]..self.bounds[number + 1]
    }

    fn counts<'a>(&'a self, state: &'a State, step: &Step) -> Counts<'a> {
        Counts { starts: &self.starts, range: self.range(step), part: &state.part, table: state.table(COUNTS) }
    }

    fn shader(&self) -> Shader {
        let text = include_str!("label_propagation.wgsl");
        let switches = vec![
            ("BOTH_ENDS", self.directed),
            ("WHOLE", self.is_whole()),
            ("RANKED", self.ranks.is_some()),
            ("MARKED", self.marked),
        ];
        let shader = Shader::of_program("src/algorithms/label_propagation/label_propagation.wgsl", text, switches);
        shader.with_constants([("SPREAD", SPREAD.into()), ("NEW", NEW.into()), ("WON", WON.into())])
    }

    fn visit(&self) -> Visit {
        if self.directed || self.is_whole() { Visit::All } else { Visit::Within(TURN) }
    }

    /// Its integers are the range's number, whether it is the last one, and for GPUs, which choose the next superstep
    /// by them, the number of ranges and the maximum number of supersteps.
    fn step(&self, superstep: u32) -> Step {
        let number = superstep % self.ranges();
        let last = u32::from(number + 1 == self.ranges());
        let integers = [number, last, self.ranges(), self.supersteps_max()];
        Step::new(superstep, Direction::Out, self.visit()).with_integers(integers)
    }

    /// With several ranges, marks the vertices of the next range to be read, and no others.
    fn give_turns(&self, state: &State, step: &Step, vertex: u32) {
        let turns = state.attributes.bits(TURN);
        let next = self.range(&self.step(step.superstep + 1));
        match next.contains(&vertex) {
            true => _ = turns.insert(vertex),
            false => turns.remove(vertex),
        }
    }
}

/// The ranges of the checkpoint that a run continues, if it is one of this graph.
fn kept_ranges(engine: &Engine) -> Result<Option<Vec<Range<u64>>>> {
    let Some((mut kept, bytes)) = engine.kept(NAME)? else { return Ok(None) };
    let bounds = kept.words((bytes / 4) as usize)?;
    let ranges: Vec<Range<u64>> = bounds.windows(2).map(|pair| pair[0].into()..pair[1].into()).collect();
    let vertices = engine.store().vertices();
    let ends =
        ranges.first().is_some_and(|range| range.start == 0) && ranges.last().is_some_and(|last| last.end == vertices);
    // Otherwise it is a checkpoint of another graph: the run will report that.
    Ok((ends && ranges.iter().all(|range| range.start <= range.end)).then_some(ranges))
}

impl Algorithm for LabelPropagation {
    type Kernel<'a> = LabelPropagationKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let mut attributes = vec![Attribute::u32("label", Role::Gathered, Merge::Min).initially(Initial::Vertex)];
        if !self.is_whole() {
            attributes.push(Attribute::u32("upcoming", Role::Own, Merge::Min).initially(Initial::Vertex));
            attributes.push(Attribute::set("turn", Role::ReadOnly));
        }
        let counts = Table { name: "counts", contents: Contents::Own(2 * self.places) };
        let mut tables = vec![Table::given("starts", &self.starts), Table::given("bounds", &self.bounds), counts];
        tables.extend(self.ranks.as_ref().map(|ranks| Table::given("ranks", &ranks.rank_of)));
        let parameters = Parameters::none().with("iterations", self.iterations).with("directed", self.directed);
        // Of stores with names, labels were the numbers of vertices once.
        let parameters = parameters.with("ranked", self.ranks.is_some()).with_numbers("ranges", &self.bounds);
        Declaration {
            command: "communities",
            tables,
            owned: true,
            writes: if self.directed { Ends::Both } else { Ends::List }.into(),
            parameters: Some(parameters),
            // Lists that CPUs count outside of the table have no room in it.
            shader: (!matches!(self.alone, Alone::Cpus(_))).then(|| self.shader()),
            plurality: match self.alone {
                Alone::Gpus(max) => Some(max as u32),
                Alone::Cpus(_) | Alone::None => None,
            },
            held_bytes: self.ranks.as_ref().map_or(0, |ranks| 4 * ranks.vertices.len() as u64),
            supersteps: Supersteps::AtMost(self.supersteps_max()),
            ..Declaration::new(NAME, attributes, vec![(Direction::Out, self.visit())])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let Graph { vertices, directed, .. } = *graph;
        let degrees = graph.out_degrees.values();
        let fits = self.starts.len() as u64 == vertices + 1 && self.directed == directed;
        let has_room = |(starts, &degree): (&[u32], &u32)| {
            let (room, least) = (u64::from(starts[1].wrapping_sub(starts[0])), self.alone.room(degree.into()));
            if directed { room >= least } else { room == least }
        };
        if fits && self.starts.par_windows(2).zip(degrees).all(has_room) {
            return Ok(());
        }
        Err("communities: the table of counts was made for another store".into())
    }

    fn keep(&self, out: &mut dyn Write) -> io::Result<()> {
        self.bounds.iter().try_for_each(|bound| out.write_all(&bound.to_le_bytes()))
    }

    fn recall(&self, state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[0], self.ranges() as usize)?;
        let label = state.attributes.u32(LABEL);
        // The run that wrote the checkpoint may have marked other labels or none: all labels count as new here.
        if state.graph.vertices <= NEW.into() {
            (0..state.graph.vertices as u32).into_par_iter().for_each(|vertex| {
                let plain = label.get(vertex) & !NEW;
                label.set(vertex, plain | !self.mask());
            });
        }
        let mask = self.mask();
        sound::vertices(state, label, |label| Some(label & mask))?;
        if self.is_whole() { Ok(()) } else { sound::vertices(state, state.attributes.u32(NEXT), Some) }
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        let (first, label) = (self.range(&self.step(0)), state.attributes.u32(LABEL));
        for vertex in vertices.map(|vertex| vertex as u32) {
            if let Some(ranks) = &self.ranks {
                label.set(vertex, ranks.rank_of[vertex as usize]);
                if !self.is_whole() {
                    state.attributes.u32(NEXT).set(vertex, ranks.rank_of[vertex as usize]);
                }
            }
            if !self.is_whole() && first.contains(&vertex) {
                state.attributes.bits(TURN).insert(vertex);
            }
        }
        Scalars::default()
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (self.iterations > 0 && graph.edges > 0).then(|| self.step(0))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> LabelPropagationKernel<'a> {
        let (label, counts) = (state.attributes.u32(LABEL), self.counts(state, step));
        // Labels change only when the last range has been processed.
        let all_differ = step.superstep < self.ranges();
        let (both_ends, mask, only_new) = (self.directed, self.mask(), self.marked && !all_differ);
        LabelPropagationKernel { label, counts, both_ends, mask, only_new, all_differ }
    }

    /// Chooses labels for the vertices of the range; after the last range they become the vertices' labels. The first
    /// sum is the number of labels that have changed.
    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (counts, label) = (self.counts(state, step), state.attributes.u32(LABEL));
        let mut changed = 0.0;
        for vertex in vertices.map(|vertex| vertex as u32) {
            let best = if counts.has(vertex) { counts.take(vertex) } else { None };
            let chosen = match (best, self.is_whole()) {
                (best, true) => best,
                (best, false) => {
                    let upcoming = state.attributes.u32(NEXT);
                    best.iter().for_each(|&best| upcoming.set(vertex, best));
                    self.give_turns(state, step, vertex);
                    (step.integers[1] > 0).then(|| upcoming.get(vertex))
                }
            };
            let before = label.get(vertex);
            if let Some(chosen) = chosen.filter(|&chosen| chosen != before & self.mask()) {
                label.set(vertex, chosen | !self.mask());
                changed += 1.0;
            } else if step.integers[1] > 0 && before & !self.mask() != 0 {
                label.set(vertex, before & self.mask());
            }
        }
        [changed, 0.0, 0.0, 0.0]
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let [number, is_last, ranges, supersteps_max] = [0, 1, 2, 3].map(|place| now.integer(place));
        let is_last = !is_last.equals(0);
        let stops = is_last.and(!now.total(0).above(0.0)).or((now.superstep() + 1).at_least(supersteps_max));
        let next = is_last.select(0, number + 1);
        let next_is_last = (next + 1).equals(ranges).select(1, 0);
        now.stay().with_integer(0, next).with_integer(1, next_is_last).unless(stops)
    }

    fn iteration(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        // The vertices whose label changed.
        let residual = summary.totals[0] / graph.vertices.max(1) as f64;
        let iterations = (step.superstep + 1) / self.ranges();
        // The answer is defined by the number of iterations: if labels still change, that is no defect of it.
        let tolerance = (residual == 0.0).then_some(0.0);
        (step.integers[1] > 0).then_some(Iteration { iterations, residual, tolerance })
    }

    fn changed(&self, _graph: &Graph, _step: &Step, summary: &Summary) -> u64 {
        summary.totals[0] as u64
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let label = state.attributes.u32(LABEL);
        let vertex_of = |label: u32| self.ranks.as_ref().map_or(label, |ranks| ranks.vertices[label as usize]);
        vec![Answer::vertex("community", move |vertex| Some(vertex_of(label.get(vertex) & self.mask())))]
    }
}
