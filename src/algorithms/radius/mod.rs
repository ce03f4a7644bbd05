//! Estimated radius and effective diameter: for every vertex, the number of vertices that it reaches along edges, the
//! distance of the farthest of them, and the number of hops within which nine tenths of them are reached; for the
//! graph, the *neighbourhood function* N(h), the number of pairs of vertices at most h hops apart, and the number of
//! hops within which nine tenths of all connected pairs reach each other.
//!
//! As ANF (Palmer, Gibbons and Faloutsos, KDD 2002), HADI (Kang et al., TKDD 2011) and HyperANF (Boldi, Rosa and Vigna,
//! WWW 2011): each vertex has a sketch of the vertices within h hops along its out-edges, itself included. A superstep
//! reads all lists, and merges each vertex's sketch with those of its out-neighbours into the one for h + 1; the run
//! ends when no sketch has changed. Two sets of sketches are kept, so that one superstep is one hop on every device.
//!
//! *Sketches.* HyperLogLog's registers hold maxima, which devices cannot merge by an atomic operation that is exact for
//! several registers in a word. A register is therefore the bitmap whose maximum would be taken (Flajolet and Martin
//! 1985): a vertex sets one bit of one of eight bitmaps, the i-th with probability 2^-i, and bitmaps are merged by
//! *or*. The number of bits set carries more information than the maxima: Lang's estimate from it ("Back to the
//! future", arXiv 1708.06839) has a standard error of 0.69 / sqrt(bitmaps), HyperLogLog's 1.04 / sqrt(registers), and
//! it needs no separate rule for small numbers of vertices. With b bits in a bitmap on average, the estimate is 8 ×
//! 0.794 (2^b - e^(-0.566 b - 0.13 b² - 0.04 b³)) for eight bitmaps, which is within 0.3 % of the solution of b = sum
//! of 1 - e^(-x 2^-i).
//!
//! *Passes.* Memory holds eight bitmaps a vertex. A run may take several passes, each with different hashes; the
//! numbers of bits are averaged, which is equivalent to 8 × passes bitmaps. The standard error of the number of
//! neighbours is 25 % with one pass, 17 % with two, 12 % with four, 9 % with eight.
//!
//! - `eccentricity[v]`: the last hop at which a sketch of v has changed, the largest of all passes. It never exceeds
//!   the true eccentricity, and may fall short of it if few vertices are farthest away.
//! - `radius[v]`: the least hop at which the estimate is at least 9 tenths of the last one, the mean of all passes
//!   (*effective radius*).
//! - `neighbours[v]`: the estimated number of vertices that v reaches, itself included.
//! - The effective diameter: the number of hops, interpolated between two, at which N is 9 tenths of its last value. N
//!   is the mean of all passes, and N(0) the number of vertices. Pairs of a vertex with itself are counted, as ANF
//!   counts them.
//!
//! In a directed graph hops follow edges. Loops and repeated edges change nothing; a vertex without out-edges reaches
//! itself. The number of supersteps is the number of passes times the largest eccentricity of a pass plus two, and each
//! reads everything.
//!
//! 84 bytes a vertex: sixteen bitmaps and five numbers. CPUs keep eight bitmaps of a vertex side by side. GPUs must
//! bind 22 storage buffers at once, which adapters with the lowest limits cannot: a [narrow](Radius::narrow) run keeps
//! two bitmaps a vertex (36 bytes, 10 buffers) and has twice the standard error. One additional bit is then more than a
//! ninth, so its `radius` is the last hop at which a pass's sketch has changed.

#[cfg(feature = "cli")]
pub mod command;
mod sketches;

use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Constant, Declaration, Ends, Graph, Kernel, List, Refusal, Scalars, Shader,
    SmallSteps, State, Step, Summary, Visit,
};
use crate::model::attributes::{Attribute, Merge, Role, U32Column};
use crate::model::numbers::mixed;
use crate::model::rule::{Next, Now};
use crate::model::{Parameters, sound};
use sketches::{BITMAPS_MAX, Bitmaps, Sketches, count, merged};
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use topostream_formats::Direction;

/// Radius and effective diameter.
#[derive(Debug)]
pub struct Radius {
    passes: u32,
    seed: u32,
    /// Whether a vertex has eight bitmaps; otherwise it has two.
    wide: bool,
    /// N from the first hop on, of each pass: collected by vertex phases, and kept for
    /// [`effective_diameter`](Self::effective_diameter).
    neighbourhood: Mutex<Vec<Vec<f64>>>,
}

