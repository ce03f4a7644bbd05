//! HITS: hubs, which link to good authorities, and authorities, which good hubs link to (Kleinberg, Journal of the ACM
//! 1999).
//!
//! ```text
//!  authority[v] = sum of hub[u] over edges u → v        hub[u] = sum of authority[v] over edges u → v
//! ```
//!
//! repeatedly, from the same hub value at every vertex, until the sum of all changes of the hubs, scaled to a sum of 1,
//! is below the tolerance. Both results are scaled to a sum of 1, as NetworkX's `hits` does. Repeated edges count each
//! time; weights are not read. In a graph without edges all hubs and authorities are 0.
//!
//! Each half of an iteration is a superstep over the out-lists: the first adds a hub's value to each of its neighbours,
//! the second adds up the authority values of each list. A superstep only has the sum of the previous vector, so hubs
//! are stored before they are scaled, beside the scaled ones of the previous iteration. A last superstep, which reads
//! no pages, scales the authorities: n iterations are 2 n + 2 supersteps.
//!
//! Cost: all out-lists in every superstep. 16 bytes a vertex. Sums are in single precision.

#[cfg(feature = "cli")]
pub mod command;

use crate::algorithms::Stop;
use crate::algorithms::neighbour_sum::{self, NeighbourSum};
use crate::algorithms::pagerank::words;
use crate::algorithms::weights::Ones;
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Ends, Graph, Iteration, Scalars, Shader, State, Step, Summary, Supersteps, Visit,
};
use crate::model::attributes::{Attribute, Initial, Merge, Role};
use crate::model::rule::{Next, Now};
use std::ops::Range;
use topostream_formats::Direction;

/// HITS with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hits {
    /// When to stop. A tolerance applies to the sum of all changes of the hubs (L1 norm), which add up to 1.
    pub stop: Stop,
}

impl Default for Hits {
    /// A total change of 1e-6, at most 100 iterations.
    fn default() -> Self {
        Self { stop: Stop::Tolerance { l1: 1e-6, iterations_max: 100 } }
    }
}

/// Indices of the declared attributes: hubs before they are scaled, authorities, sums, and the scaled hubs of the last
/// iteration.
const HUB: usize = 0;
const AUTHORITY: usize = 1;
const SUM: usize = 2;
const SCALED_HUB: usize = 3;

/// Indices into a step's integers: the kind of the superstep, the two words of the tolerance, and the maximum number of
/// iterations.
const MODE: usize = 0;
const TOLERANCE: usize = 1;
const ITERATIONS_MAX: usize = 3;

/// The kind of a superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Hubs add their values to their neighbours' values.
    Authorities,
    /// Hubs add up the values of their neighbours.
    Hubs,
    /// Authorities are scaled, without pages.
    Scale,
}

const MODE_NAMES: [&str; 3] = ["AUTHORITIES", "HUBS", "SCALE"];

/// Indices into the totals: the change of the scaled hubs, and the sum of the values that the superstep has computed.
const CHANGE: usize = 0;
const TOTAL: usize = 1;

impl Mode {
    fn of(step: &Step) -> Self {
        match step.integers[MODE] {
            0 => Self::Authorities,
            1 => Self::Hubs,
            _ => Self::Scale,
        }
    }

    /// A superstep whose values are scaled by 1 over the sum of the vector that they are computed from; by 0 if that is
    /// 0. Its integers are the mode and the limits of `stop`.
    fn step(self, stop: Stop, superstep: u32, total: f64) -> Step {
        let mut step = match self {
            Self::Authorities | Self::Hubs => Step::new(superstep, Direction::Out, Visit::All),
            Self::Scale => Step::without_pages(superstep),
        };
        let (tolerance, iterations_max) = stop.limits(1.0);
        let [low, high] = words(tolerance);
        step.integers = [self as u32, low, high, iterations_max];
        step.scalars[0] = if total > 0.0 { total.recip() } else { 0.0 };
        step
    }
}

