//! Strongly connected components: `component[v]` is the vertex with the smallest original id among the vertices that
//! reach `v` and that `v` reaches along edges. A vertex on no cycle is a component of its own.
//!
//! By colours (Orzan, "On distributed verification and verified distribution", 2004; as in the Multistep method of
//! Slota, Rajamanickam and Madduri, IPDPS 2014). Every vertex has a colour of its own; larger colours propagate along
//! edges until every vertex has the largest one that reaches it. A vertex that has kept its own colour is a *root*. Its
//! component consists of the vertices of its colour that reach it, found along in-lists. The remaining vertices are
//! coloured again, until none is left. Vertices without out-edges are excluded at the start; those that no remaining
//! vertex points to are roots in each round, and are removed with it.
//!
//! Colours are a pseudorandom permutation of the vertices' numbers (the finalizer of MurmurHash3). With the numbers
//! themselves, a chain of components in descending order would take a round for each of them; with the permutation the
//! number of rounds grows with the logarithm of its length. The label of a component is its largest colour; at the end
//! of the run it is replaced by the vertex with the smallest id.
//!
//! Supersteps visit the vertices whose colour has changed, or that have just been confirmed. The number of supersteps
//! in a round is the length of the paths that colours take, in both directions, plus two that read nothing. It needs
//! in-lists. In an undirected graph strongly connected components are the connected components, which are found faster:
//! such a store is rejected.
//!
//! 4 bytes a vertex for the label, and three bits. Loops and repeated edges change nothing.

#[cfg(feature = "cli")]
pub mod command;

use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Groups, Kernel, List, PhaseWithin, Scalars, Shader, SmallSteps, State,
    Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::numbers::{mixed, unmixed};
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use std::io::Read;
use std::ops::{ControlFlow, Range};
use topostream_formats::Direction;

/// Strongly connected components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scc;

/// Indices of the declared attributes.
const LABEL: usize = 0;
/// Vertices whose state has been changed by an edge.
const CHANGED: usize = 1;
/// Vertices whose component is known: its colour is their label.
const DONE: usize = 2;
/// The vertices whose lists are read.
const VISITED: usize = 3;

/// The kind of a superstep, in the first integer of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Colours propagate along edges.
    Paint,
    /// Roots are found: nothing is read.
    FindRoots,
    /// Components grow from roots, against edges.
    Confirm,
    /// The remaining vertices start again: nothing is read.
    Restart,
}

const MODES: [Mode; 4] = [Mode::Paint, Mode::FindRoots, Mode::Confirm, Mode::Restart];
/// Their names in the shader.
const MODE_NAMES: [&str; 4] = ["PAINT", "FIND_ROOTS", "CONFIRM", "RESTART"];

impl Mode {
    fn of(step: &Step) -> Self {
        MODES[step.integers[0] as usize]
    }

    fn step(self, superstep: u32) -> Step {
        let mode = MODES.iter().position(|&mode| mode == self).expect("all of them");
        let direction = if self == Self::Confirm { Direction::In } else { Direction::Out };
        let step = match self {
            Self::FindRoots | Self::Restart => Step::without_pages(superstep),
            Self::Paint | Self::Confirm => Step::new(superstep, direction, Visit::Within(VISITED)),
        };
        step.with_integers([mode as u32, 0, 0, 0])
    }
}

/// Carries labels along edges, or confirms against them.
#[doc(hidden)]
pub struct SccKernel<'a> {
    label: &'a U32Column,
    changed: &'a Bits,
    done: &'a Bits,
    confirm: bool,
}

impl Kernel for SccKernel<'_> {
    /// The label of the vertex of the list.
    type Record = u32;

    #[inline(always)]
    fn open(&self, list: List) -> Option<u32> {
        Some(self.label.get(list.vertex))
    }

    #[inline(always)]
    fn edge(&self, &mut label: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if self.done.contains(neighbour) {
            return ControlFlow::Continue(());
        }
        let changes = match self.confirm {
            true => self.label.get(neighbour) == label,
            false => self.label.max(neighbour, label),
        };
        if changes {
            self.changed.insert(neighbour);
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.label.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, _label: u32) {}
}

/// The attributes that a vertex phase uses.
struct Values<'a> {
    label: &'a U32Column,
    changed: &'a Bits,
    done: &'a Bits,
    visited: &'a Bits,
}

impl<'a> Values<'a> {
    fn of(state: &'a State) -> Self {
        let bits = |place| state.attributes.bits(place);
        Self { label: state.attributes.u32(LABEL), changed: bits(CHANGED), done: bits(DONE), visited: bits(VISITED) }
    }