/// Indices of the declared attributes. The sum of the bits of completed passes.
const COUPONS: usize = 0;
/// The sum over completed passes of the hops at which the estimate reached 9 tenths.
const NEARS: usize = 1;
/// The hop of the last change in completed passes.
const FARTHEST: usize = 2;
/// In this pass: the hop since which the estimate has been at least 9 tenths of its current value.
const NEAR: usize = 3;
/// The hop of the last change in this pass.
const LAST: usize = 4;
/// The first bitmap of the sketch, followed by the bitmaps that edges merge from its neighbours.
const NOW: usize = 5;

const NUMBERS: [&str; NOW] = ["coupons", "nears", "farthest", "near", "last"];
const NOW_NAMES: [&str; BITMAPS_MAX] = ["now0", "now1", "now2", "now3", "now4", "now5", "now6", "now7"];
const NEXT_NAMES: [&str; BITMAPS_MAX] = ["next0", "next1", "next2", "next3", "next4", "next5", "next6", "next7"];

/// From this number of bits in eight bitmaps, one bit less stands for at least 9 tenths as many vertices; with two
/// bitmaps it never does.
const ENOUGH: u32 = 15;
/// The share of pairs that defines the effective diameter.
const MOST: f64 = 0.9;
/// The number of seeds of a pass.
const SEEDS: u32 = 2;
/// The maximum number of passes.
const PASSES_MAX: u32 = 256;

/// Indices into the totals.
const CHANGED: usize = 0;
const PAIRS: usize = 1;

/// The number of vertices that a bitmap stands for, divided by two to the power of its bits.
const SCALE: f64 = 0.794_023_6;
/// The polynomial that corrects the estimate for few bits.
const FEW: [f64; 3] = [0.566_261_2, 0.13, 0.04];

/// Returns the estimated number of vertices that have set this number of bits, averaged over passes, in this number of
/// bitmaps.
fn estimate(bits: f64, bitmaps: usize) -> f64 {
    let b = bits / bitmaps as f64;
    let [few_0, few_1, few_2] = FEW;
    let few = (-(few_0 + (few_1 + few_2 * b) * b) * b).exp();
    bitmaps as f64 * SCALE * (b.exp2() - few)
}

/// Returns the shift that turns a hash into the number of a bitmap.
fn bitmap_shift(bitmaps: usize) -> u32 {
    32 - bitmaps.ilog2()
}

/// A vertex's own bit: the first bits of its hash select the bitmap, the number of trailing zeros of another hash
/// selects the bit.
fn own_bit(vertex: u32, seed: u32, bitmaps: usize) -> (usize, u32) {
    let bitmap = mixed(vertex ^ mixed(seed)) >> bitmap_shift(bitmaps);
    let place = mixed(vertex ^ mixed(seed.wrapping_add(1))).trailing_zeros().min(31);
    (bitmap as usize, 1 << place)
}

/// The integers of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phase {
    /// The number of hops when the superstep ends; 0 where a pass begins.
    hops: u32,
    seed: u32,
    pass: u32,
}

impl Phase {
    fn of(step: &Step) -> Self {
        let [hops, seed, pass, _] = step.integers;
        Self { hops, seed, pass }
    }

    /// A superstep of a run with this number of passes, by which GPUs choose the next one.
    fn step(self, superstep: u32, passes: u32) -> Step {
        let visit = if self.hops == 0 { Visit::None } else { Visit::All };
        Step::new(superstep, Direction::Out, visit).with_integers([self.hops, self.seed, self.pass, passes])
    }
}

impl Radius {
    /// With this number of passes (1 to 256); the same seed gives the same sketches.
    pub fn new(passes: u32, seed: u32) -> Self {
        Self { passes, seed, wide: true, neighbourhood: Mutex::default() }
    }

    /// A run with two bitmaps a vertex instead of eight: the least memory and the fewest buffers, and twice the
    /// standard error.
    pub fn narrow(passes: u32, seed: u32) -> Self {
        Self { wide: false, ..Self::new(passes, seed) }
    }

    fn bitmaps(&self) -> usize {
        if self.wide { BITMAPS_MAX } else { 2 }
    }

