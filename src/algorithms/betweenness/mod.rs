//! Betweenness centrality: `betweenness[v]` is the sum over pairs of other vertices (s, t) of the share of shortest
//! paths from s to t that lead through `v`, in hops along out-edges.
//!
//! Brandes' algorithm (Journal of Mathematical Sociology 2001), one source s after another: a search outwards by levels
//! that counts the shortest paths to each vertex, then back, level by level, `delta[v] = sum of paths[v] / paths[w] *
//! (1 + delta[w])` over out-neighbours w one level farther than v. The sum of delta over all sources but v itself is
//! the betweenness. As v gathers over its own out-list, in-lists are not needed.
//!
//! - Exact: all vertices are sources. As NetworkX's `betweenness_centrality(normalized=False)`: if the graph is
//!   undirected the sum is halved, since each pair is counted twice.
//! - Sampled (Brandes and Pich 2007): k different vertices are sources, and the sum is scaled by n / k (and halved if
//!   the graph is undirected), so that its expectation is the exact value.
//! - Of given sources: the sum of delta over these, neither scaled nor halved.
//!
//! Repeated edges are several paths; loops are on no shortest path. Numbers of paths are `f32`, exact up to 2^24 and
//! within a relative 2^-24 for each level beyond. If one exceeds 2^120 the run ends with an error that names the
//! vertex. Sums of floats depend slightly on the order of their terms, so results may differ between runs in their last
//! digits. In double precision, on the CPU only, numbers of paths and sums are `f64`: exact up to 2^53, within 2^-53
//! for each level beyond, and at most 2^1000.
//!
//! For each source a run has two supersteps a level that read the lists of that level, and two that read nothing; each
//! costs a vertex phase over all vertices. Exact betweenness is practical for graphs of about ten thousand vertices.
//!
//! 16.25 bytes a vertex: a level of 4 bytes, three numbers of 4, and two bits. In double precision 28.25: the numbers
//! take 8.

#[cfg(feature = "cli")]
pub mod command;
mod numbers;

pub use numbers::{Number, NumberColumn};

use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Ends, Graph, Integers, Kernel, List, Refusal, Rounds, Scalars, Shader,
    SmallSteps, State, Step, Table, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use std::collections::BTreeSet;
use std::io::Read;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use topostream_formats::random::SplitMix64;
use topostream_formats::{Direction, VertexId};

/// Betweenness centrality, in single precision (`f32`) or in double precision (`f64`).
#[derive(Clone, Debug, PartialEq)]
pub struct Betweenness<N = f32> {
    /// The sources of shortest paths, ascending, then [`NO_SOURCE`]; `None` for all vertices.
    sources: Option<Arc<Vec<u32>>>,
    /// Whether the sum is an estimate of that over all sources: it is scaled, and halved in an undirected graph.
    whole: bool,
    numbers: PhantomData<N>,
}

/// Indices of the declared attributes.
const LEVEL: usize = 0;
/// The sums that edges add to: paths in the forward phase, contributions of neighbours in the backward phase.
const SUM: usize = 1;
/// The number of paths; in the backward phase (1 + delta) / paths.
const SHARE: usize = 2;
/// The result so far, or [`REFUSED`].
const BETWEEN: usize = 3;
/// The vertices whose lists are read.
const VISITED: usize = 4;
/// In the forward phase, the vertices that have been reached; in the backward phase, those one level farther than the
/// vertices whose lists are read.
const MARKED: usize = 5;

const UNREACHED: u32 = u32::MAX;
/// Follows the last source, so that GPUs find the end of the table.
const NO_SOURCE: u32 = u32::MAX;
/// The result of a vertex with too many shortest paths.
const REFUSED: f32 = -1.0;

/// Indices into the totals. The number of vertices that a level out has reached; on the way back, of those whose lists
/// are read next, by which GPUs decide whether to queue them.
const REACHED: usize = 0;
const READ_NEXT: usize = 0;
const TOO_MANY: usize = 1;

/// The kind of a superstep, in the first integer of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Moves one level out.
    Out,
    /// After the farthest level: nothing is read.
    Turn,
    /// Moves one level back.
    Back,
    /// Starts with a source: nothing is read.
    Begin,
}

const MODES: [Mode; 4] = [Mode::Out, Mode::Turn, Mode::Back, Mode::Begin];
/// Their names in the shader.
const MODE_NAMES: [&str; 4] = ["OUT", "TURN", "BACK", "BEGIN"];

