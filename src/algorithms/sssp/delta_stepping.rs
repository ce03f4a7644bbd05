//! Single-source shortest paths by buckets: the distances of [`Sssp`], to the bit, with fewer lists read twice.
//!
//! Delta-stepping (Meyer and Sanders, Journal of Algorithms 2003), in the variant without a difference between light
//! and heavy edges (GAP): vertices whose distance has become less wait until the bucket of their distance comes, D
//! wide. A superstep reads the lists of those in the bucket; it is left when nobody in it has become nearer, and the
//! next begins in a superstep that reads nothing. Empty buckets are passed over in strides that double, and a bucket
//! behind a gap is as wide as the last stride: the width decides how often a list is read, never the result.
//!
//! A narrow bucket reads few lists twice, in many supersteps; a wide one is Bellman and Ford's way. Each superstep
//! costs a vertex phase over all vertices, so that narrow buckets are for graphs whose pages have to be read from disk.
//!
//! Weights, distances and refusals are those of [`Sssp`]. 4.25 bytes a vertex: the distance and two bits; with `f32`
//! weights one more.

use super::{Nearest, Sssp};
use crate::algorithms::relaxation::{self, Relaxation, VALUE, relaxation_wgsl};
use crate::model::Parameters;
use crate::model::algorithm::{
    Algorithm, Answer, Graph, Refusal, Scalars, Seed, Seeds, Shader, State, Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use std::io::Read;
use std::ops::Range;
use topostream_formats::Direction;

/// Shortest paths from one source, bucket by bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeltaStepping {
    /// From where, over which weights.
    pub paths: Sssp,
    /// How wide a bucket is, as a distance: above 0, and at least 1 where weights are whole.
    pub delta: f64,
}

/// Places in totals.
const VISITED: usize = 0;
const WAITING: usize = 1;

/// What a step's numbers say.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    /// Where it ends: distances below this, by their bits.
    end: u32,
    /// How many buckets the next one is away, if this is empty.
    stride: f64,
}

impl Bucket {
    fn of(step: &Step) -> Self {
        Self { end: step.integers[0], stride: step.scalars[0] }
    }
}

impl DeltaStepping {
    /// Vertices whose distance has become less since their list was read.
    fn pending(&self) -> usize {
        if self.paths.is_float() { 2 } else { 1 }
    }

    /// Those whose lists are read.
    fn visited(&self) -> usize {
        self.pending() + 1
    }

    /// The distance that is so many buckets behind another, by its bits; at most the largest that a path can have, so
    /// that the last bucket has room for all.
    fn behind(&self, end: u32, buckets: f64) -> u32 {
        let width = buckets * self.delta;
        match self.paths.is_float() {
            true => ((f64::from(f32::from_bits(end)) + width) as f32).to_bits(),
            false => (f64::from(end) + width) as u32,
        }
    }

    /// A superstep over a bucket, or one that finds out which vertices are in it.
    fn step(&self, superstep: u32, bucket: Bucket, begins: bool) -> Step {
        // Between two buckets no list is read.
        let step = match begins {
            true => Step::without_pages(superstep),
            false => Step::new(superstep, Direction::Out, Visit::Within(self.visited())),
        };
        step.with_integers([bucket.end, 0, 0, 0]).with_scalars([bucket.stride, 0.0, 0.0, 0.0])
    }
}

impl Algorithm for DeltaStepping {
    type Kernel<'a> = Relaxation<'a, Nearest>;