    fn neighbourhood(&self) -> std::sync::MutexGuard<'_, Vec<Vec<f64>>> {
        self.neighbourhood.lock().expect("nothing panics while it is held")
    }

    /// The neighbourhood function of a graph with this number of vertices, once a run has ended: N(0), N(1), …
    pub fn pairs(&self, vertices: u64) -> Vec<f64> {
        let passes = self.neighbourhood();
        let longest = passes.iter().map(Vec::len).max().unwrap_or(0);
        let mean = |hop: usize| {
            let of_pass = |pass: &Vec<f64>| pass.get(hop).or(pass.last()).copied().unwrap_or(0.0);
            passes.iter().map(of_pass).sum::<f64>() / passes.len() as f64
        };
        std::iter::once(vertices as f64).chain((0..longest).map(mean)).collect()
    }

    /// The number of hops within which nine tenths of all connected pairs reach each other.
    pub fn effective_diameter(&self, vertices: u64) -> f64 {
        let pairs = self.pairs(vertices);
        let enough = MOST * pairs.last().expect("N(0) is there");
        match pairs.iter().position(|&pairs| pairs >= enough) {
            Some(hop) if hop > 0 => (hop - 1) as f64 + (enough - pairs[hop - 1]) / (pairs[hop] - pairs[hop - 1]),
            _ => 0.0,
        }
    }

    fn shader(&self) -> Shader {
        let [few_0, few_1, few_2] = FEW.map(|factor| Constant::F32(factor as f32));
        let constants = [
            ("ENOUGH", ENOUGH.into()),
            ("BITMAPS", Constant::F32(self.bitmaps() as f32)),
            ("BITMAP_SHIFT", bitmap_shift(self.bitmaps()).into()),
            ("SCALE", Constant::F32(SCALE as f32)),
            ("FEW_0", few_0),
            ("FEW_1", few_1),
            ("FEW_2", few_2),
        ];
        let (file, text) = ("src/algorithms/radius/radius.wgsl", include_str!("radius.wgsl"));
        Shader::of_program(file, text, vec![("WIDE", self.wide)]).with_constants(constants)
    }

    fn begin_pass(&self, superstep: u32, pass: u32) -> Step {
        self.neighbourhood().push(Vec::new());
        Phase { hops: 0, seed: self.seed.wrapping_add(SEEDS * pass), pass }.step(superstep, self.passes)
    }
}

/// Merges bitmaps of neighbours.
#[doc(hidden)]
pub struct RadiusKernel<'a> {
    now: Sketches<'a>,
    next: Sketches<'a>,
}

impl Kernel for RadiusKernel<'_> {
    /// The vertex, and its neighbours' bitmaps.
    type Record = (u32, Bitmaps);

    #[inline(always)]
    fn open(&self, list: List) -> Option<Self::Record> {
        Some((list.vertex, [0; BITMAPS_MAX]))
    }

    #[inline(always)]
    fn edge(&self, (_, together): &mut Self::Record, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        *together = merged(*together, self.now.get(neighbour));
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.now.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, (vertex, together): Self::Record) {
        self.next.or(vertex, together);
    }
}

/// The attributes that a vertex phase uses.
struct Values<'a> {
    now: Sketches<'a>,
    next: Sketches<'a>,
    state: &'a State,
}

impl<'a> Values<'a> {
    fn of(state: &'a State, wide: bool) -> Self {
        let now = Sketches::new(state, NOW, wide);
        Self { now, next: Sketches::new(state, NOW + now.bitmaps(), wide), state }
    }

    fn number(&self, place: usize) -> &U32Column {
        self.state.attributes.u32(place)
    }

    fn bits(&self, vertex: u32) -> u32 {
        count(self.now.get(vertex))
    }

    /// Checks that this superstep can continue from the sums of a checkpoint, so that none of them will overflow.
    fn check(&self, step: &Step) -> Result<(), String> {
        let phase = Phase::of(step);
        if phase.hops > step.superstep {
            return Err(format!("its superstep {} ends {} hops", step.superstep, phase.hops));
        }
        let bits = phase.pass * 32 * self.now.bitmaps() as u32;
        for vertex in (0..self.state.graph.vertices).map(|vertex| vertex as u32) {
            let value = |place| self.number(place).get(vertex);
            let hops = u64::from(value(NEARS)) + u64::from(value(NEAR).max(value(LAST)));
            if value(COUPONS) > bits || hops > step.superstep.into() {
                let coupons = value(COUPONS);
                return Err(format!(
                    "vertex {vertex} has {coupons} bits and {hops} hops, which are more than it can have"
                ));
            }
        }
        Ok(())
    }

