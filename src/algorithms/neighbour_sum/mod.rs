//! The sum of every vertex's in-neighbours' values, shared by the algorithms of power iteration: their first two
//! attributes, their kernel, and its WGSL.
//!
//! `sum[v]` is the sum of `weight(u → v) * value[u]` over the edges u → v; weights are 1 if none are read. In-lists are
//! read if the store has them (each list's sum is added up by one thread and written once), otherwise out-lists (each
//! edge adds to its neighbour's sum). Repeated edges count each time, a loop once.
//!
//! Sums are in single precision. Their last digits depend on the order of the terms. An infinite or NaN weight has no
//! sum, and some algorithms reject negative weights too: the vertex that such a weight leads to is added to the set
//! `refused`, which exists for stores with `f32` weights.

use crate::algorithms::Stop;
use crate::algorithms::pagerank::words;
use crate::algorithms::weights::{Ones, Stored, Weights};
use crate::model::algorithm::{Graph, Integers, Iteration, Kernel, List, State, Step, Supersteps, Visit};
use crate::model::attributes::{Attribute, F32Column, Initial, Merge, Role};
use crate::model::bits::Bits;
use crate::model::rule::{Flag, Integer, Now, Number};
use std::ops::ControlFlow;
use topostream_formats::Direction;
use topostream_formats::edge::WeightType;

/// Indices of the declared attributes.
pub(super) const VALUE: usize = 0;
pub(super) const SUM: usize = 1;
/// The first index that belongs to the algorithm itself, without `f32` weights.
pub(super) const OWN: usize = 2;

/// The smallest mean change that single precision can distinguish from 0.
const TOLERANCE_MIN: f64 = 1e-7;

/// The WGSL of the kernel, appended to the text of an algorithm: `concat!(include_str!(…), neighbour_sum_wgsl!())`. It
/// reads `value`, adds to `sum`, and needs the [`switches`].
macro_rules! neighbour_sum_wgsl {
    () => {
        include_str!("../neighbour_sum/neighbour_sum.wgsl")
    };
}
pub(super) use neighbour_sum_wgsl;

/// The attributes `value`, with the initial value `first`, and `sum`.
pub(super) fn attributes(has_in_lists: bool, first: f32) -> Vec<Attribute> {
    let (value, sum) = if has_in_lists { (Role::Gathered, Role::Own) } else { (Role::ReadOnly, Role::Accumulated) };
    let value = Attribute::f32("value", value, Merge::Max).initially(Initial::Bits(first.to_bits()));
    vec![value, Attribute::f32("sum", sum, Merge::Add)]
}

/// The set of vertices with an incoming edge whose weight is rejected.
pub(super) fn refused(has_in_lists: bool) -> Attribute {
    Attribute::set("refused", if has_in_lists { Role::Own } else { Role::Accumulated })
}

/// The lists that are read.
pub(super) fn direction(has_in_lists: bool) -> Direction {
    if has_in_lists { Direction::In } else { Direction::Out }
}

/// The visits of an algorithm that reads all lists in every superstep.
pub(super) fn visits(has_in_lists: bool) -> Vec<(Direction, Visit)> {
    vec![(direction(has_in_lists), Visit::All)]
}

/// Adds values along or against edges.
pub struct NeighbourSum<'a, W> {
    value: &'a F32Column,
    sum: &'a F32Column,
    weights: W,
    /// The set of vertices with a rejected weight, if weights are `f32`.
    refused: Option<&'a Bits>,
    pull: bool,
}

/// The value that a list's vertex gives to each neighbour (push), or the sum of what it has received so far (pull).
pub struct Carried {
    list: List,
    given: f32,
    received: f64,
}

impl<'a> NeighbourSum<'a, Ones> {
    /// The kernel of a superstep over edges that count 1.
    pub(super) fn unweighted(state: &'a State, step: &Step) -> Self {
        Self::between(state.attributes.f32(VALUE), state.attributes.f32(SUM), step.direction == Direction::In)
    }

    /// A kernel over edges that count 1: with `pull` a list's vertex adds up the values of its neighbours, otherwise it
    /// adds its value to each of their sums.
    pub(super) fn between(value: &'a F32Column, sum: &'a F32Column, pull: bool) -> Self {
        Self { value, sum, weights: Ones, refused: None, pull }
    }
}

impl<'a, const SIGNED: bool> NeighbourSum<'a, Stored<SIGNED>> {
    /// The kernel of a superstep over weighted edges; with `f32` weights `refused` is the index of that set.
    pub(super) fn weighted(state: &'a State, step: &Step, weights: Option<WeightType>, refused: usize) -> Self {
        let NeighbourSum { value, sum, pull, .. } = NeighbourSum::unweighted(state, step);
        let refused = (weights == Some(WeightType::F32)).then(|| state.attributes.bits(refused));
        Self { value, sum, weights: Stored(weights), refused, pull }
    }
}

