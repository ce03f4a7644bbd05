//! Core numbers: `core[v]` is the largest k such that `v` is in the k-core, the largest subgraph in which every vertex
//! has at least k edges to other vertices of the subgraph (Seidman, Social Networks 1983).
//!
//! The direction of edges is ignored: a vertex's degree counts its out- and in-edges together, as in NetworkX's
//! `core_number` of a directed graph. Repeated edges count each time, so an edge and its reverse in a directed graph
//! are two. Loops do not count (NetworkX rejects them). A vertex without edges has core number 0. Degrees must be below
//! 2^32.
//!
//! *Peeling* (Matula and Beck, JACM 1983): a vertex with at most k remaining edges is removed, with core number k,
//! together with its edges; when no vertex is removed any more, k increases. The lengths of out-lists are known: a
//! first superstep over all of them finds loops, and counts a directed graph's edges at their other ends. After that a
//! superstep reads the lists of the vertices that were removed in the last vertex phase, each list once in a run. A
//! directed graph's in-lists are read in a second superstep of each round. If it has none, each round reads all
//! out-lists, for either end of an edge: format such a store with `--in-edges` or `--symmetrize`.
//!
//! A vertex phase counts the vertices that were removed, those that would be removed at k + 1, and those that are left.
//! If none would be removed, k has to leap to the smallest remaining degree. A vertex phase returns sums only, so this
//! degree is found by supersteps that read no pages: three degrees are tested at once, farther and farther away (1, 4,
//! 16, …, times the stride), then three within the gap that is found. A gap of g takes about log64 g + log4 g such
//! supersteps. A run has one superstep for each round of peeling, one or two for each core number that occurs, and the
//! supersteps of its gaps; each costs a vertex phase over the remaining vertices.
//!
//! On one CPU an edge notes its end whose degree it lowers to the level: no other vertex can be removed in the phase
//! after it, which goes over these. When there are none, the next superstep looks at all remaining vertices.
//!
//! 4.25 bytes a vertex: the degree, which becomes the core number, and two bits; on one CPU a third one.
//!
//! [`CoreBounds`] finds the same numbers on one CPU, with lists read in the order of pages.

mod bounds;
#[cfg(feature = "cli")]
pub mod command;
mod histogram;

pub use bounds::CoreBounds;

use crate::model::algorithm::{
    Algorithm, Answer, Constant, Declaration, Ends, Graph, Integers, Kernel, List, PhaseWithin, Scalars, Shader,
    SmallSteps, State, Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use crate::model::bits::Bits;
use crate::model::rule::{Flag, Integer, Next, Now};
use crate::model::{Parameters, sound};
use std::io::Read;
use std::ops::{ControlFlow, Range};
use topostream_formats::Direction;

/// Core numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KCore {
    /// Whether the graph is directed, according to its store: an edge is then stored in one list only.
    pub directed: bool,
    /// Whether a directed graph's in-lists are read, which its store must have; otherwise every round reads all
    /// out-lists.
    pub in_lists: bool,
    /// Whether one CPU computes, which notes the vertices that are removed next.
    pub alone: bool,
}

/// Indices of the declared attributes.
const DEGREE: usize = 0;
/// Vertices that have been removed: edges no longer change their degrees, which are core numbers.
const GONE: usize = 1;
/// Vertices that were removed in the last vertex phase.
const WENT: usize = 2;
/// On one CPU: vertices whose degrees have come down to the level since the last vertex phase.
const REACHED: usize = 3;

/// The kind of a superstep, in the first integer of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Counts edges that the lengths of out-lists do not include, then removes vertices without edges.
    Count,
    /// Removes edges of removed vertices; more follow in the next superstep.
    Peel,
    /// Removes edges, then selects the vertices to be removed next, among all that are left.
    PeelLast,
    /// Tests for the smallest degree 1, 4 and 16 strides above the level.
    Leap,
    /// Tests for it 1, 2 and 3 strides above the level.
    Search,
    /// On one CPU: removes edges, then selects the vertices to be removed next among those that have come down to the
    /// level.
    PeelReached,
}

const MODES: [Mode; 6] = [Mode::Count, Mode::Peel, Mode::PeelLast, Mode::Leap, Mode::Search, Mode::PeelReached];
/// The names of the modes in the shader, and in checkpoints.
const MODE_NAMES: [&str; 5] = ["COUNT", "PEEL", "PEEL_LAST", "LEAP", "SEARCH"];
/// The modes whose vertex phases go over sets.
const REACHED_MODES: &[u32] = &[Mode::PeelReached as u32];
/// The distances that [`Mode::Leap`] tests, in strides.
const LEAPS: [u32; 3] = [1, 4, 16];
/// The distances that [`Mode::Search`] tests, in strides.
const SEARCHES: [u32; 3] = [1, 2, 3];
/// The factor by which the stride grows if a leap was too short.
const LONGER: u32 = 64;

