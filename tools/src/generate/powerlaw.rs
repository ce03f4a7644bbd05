//! Graphs whose out-degrees follow a power law: each is drawn from a truncated zeta distribution, and each dest from
//! all vertices. AsynGraph's table 3 has such graphs of ten million vertices, made as PowerGraph makes them.

use topostream_formats::edge::EdgeParts;
use topostream_formats::text::plural;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, SourceInfo};

use super::check_vertices;
use super::chunk::Progress;
use super::random::{Stream, below};
use super::weights::{RandomWeights, Weights};
use rayon::prelude::*;

/// Purposes of streams.
const DEGREE: u64 = 0;
const DEST: u64 = 1;

/// Vertices between two known numbers of edges.
const BLOCK_VERTICES: u64 = 256;
/// The largest exponent: nearly all vertices have one edge from 20 on.
const ALPHA_MAX: f64 = 64.0;
/// The largest degree that can be asked for: the table of degrees has 8 bytes for each.
const DEGREE_LIMIT: u64 = 1 << 26;

/// The parameters of a graph with a power law: directed; self-loops and repeated edges occur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// The number of vertices, up to 2^32: ids `0..vertices`.
    pub vertices: u64,
    /// A vertex has d edges with a probability in proportion to d^-alpha, from 1 on.
    pub alpha: f64,
    /// The largest out-degree.
    pub degree_max: u64,
    /// The seed.
    pub seed: u64,
    /// Random weights, if any.
    pub weights: Option<RandomWeights>,
}

impl PowerLaw {
    /// The largest out-degree if none is chosen, as in PowerGraph's generator.
    pub const DEGREE_MAX: u64 = 100_000;

    /// Returns the stream of this graph's edges. Draws all degrees first.
    ///
    /// # Errors
    /// `Limit` for too many vertices; `Invalid` for an exponent that is not from 0 to 64, a largest degree that is not
    /// from 1 to 2^26, or an invalid range of weights.
    pub fn generate(self) -> Result<PowerLawSource> {
        let Self { vertices, alpha, degree_max, seed, .. } = self;
        check_vertices("vertices of a graph with a power law", vertices, "choose fewer vertices")?;
        if !(0.0..=ALPHA_MAX).contains(&alpha) {
            return Err(Error::Invalid(format!("alpha must be a number from 0 to {ALPHA_MAX}, not {alpha}")));
        }
        if !(1..=DEGREE_LIMIT).contains(&degree_max) {
            let message = format!("the largest degree must be from 1 to {DEGREE_LIMIT}, not {degree_max}");
            return Err(Error::Invalid(message));
        }
        let weights = Weights::new(self.weights, seed)?;
        let [degree, dest] = [DEGREE, DEST].map(|purpose| Stream::new(seed, purpose));
        let degrees = Degrees { chances: chances(alpha, degree_max), stream: degree };
        let starts = starts(&degrees, vertices);
        let count = starts.last().copied().unwrap_or(0);
        let info = SourceInfo {
            name: format!(
                "power law of alpha {alpha}, {vertices} {}, degrees up to {degree_max}, seed {seed}{}",
                plural(vertices, "vertex"),
                weights.suffix()
            ),
            ids: IdSpace::Range { first: 0, count: vertices },
            mirror: false,
            directed: true,
            weights: weights.weight_type(),
            edges: Some(count),
            bytes: None,
        };
        let edges = Edges { vertices, degrees, starts, dest, weights };
        let progress = Progress::new(count);
        Ok(PowerLawSource { info, progress, edges })
    }
}

/// The edges of a graph with a power law; see [`PowerLaw::generate`].
#[derive(Debug)]
pub struct PowerLawSource {
    info: SourceInfo,
    progress: Progress,
    edges: Edges,
}

