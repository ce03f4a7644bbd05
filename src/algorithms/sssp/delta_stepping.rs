//! Single-source shortest paths by buckets: the same distances as [`Sssp`], to the bit, but fewer lists are read twice.
//!
//! Delta-stepping (Meyer and Sanders, Journal of Algorithms 2003), in the variant that does not distinguish light and
//! heavy edges (GAP): a vertex whose distance has decreased waits for the bucket of its distance; buckets are `delta`
//! wide. A superstep reads the lists of the vertices in the current bucket. Once no distance in the bucket decreases, a
//! superstep that reads no lists begins the next bucket. Empty buckets are skipped in strides that double, and a bucket
//! after a gap is as wide as the last stride: the width determines how often a list is read, never the result.
//!
//! With narrow buckets few lists are read twice, in many supersteps; with wide ones the algorithm approaches
//! Bellman-Ford. Each superstep costs a vertex phase over all vertices, so narrow buckets suit graphs whose pages must
//! be read from disk.
//!
//! Weights, distances and errors are as in [`Sssp`]; it takes two more bits a vertex.

use super::{Numbers, Relaxing, Sssp};
use crate::algorithms::pagerank::words;
use crate::algorithms::relaxation::{VALUE, relaxation_wgsl};
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Graph, PhaseWithin, Refusal, Scalars, Seed, Seeds, Shader, State, Step,
    Summary, Visit,
};
use crate::model::algorithm::{Table, rule_of};
use crate::model::attributes::{Attribute, Role};
use crate::model::rule::{Integer, Next, Now, Number};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::Direction;

/// Shortest paths from one source by buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeltaStepping {
    /// The source and the type of weights.
    pub paths: Sssp,
    /// The width of a bucket, as a distance: above 0, and at least 1 for integer weights.
    pub delta: f64,
}

/// Indices of totals.
const VISITED: usize = 0;
const WAITING: usize = 1;

/// Indices of a step's integers and scalars: the two words of [`Bucket::end`], and [`Bucket::stride`].
const END: usize = 0;
const STRIDE: usize = 0;
/// A stride of 1.
const ONE: Scalars = [1.0, 0.0, 0.0, 0.0];

/// The name of the table with the two words of the width of a bucket.
const DELTA: &str = "delta";

/// The numbers of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    /// The end of the bucket: distances below this, by their bits.
    end: u64,
    /// The number of buckets to the next one, if this one is empty.
    stride: f64,
}

impl Bucket {
    fn of(step: &Step) -> Self {
        let [low, high, ..] = step.integers.map(u64::from);
        Self { end: high << 32 | low, stride: step.scalars[STRIDE] }
    }
}

impl DeltaStepping {
    fn is_float(&self) -> bool {
        self.paths.weights.is_float()
    }

    /// Vertices whose distance has decreased since their list was read.
    fn pending(&self) -> usize {
        if self.is_float() { 2 } else { 1 }
    }

    /// Vertices whose lists are read.
    fn visited(&self) -> usize {
        self.pending() + 1
    }

    fn shader(&self) -> Option<Shader> {
        let text = match self.paths.numbers() {
            _ if self.paths.weights.is_wide() => return None,
            Numbers::Whole | Numbers::Single => {
                concat!(include_str!("delta_stepping.wgsl"), include_str!("sssp.wgsl"), relaxation_wgsl!())
            }
            Numbers::Long | Numbers::Double => {
                concat!(include_str!("delta_stepping.wgsl"), include_str!("double.wgsl"), relaxation_wgsl!())
            }
        };
        Some(Shader::of_program("src/algorithms/sssp/delta_stepping.wgsl", text, self.paths.switches(false)))
    }

    /// The words of the distance that is this many buckets beyond the end of the bucket, by its bits; at most the
    /// largest distance of a path, so that the last bucket has room for all.
    fn behind<'a>(&self, now: Now<'a>, buckets: Number<'a>) -> [Integer<'a>; 2] {
        let delta = Arc::new(words(self.delta).to_vec());
        let delta = now.number_of_words([0, 1].map(|word| now.lookup(DELTA, &delta, now.integer_of(word))));
        let (width, [low, high]) = (buckets * delta, [END, END + 1].map(|place| now.integer(place)));
        match self.paths.numbers() {
            Numbers::Whole => {
                let [low, high] = (low.number() + width).wide();
                [high.equals(0).select(low, u32::MAX), now.integer_of(0)]
            }
            Numbers::Long => (now.wide([low, high]) + width).wide(),
            Numbers::Single => [(low.float() + width).float_bits(), now.integer_of(0)],
            Numbers::Double => (now.number(END) + width).words(),
        }
    }
}

impl Algorithm for DeltaStepping {
    type Kernel<'a> = Relaxing<'a>;