    /// Returns whether a vertex's list is read in the next superstep.
    fn update(&self, vertex: u32, mode: Mode) -> bool {
        match mode {
            Mode::Paint | Mode::Confirm => {
                let changed = self.changed.contains(vertex);
                if changed {
                    self.changed.remove(vertex);
                    if mode == Mode::Confirm {
                        self.done.insert(vertex);
                    }
                } else if self.visited.contains(vertex) {
                    self.visited.remove(vertex);
                }
                changed
            }
            _ if self.done.contains(vertex) => false,
            Mode::FindRoots => {
                let root = self.label.get(vertex) == mixed(vertex);
                if root {
                    self.done.insert(vertex);
                }
                root
            }
            Mode::Restart => {
                self.label.set(vertex, mixed(vertex));
                true
            }
        }
    }

    /// Marks a vertex, so that its list is read in the next superstep.
    fn visit(&self, vertex: u32) -> f64 {
        self.visited.insert(vertex);
        1.0
    }
}

impl Algorithm for Scc {
    type Kernel<'a> = SccKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            Attribute::u32("label", Role::Writable, Merge::Max),
            Attribute::set("changed", Role::Accumulated),
            Attribute::set("done", Role::Gathered),
            Attribute::set("visited", Role::ReadOnly),
        ];
        let visits = [Direction::Out, Direction::In].map(|direction| (direction, Visit::Within(VISITED)));
        let modes = Some(&[Mode::Paint as u32, Mode::Confirm as u32][..]);
        let shader = Shader::of_program("src/algorithms/scc/scc.wgsl", include_str!("scc.wgsl"), Vec::new());
        Declaration {
            writes: Ends::Neighbour.into(),
            phase_within: Some(PhaseWithin { sets: &[CHANGED, VISITED], modes }),
            parameters: Some(Parameters::none()),
            shader: Some(shader.with_modes(MODE_NAMES)),
            small_steps: Some(SmallSteps::Rounds),
            groups: Some(Groups { label: LABEL, vertex_of: unmixed, is_smallest: false }),
            ..Declaration::new("scc", attributes, visits.to_vec())
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if !graph.directed {
            return Err(
                "in an undirected graph strongly connected components are the connected ones: run components".into()
            );
        }
        Ok(())
    }

    fn recall(&self, state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[0], MODES.len())?;
        sound::vertices(state, state.attributes.u32(LABEL), |label| Some(unmixed(label)))
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        let values = Values::of(state);
        let mut left = 0.0;
        for vertex in vertices.map(|vertex| vertex as u32) {
            values.label.set(vertex, mixed(vertex));
            if state.graph.out_degree(vertex) > 0 {
                left += values.visit(vertex);
            } else {
                values.done.insert(vertex);
            }
        }
        [left, 0.0, 0.0, 0.0]
    }

    fn first(&self, _graph: &Graph, totals: Scalars) -> Option<Step> {
        (totals[0] > 0.0).then(|| Mode::Paint.step(0))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> SccKernel<'a> {
        let Values { label, changed, done, .. } = Values::of(state);
        SccKernel { label, changed, done, confirm: Mode::of(step) == Mode::Confirm }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (values, mode) = (Values::of(state), Mode::of(step));
        let next = vertices.map(|vertex| vertex as u32).filter(|&vertex| values.update(vertex, mode));
        [next.map(|vertex| values.visit(vertex)).sum(), 0.0, 0.0, 0.0]
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let is = |mode: Mode| now.integer(0).equals(mode as u32);
        let visit = |next: Next<'a>, mode: Mode| next.with_integer(0, mode as u32).of(now.total(0));
        let reading = |direction, mode| visit(now.visit(direction, Visit::Within(VISITED)), mode);
        let (paint, confirm) = (reading(Direction::Out, Mode::Paint), reading(Direction::In, Mode::Confirm));
        let [find_roots, restart] = [Mode::FindRoots, Mode::Restart].map(|mode| visit(now.without_pages(), mode));
        let some = now.total(0).above(0.0);
        let without = is(Mode::Paint).select(find_roots, restart.unless(is(Mode::Restart)));
        let goes_on = is(Mode::Confirm).select(confirm, paint);
        is(Mode::FindRoots).select(confirm, some.select(goes_on, without))
    }

    fn changed(&self, _graph: &Graph, _step: &Step, summary: &Summary) -> u64 {
        summary.totals[0] as u64
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let label = state.attributes.u32(LABEL);
        vec![Answer::vertex("component", move |vertex| Some(label.get(vertex)))]
    }
}
