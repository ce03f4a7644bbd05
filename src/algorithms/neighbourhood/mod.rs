//! Neighbourhoods that ignore the direction of edges: `level[v]` is the number of hops from the nearest source in the
//! undirected version of the graph, up to a limit; vertices farther away count as unreached. Loops and repeated edges
//! make no difference.
//!
//! For directed graphs only, whose edges are stored in the out-list of one end and the in-list of the other: a hop is
//! two supersteps, first over the out-lists of the outermost vertices, then over their in-lists. For neighbourhoods in
//! one direction, or in undirected graphs, use [`Bfs`](super::Bfs) with a limit on hops.
//!
//! 4 bytes a vertex for the level, and a bit.

#[cfg(feature = "cli")]
pub mod command;

use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Kernel, List, Scalars, Seed, Seeds, Shader, SmallSteps, State, Step,
    Summary, Supersteps, Visit,
};
use crate::model::attributes::{Attribute, Initial, Merge, Role, U32Column};
use crate::model::rule::{Next, Now};
use std::ops::{ControlFlow, Range};
use topostream_formats::{Direction, VertexId};

/// The vertices within some hops of sources, over out- and in-lists of a directed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The sources: at least one.
    pub sources: Vec<VertexId>,
    /// The maximum number of hops, if there is a limit.
    pub hops_max: Option<u32>,
}

/// Indices of the declared attributes.
const LEVEL: usize = 0;
/// The vertices of the last level.
const OUTERMOST: usize = 1;

/// The level of a vertex that has not been reached.
const UNREACHED: u32 = u32::MAX;

/// The level that a superstep assigns: two supersteps to a hop.
fn level_of(step: &Step) -> u32 {
    step.superstep / 2 + 1
}

/// Whether a superstep is the second one of its hop.
fn ends_hop(step: &Step) -> bool {
    step.direction == Direction::In
}

/// Assigns a level to vertices that have none.
#[doc(hidden)]
pub struct NeighbourhoodKernel<'a> {
    level: &'a U32Column,
    next_level: u32,
}

impl Kernel for NeighbourhoodKernel<'_> {
    type Record = ();

    #[inline(always)]
    fn open(&self, _list: List) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn edge(&self, _record: &mut (), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        self.level.min(neighbour, self.next_level);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.level.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, _record: ()) {}
}

impl Algorithm for Neighbourhood {
    type Kernel<'a> = NeighbourhoodKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let level = Attribute::u32("level", Role::Accumulated, Merge::Min).initially(Initial::Bits(UNREACHED));
        let attributes = vec![level, Attribute::set("outermost", Role::ReadOnly)];
        let visits = [Direction::Out, Direction::In].map(|direction| (direction, Visit::Within(OUTERMOST)));
        let parameters = Parameters::none().with_vertices("sources", &self.sources);
        let (file, text) = ("src/algorithms/neighbourhood/neighbourhood.wgsl", include_str!("neighbourhood.wgsl"));
        // A hop reads out-lists and in-lists.
        let supersteps = self.hops_max.map(|hops| Supersteps::AtMost(hops.saturating_mul(2)));
        Declaration {
            writes: Ends::Neighbour.into(),
            parameters: Some(parameters.with("hops at most", self.hops_max)),
            shader: Some(Shader::of_program(file, text, Vec::new())),
            supersteps: supersteps.unwrap_or(Supersteps::Unknown),
            small_steps: self.hops_max.is_none().then_some(SmallSteps::Vertices),
            ..Declaration::new("neighbourhood", attributes, visits.to_vec())
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if !graph.has_in_lists {
            return Err("neighbours whichever way edges point need a store with in-lists: `topostream reformat STORE \
                        NEW --in-edges` adds them"
                .into());
        }
        graph.check_sources(&self.sources)
    }

    fn seeds(&self) -> Seeds<'_> {
        let seed = |attribute, bits| self.sources.iter().map(move |source| Seed { attribute, vertex: source.0, bits });
        Seeds { values: seed(LEVEL, 0).chain(seed(OUTERMOST, 1)).collect(), ..Seeds::default() }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        // The limit is for GPUs, which choose the next superstep by it.
        let integers = [self.hops_max.unwrap_or(u32::MAX), 0, 0, 0];
        let first = Step::new(0, Direction::Out, Visit::Within(OUTERMOST)).with_integers(integers);
        (self.hops_max != Some(0)).then_some(first)
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> NeighbourhoodKernel<'a> {
        NeighbourhoodKernel { level: state.attributes.u32(LEVEL), next_level: level_of(step) }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let mut totals = Scalars::default();
        if !ends_hop(step) {
            return totals;
        }
        let (level, outermost) = (state.attributes.u32(LEVEL), state.attributes.bits(OUTERMOST));
        for vertex in vertices.map(|vertex| vertex as u32) {
            if level.get(vertex) == level_of(step) {
                outermost.insert(vertex);
                totals[0] += 1.0;
            } else if outermost.contains(vertex) {
                outermost.remove(vertex);
            }
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let [out, against] = [Direction::Out, Direction::In].map(|direction| (direction, Visit::Within(OUTERMOST)));
        let is_last = (now.superstep() / 2 + 1).equals(now.integer(0)).or(!now.total(0).above(0.0));
        let farther = now.visit(out.0, out.1).of(now.total(0)).unless(is_last);
        now.is(out.0, out.1).select(now.visit(against.0, against.1).of_the_same(), farther)
    }

    fn changed(&self, _graph: &Graph, _step: &Step, summary: &Summary) -> u64 {
        summary.totals[0] as u64
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let level = state.attributes.u32(LEVEL);
        let reached = move |vertex| Some(level.get(vertex)).filter(|&level| level != UNREACHED);
        vec![Answer::integer("level", move |vertex| reached(vertex).map(u64::from))]
    }
}