/// Indices into a step's integers.
const MODE: usize = 0;
const LEVEL: usize = 1;
const STRIDE: usize = 2;

/// The integers of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phase {
    mode: Mode,
    /// The degree up to which vertices are removed, or above which the smallest one is searched for.
    level: u64,
    /// For leaps and searches: a power of 4.
    stride: u64,
}

impl Phase {
    fn new(mode: Mode, level: u64) -> Self {
        Self { mode, level, stride: 1 }
    }

    /// Levels and strides are below 2^32, as degrees are.
    fn integers(self) -> Integers {
        let mode = MODES.iter().position(|&mode| mode == self.mode).expect("all of them");
        let word = |number: u64| number.min(u32::MAX.into()) as u32;
        [mode as u32, word(self.level), word(self.stride), 0]
    }

    fn of(step: &Step) -> Self {
        let [mode, level, stride, _] = step.integers;
        Self { mode: MODES[mode as usize], level: level.into(), stride: stride.into() }
    }
}

/// After a leap, or after a search: the level and the stride with which to look next, and whether a vertex was found.
/// `found` says which of three ranges have vertices in them; each contains those before it.
fn closer<'a>(now: Now<'a>, searched: Flag<'a>, found: [Flag<'a>; 3]) -> ((Integer<'a>, Integer<'a>), Flag<'a>) {
    let (level, stride) = (now.integer(LEVEL), now.integer(STRIDE));
    let place = found[0].select(0, found[1].select(1, found[2].select(2, 3)));
    let quarter = stride / 4;
    // No vertex is nearer than a quarter of a stride: otherwise the previous leap would have found it.
    let leap = found[0].select(quarter, stride * found[1].select(LEAPS[0], LEAPS[1]));
    let level = level + searched.select(place * stride, leap);
    ((level, searched.select(quarter, leap)), searched.or(found[2]))
}

/// Adds to degrees, or subtracts from them.
#[doc(hidden)]
pub struct KCoreKernel<'a> {
    degree: &'a U32Column,
    gone: &'a Bits,
    went: &'a Bits,
    /// With the level.
    reached: Option<(&'a Bits, u32)>,
    counting: bool,
    directed: bool,
    both_ends: bool,
}

/// The vertex of the list, whether it is subtracted from its neighbours' degrees, and how much is subtracted from its
/// own.
#[doc(hidden)]
pub struct Taken {
    vertex: u32,
    goes: bool,
    lost: u32,
}

impl KCoreKernel<'_> {
    /// Subtracts edges from a vertex's degree, unless the vertex has been removed and the field is its core number.
    #[inline(always)]
    fn take(&self, vertex: u32, edges: u32) {
        if self.gone.contains(vertex) {
            return;
        }
        let before = self.degree.add(vertex, edges.wrapping_neg());
        if let Some((reached, level)) = self.reached
            && before > level
            && before.wrapping_sub(edges) <= level
        {
            reached.insert(vertex);
        }
    }
}

impl Kernel for KCoreKernel<'_> {
    type Record = Taken;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Taken> {
        let goes = !self.counting && (!self.both_ends || self.went.contains(list.vertex));
        Some(Taken { vertex: list.vertex, goes, lost: 0 })
    }

    #[inline(always)]
    fn edge(&self, taken: &mut Taken, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if neighbour == taken.vertex {
            // The length of the list includes the loop.
            taken.lost += u32::from(self.counting);
        } else if self.counting {
            if self.directed {
                self.degree.add(neighbour, 1);
            }
        } else {
            if taken.goes {
                self.take(neighbour, 1);
            }
            if self.both_ends && self.went.contains(neighbour) {
                taken.lost += 1;
            }
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        if self.directed || !self.counting {
            self.degree.prefetch(neighbour);
        }
    }

    #[inline(always)]
    fn close(&self, taken: Taken) {
        if taken.lost > 0 {
            self.take(taken.vertex, taken.lost);
        }
    }
}

impl KCore {
    /// For any device.
    pub fn new(directed: bool, in_lists: bool) -> Self {
        Self { directed, in_lists, alone: false }
    }

    /// Whether every list is read for either end of an edge.
    fn both_ends(self) -> bool {
        self.directed && !self.in_lists
    }