impl EdgeSource for PowerLawSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let Self { progress, edges, .. } = self;
        progress.read_blocks(chunk, |first, chunk| {
            let ends = edges.ends(first..first + chunk.len() as u64);
            chunk.iter_mut().zip(ends).zip(first..).for_each(|((edge, (source, dest)), number)| {
                *edge = Edge { source, dest, weight: edges.weights.at(number).into() };
            });
        });
        Ok(())
    }

    fn parts(&self) -> Option<&dyn EdgeParts> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        let tables = 8 * (self.edges.degrees.chances.len() + self.edges.starts.len());
        (size_of::<Self>() + self.info.name.capacity() + tables) as u64
    }
}

impl EdgeParts for PowerLawSource {
    fn count(&self) -> u64 {
        self.progress.part_count()
    }

    fn part(&self, number: u64, ends: &mut Vec<(u32, u32)>, weights: &mut Vec<u32>) {
        let numbers = self.progress.part(number);
        self.edges.weights.fill(numbers.clone(), weights);
        ends.clear();
        ends.extend(self.edges.ends(numbers).map(|(source, dest)| (source as u32, dest as u32)));
    }
}

/// The out-degrees of vertices.
#[derive(Debug)]
struct Degrees {
    /// The chance of a degree of at most 1, 2, …, in units of 2^-64.
    chances: Vec<u64>,
    stream: Stream,
}

impl Degrees {
    #[inline]
    fn of(&self, vertex: u64) -> u64 {
        let word = self.stream.word(vertex);
        let smaller = self.chances.partition_point(|&chance| chance <= word);
        1 + smaller.min(self.chances.len() - 1) as u64
    }
}

/// The pure function from an edge's number to the edge.
#[derive(Debug)]
struct Edges {
    vertices: u64,
    degrees: Degrees,
    /// The number of edges before each block of vertices, and of all.
    starts: Vec<u64>,
    dest: Stream,
    weights: Weights,
}

impl Edges {
    /// Source and dest of consecutive edges.
    fn ends(&self, numbers: std::ops::Range<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
        let block = self.starts.partition_point(|&start| start <= numbers.start).saturating_sub(1);
        // The vertex after the last one, and the number of the first edge that is its.
        let (mut next, mut end) = (block as u64 * BLOCK_VERTICES, self.starts.get(block).copied().unwrap_or(0));
        numbers.map(move |number| {
            while end <= number {
                end += self.degrees.of(next);
                next += 1;
            }
            (next - 1, below(self.vertices, self.dest.word(number)))
        })
    }
}

/// The number of edges before each block of vertices, and of all.
fn starts(degrees: &Degrees, vertices: u64) -> Vec<u64> {
    let of_block = |block: u64| {
        let first = block * BLOCK_VERTICES;
        (first..vertices.min(first + BLOCK_VERTICES)).map(|vertex| degrees.of(vertex)).sum()
    };
    let mut starts: Vec<u64> = (0..vertices.div_ceil(BLOCK_VERTICES)).into_par_iter().map(of_block).collect();
    let mut before = 0;
    for start in &mut starts {
        before += std::mem::replace(start, before);
    }
    starts.push(before);
    starts
}

/// The chance of each degree or a smaller one, in units of 2^-64.
fn chances(alpha: f64, degree_max: u64) -> Vec<u64> {
    let mut sums: Vec<f64> = (1..=degree_max).map(|degree| 1.0 / power(degree as f64, alpha)).collect();
    let mut sum = 0.0;
    for chance in &mut sums {
        sum += *chance;
        *chance = sum;
    }
    // The last one saturates.
    sums.into_iter().map(|chance| (chance / sum * 2f64.powi(64)) as u64).collect()
}

