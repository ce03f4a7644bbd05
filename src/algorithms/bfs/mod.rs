//! Breadth-first search: the level of a vertex is the number of hops from the nearest source along out-edges, or
//! against them; optionally a parent, the predecessor one level up with the smallest number (a source is its own). With
//! a limit on hops, vertices farther away count as unreached: the result is the neighbourhood of the sources.
//!
//! A vertex that is reached in a superstep is active in the next, whose number is its level: devices do not store
//! levels. Devices keep a bit for each vertex that is reached, in addition to the frontiers, and 4 bytes with parents.
//!
//! Top-down, the lists of active vertices are read, and only the pages that hold them. If the store has in-lists, a
//! superstep may run bottom-up instead: vertices that are not reached yet look for an active in-neighbour and stop at
//! the first (direction-optimizing BFS, Beamer, Asanović and Patterson, SC 2012, with their thresholds). Their rule
//! counts edges. Where pages have to be read, the engine chooses by predicted time ([`Algorithm::alternatives`]).
//!
//! Parents are the same on any device, whatever order threads take. A vertex that has a parent was reached in this
//! superstep if that parent is active now, and earlier if not: each vertex is active once. So one value decides whether
//! another predecessor may still replace it, and no two values have to be seen in a certain order. Neighbours ascend,
//! so that bottom-up the first active one of each part of a list is the smallest of that part. Parents are kept as
//! codes: one number is left for vertices that have none, however many vertices there are.
//!
//! Against the edges, the two kinds of lists change roles: in-lists are read top-down. If the store has none, every
//! superstep runs bottom-up over the out-lists of all vertices that are not reached yet.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::{parents, relaxation};
use crate::model::algorithm::{
    Algorithm, Alternative, Answer, Conclusion, Declaration, Ends, Graph, Kernel, List, Refusal, Scalars, Seed, Seeds,
    Shader, SmallSteps, State, Step, Summary, Visit, Writes,
};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use std::io::Read;
use std::ops::ControlFlow;
use topostream_formats::{Direction, VertexId};

/// Breadth-first search from one source or from several at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bfs {
    /// The sources: at least one, without duplicates.
    pub sources: Vec<VertexId>,
    /// Whether parents are kept: of the predecessors one level up, the one with the smallest number.
    pub parents: bool,
    /// Whether supersteps may run bottom-up if the store has in-lists.
    pub bottom_up: bool,
    /// The maximum number of hops, if there is a limit.
    pub hops_max: Option<u32>,
    /// Whether it follows edges backwards.
    pub against: bool,
}

/// Indices of the declared attributes.
const VISITED: usize = 0;
/// The [code](parents) of the parent.
const PARENT: usize = 1;

/// Indices into a step's scalars: edges that are not explored yet, and active vertices.
const UNEXPLORED: usize = 0;
const ACTIVE: usize = 1;
/// Index into a step's integers: the maximum number of hops.
const HOPS_MAX: usize = 0;

/// Bottom-up once the frontier's edges are more than 1/15 of the unexplored ones, top-down again once the frontier has
/// fewer than 1/18 of the vertices: GAP's constants for Beamer's rule.
const ALPHA: f64 = 15.0;
const BETA: f64 = 18.0;

impl Bfs {
    /// Levels from a source.
    pub fn from(source: VertexId) -> Self {
        Self { sources: vec![source], parents: false, bottom_up: true, hops_max: None, against: false }
    }

    /// The lists that a top-down or bottom-up superstep visits.
    fn visit(&self, bottom_up: bool) -> (Direction, Visit) {
        let direction = if bottom_up == self.against { Direction::Out } else { Direction::In };
        (direction, if bottom_up { Visit::Without(VISITED) } else { Visit::Frontier })
    }

    /// Whether supersteps may run either way.
    fn turns(&self, has_in_lists: bool) -> bool {
        self.bottom_up && has_in_lists && !self.against
    }

    /// Whether a search can only run bottom-up.
    fn only_bottom_up(&self, has_in_lists: bool) -> bool {
        self.against && !has_in_lists
    }
}

/// Reaches vertices, from the frontier or towards it.
#[doc(hidden)]
pub struct BfsKernel<'a> {
    visited: &'a Bits,
    parent: Option<&'a U32Column>,
    frontier: &'a Bits,
    next: &'a Bits,
    bottom_up: bool,
}

