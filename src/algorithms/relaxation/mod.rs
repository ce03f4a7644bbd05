//! The relaxation of weighted edges, shared by [`Sssp`](super::Sssp), [`DeltaStepping`](super::DeltaStepping) and
//! [`Widest`](super::Widest): their attributes, their kernel, and its WGSL.
//!
//! Each vertex has a value of 32 or 64 bits. As integers, values have the order of the distances or widths, whatever
//! the type of the weights. Every edge offers its neighbour a value; the best one wins. A vertex with an incoming edge
//! whose `f32` weight is negative or NaN is added to the set `refused`.

use crate::algorithms::weights;
use crate::model::algorithm::{Graph, Kernel, List, Refusal, State};
use crate::model::attributes::{Attribute, AttributeType, Attributes, Initial, Merge, Role, U32Column, U64Column};
use crate::model::bits::Bits;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use topostream_formats::VertexId;
use topostream_formats::edge::WeightType;

/// Indices of the declared attributes.
pub(super) const VALUE: usize = 0;
/// With float weights only.
const REFUSED: usize = 1;

/// The WGSL of the kernel, appended to the text of an algorithm, which has `value_of`, `extended` and `improve`. It
/// needs the [`switches`].
macro_rules! relaxation_wgsl {
    () => {
        include_str!("../relaxation/relaxation.wgsl")
    };
}
pub(super) use relaxation_wgsl;

/// The switches that the kernel's WGSL needs. In a `traversal` the vertices that improve are active next; otherwise
/// they are added to the set `pending`.
pub(super) fn switches(weights: WeightType, traversal: bool) -> Vec<(&'static str, bool)> {
    vec![("FLOAT", weights.is_float()), ("TRAVERSAL", traversal)]
}

/// Checks that the source exists and that the weights match the store's.
pub(super) fn check(name: &str, source: VertexId, asked: WeightType, graph: &Graph) -> Result<(), String> {
    graph.check_sources(&[source])?;
    weights::check(name, Some(asked), graph)
}

/// The value, which begins with these bits in each of its words, and, with float weights, the set of vertices with a
/// rejected weight.
pub(super) fn attributes(
    (name, of, merge): (&'static str, AttributeType, Merge),
    first: u32,
    weights: WeightType,
) -> Vec<Attribute> {
    let value = Attribute::new(name, of, Role::Writable, merge).initially(Initial::Bits(first));
    let refused = Attribute::set("refused", Role::Accumulated);
    if weights.is_float() { vec![value, refused] } else { vec![value] }
}

/// The set of vertices with a rejected weight, if weights are floats.
pub(super) fn refused(state: &State, weights: WeightType) -> Option<&Bits> {
    weights.is_float().then(|| state.attributes.bits(REFUSED))
}

/// Returns an error if a vertex is in that set; `what` names the computed values, in the plural.
pub(super) fn check_weights(state: &State, weights: WeightType, what: &str) -> Result<(), Refusal> {
    let vertex = refused(state, weights).and_then(|refused| refused.next_set(0));
    let longer = if weights == WeightType::F64 { ", or a path to it is longer than the largest f64" } else { "" };
    let reason = || format!("an edge to it has a negative or NaN weight{longer}; {what} need weights of at least 0");
    Refusal::of(vertex.map(|vertex| vertex as u32), reason)
}

/// The number of out-edges of the vertices that are reached.
pub(super) fn traversed_edges(graph: &Graph, is_reached: impl Fn(u32) -> bool + Sync) -> u64 {
    let vertices = (0..graph.vertices).into_par_iter().map(|vertex| vertex as u32);
    let reached = vertices.filter(|&vertex| is_reached(vertex));
    reached.map(|vertex| u64::from(graph.out_degree(vertex))).sum()
}

/// A value for every vertex.
pub trait Column: Sync + 'static {
    /// The type of a value.
    type Value: Copy + PartialOrd + Sync;

    /// The largest value.
    const LARGEST: Self::Value;

    /// The attribute that was declared at `place`.
    fn of(attributes: &Attributes, place: usize) -> &Self;

    /// A vertex's value.
    fn get(&self, vertex: u32) -> Self::Value;
}

impl Column for U32Column {
    type Value = u32;

    const LARGEST: u32 = u32::MAX;

    fn of(attributes: &Attributes, place: usize) -> &Self {
        attributes.u32(place)
    }

    #[inline(always)]
    fn get(&self, vertex: u32) -> u32 {
        self.get(vertex)
    }
}

impl Column for U64Column {
    type Value = u64;

    const LARGEST: u64 = u64::MAX;