/// The integers of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phase {
    mode: Mode,
    source: u32,
    /// The level that is read, or the farthest.
    level: u32,
    /// The source's place in the table of sources, for GPUs; 0 if all vertices are sources.
    place: u32,
}

impl Phase {
    fn integers(self) -> Integers {
        let mode = MODES.iter().position(|&mode| mode == self.mode).expect("all of them");
        [mode as u32, self.source, self.level, self.place]
    }

    fn of(step: &Step) -> Self {
        let [mode, source, level, place] = step.integers;
        Self { mode: MODES[mode as usize], source, level, place }
    }
}

impl Betweenness {
    /// Over all sources.
    pub fn exact() -> Self {
        Self { sources: None, whole: true, numbers: PhantomData }
    }

    /// An estimate from `count` different, randomly sampled vertices of a graph: the same seed gives the same vertices.
    pub fn sampled(vertices: u64, count: u64, seed: u64) -> Self {
        // Floyd's sampling (Bentley and Floyd, CACM 1987): each set of vertices is as likely as any other.
        let mut chosen = BTreeSet::new();
        let mut random = SplitMix64(seed);
        for last in vertices.saturating_sub(count)..vertices {
            let drawn = ((u128::from(random.draw()) * u128::from(last + 1)) >> 64) as u32;
            if !chosen.insert(drawn) {
                chosen.insert(last as u32);
            }
        }
        Self { sources: Some(ended(chosen)), whole: true, numbers: PhantomData }
    }

    /// The sum over these sources only; duplicates count once.
    pub fn of_sources(sources: &[VertexId]) -> Self {
        let sources: BTreeSet<u32> = sources.iter().map(|source| source.0).collect();
        Self { sources: Some(ended(sources)), whole: false, numbers: PhantomData }
    }

    /// The same with numbers of paths and sums in double precision: on the CPU only.
    #[must_use]
    pub fn in_double(self) -> Betweenness<f64> {
        Betweenness { sources: self.sources, whole: self.whole, numbers: PhantomData }
    }
}

impl<N: Number> Betweenness<N> {
    /// Whether shortest paths begin at a vertex.
    #[doc(hidden)]
    pub fn has_source(&self, vertex: VertexId) -> bool {
        self.sources().is_none_or(|sources| sources.binary_search(&vertex.0).is_ok())
    }

    /// The sources; none if all vertices are.
    fn sources(&self) -> Option<&[u32]> {
        self.sources.as_ref().map(|sources| &sources[..sources.len() - 1])
    }

    /// Begins with the first source that is not below `from`.
    fn begin(&self, graph: &Graph, superstep: u32, from: u64) -> Option<Step> {
        let (place, source) = match self.sources() {
            None => (0, (from < graph.vertices).then_some(from as u32)?),
            Some(sources) => {
                let place = sources.partition_point(|&source| u64::from(source) < from);
                (place as u32, *sources.get(place)?)
            }
        };
        Some(Self::step(superstep, Phase { mode: Mode::Begin, source, level: 0, place }))
    }

    fn step(superstep: u32, phase: Phase) -> Step {
        let step = match phase.mode {
            Mode::Begin | Mode::Turn => Step::without_pages(superstep),
            Mode::Out | Mode::Back => Step::new(superstep, Direction::Out, Visit::Within(VISITED)),
        };
        step.with_integers(phase.integers())
    }

    fn shader(&self) -> Shader {
        let text = include_str!("betweenness.wgsl");
        let switches = vec![("EVERY_SOURCE", self.sources.is_none())];
        let shader = Shader::of_program("src/algorithms/betweenness/betweenness.wgsl", text, switches);
        let constants = [
            ("UNREACHED", UNREACHED.into()),
            ("NO_SOURCE", NO_SOURCE.into()),
            ("PATHS_MAX", numbers::PATHS_MAX.into()),
            ("REFUSED", REFUSED.into()),
        ];
        shader.with_modes(MODE_NAMES).with_constants(constants)
    }

    fn scale(&self, graph: &Graph) -> f64 {
        if !self.whole {
            return 1.0;
        }
        let count = self.sources().map_or(graph.vertices, |sources| sources.len() as u64);
        let halves = if graph.directed { 1.0 } else { 0.5 };
        halves * graph.vertices as f64 / count.max(1) as f64
    }
}

/// Sources in ascending order, and their end.
fn ended(sources: BTreeSet<u32>) -> Arc<Vec<u32>> {
    Arc::new(sources.into_iter().chain([NO_SOURCE]).collect())
}

