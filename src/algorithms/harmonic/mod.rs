//! Harmonic centrality: `harmonic[v]` is the sum of 1 / d(u, v) over all other vertices u, where d is the number of
//! hops from u to v; vertices that do not reach v add nothing.
//!
//! One source u after another: a search by levels, in which every vertex of level d adds 1 / d. As NetworkX's
//! `harmonic_centrality`. Boldi and Vigna (Internet Mathematics 2014) compare it with other centralities.
//!
//! - Exact: all vertices are sources.
//! - Sampled (Eppstein and Wang 2004): k different vertices are sources, and the sum is scaled by n / k, so that its
//!   expectation is the exact value.
//! - Of given sources: the sum over these, not scaled.
//!
//! Terms are `f32`, added in the order of the sources: the same bits on every device, within a relative 2^-24 for each
//! source. For each source a run has a superstep a level, over the lists of that level, and one that reads nothing.
//! Only the latter goes over all vertices. 4 bytes a vertex, and three bits.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::sources::Sources;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Kernel, List, PhaseWithin, Scalars, Shader, SmallSteps, State, Step,
    Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role};
use crate::model::bits::Bits;
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use std::io::Read;
use std::ops::{ControlFlow, Range};
use topostream_formats::{Direction, VertexId};

/// Harmonic centrality.
#[derive(Clone, Debug, PartialEq)]
pub struct Harmonic {
    sources: Sources,
}

/// Indices of the declared attributes.
const SUM: usize = 0;
/// The vertices to which edges from the last level lead.
const FOUND: usize = 1;
/// The vertices that have a level.
const REACHED: usize = 2;
/// The vertices whose lists are read.
const VISITED: usize = 3;

/// Indices into a step's integers.
const MODE: usize = 0;
const SOURCE: usize = 1;
const LEVEL: usize = 2;
/// The source's place among the sources.
const PLACE: usize = 3;

/// Kinds of supersteps: one level out; or the beginning with a source, which reads nothing.
const OUT: u32 = 0;
const BEGIN: u32 = 1;

impl Harmonic {
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
        Self { sources }
    }
}

/// Finds the neighbours of a level.
#[doc(hidden)]
pub struct HarmonicKernel<'a>(&'a Bits);

impl Kernel for HarmonicKernel<'_> {
    type Record = ();

    #[inline(always)]
    fn open(&self, _list: List) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn edge(&self, _record: &mut (), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        self.0.insert(neighbour);
        ControlFlow::Continue(())
    }
}

impl Algorithm for Harmonic {
    type Kernel<'a> = HarmonicKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            Attribute::f32("sum", Role::Own, Merge::Add),
            Attribute::set("found", Role::Accumulated),
            // Edges do not access these.
            Attribute::set("reached", Role::Own),
            Attribute::set("visited", Role::ReadOnly),
        ];
        let shader = Shader::of_program("src/algorithms/harmonic/harmonic.wgsl", include_str!("harmonic.wgsl"), vec![]);
        Declaration {
            tables: self.sources.tables(),
            parameters: Some(self.sources.parameters(Parameters::none())),
            shader: Some(shader.with_modes(["OUT", "BEGIN"])),
            held_bytes: self.sources.held_bytes(),
            rounds: Some(self.sources.rounds((SOURCE, PLACE), 1.0)),
            phase_within: Some(PhaseWithin { sets: &[FOUND, VISITED], modes: Some(&[OUT]) }),
            small_steps: Some(SmallSteps::Lists),
            ..Declaration::new("harmonic", attributes, vec![(Direction::Out, Visit::Within(VISITED))])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        self.sources.check("harmonic centrality", graph)
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[MODE], 2)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let source = self.sources.first(graph.vertices).filter(|_| graph.edges > 0)?;
        Some(Step::without_pages(0).with_integers([BEGIN, source, 0, 0]))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> HarmonicKernel<'a> {
        HarmonicKernel(state.attributes.bits(FOUND))
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let [found, reached, visited] = [FOUND, REACHED, VISITED].map(|place| state.attributes.bits(place));
        let (sum, term) = (state.attributes.f32(SUM), step.scalars[0] as f32);
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let (is_found, is_reached) = (found.contains(vertex), reached.contains(vertex));
            if is_found {
                found.remove(vertex);
            }
            let goes_on = match step.integers[MODE] {
                BEGIN => vertex == step.integers[SOURCE],
                _ => is_found && !is_reached,
            };
            if goes_on {
                reached.insert(vertex);
                visited.insert(vertex);
            } else if visited.contains(vertex) {
                visited.remove(vertex);
            }
            if step.integers[MODE] == BEGIN {
                if is_reached && !goes_on {
                    reached.remove(vertex);
                }
            } else if goes_on {
                sum.set(vertex, sum.get(vertex) + term);
                totals[0] += 1.0;
            }
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let level = now.integer(LEVEL) + 1;
        let out = now.visit(Direction::Out, Visit::Within(VISITED)).with_integer(MODE, OUT).with_integer(LEVEL, level);
        let out = out.with_scalar(0, now.number_of(1.0) / level.number());
        let (source, place, is_last) = self.sources.next(now, now.integer(SOURCE), now.integer(PLACE));
        let begin = now.without_pages().with_integer(MODE, BEGIN).with_integer(LEVEL, 0);
        let begin = begin.with_integer(SOURCE, source).with_integer(PLACE, place).unless(is_last);
        let farther = now.total(0).above(0.0).select(out.of(now.total(0)), begin);
        now.integer(MODE).equals(BEGIN).select(out.of(now.number_of(1.0)), farther)
    }

    fn changed(&self, graph: &Graph, step: &Step, summary: &Summary) -> u64 {
        // A search begins with all.
        if step.integers[MODE] == BEGIN { graph.vertices } else { summary.totals[0] as u64 }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let (sum, scale) = (state.attributes.f32(SUM), self.sources.scale(state.graph.vertices));
        vec![Answer::f32("harmonic", move |vertex| (scale * f64::from(sum.get(vertex))) as f32)]
    }
}
