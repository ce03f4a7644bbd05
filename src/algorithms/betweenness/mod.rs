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

use crate::algorithms::sources::Sources;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Ends, Graph, Integers, Kernel, List, Refusal, Scalars, Shader,
    SmallSteps, State, Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use std::io::Read;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use topostream_formats::{Direction, VertexId};

/// Betweenness centrality, in single precision (`f32`) or in double precision (`f64`).
#[derive(Clone, Debug, PartialEq)]
pub struct Betweenness<N = f32> {
    /// The sources of shortest paths. In an undirected graph a sum over all is halved.
    sources: Sources,
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
        Self::over(Sources::all())
    }

    /// An estimate from `count` different, randomly sampled vertices of a graph: the same seed gives the same vertices.
    pub fn sampled(vertices: u64, count: u64, seed: u64) -> Self {
        Self::over(Sources::sampled(vertices, count, seed))
    }

    /// The sum over these sources only; duplicates count once.
    pub fn of_sources(sources: &[VertexId]) -> Self {
        Self::over(Sources::given(sources))
    }

    /// Over these sources.
    pub(super) fn over(sources: Sources) -> Self {
        Self { sources, numbers: PhantomData }
    }

    /// Betweenness with numbers of paths and sums in double precision: on the CPU only.
    #[must_use]
    pub fn in_double(self) -> Betweenness<f64> {
        Betweenness { sources: self.sources, numbers: PhantomData }
    }
}

impl<N: Number> Betweenness<N> {
    /// Whether shortest paths begin at a vertex.
    #[doc(hidden)]
    pub fn has_source(&self, vertex: VertexId) -> bool {
        self.sources.has(vertex)
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
        let shader = Shader::of_program("src/algorithms/betweenness/betweenness.wgsl", text, Vec::new());
        let constants =
            [("UNREACHED", UNREACHED.into()), ("PATHS_MAX", numbers::PATHS_MAX.into()), ("REFUSED", REFUSED.into())];
        shader.with_modes(MODE_NAMES).with_constants(constants)
    }

    fn scale(&self, graph: &Graph) -> f64 {
        let halves = if self.sources.are_whole() && !graph.directed { 0.5 } else { 1.0 };
        halves * self.sources.scale(graph.vertices)
    }
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
        let parameters = Parameters::none().with("whole", self.sources.are_whole()).with("precision", N::PRECISION);
        Declaration {
            command: "betweenness",
            tables: self.sources.tables(),
            writes: Ends::Both.into(),
            parameters: Some(self.sources.parameters(parameters)),
            shader: N::ON_GPUS.then(|| self.shader()),
            held_bytes: self.sources.held_bytes(),
            // Of each source, towards all vertices and back.
            rounds: Some(self.sources.rounds((1, 3), 2.0)),
            small_steps: Some(SmallSteps::Vertices),
            ..Declaration::new(N::ALGORITHM, attributes, vec![(Direction::Out, Visit::Within(VISITED))])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        self.sources.check("betweenness", graph)
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[0], MODES.len())?;
        sound::place(step.integers[2], sound::FAR)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let source = self.sources.first(graph.vertices).filter(|_| graph.edges > 0)?;
        Some(Self::step(0, Phase { mode: Mode::Begin, source, level: 0, place: 0 }))
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
        let (source, place, is_last) = self.sources.next(now, source, place);
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

    fn changed(&self, graph: &Graph, step: &Step, summary: &Summary) -> u64 {
        // A search begins with all. On the way back, the next superstep reads the lists of the vertices that count.
        if Phase::of(step).mode == Mode::Begin { graph.vertices } else { summary.totals[REACHED] as u64 }
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