/// A power, by multiplications and square roots, which have the same bits on every machine; results of a system's
/// mathematics library do not.
fn power(base: f64, exponent: f64) -> f64 {
    let whole = exponent.floor();
    let (mut product, mut root, mut rest) = (1.0, base, exponent - whole);
    (0..whole as u32).for_each(|_| product *= base);
    while rest > 0.0 {
        root = root.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            product *= root;
            rest -= 1.0;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for (base, exponent) in [(2.0, 0.0), (3.0, 1.0), (7.0, 2.2), (100_000.0, 1.8), (1.0, 63.5), (5.0, 0.1)] {
            let expected = f64::powf(base, exponent);
            assert!((power(base, exponent) / expected - 1.0).abs() < 1e-13, "{base}^{exponent}");
        }
    }

    #[test]
    fn any_range_has_its_edges() {
        let source =
            PowerLaw { vertices: 3000, alpha: 1.5, degree_max: 700, seed: 3, weights: None }.generate().unwrap();
        let (edges, count) = (&source.edges, source.info.edges.unwrap());
        let all: Vec<(u64, u64)> = edges.ends(0..count).collect();
        for (from, to) in [(0, 1), (17, 18), (100, 5000), (count - 1, count), (4096, 4096)] {
            assert!(edges.ends(from..to).eq(all[from as usize..to as usize].iter().copied()));
        }
        // Every vertex has its degree.
        let mut counts = vec![0; 3000];
        all.iter().for_each(|&(source, _)| counts[source as usize] += 1);
        assert!(counts.iter().zip(0..).all(|(&count, vertex)| count == source.edges.degrees.of(vertex)));
    }

    fn power_law(vertices: u64, alpha: f64) -> PowerLaw {
        PowerLaw { vertices, alpha, degree_max: PowerLaw::DEGREE_MAX, seed: 1, weights: None }
    }

    fn all_edges(power_law: PowerLaw) -> Vec<Edge> {
        let mut source = power_law.generate().unwrap();
        let (mut edges, mut chunk) = (Vec::new(), Vec::new());
        while {
            source.read(&mut chunk).unwrap();
            !chunk.is_empty()
        } {
            edges.append(&mut chunk);
        }
        edges
    }

    #[test]
    fn golden() {
        let weights = Some(RandomWeights::U32 { min: 1, max: 255 });
        let graph = PowerLaw { weights, ..power_law(100_000, 2.0) };
        let name = "power law of alpha 2, 100000 vertices, degrees up to 100000, seed 1, u32 weights 1 to 255";
        assert_eq!(graph.generate().unwrap().info().name, name);
        let first: Vec<_> = all_edges(graph)[..4].iter().map(|edge| (edge.source, edge.dest, edge.weight)).collect();
        assert_eq!(first, [(0, 31128, 115), (0, 1530, 14), (0, 63895, 85), (1, 63709, 241)]);
    }

    /// Every vertex has a degree from 1 on, and each degree the share of vertices that the zeta distribution gives it.
    #[test]
    fn degrees_are_those_of_a_truncated_zeta_distribution() {
        for (alpha, degree_max) in [(1.8, PowerLaw::DEGREE_MAX), (2.2, 10), (0.0, 7)] {
            let vertices = 200_000u64;
            let edges = all_edges(PowerLaw { degree_max, ..power_law(vertices, alpha) });
            let mut degrees = vec![0u64; vertices as usize];
            edges.iter().for_each(|edge| degrees[edge.source as usize] += 1);
            assert!(edges.is_sorted_by_key(|edge| edge.source) && edges.iter().all(|edge| edge.dest < vertices));
            let sum: f64 = (1..=degree_max).map(|degree| (degree as f64).powf(-alpha)).sum();
            for degree in 1..=degree_max.min(12) {
                let count = degrees.iter().filter(|&&of| of == degree).count() as f64;
                let chance = (degree as f64).powf(-alpha) / sum;
                let expected = vertices as f64 * chance;
                let sigma = (expected * (1.0 - chance)).sqrt();
                assert!((count - expected).abs() < 5.0 * sigma, "degree {degree}: {count}, expected {expected}");
            }
            assert!(degrees.iter().all(|&degree| (1..=degree_max).contains(&degree)));
        }
        let wrong = [PowerLaw { degree_max: 0, ..power_law(9, 2.0) }, power_law(9, -1.0), power_law(9, f64::NAN)];
        assert!(wrong.into_iter().all(|wrong| wrong.generate().is_err()));
        assert_eq!(all_edges(power_law(0, 2.0)), []);
    }
}