    fn of(attributes: &Attributes, place: usize) -> &Self {
        attributes.u64(place)
    }

    #[inline(always)]
    fn get(&self, vertex: u32) -> u64 {
        self.get(vertex)
    }
}

/// The value of a rule.
type Value<R> = <<R as Rule>::Column as Column>::Value;

/// The value that an edge offers, and which of two values is better.
pub trait Rule: Sync {
    /// The values.
    type Column: Column;

    /// Whether it has [`extended_widely`](Self::extended_widely).
    const IS_WIDE: bool = false;

    /// Whether paths lead on from a vertex with this value.
    #[inline(always)]
    fn leads_on(_value: Value<Self>) -> bool {
        true
    }

    /// The value at the end of a path, given the value before its last edge and the edge's integer weight.
    fn extended(value: Value<Self>, weight: u32) -> Value<Self>;

    /// As `extended`, with a float weight, by its bits; `None` if the weight is rejected.
    fn extended_by_float(value: Value<Self>, weight: u32) -> Option<Value<Self>>;

    /// As `extended` and `extended_by_float`, with the bits of a weight of 64 bits; `None` if the weight is rejected.
    #[inline(always)]
    fn extended_widely(_value: Value<Self>, _weight: u64) -> Option<Value<Self>> {
        None
    }

    /// Whether a value stands for an overflow. Like a rejected weight, it ends the run, unless it exceeds the limit.
    #[inline(always)]
    fn overflows(_value: Value<Self>) -> bool {
        false
    }

    /// Replaces the value of a vertex if another is better; returns whether it is.
    fn improve(values: &Self::Column, vertex: u32, value: Value<Self>) -> bool;
}

/// Relaxes edges.
pub struct Relaxation<'a, R: Rule> {
    values: &'a R::Column,
    /// With float weights only.
    refused: Option<&'a Bits>,
    improved: &'a Bits,
    traversal: bool,
    /// Larger values are not taken.
    limit: Value<R>,
    rule: PhantomData<R>,
}

impl<'a, R: Rule> Relaxation<'a, R> {
    /// The kernel of a traversal: vertices whose value has improved are active next. Vertices with a rejected weight
    /// must be active too: only then are they sent to other devices.
    pub(super) fn traversal(state: &'a State, superstep: u32, weights: WeightType) -> Self {
        Self { traversal: true, ..Self::collecting(state, state.next_frontier(superstep), weights) }
    }

    /// A kernel that adds the vertices whose value has improved to a set.
    pub(super) fn collecting(state: &'a State, improved: &'a Bits, weights: WeightType) -> Self {
        let (values, refused) = (R::Column::of(&state.attributes, VALUE), refused(state, weights));
        Self { values, refused, improved, traversal: false, limit: R::Column::LARGEST, rule: PhantomData }
    }

    /// The kernel that takes no larger values.
    pub(super) fn within(self, limit: Value<R>) -> Self {
        Self { limit, ..self }
    }
}

impl<R: Rule> Kernel for Relaxation<'_, R> {
    /// The value of the list's vertex.
    type Record = Value<R>;

    const IS_WIDE: bool = R::IS_WIDE;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Value<R>> {
        Some(self.values.get(list.vertex)).filter(|&value| R::leads_on(value))
    }

    #[inline(always)]
    fn edge(&self, &mut value: &mut Value<R>, neighbour: u32, weight: u32) -> ControlFlow<()> {
        self.offer(
            neighbour,
            match self.refused {
                None => Some(R::extended(value, weight)),
                Some(_) => R::extended_by_float(value, weight),
            },
        )
    }

    #[inline(always)]
    fn wide_edge(&self, &mut value: &mut Value<R>, neighbour: u32, weight: u64) -> ControlFlow<()> {
        let offer = R::extended_widely(value, weight);
        self.offer(neighbour, offer.filter(|&offer| offer > self.limit || !R::overflows(offer)))
    }

    #[inline(always)]
    fn close(&self, _value: Value<R>) {}
}

impl<R: Rule> Relaxation<'_, R> {
    /// Offers a value to a vertex; `None` if the edge's weight is rejected.
    #[inline(always)]
    fn offer(&self, neighbour: u32, offer: Option<Value<R>>) -> ControlFlow<()> {
        match (offer, self.refused) {
            (Some(offer), _) => {
                if offer <= self.limit && R::improve(self.values, neighbour, offer) {
                    self.improved.insert(neighbour);
                }
            }
            (None, Some(refused)) if refused.insert(neighbour) && self.traversal => {
                self.improved.insert(neighbour);
            }
            (None, _) => {}
        }
        ControlFlow::Continue(())
    }
}