impl<W> NeighbourSum<'_, W> {
    /// Adds a vertex to the set of those with a rejected weight. Not inlined: the loop over edges is faster without it.
    #[cold]
    #[inline(never)]
    fn refuse(&self, vertex: u32) {
        if let Some(refused) = self.refused {
            refused.insert(vertex);
        }
    }
}

impl<W: Weights + Sync> Kernel for NeighbourSum<'_, W> {
    type Record = Carried;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Carried> {
        let given = if self.pull { 0.0 } else { self.value.get(list.vertex) };
        Some(Carried { list, given, received: 0.0 })
    }

    #[inline(always)]
    fn edge(&self, carried: &mut Carried, neighbour: u32, weight: u32) -> ControlFlow<()> {
        match self.weights.decode(weight) {
            Some(weight) if self.pull => {
                carried.received += f64::from(weight) * f64::from(self.value.get(neighbour));
            }
            Some(weight) => self.sum.add(neighbour, weight * carried.given),
            None => self.refuse(if self.pull { carried.list.vertex } else { neighbour }),
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        let column = if self.pull { self.value } else { self.sum };
        column.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, carried: Carried) {
        match carried.list {
            _ if !self.pull => {}
            List { vertex, whole: true, .. } => self.sum.set(vertex, carried.received as f32),
            List { vertex, .. } => self.sum.add(vertex, carried.received as f32),
        }
    }
}

/// Checks that single precision can distinguish a tolerance from 0.
///
/// # Errors
/// A sentence for the user.
pub(super) fn check_stop(stop: Stop) -> Result<(), String> {
    match stop {
        Stop::Tolerance { l1, .. } if l1.is_nan() || l1 < TOLERANCE_MIN => {
            Err(format!("tolerance {l1}: must be at least {TOLERANCE_MIN}, the precision of single-precision sums"))
        }
        _ => Ok(()),
    }
}

/// Whether an algorithm stops after an iteration; `change` is the sum of the changes of all vertices. The limits are in
/// the step's integers.
pub(super) fn is_done<'a>(now: Now<'a>, iterations: Integer<'a>, change: Number<'a>) -> Flag<'a> {
    change.less(now.number(0)).or(iterations.at_least(now.integer(2)))
}

/// The state after an iteration.
pub(super) fn iteration(stop: Stop, graph: &Graph, iterations: u32, change: f64) -> Iteration {
    Iteration { iterations, residual: change / graph.vertices.max(1) as f64, tolerance: stop.tolerance() }
}

/// The integers of a superstep: the sum of changes below which it is the last one, and the maximum number of
/// iterations.
pub(super) fn limits(stop: Stop, graph: &Graph) -> Integers {
    let (tolerance, iterations_max) = stop.limits(graph.vertices as f64);
    let [low, high] = words(tolerance);
    [low, high, iterations_max, 0]
}

/// One superstep more than there are iterations.
pub(super) fn one_more(iterations: Supersteps) -> Supersteps {
    match iterations {
        Supersteps::Exactly(iterations) => Supersteps::Exactly(iterations.saturating_add(1)),
        Supersteps::AtMost(iterations) => Supersteps::AtMost(iterations.saturating_add(1)),
        Supersteps::Unknown => Supersteps::Unknown,
    }
}

/// The switches that the kernel's WGSL needs. `SIGNED`, as of [`Stored`], is whether negative weights are accepted.
pub(super) fn switches<const SIGNED: bool>(weights: Option<WeightType>) -> Vec<(&'static str, bool)> {
    vec![("WEIGHTED", weights.is_some()), ("FLOAT", weights == Some(WeightType::F32)), ("SIGNED", SIGNED)]
}

/// When to stop, as command-line arguments.
#[cfg(feature = "cli")]
#[derive(clap::Args)]
pub(super) struct StopArgs {
    /// Run exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Stop when the mean change of a vertex in an iteration is less than this
    #[arg(long, default_value_t = 1e-6, value_name = "CHANGE")]
    tolerance: f64,
    /// Maximum number of iterations
    #[arg(long, default_value_t = 1000, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
}

#[cfg(feature = "cli")]
impl StopArgs {
    /// Converts the arguments.
    pub(super) fn stop(&self) -> Stop {
        Stop::after(self.iterations, self.tolerance, self.max_iterations)
    }
}