    fn declare(&self, has_in_lists: bool) -> Declaration {
        let paths = self.paths.declare(has_in_lists);
        // Behind the distance and the rejected vertices.
        let sets = [Attribute::set("pending", Role::Accumulated), Attribute::set("visited", Role::ReadOnly)];
        let attributes = [paths.attributes, sets.to_vec()].concat();
        let sets: &[usize] = if self.is_float() { &[2, 3] } else { &[1, 2] };
        Declaration {
            command: "sssp",
            tables: vec![Table::given(DELTA, &Arc::new(words(self.delta).to_vec()))],
            weights: paths.weights,
            phase_within: Some(PhaseWithin { sets, modes: None }),
            parameters: paths.parameters.map(|parameters| parameters.with("delta", self.delta)),
            shader: self.shader(),
            small_steps: paths.small_steps,
            ..Declaration::new("delta-stepping", attributes, vec![(Direction::Out, Visit::Within(self.visited()))])
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let least = if self.is_float() { f64::MIN_POSITIVE } else { 1.0 };
        if !self.delta.is_finite() || self.delta < least {
            let what = if self.is_float() { "above 0" } else { "of at least 1 for integer weights" };
            return Err(format!("delta {}: the width of a bucket must be a finite number {what}", self.delta));
        }
        self.paths.check(graph)
    }

    fn recall(&self, _state: &State, step: &Step, _kept: &mut dyn Read) -> Result<(), String> {
        let Bucket { stride, .. } = Bucket::of(step);
        if stride >= 1.0 { Ok(()) } else { Err(format!("its superstep has a stride of {stride}, expected at least 1")) }
    }

    fn seeds(&self) -> Seeds<'_> {
        let vertex = self.paths.source.0;
        let seed = |attribute, bits| Seed { attribute, vertex, bits };
        Seeds { values: vec![seed(VALUE, 0), seed(self.visited(), 1)], ..Seeds::default() }
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        let [limit_low, limit_high] = self.paths.limit_words();
        let before = Step::without_pages(0).with_scalars(ONE).with_integers([0, 0, limit_low, limit_high]);
        let waiting = Summary { totals: [0.0, 1.0, 0.0, 0.0], ..Summary::default() };
        let first = rule_of(self, &self.declare(false)).next(0, &before, &waiting)?;
        Some(Step { superstep: 0, visit: Visit::Within(self.visited()), scalars: ONE, ..first })
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Self::Kernel<'a> {
        self.paths.relaxing(state, step.superstep, Some(state.attributes.bits(self.pending())))
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (attributes, end) = (&state.attributes, Bucket::of(step).end);
        let is_before = |vertex| match self.paths.numbers() {
            Numbers::Whole | Numbers::Single => u64::from(attributes.u32(VALUE).get(vertex)) < end,
            Numbers::Long | Numbers::Double => attributes.u64(VALUE).get(vertex) < end,
        };
        let (pending, visited) = (state.attributes.bits(self.pending()), state.attributes.bits(self.visited()));
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            let waits = pending.contains(vertex);
            if waits && is_before(vertex) {
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

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let [goes_on, waits] = [VISITED, WAITING].map(|place| now.total(place).above(0.0));
        let same = now.visit(Direction::Out, Visit::Within(self.visited())).with_scalar(STRIDE, now.number_of(1.0));
        let stride = now.scalar(STRIDE);
        let [low, high] = self.behind(now, stride);
        // Between two buckets no list is read.
        let next = now.without_pages().with_scalar(STRIDE, stride * 2.0);
        let next = next.with_integer(END, low).with_integer(END + 1, high);
        goes_on.select(same.of(now.total(VISITED)), next.unless(!waits))
    }

    fn changed(&self, _graph: &Graph, _step: &Step, summary: &Summary) -> u64 {
        // The vertices whose lists are read next; others wait for the bucket of their value.
        summary.totals[VISITED] as u64
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        self.paths.conclude(state)
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        self.paths.answers(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::VertexId;
    use topostream_formats::edge::WeightType;

    /// Doubling strides reach the end of all distances, whatever the width.
    #[test]
    fn buckets_come_to_an_end() {
        let [whole, float] = [WeightType::U32, WeightType::F32].map(|weights| Sssp::new(VertexId(0), weights));
        for (paths, deltas, last) in [
            (whole, [1.0, 0.9e9, 1e300], u32::MAX.into()),
            (float.in_single(), [1e-300, 1.0, 1e300], f32::INFINITY.to_bits().into()),
            (float, [1e-300, 1.0, 1e300], f64::INFINITY.to_bits()),
        ] {
            for delta in deltas {
                let paths = DeltaStepping { paths, delta };
                let rule = rule_of(&paths, &paths.declare(false));
                let waiting = Summary { totals: [0.0, 1.0, 0.0, 0.0], ..Summary::default() };
                let mut step = rule.next(0, &Step::without_pages(0).with_scalars(ONE), &waiting).unwrap();
                while Bucket::of(&step).end != last {
                    let next = rule.next(0, &step, &waiting).unwrap();
                    assert!(Bucket::of(&next).end >= Bucket::of(&step).end);
                    step = next;
                    assert!(step.superstep < 2_100, "{paths:?}: {step:?}");
                }
            }
        }
    }
}