    /// Whether a round reads in-lists too.
    fn two_ways(self) -> bool {
        self.directed && self.in_lists
    }

    fn step(superstep: u32, direction: Direction, visit: Visit, phase: Phase) -> Step {
        Step::new(superstep, direction, visit).with_integers(phase.integers())
    }
}

impl Algorithm for KCore {
    type Kernel<'a> = KCoreKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let mut attributes = vec![
            Attribute::u32("degree", Role::Accumulated, Merge::Add),
            Attribute::set("gone", Role::Gathered),
            Attribute::set("went", if self.both_ends() { Role::Gathered } else { Role::ReadOnly }),
        ];
        attributes.extend(self.alone.then(|| Attribute::set("reached", Role::Accumulated)));
        let mut visits = vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Within(WENT))];
        if self.two_ways() {
            visits.push((Direction::In, Visit::Within(WENT)));
        }
        let switches = vec![("DIRECTED", self.directed), ("BOTH_ENDS", self.both_ends())];
        let shader = Shader::of_program("src/algorithms/kcore/kcore.wgsl", include_str!("kcore.wgsl"), switches);
        let names = ["LEAP_0", "LEAP_1", "LEAP_2", "SEARCH_0", "SEARCH_1", "SEARCH_2"];
        let strides = names.into_iter().zip(LEAPS.into_iter().chain(SEARCHES).map(Constant::U32));
        Declaration {
            alone: self.alone,
            writes: if self.both_ends() { Ends::Both } else { Ends::Neighbour }.into(),
            parameters: Some(Parameters::none().with("directed", self.directed).with("in-lists", self.in_lists)),
            shader: (!self.alone).then(|| shader.with_modes(MODE_NAMES).with_constants(strides)),
            phase_within: self.alone.then_some(PhaseWithin { sets: &[WENT, REACHED], modes: Some(REACHED_MODES) }),
            small_steps: Some(if self.both_ends() { SmallSteps::AllLists } else { SmallSteps::Vertices }),
            ..Declaration::new("kcore", attributes, visits)
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if self.directed != graph.directed {
            let called = |directed| if directed { "a directed" } else { "an undirected" };
            let (asked, found) = (called(self.directed), called(graph.directed));
            return Err(format!("core numbers: expected {asked} graph, the store has {found} one"));
        }
        Ok(())
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[0], MODE_NAMES.len())
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.edges > 0).then(|| Self::step(0, Direction::Out, Visit::All, Phase::new(Mode::Count, 0)))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> KCoreKernel<'a> {
        let (degree, bits) = (state.attributes.u32(DEGREE), |place| state.attributes.bits(place));
        let (counting, directed, both_ends) = (Phase::of(step).mode == Mode::Count, self.directed, self.both_ends());
        let reached = (self.alone && !counting).then(|| (bits(REACHED), step.integers[LEVEL]));
        KCoreKernel { degree, gone: bits(GONE), went: bits(WENT), reached, counting, directed, both_ends }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let phase = Phase::of(step);
        let degree = state.attributes.u32(DEGREE);
        let (gone, went) = (state.attributes.bits(GONE), state.attributes.bits(WENT));
        let (mut removed, mut found) = (0.0, [false; 4]);
        let mut note = |terms: [bool; 3]| found.iter_mut().zip(terms).for_each(|(found, term)| *found |= term);
        if phase.mode == Mode::Peel || vertices.is_empty() {
            return Scalars::default();
        }
        let vertices = vertices.start as u32..=(vertices.end - 1) as u32;
        went.for_each_in(vertices.clone(), false, |vertex| went.remove(vertex));
        let remove = |vertex: u32| {
            degree.set(vertex, phase.level as u32);
            gone.insert(vertex);
            went.insert(vertex);
        };
        if phase.mode == Mode::PeelReached {
            let reached = state.attributes.bits(REACHED);
            reached.for_each_in(vertices, false, |vertex| {
                reached.remove(vertex);
                remove(vertex);
                removed += 1.0;
            });
            return [removed, 0.0, 0.0, 0.0];
        }
        gone.for_each_in(vertices, true, |vertex| {
            if phase.mode == Mode::Count {
                degree.add(vertex, state.graph.out_degree(vertex));
            }
            let left = u64::from(degree.get(vertex));
            let within = |strides: u32| left <= phase.level + u64::from(strides) * phase.stride;
            match phase.mode {
                Mode::Leap => note(LEAPS.map(within)),
                Mode::Search => note(SEARCHES.map(within)),
                _ if left > phase.level => note([false, within(1), true]),
                _ => {
                    remove(vertex);
                    removed += 1.0;
                }
            }
        });
        let mut totals = found.map(|found| f64::from(u8::from(found)));
        totals[0] += removed;
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let (level, stride) = (now.integer(LEVEL), now.integer(STRIDE));
        let is = |mode: Mode| now.integer(MODE).equals(mode as u32);
        let [went, near, left] = [0, 1, 2].map(|place| now.total(place).above(0.0));
        let phase = |next: Next<'a>, mode: Integer<'a>, level: Integer<'a>, stride: Integer<'a>| {
            next.with_integer(MODE, mode).with_integer(LEVEL, level).with_integer(STRIDE, stride)
        };
        let mode = |mode: Mode| now.integer_of(mode as u32);
        let (one, idle) = (now.integer_of(1), now.without_pages());

        let visit = if self.both_ends() { Visit::All } else { Visit::Within(WENT) };
        let last = if self.alone { Mode::PeelReached } else { Mode::PeelLast };
        let peel = mode(if self.two_ways() { Mode::Peel } else { last });
        let peeled = phase(now.visit(Direction::Out, visit), peel, level, one).of(now.total(0));
        let higher = phase(idle, near.select(mode(Mode::PeelLast), mode(Mode::Leap)), level + 1, one);
        // The last vertices have no remaining neighbours.
        let counted = went.select(peeled, higher).unless(!left);
        // Of the others, nothing is known then.
        let looked = phase(idle, mode(Mode::PeelLast), level + 1, one);
        let counted = is(Mode::PeelReached).select(went.select(peeled, looked), counted);

        let (nearer, closest) = closer(now, is(Mode::Search), [went, near, left]);
        let (level_next, stride_next) = nearer;
        let searched = phase(idle, mode(Mode::Search), level_next, stride_next);
        // A stride of one that has been searched is a quarter here, rounded to 0.
        let reached = phase(idle, mode(Mode::PeelLast), level_next + 1, one);
        let closer = stride_next.equals(0).select(reached, searched);
        let is_longest = stride.equals(u32::MAX);
        let is_too_long = now.integer_of(u32::MAX / LONGER).less(stride);
        let longer = is_too_long.select(u32::MAX, stride * LONGER);
        // All degrees are nearer: no vertex is left, which only a forged checkpoint can claim.
        let leapt = phase(idle, mode(Mode::Leap), level, longer).unless(is_longest);
        let searching = closest.select(closer, leapt);

        let next = is(Mode::Leap).or(is(Mode::Search)).select(searching, counted);
        let against = now.visit(Direction::In, Visit::Within(WENT)).of_the_same();
        is(Mode::Peel).select(phase(against, mode(last), level, stride), next)
    }

    fn changed(&self, graph: &Graph, step: &Step, summary: &Summary) -> u64 {
        match Phase::of(step).mode {
            Mode::Count => graph.vertices,
            // The vertices that were removed.
            Mode::PeelLast | Mode::PeelReached => summary.totals[0] as u64,
            Mode::Peel | Mode::Leap | Mode::Search => 0,
        }
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let core = state.attributes.u32(DEGREE);
        vec![Answer::integer("core", move |vertex| Some(core.get(vertex).into()))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::algorithm::rule_of;
    use proptest::prelude::*;

    proptest! {
        /// The smallest degree is found in few supersteps, whatever the gap.
        #[test]
        fn leaps_come_to_the_least_degree(level in 0u64..1 << 31, gap in 0u32..31, more: u64) {
            let least = level + (1 << gap) + more % (1 << gap);
            let cores = KCore::new(false, false);
            let rule = rule_of(&cores, &cores.declare(false));
            let mut step = KCore::step(0, Direction::Out, Visit::None, Phase::new(Mode::Leap, level));
            while Phase::of(&step).mode != Mode::PeelLast {
                let phase = Phase::of(&step);
                let strides = if phase.mode == Mode::Leap { LEAPS } else { SEARCHES };
                let within = |strides: u32| least <= phase.level + u64::from(strides) * phase.stride;
                let [one, two, three] = strides.map(|strides| f64::from(u8::from(within(strides))));
                let summary = Summary { totals: [one, two, three, 0.0], ..Summary::default() };
                step = rule.next(0, &step, &summary).expect("a vertex is left");
                prop_assert_eq!(step.visit, Visit::None);
                prop_assert!(step.superstep <= gap / 6 + gap / 2 + 4, "{:?} for a gap of {}", step, least - level);
            }
            prop_assert_eq!(Phase::of(&step).level, least);
        }
    }
}
