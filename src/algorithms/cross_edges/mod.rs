//! Edges from one set of vertices into another: for each vertex `v` of the first set, `count[v]` is the number of
//! out-edges of `v` that end in the second set; it is 0 for all others.
//!
//! The sets may overlap: an edge between two vertices of both counts, and so does a loop. Repeated edges count each
//! time. An undirected edge counts in both directions: if both of its ends are in both sets, it counts at both, a loop
//! once.
//!
//! Only the pages with lists of the first set are read. 4 bytes a vertex, and two bits; the sets themselves take two
//! more in main memory.

#[cfg(feature = "cli")]
pub mod command;

use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Kernel, List, Scalars, Seeds, Shader, State, Step, Supersteps, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::vertex_set::VertexSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use topostream_formats::Direction;

/// Edges between two sets of vertices.
#[derive(Clone, Debug)]
pub struct CrossEdges {
    /// The vertices that edges leave.
    pub from: Arc<VertexSet>,
    /// The vertices that they enter.
    pub to: Arc<VertexSet>,
}

/// Indices of the declared attributes.
const COUNT: usize = 0;
const SOURCES: usize = 1;
const DESTS: usize = 2;

/// Counts neighbours that are in the second set.
#[doc(hidden)]
pub struct CrossEdgesKernel<'a> {
    count: &'a U32Column,
    dests: &'a Bits,
}

impl Kernel for CrossEdgesKernel<'_> {
    /// The vertex, and the number of its neighbours in the second set.
    type Record = (u32, u32);

    #[inline(always)]
    fn open(&self, list: List) -> Option<(u32, u32)> {
        Some((list.vertex, 0))
    }

    #[inline(always)]
    fn edge(&self, (_, count): &mut (u32, u32), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        *count += u32::from(self.dests.contains(neighbour));
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, (vertex, count): (u32, u32)) {
        if count > 0 {
            self.count.add(vertex, count);
        }
    }
}

impl Algorithm for CrossEdges {
    type Kernel<'a> = CrossEdgesKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            Attribute::u32("count", Role::Own, Merge::Add),
            Attribute::set("sources", Role::ReadOnly),
            Attribute::set("dests", Role::Gathered),
        ];
        let parameters = Parameters::none().with_set("from", &self.from).with_set("to", &self.to);
        let (file, text) = ("src/algorithms/cross_edges/cross_edges.wgsl", include_str!("cross_edges.wgsl"));
        Declaration {
            writes: Ends::List.into(),
            parameters: Some(parameters),
            shader: Some(Shader::of_program(file, text, Vec::new())),
            held_bytes: 2 * VertexSet::memory_bytes(self.from.vertices()),
            supersteps: Supersteps::Exactly(1),
            ..Declaration::new("cross-edges", attributes, vec![(Direction::Out, Visit::Within(SOURCES))])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        match [&self.from, &self.to].into_iter().find(|set| set.vertices() != graph.vertices) {
            None => Ok(()),
            Some(set) => Err(format!("a set is of {} vertices, and the graph has {}", set.vertices(), graph.vertices)),
        }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(Step::new(0, Direction::Out, Visit::Within(SOURCES)))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> CrossEdgesKernel<'a> {
        CrossEdgesKernel { count: state.attributes.u32(COUNT), dests: state.attributes.bits(DESTS) }
    }

    fn seeds(&self) -> Seeds<'_> {
        Seeds { sets: vec![(SOURCES, self.from.bits()), (DESTS, self.to.bits())], ..Seeds::default() }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let count = state.attributes.u32(COUNT);
        vec![Answer::integer("cross_edges", move |vertex| Some(count.get(vertex).into()))]
    }
}