    fn name(&self) -> &'static str {
        "delta-stepping"
    }

    fn attributes(&self, has_in_lists: bool) -> Vec<Attribute> {
        let bit = |name, role| {
            let (of, merge, initial) = (AttributeType::Bit, Merge::Or, Initial::Bits(0));
            Attribute { name, of, role, merge, initial }
        };
        // The distance, and which are refused.
        let mut declared = self.paths.attributes(has_in_lists);
        declared.extend([bit("pending", Role::Accumulated), bit("visited", Role::ReadOnly)]);
        declared
    }

    fn needs_weights(&self) -> bool {
        true
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let least = if self.paths.is_float() { f64::MIN_POSITIVE } else { 1.0 };
        if !self.delta.is_finite() || self.delta < least {
            let what = if self.paths.is_float() { "above 0" } else { "of at least 1, as weights are whole" };
            return Err(format!("delta {}: the width of a bucket must be a finite number {what}", self.delta));
        }
        self.paths.check(graph)
    }

    fn parameters(&self) -> Option<Parameters> {
        self.paths.parameters().map(|paths| paths.with("delta", self.delta))
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        let Bucket { stride, .. } = Bucket::of(step);
        if stride >= 1.0 {
            Ok(())
        } else {
            Err(format!("its superstep says {stride} where a number from 1 on is expected"))
        }
    }

    fn visits(&self, _has_in_lists: bool) -> Vec<(Direction, Visit)> {
        vec![(Direction::Out, Visit::Within(self.visited()))]
    }

    fn shader(&self) -> Option<Shader> {
        let text = concat!(include_str!("delta_stepping.wgsl"), include_str!("sssp.wgsl"), relaxation_wgsl!());
        let switches = relaxation::switches(self.paths.weights, false);
        Some(Shader::of_program("src/algorithms/sssp/delta_stepping.wgsl", text, switches))
    }

    fn seeds(&self) -> Seeds {
        let vertex = self.paths.source.0;
        let seed = |attribute, bits| Seed { attribute, vertex, bits };
        Seeds { active: Vec::new(), values: vec![seed(VALUE, 0), seed(self.visited(), 1)] }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(self.step(0, Bucket { end: self.behind(0, 1.0), stride: 1.0 }, false))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> Self::Kernel<'a> {
        Relaxation::collecting(state, state.attributes.bits(self.pending()), self.paths.weights)
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (dist, end) = (state.attributes.u32(VALUE), Bucket::of(step).end);
        let (pending, visited) = (state.attributes.bits(self.pending()), state.attributes.bits(self.visited()));
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let waits = pending.contains(vertex);
            if waits && dist.get(vertex) < end {
                pending.remove(vertex);
                visited.insert(vertex);
                totals[VISITED] += 1.0;
                continue;
            }
            if visited.contains(vertex) {
                visited.remove(vertex);
            }
            totals[WAITING] += f64::from(waits);
        }
        totals
    }

    fn next(&self, _graph: &Graph, step: &Step, summary: &Summary) -> Option<Step> {
        let Bucket { end, stride } = Bucket::of(step);
        let bucket = if summary.totals[VISITED] > 0.0 {
            Bucket { end, stride: 1.0 }
        } else if summary.totals[WAITING] > 0.0 {
            Bucket { end: self.behind(end, stride), stride: 2.0 * stride }
        } else {
            return None;
        };
        Some(self.step(step.superstep + 1, bucket, summary.totals[VISITED] == 0.0))
    }

    fn verdict(&self, state: &State) -> Result<(), Refusal> {
        self.paths.verdict(state)
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        self.paths.answers(state)
    }

    fn traversed_edges(&self, state: &State) -> Option<u64> {
        self.paths.traversed_edges(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::VertexId;
    use topostream_formats::edge::WeightType;

    /// Strides that double come to an end that everything is before, whatever the width.
    #[test]
    fn buckets_come_to_an_end() {
        for (weights, deltas, last) in [
            (WeightType::U32, [1.0, 0.9e9, 1e300], u32::MAX),
            (WeightType::F32, [1e-300, 1.0, 1e300], f32::INFINITY.to_bits()),
        ] {
            for delta in deltas {
                let paths = DeltaStepping { paths: Sssp { source: VertexId(0), weights }, delta };
                let mut bucket = Bucket { end: paths.behind(0, 1.0), stride: 1.0 };
                let mut steps = 0;
                while bucket.end != last {
                    let end = paths.behind(bucket.end, bucket.stride);
                    assert!(end >= bucket.end);
                    bucket = Bucket { end, stride: 2.0 * bucket.stride };
                    assert_eq!(Bucket::of(&paths.step(0, bucket, true)), bucket);
                    steps += 1;
                    assert!(steps < 1_200, "{paths:?}: {bucket:?}");
                }
            }
        }
    }
}
