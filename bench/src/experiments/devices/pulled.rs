//! Distances from a source by pulling: in each superstep every vertex takes the least of its in-neighbours' distances
//! and the edge, as Khorasani, Gupta and Bhuyan's framework does (PACT 2015). All values may change in every superstep,
//! and so devices exchange all, or the maximal set of those that another device reads; a search exchanges only what has
//! changed. For comparisons: searches of the program read the lists of active vertices only.

use std::ops::{ControlFlow, Range};
use topostream::model::algorithm::{
    Algorithm, Answer, Declaration, Kernel, List, Scalars, Shader, State, Step, Visit, Weights,
};
use topostream::model::attributes::{Attribute, Initial, Merge, Role, U32Column};
use topostream::model::rule::{Next, Now};
use topostream::{Direction, VertexId};

/// Distances from a source, in hops or by weight.
#[derive(Clone, Copy, Debug)]
pub struct PulledDistances {
    /// The source.
    pub source: VertexId,
    /// Whether edges have weights.
    pub weighted: bool,
}

/// Indices of the declared attributes. A list's vertex writes the least distance that it has found; its distance
/// follows in the vertex phase, so that a superstep reads those of the one before.
const DISTANCE: usize = 0;
const FOUND: usize = 1;
/// The distance of a vertex that is not reached.
const FAR: u32 = u32::MAX;

/// The least distance over a list.
pub struct Least<'a> {
    distance: &'a U32Column,
    found: &'a U32Column,
    weighted: bool,
}

impl Kernel for Least<'_> {
    type Record = (u32, u32);

    fn open(&self, list: List) -> Option<(u32, u32)> {
        Some((list.vertex, FAR))
    }

    fn edge(&self, (_, least): &mut (u32, u32), neighbour: u32, weight: u32) -> ControlFlow<()> {
        let length = if self.weighted { weight } else { 1 };
        *least = (*least).min(self.distance.get(neighbour).saturating_add(length));
        ControlFlow::Continue(())
    }

    fn prefetch(&self, neighbour: u32) {
        self.distance.prefetch(neighbour);
    }

    fn close(&self, (vertex, least): (u32, u32)) {
        self.found.min(vertex, least);
    }
}

/// The same on GPUs.
const WGSL: &str = "
// The complement of the least distance: a record of no edges is zero.
struct Record { near: u32 }

fn list_open(list: List) -> Record {
    return Record(0u);
}

fn list_gather(neighbour: u32) -> u32 {
    return distance_load(neighbour);
}

fn list_edge(record: ptr<function, Record>, list: List, gathered: u32, weight: u32) -> bool {
    var length = 1u;
    if WEIGHTED != 0u {
        length = weight;
    }
    // Sums that would exceed the largest number are that number.
    (*record).near = max((*record).near, 0xffffffffu - gathered - min(length, 0xffffffffu - gathered));
    return true;
}

fn list_join(a: Record, b: Record) -> Record {
    return Record(max(a.near, b.near));
}

fn list_shuffle(record: Record, mask: u32) -> Record {
    return Record(subgroupShuffleXor(record.near, mask));
}

fn list_close(record: Record, list: List) {
    found_min(list.vertex, 0xffffffffu - record.near);
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    if vertex == SOURCE {
        distance_store(vertex, 0u);
    }
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let found = found_load(vertex);
    if found < distance_load(vertex) {
        distance_store(vertex, found);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    return vec4<f32>();
}
";

impl Algorithm for PulledDistances {
    type Kernel<'a> = Least<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let far = |name, role| Attribute::u32(name, role, Merge::Min).initially(Initial::Bits(FAR));
        let attributes = vec![far("distance", Role::Gathered), far("found", Role::Own)];
        let constants = [("SOURCE", self.source.0.into()), ("WEIGHTED", u32::from(self.weighted).into())];
        Declaration {
            weights: if self.weighted { Weights::Narrow } else { Weights::None },
            shader: Some(Shader::new("pulled.wgsl", WGSL).with_constants(constants)),
            ..Declaration::new("pulled-distances", attributes, vec![(Direction::In, Visit::All)])
        }
    }

    fn initialise(&self, state: &State, vertices: Range<u64>) -> Scalars {
        if vertices.contains(&self.source.0.into()) {
            state.attributes.u32(DISTANCE).set(self.source.0, 0);
        }
        Scalars::default()
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> Least<'a> {
        let [distance, found] = [DISTANCE, FOUND].map(|place| state.attributes.u32(place));
        Least { distance, found, weighted: self.weighted }
    }

    fn vertex_phase(&self, state: &State, _step: &Step, vertices: Range<u64>) -> Scalars {
        let [distance, found] = [DISTANCE, FOUND].map(|place| state.attributes.u32(place));
        let mut changed = 0.0;
        for vertex in vertices.map(|vertex| vertex as u32) {
            if found.get(vertex) < distance.get(vertex) {
                distance.set(vertex, found.get(vertex));
                changed += 1.0;
            }
        }
        [changed, 0.0, 0.0, 0.0]
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        now.stay().unless(now.total(0).less(0.5))
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let distance = state.attributes.u32(DISTANCE);
        let reached = |vertex| Some(distance.get(vertex)).filter(|&distance| distance != FAR);
        vec![Answer::integer("distance", move |vertex| reached(vertex).map(u64::from))]
    }
}