/// Counts paths in the forward phase, and adds up shares of them in the backward phase.
#[doc(hidden)]
pub struct BetweennessKernel<'a, N: Number> {
    sum: &'a N::Column,
    share: &'a N::Column,
    marked: &'a Bits,
    back: bool,
}

impl<N: Number> Kernel for BetweennessKernel<'_, N> {
    /// The vertex, and the value that its neighbours receive or have contributed.
    type Record = (u32, N);

    #[inline(always)]
    fn open(&self, list: List) -> Option<(u32, N)> {
        Some((list.vertex, if self.back { N::from(0.0) } else { self.share.get(list.vertex) }))
    }

    #[inline(always)]
    fn edge(&self, (_, sum): &mut (u32, N), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        match (self.back, self.marked.contains(neighbour)) {
            (true, true) => *sum += self.share.get(neighbour),
            (false, false) => self.sum.add(neighbour, *sum),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, (vertex, sum): (u32, N)) {
        if self.back && sum > N::from(0.0) {
            self.sum.add(vertex, sum);
        }
    }
}

/// The values of a vertex phase.
struct Values<'a, N: Number> {
    level: &'a U32Column,
    sum: &'a N::Column,
    share: &'a N::Column,
    between: &'a N::Column,
    visited: &'a Bits,
    marked: &'a Bits,
}

fn put(bits: &Bits, vertex: u32, is_in: bool) {
    match is_in {
        true => drop(bits.insert(vertex)),
        false if bits.contains(vertex) => bits.remove(vertex),
        false => {}
    }
}

impl<'a, N: Number> Values<'a, N> {
    fn of(state: &'a State) -> Self {
        let [sum, share, between] = [SUM, SHARE, BETWEEN].map(|place| N::column(&state.attributes, place));
        let bits = |place| state.attributes.bits(place);
        Self { level: state.attributes.u32(LEVEL), sum, share, between, visited: bits(VISITED), marked: bits(MARKED) }
    }

    fn begin(&self, vertex: u32, is_source: bool) {
        self.level.set(vertex, if is_source { 0 } else { UNREACHED });
        self.share.set(vertex, N::from(if is_source { 1.0 } else { 0.0 }));
        self.sum.set(vertex, N::from(0.0));
        put(self.marked, vertex, is_source);
        put(self.visited, vertex, is_source);
    }

    /// Returns whether a vertex has been reached in this superstep, and whether by too many paths.
    fn reach(&self, vertex: u32, level: u32) -> (bool, bool) {
        if self.marked.contains(vertex) {
            put(self.visited, vertex, false);
            return (false, false);
        }
        let paths = self.sum.take(vertex);
        if paths.is_too_many() {
            self.between.set(vertex, N::from(REFUSED));
            return (true, true);
        }
        let is_reached = paths > N::from(0.0);
        if is_reached {
            self.level.set(vertex, level + 1);
            self.share.set(vertex, paths);
            self.marked.insert(vertex);
            self.visited.insert(vertex);
        }
        (is_reached, false)
    }

    /// Returns whether a vertex's list is read next.
    fn turn(&self, vertex: u32, level: u32) -> bool {
        let mine = self.level.get(vertex);
        put(self.marked, vertex, mine == level);
        put(self.visited, vertex, mine.wrapping_add(1) == level);
        if mine == level {
            self.share.set(vertex, N::from(1.0) / self.share.get(vertex));
        }
        mine.wrapping_add(1) == level
    }

    /// Returns whether a vertex's list is read next.
    fn come_back(&self, vertex: u32, level: u32) -> bool {
        let mine = self.level.get(vertex);
        if mine == level {
            let (sum, paths) = (self.sum.take(vertex), self.share.get(vertex));
            self.between.set(vertex, self.between.get(vertex) + sum * paths);
            self.share.set(vertex, N::from(1.0) / paths + sum);
            self.marked.insert(vertex);
            self.visited.remove(vertex);
        } else if mine == level + 1 {
            self.marked.remove(vertex);
        } else if mine.wrapping_add(1) == level {
            self.visited.insert(vertex);
        }
        mine.wrapping_add(1) == level
    }
}

