//! Connected components by hooking and pointer jumping, for one device (Shiloach and Vishkin, Journal of Algorithms
//! 1982; on GPUs: Soman, Kothapalli and Narayanan, IPDPS Workshops 2010). This is the simple form of Liu and Tarjan
//! (*Simple concurrent labeling algorithms for connected components*, 2019) that they call parent-connect and shortcut.
//!
//! A vertex's label is a vertex of its component with a number no larger than its own: labels are trees. An edge whose
//! ends have different labels *hooks* the larger label to the smaller one: it lowers the label of that label. The
//! vertex phase *jumps*: a vertex takes the label of its label, up to [`JUMPS`] times. Trees thus grow by whole trees
//! and become flat: the number of supersteps grows with the logarithm of the longest path, where
//! [`Components`](super::Components) takes as many supersteps as that path has edges.
//!
//! If each edge is in the lists of both ends, a superstep reads the lists of vertices whose label has changed since
//! their list was last read. That is enough: reading an edge whose ends have different labels lowers the label of the
//! larger one, so the end with that label changes in the next vertex phase and its list is read again. If an edge is in
//! one list only, every superstep reads all lists. When no label changes, both ends of every edge have the same label,
//! the smallest number of the component.
//!
//! 4 bytes a vertex for the label, and two bits. Edges write to vertices that are not their ends, and the vertex phase
//! reads other vertices: several devices cannot share a run.

use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Groups, Kernel, List, Next, Now, Scalars, Shader, State, Step,
    Summary, Visit,
};
use crate::model::attributes::{Attribute, Initial, Merge, Role, U32Column};
use crate::model::bits::Bits;
use std::ops::{ControlFlow, Range};
use topostream_formats::Direction;

/// Connected components, for one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hooking {
    /// Whether the graph is directed, according to its store: an edge is then stored in one list only.
    pub directed: bool,
}

/// Indices in the declaration.
const LABEL: usize = 0;
/// The vertices that edges have lowered the labels of, since the last vertex phase.
const LOWERED: usize = 1;
/// The vertices whose labels have changed, until their lists have been read.
const CHANGED: usize = 2;

/// The jumps of a vertex phase: a bound on what one vertex of a long tree waits for.
const JUMPS: u32 = 16;

/// The supersteps of R-MAT graphs of scales 22 to 30.
const SUPERSTEPS: u32 = 3;

/// Hooks labels.
#[doc(hidden)]
pub struct HookingKernel<'a> {
    label: &'a U32Column,
    lowered: &'a Bits,
}

impl HookingKernel<'_> {
    #[inline(always)]
    fn lower(&self, vertex: u32, label: u32) {
        if self.label.min(vertex, label) {
            self.lowered.insert(vertex);
        }
    }
}

impl Kernel for HookingKernel<'_> {
    /// The label of the list's vertex, or a smaller one that it has been hooked to.
    type Record = u32;
    const SKIPS_EMPTY: bool = true;

    #[inline(always)]
    fn open(&self, list: List) -> Option<u32> {
        Some(self.label.get(list.vertex))
    }

    #[inline(always)]
    fn edge(&self, label: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let theirs = self.label.get(neighbour);
        if theirs > *label {
            self.lower(theirs, *label);
        } else if theirs < *label {
            self.lower(*label, theirs);
            *label = theirs;
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.label.prefetch(neighbour);
    }
}

impl Hooking {
    fn visit(self) -> Visit {
        if self.directed { Visit::All } else { Visit::Within(CHANGED) }
    }
}

impl Algorithm for Hooking {
    type Kernel<'a> = HookingKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            Attribute::u32("label", Role::Writable, Merge::Min).initially(Initial::Vertex),
            Attribute::set("lowered", Role::Accumulated),
            Attribute::set("changed", Role::ReadOnly),
        ];
        let mut visits = vec![(Direction::Out, Visit::All)];
        if !self.directed {
            visits.push((Direction::Out, self.visit()));
        }
        let shader = Shader::of_program("src/algorithms/components/hooking.wgsl", include_str!("hooking.wgsl"), vec![]);
        Declaration {
            alone: true,
            supersteps_expected: Some(SUPERSTEPS),
            writes: Ends::Any.into(),
            shader: Some(shader.with_constants([("JUMPS", JUMPS.into())])),
            groups: Some(Groups { label: LABEL, vertex_of: |label| label, is_smallest: true }),
            ..Declaration::new("components", attributes, visits)
        }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.edges > 0).then(|| Step::new(0, Direction::Out, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> HookingKernel<'a> {
        HookingKernel { label: state.attributes.u32(LABEL), lowered: state.attributes.bits(LOWERED) }
    }

    /// The first sum is the number of vertices whose labels have changed.
    fn vertex_phase(&self, state: &State, _step: &Step, vertices: Range<u64>) -> Scalars {
        let (lowered, changed) = (state.attributes.bits(LOWERED), state.attributes.bits(CHANGED));
        let label = state.attributes.u32(LABEL);
        let mut count = 0.0;
        for vertex in vertices.map(|vertex| vertex as u32) {
            let before = label.get(vertex);
            let above = |of: u32| Some(label.get(of)).filter(|&above| above != of);
            let after = std::iter::successors(Some(before), |&of| above(of)).take(JUMPS as usize + 1).last();
            let after = after.unwrap_or(before);
            label.set(vertex, after);
            if after != before || lowered.contains(vertex) {
                lowered.remove(vertex);
                changed.insert(vertex);
                count += 1.0;
            } else {
                changed.remove(vertex);
            }
        }
        [count, 0.0, 0.0, 0.0]
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let next = now.visit(Direction::Out, self.visit()).of(now.total(0));
        next.unless(!now.total(0).above(0.0))
    }

    fn changed(&self, _graph: &Graph, _step: &Step, summary: &Summary) -> u64 {
        summary.totals[0] as u64
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let label = state.attributes.u32(LABEL);
        vec![Answer::vertex("component", move |vertex| Some(label.get(vertex)))]
    }
}