    /// Adds the bits of a completed pass to the bits of earlier passes, and begins another.
    fn begin(&self, vertex: u32, seed: u32) {
        let [coupons, nears, farthest, near, last] =
            [COUPONS, NEARS, FARTHEST, NEAR, LAST].map(|place| self.number(place));
        coupons.set(vertex, coupons.get(vertex) + self.bits(vertex));
        nears.set(vertex, nears.get(vertex) + near.get(vertex));
        farthest.set(vertex, farthest.get(vertex).max(last.get(vertex)));
        near.set(vertex, 0);
        last.set(vertex, 0);
        self.next.set(vertex, [0; BITMAPS_MAX]);
        let (bitmap, bit) = own_bit(vertex, seed, self.now.bitmaps());
        self.now.set(vertex, std::array::from_fn(|at| if at == bitmap { bit } else { 0 }));
    }

    /// Merges the sketches of neighbours; returns the number of bits, and whether it has grown.
    fn grow(&self, vertex: u32, hops: u32) -> (u32, bool) {
        let before = self.now.get(vertex);
        let both = merged(before, self.next.get(vertex));
        self.now.set(vertex, both);
        let (before, bits) = (count(before), count(both));
        if bits > before {
            let last = self.number(LAST);
            let wide = self.now.bitmaps() == BITMAPS_MAX;
            let near = if wide && bits == before + 1 && bits >= ENOUGH { last.get(vertex) } else { hops };
            self.number(NEAR).set(vertex, near);
            last.set(vertex, hops);
        }
        (bits, bits > before)
    }
}