impl<N: Number> Algorithm for Betweenness<N> {
    type Kernel<'a> = BetweennessKernel<'a, N>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            // Edges access neither this nor the result.
            Attribute::u32("level", Role::Own, Merge::Add),
            Attribute::new("sum", N::TYPE, Role::Accumulated, Merge::Add),
            Attribute::new("share", N::TYPE, Role::Gathered, Merge::Max),
            Attribute::new("between", N::TYPE, Role::Own, Merge::Add),
            Attribute::set("visited", Role::ReadOnly),
            Attribute::set("marked", Role::Gathered),
        ];
        let parameters = Parameters::none().with("whole", self.whole).with("precision", N::PRECISION);
        let count = self.sources().map(|sources| sources.len() as u64);
        // Of each source, towards all vertices and back.
        let rounds = Rounds { count, number: if count.is_some() { 3 } else { 1 }, passes: 2.0 };
        Declaration {
            command: "betweenness",
            tables: self.sources.iter().map(|sources| Table::given("sources", sources)).collect(),
            writes: Ends::Both.into(),
            parameters: Some(match self.sources() {
                Some(sources) => parameters.with_numbers("sources", sources),
                None => parameters.with("sources", "all"),
            }),
            shader: N::ON_GPUS.then(|| self.shader()),
            held_bytes: 4 * count.unwrap_or(0),
            rounds: Some(rounds),
            small_steps: Some(SmallSteps::Vertices),
            ..Declaration::new(N::ALGORITHM, attributes, vec![(Direction::Out, Visit::Within(VISITED))])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let Some(sources) = self.sources() else { return Ok(()) };
        if sources.is_empty() {
            return Err("betweenness needs a source".into());
        }
        sources.last().map_or(Ok(()), |&source| graph.check_vertex("source", VertexId(source)))
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[0], MODES.len())?;
        sound::place(step.integers[2], sound::FAR)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        if graph.edges == 0 {
            return None;
        }
        self.begin(graph, 0, 0)
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> BetweennessKernel<'a, N> {
        let Values { sum, share, marked, .. } = Values::<N>::of(state);
        BetweennessKernel { sum, share, marked, back: Phase::of(step).mode == Mode::Back }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (values, Phase { mode, source, level, .. }) = (Values::<N>::of(state), Phase::of(step));
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            match mode {
                Mode::Begin => values.begin(vertex, vertex == source),
                Mode::Turn => totals[READ_NEXT] += f64::from(values.turn(vertex, level)),
                Mode::Back => totals[READ_NEXT] += f64::from(values.come_back(vertex, level)),
                Mode::Out => {
                    let (reached, too_many) = values.reach(vertex, level);
                    totals[REACHED] += f64::from(reached);
                    totals[TOO_MANY] += f64::from(too_many);
                }
            }
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let [mode, source, level, place] = [0, 1, 2, 3].map(|place| now.integer(place));
        let is = |other: Mode| mode.equals(other as u32);
        let to = |next: Next<'a>, mode: Mode| next.with_integer(0, mode as u32);
        let read = now.visit(Direction::Out, Visit::Within(VISITED));
        let farther = read.with_integer(2, level + 1).of(now.total(REACHED));
        let back = to(read, Mode::Back).with_integer(2, level - 1).of(now.total(READ_NEXT));
        let place = place + 1;
        let (source, is_last) = match &self.sources {
            None => (source + 1, !(source + 1).number().less(now.vertices())),
            Some(sources) => {
                let source = now.lookup("sources", sources, place);
                (source, source.equals(NO_SOURCE))
            }
        };
        let place = if self.sources.is_some() { place } else { now.integer_of(0) };
        let another = to(now.without_pages(), Mode::Begin).with_integer(1, source).with_integer(2, 0);
        let another = another.with_integer(3, place).unless(is_last);
        // No vertex lies between a source and its neighbours.
        let is_far = !level.less(2);
        let turned = is(Mode::Out).select(to(now.without_pages(), Mode::Turn), back);
        let reached = is(Mode::Out).and(now.total(REACHED).above(0.0));
        let next = reached.select(farther, is_far.select(turned, another));
        let next = next.unless(is(Mode::Out).and(now.total(TOO_MANY).above(0.0)));
        is(Mode::Begin).select(to(read, Mode::Out).of(now.number_of(1.0)), next)
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let between = N::column(&state.attributes, BETWEEN);
        let is_refused = |vertex: &u32| between.get(*vertex) < N::from(0.0);
        let refused = (0..state.graph.vertices).map(|vertex| vertex as u32).find(is_refused);
        let reason = || format!("more than 2^{} shortest paths lead there from one source", N::PATHS_MAX_LOG2);
        Refusal::of(refused, reason)?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let (between, scale) = (N::column(&state.attributes, BETWEEN), self.scale(&state.graph));
        vec![N::answer("betweenness", move |vertex| scale * between.get(vertex).into())]
    }
}