impl Algorithm for Hits {
    type Kernel<'a> = NeighbourSum<'a, Ones>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let attributes = vec![
            Attribute::f32("hub", Role::ReadOnly, Merge::Max).initially(Initial::Bits(1.0f32.to_bits())),
            Attribute::f32("authority", Role::Gathered, Merge::Max),
            Attribute::f32("sum", Role::Accumulated, Merge::Add),
            Attribute::f32("scaled_hub", Role::Own, Merge::Add),
        ];
        let shader = Shader::of_program("src/algorithms/hits/hits.wgsl", include_str!("hits.wgsl"), Vec::new());
        let halves = |iterations: u32| iterations.saturating_mul(2).saturating_add(2);
        Declaration {
            writes: Ends::Both.into(),
            parameters: Some(Parameters::none().with("stop", self.stop)),
            shader: Some(shader.with_modes(MODE_NAMES)),
            supersteps: match self.stop {
                Stop::Iterations(iterations) => Supersteps::Exactly(halves(iterations)),
                Stop::Tolerance { iterations_max, .. } => Supersteps::AtMost(halves(iterations_max)),
            },
            ..Declaration::new("hits", attributes, vec![(Direction::Out, Visit::All)])
        }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        neighbour_sum::check_stop(self.stop)
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.vertices > 0).then(|| Mode::Authorities.step(self.stop, 0, graph.vertices as f64))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        let [hub, authority, sum] = [HUB, AUTHORITY, SUM].map(|place| state.attributes.f32(place));
        match Mode::of(step) {
            Mode::Hubs => NeighbourSum::between(authority, sum, true),
            Mode::Authorities | Mode::Scale => NeighbourSum::between(hub, sum, false),
        }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let [hubs, authorities, sums, scaled_hubs] =
            [HUB, AUTHORITY, SUM, SCALED_HUB].map(|place| state.attributes.f32(place));
        let (mode, scale) = (Mode::of(step), step.scalars[0]);
        let scaled = |value: f32| (scale * f64::from(value)) as f32;
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            match mode {
                Mode::Authorities => {
                    let (authority, hub) = (scaled(sums.take(vertex)), scaled(hubs.get(vertex)));
                    totals[CHANGE] += f64::from((hub - scaled_hubs.get(vertex)).abs());
                    totals[TOTAL] += f64::from(authority);
                    scaled_hubs.set(vertex, hub);
                    authorities.set(vertex, authority);
                }
                Mode::Hubs => {
                    let hub = scaled(sums.take(vertex));
                    totals[TOTAL] += f64::from(hub);
                    hubs.set(vertex, hub);
                }
                Mode::Scale => authorities.set(vertex, scaled(authorities.get(vertex))),
            }
        }
        totals
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        // The number of iterations whose hubs this superstep has scaled; the first one scales the start values.
        let done = now.superstep() / 2;
        let converged = now.total(CHANGE).less(now.number(TOLERANCE)).and(!done.equals(0));
        let stops = converged.or(done.at_least(now.integer(ITERATIONS_MAX)));
        let mode = |mode: Mode| now.integer(MODE).equals(mode as u32);
        let to = |next: Next<'a>, mode: Mode| next.with_integer(MODE, mode as u32);
        let hubs = stops.select(to(now.without_pages(), Mode::Scale), to(now.stay(), Mode::Hubs));
        let next = mode(Mode::Authorities).select(hubs, to(now.stay(), Mode::Authorities));
        let total = now.total(TOTAL);
        let scale = total.above(0.0).select(now.number_of(1.0) / total, 0.0);
        next.with_scalar(0, scale).unless(mode(Mode::Scale))
    }

    fn iteration(&self, _graph: &Graph, step: &Step, summary: &Summary) -> Option<Iteration> {
        let iterations = step.superstep / 2;
        let ended = Mode::of(step) == Mode::Authorities && iterations > 0;
        ended.then(|| Iteration { iterations, residual: summary.totals[CHANGE], tolerance: self.stop.tolerance() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let [hub, authority] = [SCALED_HUB, AUTHORITY].map(|place| state.attributes.f32(place));
        vec![Answer::f32("hub", |vertex| hub.get(vertex)), Answer::f32("authority", |vertex| authority.get(vertex))]
    }
}