impl Algorithm for Radius {
    type Kernel<'a> = RadiusKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let bitmaps = self.bitmaps();
        // Edges access none of these.
        let mut attributes = NUMBERS.map(|name| Attribute::u32(name, Role::Own, Merge::Add)).to_vec();
        for (names, role) in [(NOW_NAMES, Role::Gathered), (NEXT_NAMES, Role::Own)] {
            match self.wide {
                true => attributes.extend(Attribute::row(names, role, Merge::Or)),
                false => attributes.extend(names[..bitmaps].iter().map(|name| Attribute::u32(name, role, Merge::Or))),
            }
        }
        let Self { passes, seed, wide, .. } = self;
        Declaration {
            writes: Ends::List.into(),
            parameters: Some(Parameters::none().with("passes", passes).with("seed", seed).with("wide", wide)),
            shader: Some(self.shader()),
            small_steps: Some(SmallSteps::AllLists),
            ..Declaration::new("radius", attributes, vec![(Direction::Out, Visit::All)])
        }
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        match self.passes {
            1..=PASSES_MAX => Ok(()),
            passes => Err(format!("{passes} passes: there must be 1 to {PASSES_MAX}")),
        }
    }

    fn keep(&self, out: &mut dyn Write) -> io::Result<()> {
        for pass in self.neighbourhood().iter() {
            out.write_all(&(pass.len() as u64).to_le_bytes())?;
            pass.iter().try_for_each(|pairs| out.write_all(&pairs.to_bits().to_le_bytes()))?;
        }
        Ok(())
    }

    fn recall(&self, state: &State, step: &Step, kept: &mut dyn Read) -> Result<(), String> {
        sound::place(step.integers[0], sound::FAR)?;
        sound::place(step.integers[2], PASSES_MAX as usize)?;
        Values::of(state, self.wide).check(step)?;
        let mut next = || -> io::Result<u64> {
            let mut word = [0; 8];
            kept.read_exact(&mut word)?;
            Ok(u64::from_le_bytes(word))
        };
        let mut passes = Vec::new();
        for _ in 0..=Phase::of(step).pass {
            let hops = next().map_err(|error| error.to_string())?;
            let pass: io::Result<Vec<f64>> = (0..hops).map(|_| next().map(f64::from_bits)).collect();
            passes.push(pass.map_err(|error| error.to_string())?);
        }
        *self.neighbourhood() = passes;
        Ok(())
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        self.neighbourhood().clear();
        (graph.vertices > 0).then(|| self.begin_pass(0, 0))
    }

    fn kernel<'a>(&'a self, state: &'a State, _step: &Step) -> RadiusKernel<'a> {
        let Values { now, next, .. } = Values::of(state, self.wide);
        RadiusKernel { now, next }
    }

    fn vertex_phase(&self, state: &State, step: &Step, vertices: Range<u64>) -> Scalars {
        let (values, phase) = (Values::of(state, self.wide), Phase::of(step));
        let mut totals = Scalars::default();
        for vertex in vertices.map(|vertex| vertex as u32) {
            if phase.hops == 0 {
                values.begin(vertex, phase.seed);
                continue;
            }
            let (bits, changed) = values.grow(vertex, phase.hops);
            totals[CHANGED] += f64::from(changed);
            totals[PAIRS] += estimate(bits.into(), self.bitmaps());
        }
        totals
    }

    fn observe(&self, step: &Step, summary: &Summary) {
        let phase = Phase::of(step);
        if phase.hops > 0 {
            let mut neighbourhood = self.neighbourhood();
            neighbourhood.last_mut().expect("a pass has begun").push(summary.totals[PAIRS]);
            if summary.totals[CHANGED] == 0.0 && phase.pass + 1 < self.passes {
                neighbourhood.push(Vec::new());
            }
        }
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let [hops, seed, pass, passes] = [0, 1, 2, 3].map(|place| now.integer(place));
        let is_over = (!hops.equals(0)).and(!now.total(CHANGED).above(0.0));
        let begin = now.without_pages().with_integer(0, 0).with_integer(1, seed + SEEDS).with_integer(2, pass + 1);
        let hop = now.visit(Direction::Out, Visit::All).with_integer(0, hops + 1);
        is_over.select(begin.unless((pass + 1).at_least(passes)), hop)
    }

    fn changed(&self, graph: &Graph, step: &Step, summary: &Summary) -> u64 {
        // A pass begins with all.
        if Phase::of(step).hops == 0 { graph.vertices } else { summary.totals[CHANGED] as u64 }
    }

    fn conclude(&self, state: &State) -> Result<Conclusion, Refusal> {
        let vertices = state.graph.vertices;
        let (diameter, pairs) = (self.effective_diameter(vertices), self.pairs(vertices));
        let pairs = pairs.last().expect("N(0) is there");
        let remark =
            format!("effective diameter {diameter:.2} hops (9 tenths of {pairs:.3e} connected pairs), estimated");
        Ok(Conclusion { remark: Some(remark), ..Conclusion::default() })
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let (values, bitmaps) = (Values::of(state, self.wide), self.bitmaps());
        let number = |place| state.attributes.u32(place);
        let passes = f64::from(self.passes);
        let eccentricity = move |vertex| Some(number(FARTHEST).get(vertex).max(number(LAST).get(vertex)).into());
        let radius = move |vertex| f64::from(number(NEARS).get(vertex) + number(NEAR).get(vertex)) / passes;
        let neighbours =
            move |vertex| estimate(f64::from(number(COUPONS).get(vertex) + values.bits(vertex)) / passes, bitmaps);
        vec![
            Answer::integer("eccentricity", eccentricity),
            Answer::f64("radius", radius),
            Answer::f64("neighbours", neighbours),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the approximation with the equation that it solves.
    #[test]
    fn estimates_solve_the_equation() {
        let bits_of = |x: f64| (1..100).map(|place| -(-x * 0.5f64.powi(place)).exp_m1()).sum::<f64>();
        for bits in 1..=30 * BITMAPS_MAX as u32 {
            let (low, high) = [0.997, 1.003].map(|factor| bits_of(factor * estimate(bits.into(), 8) / 8.0)).into();
            let found = f64::from(bits) / 8.0;
            assert!(low <= found && found <= high, "{bits} bits: {low} to {high}");
        }
        let ratio = |bits: u32| estimate(f64::from(bits) - 1.0, 8) / estimate(bits.into(), 8);
        assert!((2..ENOUGH).all(|bits| ratio(bits) < MOST + 1e-3));
        assert!((ENOUGH..256).all(|bits| ratio(bits) >= MOST));
    }
}
