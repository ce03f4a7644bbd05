//! Breadth-first search: `level[v]` is the number of hops from the source along out-edges; optionally a parent, any
//! out-neighbour's predecessor one level up (the source is its own).
//!
//! Top-down, the lists of active vertices are read, and only the pages that hold them. Where the store has in-lists, a
//! superstep may go bottom-up instead: vertices that are not reached yet look for an active in-neighbour and stop at the
//! first (direction-optimizing BFS, Beamer, Asanović and Patterson, SC 2012, with their thresholds).

use crate::algorithm::{
    Algorithm, Answer, AnswerValues, Graph, Kernel, List, Scalars, Seed, Seeds, Shader, State, Step, Summary, Visit,
};
use crate::attributes::{Attribute, AttributeType, Initial, Merge, Role, U32Column};
use crate::bits::Bits;
use std::ops::ControlFlow;
use topostream_formats::{Direction, VertexId};

/// Breadth-first search from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bfs {
    /// Where it starts.
    pub source: VertexId,
    /// Whether parents are kept.
    pub parents: bool,
    /// Whether supersteps may go bottom-up where the store has in-lists.
    pub bottom_up: bool,
}

/// The level of a vertex that has not been reached.
pub const UNREACHED: u32 = u32::MAX;

/// Places in the declaration.
const LEVEL: usize = 0;
const VISITED: usize = 1;
const PARENT: usize = 2;

/// Places in a step's scalars: edges that are not explored yet, and active vertices.
const UNEXPLORED: usize = 0;
const ACTIVE: usize = 1;

/// Bottom-up once the frontier's edges are more than 1/15 of the unexplored ones, top-down again once the frontier has fewer
/// than 1/18 of the vertices: GAP's constants for Beamer's rule.
const ALPHA: f64 = 15.0;
const BETA: f64 = 18.0;

impl Bfs {
    /// Levels from a source.
    pub fn from(source: VertexId) -> Self {
        Self { source, parents: false, bottom_up: true }
    }
}

/// Reaches vertices, from the frontier or towards it.
pub struct BfsKernel<'a> {
    visited: &'a Bits,
    level: &'a U32Column,
    parent: Option<&'a U32Column>,
    frontier: &'a Bits,
    next: &'a Bits,
    next_level: u32,
    bottom_up: bool,
}

impl BfsKernel<'_> {
    #[inline(always)]
    fn reach(&self, vertex: u32, from: u32) {
        if self.visited.insert(vertex) {
            self.level.set(vertex, self.next_level);
            if let Some(parent) = self.parent {
                parent.set(vertex, from);
            }
            self.next.insert(vertex);
        }
    }
}

impl Kernel for BfsKernel<'_> {
    type Record = u32;

    #[inline(always)]
    fn open(&self, list: List) -> Option<u32> {
        let passed_over = self.bottom_up && self.visited.contains(list.vertex);
        (!passed_over).then_some(list.vertex)
    }

    #[inline(always)]
    fn edge(&self, vertex: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if !self.bottom_up {
            self.reach(neighbour, *vertex);
            return ControlFlow::Continue(());
        }
        if self.frontier.contains(neighbour) {
            self.reach(*vertex, neighbour);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, _vertex: u32) {}
}

impl Algorithm for Bfs {
    type Kernel<'a> = BfsKernel<'a>;

    fn name(&self) -> &'static str {
        "bfs"
    }

    fn attributes(&self, _has_in_lists: bool) -> Vec<Attribute> {
        let role = Role::Accumulated;
        let mut declared = vec![
            Attribute {
                name: "level",
                of: AttributeType::U32,
                role,
                merge: Merge::Min,
                initial: Initial::Bits(UNREACHED),
            },
            Attribute { name: "visited", of: AttributeType::Bit, role, merge: Merge::Or, initial: Initial::Bits(0) },
        ];
        if self.parents {
            let of = AttributeType::U32;
            declared.push(Attribute { name: "parent", of, role, merge: Merge::Min, initial: Initial::Bits(UNREACHED) });
        }
        declared
    }

    fn is_traversal(&self) -> bool {
        true
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if u64::from(self.source.0) < graph.vertices {
            return Ok(());
        }
        Err(format!("source vertex {} does not exist: the graph has {} vertices", self.source, graph.vertices))
    }

    fn visits(&self, has_in_lists: bool) -> Vec<(Direction, Visit)> {
        let mut visits = vec![(Direction::Out, Visit::Frontier)];
        if self.bottom_up && has_in_lists {
            visits.push((Direction::In, Visit::Without(VISITED)));
        }
        visits
    }

    fn shader(&self) -> Option<Shader> {
        let text = include_str!("../../shaders/algorithms/bfs.wgsl");
        Some(Shader { file: "shaders/algorithms/bfs.wgsl", text, switches: vec![("PARENTS", self.parents)] })
    }

    fn seeds(&self) -> Seeds {
        let vertex = self.source.0;
        let mut values = vec![Seed { attribute: LEVEL, vertex, bits: 0 }, Seed { attribute: VISITED, vertex, bits: 1 }];
        if self.parents {
            values.push(Seed { attribute: PARENT, vertex, bits: vertex });
        }
        Seeds { active: vec![vertex], values }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let mut scalars = Scalars::default();
        scalars[UNEXPLORED] = graph.edges as f64 - f64::from(graph.out_degree(self.source.0));
        scalars[ACTIVE] = 1.0;
        Some(Step { superstep: 0, direction: Direction::Out, visit: Visit::Frontier, scalars })
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> BfsKernel<'a> {
        BfsKernel {
            visited: state.attributes.bits(VISITED),
            level: state.attributes.u32(LEVEL),
            parent: self.parents.then(|| state.attributes.u32(PARENT)),
            frontier: state.frontier(step.superstep),
            next: state.next_frontier(step.superstep),
            next_level: step.superstep + 1,
            bottom_up: step.direction == Direction::In,
        }
    }

    fn next(&self, graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        if summary.activated == 0 {
            return None;
        }
        let (edges, active) = (summary.activated_edges as f64, summary.activated as f64);
        let growing = active > step.scalars[ACTIVE];
        let bottom_up = match step.direction {
            _ if !(self.bottom_up && graph.has_in_lists) => false,
            Direction::Out => edges > step.scalars[UNEXPLORED] / ALPHA,
            Direction::In => growing || active > graph.vertices as f64 / BETA,
        };
        let (direction, visit) = match bottom_up {
            true => (Direction::In, Visit::Without(VISITED)),
            false => (Direction::Out, Visit::Frontier),
        };
        let mut scalars = Scalars::default();
        (scalars[UNEXPLORED], scalars[ACTIVE]) = (step.scalars[UNEXPLORED] - edges, active);
        Some(Step { superstep: step.superstep + 1, direction, visit, scalars })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let reached = |value: u32| Some(value).filter(|&value| value != UNREACHED);
        let level = state.attributes.u32(LEVEL);
        let levels = Box::new(move |vertex| reached(level.get(vertex)).map(u64::from));
        let mut answers = vec![Answer { name: "level", values: AnswerValues::Integer(levels) }];
        if self.parents {
            let parent = state.attributes.u32(PARENT);
            let parents = Box::new(move |vertex| reached(parent.get(vertex)));
            answers.push(Answer { name: "parent", values: AnswerValues::Vertex(parents) });
        }
        answers
    }

    /// Graph500's m: the input edges with both ends in the reached part, an undirected edge counted once by the engine.
    fn traversed_edges(&self, state: &State) -> Option<u64> {
        Some(state.attributes.bits(VISITED).census(|vertex| state.graph.out_degree(vertex).into()).1)
    }
}
