//! Connected components: `component[v]` is the vertex with the smallest original id that `v` is connected to, ignoring
//! the direction of edges (*weakly* connected components, if the graph is directed). During the run it is the one with
//! the smallest number in the store.
//!
//! Every vertex starts with its own number as its label. Labels propagate along edges, and the smaller one wins. If
//! each edge is stored in the lists of both ends, the first superstep reads all lists, and the following ones read the
//! lists of vertices whose label has changed. If it is stored in one list only, an edge lowers whichever of its ends
//! has the larger label, and every superstep reads all lists until one changes nothing. Current labels are read, so a
//! label can travel several hops in one superstep; the final labels do not depend on the order. PEGASUS (Kang et al.,
//! ICDM 2009) calls label propagation by minima HCC.
//!
//! 4 bytes a vertex for the label. Loops and repeated edges change nothing.
//!
//! [`UnionFind`] finds the same labels on one CPU, in about one pass, and [`Hooking`] on one GPU, in a number of
//! supersteps that grows with the logarithm of the longest path.

#[cfg(feature = "cli")]
pub mod command;
mod hooking;
mod union_find;

pub use hooking::Hooking;
pub use union_find::UnionFind;

use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Groups, Kernel, List, Scalars, Shader, SmallSteps, State, Step, Visit,
};
use crate::model::attributes::{Attribute, Initial, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::{Parameters, sound};
use std::io::Read;
use std::ops::ControlFlow;
use topostream_formats::Direction;

/// Connected components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Components {
    /// Whether the graph is directed, according to its store: an edge is then stored in one list only.
    pub directed: bool,
}

/// Its index in the declaration.
const LABEL: usize = 0;

/// Lowers labels.
#[doc(hidden)]
pub struct ComponentsKernel<'a> {
    label: &'a U32Column,
    next: &'a Bits,
    both_ends: bool,
}

impl ComponentsKernel<'_> {
    #[inline(always)]
    fn lower(&self, vertex: u32, label: u32) {
        if self.label.min(vertex, label) {
            self.next.insert(vertex);
        }
    }
}

impl Kernel for ComponentsKernel<'_> {
    /// The vertex, and the smallest label that it or a neighbour had.
    type Record = (u32, u32);

    #[inline(always)]
    fn open(&self, list: List) -> Option<(u32, u32)> {
        Some((list.vertex, self.label.get(list.vertex)))
    }

    #[inline(always)]
    fn edge(&self, (_, least): &mut (u32, u32), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let theirs = self.label.get(neighbour);
        if theirs > *least {
            self.lower(neighbour, *least);
        } else if self.both_ends {
            *least = theirs;
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.label.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, (vertex, least): (u32, u32)) {
        if self.both_ends {
            self.lower(vertex, least);
        }
    }
}

impl Components {
    fn visit(self, superstep: u32) -> Visit {
        if self.directed || superstep == 0 { Visit::All } else { Visit::Frontier }
    }
}

impl Algorithm for Components {
    type Kernel<'a> = ComponentsKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let label = Attribute::u32("label", Role::Writable, Merge::Min).initially(Initial::Vertex);
        let mut visits = vec![(Direction::Out, self.visit(0))];
        if !self.directed {
            visits.push((Direction::Out, self.visit(1)));
        }
        let (file, text) = ("src/algorithms/components/components.wgsl", include_str!("components.wgsl"));
        Declaration {
            traversal: true,
            monotone: true,
            ends_only: true,
            writes: if self.directed { Ends::Both } else { Ends::Neighbour }.into(),
            parameters: Some(Parameters::none().with("directed", self.directed)),
            shader: Some(Shader::of_program(file, text, vec![("BOTH_ENDS", self.directed)])),
            small_steps: Some(if self.directed { SmallSteps::AllLists } else { SmallSteps::Rounds }),
            groups: Some(Groups { label: LABEL, vertex_of: |label| label, is_smallest: true }),
            ..Declaration::new("components", vec![label], visits)
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if self.directed || !graph.directed {
            return Ok(());
        }
        Err("components: expected an undirected graph, the store's is directed".into())
    }

    fn recall(&self, state: &State, _step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::vertices(state, state.attributes.u32(LABEL), Some)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.edges > 0).then(|| Step::new(0, Direction::Out, self.visit(0)))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> ComponentsKernel<'a> {
        let (label, next) = (state.attributes.u32(LABEL), state.next_frontier(step.superstep));
        ComponentsKernel { label, next, both_ends: self.directed }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let label = state.attributes.u32(LABEL);
        vec![Answer::vertex("component", move |vertex| Some(label.get(vertex)))]
    }
}