impl BfsKernel<'_> {
    #[inline(always)]
    fn reach(&self, vertex: u32, from: u32) {
        match self.parent {
            None => {
                if self.visited.insert(vertex) {
                    self.next.insert(vertex);
                }
            }
            Some(parent) => self.adopt(parent, vertex, from),
        }
    }

    /// Reaches a vertex from a possible parent. Not inlined, so that searches without parents stay as short as they
    /// are.
    #[inline(never)]
    fn adopt(&self, parent: &U32Column, vertex: u32, from: u32) {
        if self.is_open(parent, vertex) && parent.min(vertex, parents::code_of(vertex, from)) {
            self.visited.insert(vertex);
            self.next.insert(vertex);
        }
    }

    /// Reaches the vertex of a list from a possible parent. If only a part of the list is here, another part may still
    /// hold a smaller parent: the vertex must not be in the visited set yet, which would exclude that part.
    #[inline(never)]
    fn adopt_from_list(&self, parent: &U32Column, (vertex, whole): (u32, bool), from: u32) {
        if parent.min(vertex, parents::code_of(vertex, from)) {
            if whole {
                self.visited.insert(vertex);
            }
            self.next.insert(vertex);
        }
    }

    /// Whether no superstep before this one has reached a vertex whose parent is written here. It may say so of a
    /// source, too, whose code no other is smaller than.
    #[inline(always)]
    fn is_open(&self, parent: &U32Column, vertex: u32) -> bool {
        let Some(known) = parent.find(vertex) else { return false };
        known == parents::NONE || self.frontier.contains(parents::parent_of(vertex, known))
    }

    /// Whether a search for an active neighbour is to be made in a list.
    #[inline(always)]
    fn is_searched(&self, vertex: u32) -> bool {
        match self.parent {
            None => !self.visited.contains(vertex),
            Some(parent) => {
                let open = self.is_open(parent, vertex);
                if !open {
                    // Reached by a part of its list in an earlier superstep.
                    self.visited.insert(vertex);
                }
                open
            }
        }
    }
}

impl Kernel for BfsKernel<'_> {
    /// The vertex of the list, and whether all of the list is here.
    type Record = (u32, bool);

    /// Bottom-up, vertices without edges are never visited, and would be opened in every superstep.
    const SKIPS_EMPTY: bool = true;
    const DIVIDES: bool = true;

    #[inline(always)]
    fn open(&self, list: List) -> Option<(u32, bool)> {
        (!self.bottom_up || self.is_searched(list.vertex)).then_some((list.vertex, list.whole))
    }

    #[inline(always)]
    fn edge(&self, &mut (vertex, whole): &mut (u32, bool), neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if !self.bottom_up {
            self.reach(neighbour, vertex);
            return ControlFlow::Continue(());
        }
        if self.frontier.contains(neighbour) {
            match self.parent {
                None => self.reach(vertex, neighbour),
                Some(parent) => self.adopt_from_list(parent, (vertex, whole), neighbour),
            }
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, _record: (u32, bool)) {}
}

impl Algorithm for Bfs {
    type Kernel<'a> = BfsKernel<'a>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let visited = Attribute::new("visited", AttributeType::Bit, Role::Accumulated, Merge::Activation);
        let parent = Attribute::u32("parent_code", Role::Accumulated, Merge::Min);
        let parent = parent.initially(Initial::Bits(parents::NONE));
        let mut visits = vec![self.visit(self.only_bottom_up(has_in_lists))];
        if self.turns(has_in_lists) {
            visits.push(self.visit(true));
        }
        let Self { sources, parents, bottom_up, hops_max, against } = self;
        let parameters = Parameters::none().with_vertices("sources", sources).with("parents", parents);
        let parameters = parameters.with("bottom-up", bottom_up).with("hops at most", hops_max);
        let switches = vec![("PARENTS", self.parents), ("AGAINST", self.against)];
        // Lists are read in the direction of the search to push, and in the opposite direction to find an active
        // vertex.
        let against_search = Writes { along: Ends::List, against: Ends::Neighbour };
        Declaration {
            traversal: true,
            keeps_activations: true,
            writes: if self.against { against_search } else { Writes::default() },
            parameters: Some(parameters.with("against", against)),
            shader: Some(Shader::of_program("src/algorithms/bfs/bfs.wgsl", include_str!("bfs.wgsl"), switches)),
            small_steps: self.hops_max.is_none().then_some(SmallSteps::Lists),
            ..Declaration::new("bfs", if self.parents { vec![visited, parent] } else { vec![visited] }, visits)
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        graph.check_sources(&self.sources)
    }

    fn recall(&self, state: &State, _step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        // Parents are at most one more than their codes.
        let largest = |code: u32| (code != parents::NONE && code != parents::SOURCE).then(|| code + 1);
        if self.parents { sound::vertices(state, state.attributes.u32(PARENT), largest) } else { Ok(()) }
    }

    fn seeds(&self) -> Seeds<'_> {
        let active: Vec<u32> = self.sources.iter().map(|source| source.0).collect();
        let seed = |attribute, bits| active.iter().map(move |&vertex| Seed { attribute, vertex, bits });
        let mut values: Vec<Seed> = seed(VISITED, 1).collect();
        if self.parents {
            values.extend(seed(PARENT, parents::SOURCE));
        }
        Seeds { active, values, ..Seeds::default() }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        let mut scalars = Scalars::default();
        let explored: f64 = self.sources.iter().map(|source| f64::from(graph.out_degree(source.0))).sum();
        scalars[UNEXPLORED] = graph.edges as f64 - explored;
        scalars[ACTIVE] = self.sources.len() as f64;
        let (direction, visit) = self.visit(self.only_bottom_up(graph.has_in_lists));
        let mut step = Step::new(0, direction, visit).with_scalars(scalars);
        step.integers[HOPS_MAX] = self.hops_max.unwrap_or(u32::MAX);
        (self.hops_max != Some(0)).then_some(step)
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> BfsKernel<'a> {
        BfsKernel {
            visited: state.attributes.bits(VISITED),
            parent: self.parents.then(|| state.attributes.u32(PARENT)),
            frontier: state.frontier(step.superstep),
            next: state.next_frontier(step.superstep),
            bottom_up: (step.direction == Direction::In) != self.against,
        }
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let has_ended = now.is_idle().or((now.superstep() + 1).at_least(now.integer(HOPS_MAX)));
        let [top_down, bottom_up] = *now.visits() else { return now.stay().unless(has_ended) };
        // Only the lengths of the active vertices' out-lists are known; they say nothing about lists in the opposite
        // direction.
        let (edges, active) = (now.activated_edges(), now.activated());
        let unexplored = now.scalar(UNEXPLORED);
        let turns = (edges * ALPHA).above(unexplored);
        let stays = active.above(now.scalar(ACTIVE)).or((active * BETA).above(now.vertices()));
        let is_next = now.is(top_down.0, top_down.1).select(turns, stays);
        let next = is_next.select(now.visit(bottom_up.0, bottom_up.1), now.visit(top_down.0, top_down.1));
        next.with_scalar(UNEXPLORED, unexplored - edges).with_scalar(ACTIVE, active).unless(has_ended)
    }

    fn alternatives(&self, graph: &Graph, step: &Step, summary: &Summary) -> Vec<Alternative> {
        if !self.turns(graph.has_in_lists) {
            return Vec::new();
        }
        let alternative = |bottom_up: bool| {
            let (direction, visit) = self.visit(bottom_up);
            // Beamer's rule as a cost: bottom-up, most unexplored edges are never looked at.
            let edges =
                if bottom_up { step.scalars[UNEXPLORED].max(0.0) / ALPHA } else { summary.activated_edges as f64 };
            Alternative { step: Step { direction, visit, ..*step }, edges }
        };
        let bottom_up = step.visit != Visit::Frontier;
        vec![alternative(bottom_up), alternative(!bottom_up)]
    }

    /// The traversed edges are Graph500's m: the input edges with both ends in the reached part; the engine counts an
    /// undirected edge once. If no out-edge leaves that part, these are all out-edges of its vertices.
    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let closed = self.hops_max.is_none() && !self.against;
        let traversed_edges = closed.then(|| match self.parents {
            false => state.attributes.bits(VISITED).census(|vertex| state.graph.out_degree(vertex).into()).1,
            // Vertices of long lists may not be in the visited set yet.
            true => {
                let parent = state.attributes.u32(PARENT);
                relaxation::traversed_edges(&state.graph, |vertex| parent.get(vertex) != parents::NONE)
            }
        });
        Ok(Conclusion { traversed_edges, ..Conclusion::default() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let mut answers = vec![Answer::integer("level", |vertex| state.first_active(vertex).map(u64::from))];
        if self.parents {
            let (code, mut sources) = (state.attributes.u32(PARENT), self.sources.clone());
            sources.sort_unstable();
            answers.push(Answer::vertex("parent", move |vertex| match code.get(vertex) {
                parents::NONE => None,
                parents::SOURCE if sources.binary_search(&VertexId(vertex)).is_ok() => Some(vertex),
                code => Some(parents::parent_of(vertex, code)),
            }));
        }
        answers
    }
}
