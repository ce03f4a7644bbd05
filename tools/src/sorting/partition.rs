//! Renumbering and sorting edges in memory at once, in the memory that they take.
//!
//! ```text
//!  records ─▶ renumbered ─▶ the buffer of their bucket ── full ─▶ a block of the records that have been read already
//!  a bucket's blocks ─▶ gathered, sorted within a cache, written back to the same blocks ─▶ Pieces: blocks in order
//! ```
//!
//! A bucket is a range of new sources. Once the degrees are known, so are ranges with about equal numbers of edges, so
//! every bucket fits in a cache unless a single vertex has too many edges. A general radix sort knows neither the
//! ranges nor how many bits of an edge are in use: it is what is left if there is no memory for buckets.

use super::pieces::Pieces;
use super::record::{Record, radix_sort};
use rayon::prelude::*;
use std::sync::Mutex;
use topostream_formats::Result;

/// The records of a block: a bucket's buffer.
const BLOCK_RECORDS: usize = 1 << 8;
/// The maximum number of buckets: their buffers stay in a second-level cache.
const BUCKETS_MAX: usize = 1 << 9;
/// Buckets of fewer records are not worth their buffers.
const BUCKET_RECORDS_MIN: usize = 1 << 14;
/// Buckets end at multiples of 1/2^this of a power of two: finely among the first vertices, which have most edges in
/// the order by degree.
const STEPS_LOG2: u32 = 8;
/// Records between two checks for cancellation.
const RECORDS_PER_CHECK: usize = 1 << 17;
/// The maximum number of bits by which a pass sorts.
const DIGIT_BITS_MAX: u32 = 11;
/// Buckets of fewer records are sorted by comparison.
const RADIX_RECORDS_MIN: usize = 1 << 8;
/// Main memory for a piece, in bytes: its position, and its slice while buckets are sorted, in growing lists.
const PIECE_BYTES: usize = 64;

/// Ranges of new sources.
pub struct Buckets {
    /// The bucket of each step.
    of_step: Vec<u16>,
    /// The first source of each bucket.
    firsts: Vec<u32>,
    vertices: u64,
    /// The number of records of a bucket for which a thread has memory.
    records_max: usize,
}

/// The step of a vertex: steps are single vertices at first, and as many for each power of two from there on.
#[inline]
fn step(vertex: u32) -> usize {
    let at = u64::from(vertex) + (1 << STEPS_LOG2);
    let octave = at.ilog2() - STEPS_LOG2;
    ((u64::from(octave) << STEPS_LOG2) + (at >> octave) - (1 << STEPS_LOG2)) as usize
}

/// The number of steps of so many vertices.
fn steps(vertices: u64) -> usize {
    vertices.checked_sub(1).map_or(0, |last| step(last as u32) + 1)
}

/// The first vertex of a step.
fn first_of(step: usize) -> u32 {
    let (octave, at) = (step >> STEPS_LOG2, step & ((1 << STEPS_LOG2) - 1));
    ((((1 << STEPS_LOG2) + at as u64) << octave) - (1 << STEPS_LOG2)) as u32
}

impl Buckets {
    /// Creates buckets for `records` edges at a time. `degrees` has a number for every vertex that edges leave, about
    /// in proportion to its out-degree.
    pub fn new(vertices: u64, records: usize, degrees: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut weights = vec![0u64; steps(vertices)];
        degrees.for_each(|(vertex, degree)| weights[step(vertex)] += u64::from(degree));
        // All edges of a vertex may leave it, or half of them; some records may have more of a bucket than others.
        Self::by_weights(vertices, records, &weights, 2)
    }

    /// Creates buckets for records that are renumbered by `rename`, which are counted.
    pub fn of_records<R: Record>(records: &[R], rename: impl Fn(R) -> R + Sync) -> Self {
        let count = |records: &[R]| {
            let (mut weights, mut largest) = (Vec::new(), 0);
            for (source, dest, _) in records.iter().map(|&record| rename(record).parts()) {
                let step = step(source);
                if step >= weights.len() {
                    weights.resize(step + 1, 0u64);
                }
                weights[step] += 1;
                largest = largest.max(source).max(dest);
            }
            (weights, largest)
        };
        let parts = records.par_chunks(records.len().div_ceil(rayon::current_num_threads()).max(1));
        let parts: Vec<(Vec<u64>, u32)> = parts.map(count).collect();
        let vertices = u64::from(parts.iter().map(|&(_, largest)| largest).max().unwrap_or(0)) + 1;
        let mut weights = vec![0u64; steps(vertices)];
        for (part, _) in parts {
            weights.iter_mut().zip(part).for_each(|(weight, more)| *weight += more);
        }
        Self::by_weights(vertices, records.len(), &weights, 1)
    }

    /// Creates buckets of about equal weight. One may have this many times its share of the records.
    fn by_weights(vertices: u64, records: usize, weights: &[u64], times: u128) -> Self {
        let count = (records / BUCKET_RECORDS_MIN).clamp(1, BUCKETS_MAX);
        let total = weights.iter().sum::<u64>().max(1);
        let share = total.div_ceil(count as u64);
        let (mut of_step, mut firsts) = (Vec::with_capacity(weights.len()), Vec::new());
        let (mut weight, mut largest) = (0, 0);
        for (step, &more) in weights.iter().enumerate() {
            if firsts.is_empty() || weight + more > share && firsts.len() < 2 * count {
                firsts.push(first_of(step));
                weight = 0;
            }
            of_step.push(firsts.len() as u16 - 1);
            weight += more;
            largest = weight.max(largest);
        }
        let records_max = times * (u128::from(largest) * records as u128).div_ceil(total.into());
        Self { of_step, firsts, vertices, records_max: records_max.min(records as u128) as usize }
    }

    #[inline]
    fn of(&self, source: u32) -> usize {
        self.of_step[step(source)].into()
    }

    fn count(&self) -> usize {
        self.firsts.len()
    }

    /// The number of threads that can sort this many records in `memory_bytes` of further memory; 0 if there is too
    /// little.
    fn threads<R>(&self, records: usize, memory_bytes: u64) -> usize {
        let pieces = |threads: usize| records / BLOCK_RECORDS + threads * self.count();
        let buffers_bytes = self.count() * BLOCK_RECORDS * size_of::<R>();
        let scratch_bytes = 2 * self.records_max * size_of::<R>() + (size_of::<usize>() << DIGIT_BITS_MAX);
        let needed_bytes = |threads| pieces(threads) * PIECE_BYTES + threads * buffers_bytes.max(scratch_bytes);
        let fits = |&threads: &usize| needed_bytes(threads) as u64 <= memory_bytes;
        (1..=rayon::current_num_threads()).rev().find(fits).unwrap_or(0)
    }
}

/// A part of a bucket.
struct Piece {
    bucket: usize,
    start: usize,
    records: usize,
}

/// Renumbers the records by `rename` and sorts them, with at most `beside_bytes` of further memory. `advance` is told
/// how many records are renumbered or sorted: each twice.
///
/// # Errors
/// The errors of `advance`.
pub fn sort<R: Record>(
    records: Vec<R>,
    buckets: &Buckets,
    beside_bytes: u64,
    rename: impl Fn(R) -> R + Sync,
    advance: impl Fn(usize) -> Result<()> + Sync,
) -> Result<Pieces<R>> {
    sort_and_reduce(records, buckets, beside_bytes, rename, |_| (), advance)
}

/// As [`sort`]; and `reduce` may leave out and change records that have been sorted: some consecutive ones at a time,
/// with all records of a source. It may not add any.
///
/// # Errors
/// The errors of `advance`.
pub fn sort_and_reduce<R: Record>(
    mut records: Vec<R>,
    buckets: &Buckets,
    beside_bytes: u64,
    rename: impl Fn(R) -> R + Sync,
    reduce: impl Fn(&mut Vec<R>) + Sync,
    advance: impl Fn(usize) -> Result<()> + Sync,
) -> Result<Pieces<R>> {
    let threads = buckets.threads::<R>(records.len(), beside_bytes);
    if threads == 0 {
        records.par_chunks_mut(RECORDS_PER_CHECK).try_for_each(|some| {
            some.iter_mut().for_each(|record| *record = rename(*record));
            advance(some.len())
        })?;
        return sort_whole(records, &reduce, &advance);
    }
    let part_records = records.len().div_ceil(threads).max(1);
    let parts = records.par_chunks_mut(part_records).enumerate();
    let parts = parts.map(|(at, part)| partition(part, at * part_records, buckets, &rename, &advance));
    let mut pieces: Vec<Piece> = parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let Some(mut kept) = sort_buckets(&mut records, buckets, &pieces, threads, (&reduce, &advance))? else {
        return sort_whole(records, &reduce, &advance);
    };
    pieces.sort_by_key(|piece| piece.bucket);
    let filled = |piece: Piece| {
        let records = piece.records.min(kept[piece.bucket]);
        kept[piece.bucket] -= records;
        piece.start..piece.start + records
    };
    let pieces = pieces.into_iter().map(filled).filter(|piece| !piece.is_empty()).collect();
    Ok(Pieces::new(records, pieces))
}

/// Sorts renumbered records without more memory.
fn sort_whole<R: Record>(
    mut records: Vec<R>,
    reduce: &impl Fn(&mut Vec<R>),
    advance: &impl Fn(usize) -> Result<()>,
) -> Result<Pieces<R>> {
    advance(0)?;
    radix_sort(&mut records);
    advance(records.len())?;
    reduce(&mut records);
    let pieces = (0..records.len()).step_by(RECORDS_PER_CHECK);
    let pieces = pieces.map(|start| start..records.len().min(start + RECORDS_PER_CHECK)).collect();
    Ok(Pieces::new(records, pieces))
}

/// Sorts each bucket in its pieces and returns how many records of each are left, unless a bucket is larger than there
/// is memory for.
fn sort_buckets<R: Record>(
    mut records: &mut [R],
    buckets: &Buckets,
    pieces: &[Piece],
    threads: usize,
    (reduce, advance): (&(impl Fn(&mut Vec<R>) + Sync), &(impl Fn(usize) -> Result<()> + Sync)),
) -> Result<Option<Vec<usize>>> {
    let mut sizes = vec![0; buckets.count()];
    pieces.iter().for_each(|piece| sizes[piece.bucket] += piece.records);
    if sizes.iter().any(|&size| size > buckets.records_max) {
        return Ok(None);
    }
    let mut slices: Vec<Vec<&mut [R]>> = Vec::new();
    slices.resize_with(buckets.count(), Vec::new);
    for piece in pieces {
        let (slice, rest) = records.split_at_mut(piece.records);
        slices[piece.bucket].push(slice);
        records = rest;
    }
    // Each thread has its own memory, and takes one bucket after another.
    let work = Mutex::new(slices.into_iter().zip(&mut sizes).enumerate());
    let next = || work.lock().expect("no thread panics while it takes a bucket").next();
    (0..threads).into_par_iter().try_for_each(|_| {
        let mut scratch = Scratch::default();
        while let Some((bucket, (slices, size))) = next() {
            let sorted =
                std::mem::replace(size, scratch.sort(slices, (buckets.firsts[bucket], buckets.vertices), reduce));
            advance(sorted)?;
        }
        Ok(())
    })?;
    drop(work);
    Ok(Some(sizes))
}

/// Renumbers the records of a part, and orders them by bucket in blocks. Returns the pieces by position; `offset` is
/// the offset of the part.
fn partition<R: Record>(
    part: &mut [R],
    offset: usize,
    buckets: &Buckets,
    rename: &impl Fn(R) -> R,
    advance: &impl Fn(usize) -> Result<()>,
) -> Result<Vec<Piece>> {
    let mut buffers = vec![R::zeroed(); buckets.count() * BLOCK_RECORDS];
    let mut filled = vec![0; buckets.count()];
    let (mut pieces, mut end) = (Vec::with_capacity(part.len() / BLOCK_RECORDS + buckets.count()), 0);
    for first in (0..part.len()).step_by(RECORDS_PER_CHECK) {
        let last = part.len().min(first + RECORDS_PER_CHECK);
        for at in first..last {
            let record = rename(part[at]);
            let bucket = buckets.of(record.parts().0);
            let begin = bucket * BLOCK_RECORDS;
            buffers[begin + filled[bucket]] = record;
            filled[bucket] += 1;
            if filled[bucket] == BLOCK_RECORDS {
                // Full buffers hold no more records than have been read, so these are not overwritten unread.
                part[end..end + BLOCK_RECORDS].copy_from_slice(&buffers[begin..begin + BLOCK_RECORDS]);
                pieces.push(Piece { bucket, start: offset + end, records: BLOCK_RECORDS });
                end += BLOCK_RECORDS;
                filled[bucket] = 0;
            }
        }
        advance(last - first)?;
    }
    for (bucket, &records) in filled.iter().enumerate().filter(|&(_, &records)| records > 0) {
        let begin = bucket * BLOCK_RECORDS;
        part[end..end + records].copy_from_slice(&buffers[begin..begin + records]);
        pieces.push(Piece { bucket, start: offset + end, records });
        end += records;
    }
    Ok(pieces)
}

/// The memory in which a thread sorts a bucket.
pub struct Scratch<R> {
    /// The records to sort.
    pub records: Vec<R>,
    sorted: Vec<R>,
    ends: Vec<usize>,
}

impl<R> Default for Scratch<R> {
    fn default() -> Self {
        Self { records: Vec::new(), sorted: Vec::new(), ends: Vec::new() }
    }
}

impl<R: Record> Scratch<R> {
    /// Sorts the records of all slices together, whose sources are `first` or larger and whose dests are below
    /// `vertices`. Returns the number of records that `reduce` leaves.
    fn sort(&mut self, slices: Vec<&mut [R]>, (first, vertices): (u32, u64), reduce: &impl Fn(&mut Vec<R>)) -> usize {
        self.records.clear();
        self.records.reserve_exact(slices.iter().map(|slice| slice.len()).sum());
        slices.iter().for_each(|slice| self.records.extend_from_slice(slice));
        self.sort_records(first, vertices);
        reduce(&mut self.records);
        let mut rest = &self.records[..];
        for slice in slices {
            let (some, after) = rest.split_at(slice.len().min(rest.len()));
            slice[..some.len()].copy_from_slice(some);
            rest = after;
        }
        self.records.len()
    }

    /// Sorts the records, whose sources are `first` or larger and whose dests are below `vertices`.
    pub fn sort_records(&mut self, first: u32, vertices: u64) {
        if self.records.len() < RADIX_RECORDS_MIN {
            self.records.sort_unstable();
        } else {
            self.radix_sort(first, vertices);
        }
    }

    /// Sorts by the bits in use, the lowest first: the bits of weights, then the bits of dests and sources together.
    fn radix_sort(&mut self, first: u32, vertices: u64) {
        let (mut source_max, mut weight_max) = (0, 0);
        for record in &self.records {
            let (source, _, weight) = record.parts();
            source_max = source.max(source_max);
            weight_max = weight.max(weight_max);
        }
        let bits = |largest: u64| u64::BITS - largest.leading_zeros();
        let dest_bits = bits(vertices.saturating_sub(1));
        self.by_digits(bits(weight_max), |record| record.parts().2);
        self.by_digits(dest_bits + bits((source_max - first).into()), |record| {
            let (source, dest, _) = record.parts();
            u64::from(source - first) << dest_bits | u64::from(dest)
        });
    }

    /// Sorts stably by a key of this many bits.
    fn by_digits(&mut self, bits: u32, key: impl Fn(R) -> u64) {
        let passes = bits.div_ceil(DIGIT_BITS_MAX);
        let digit_bits = if passes == 0 { 0 } else { bits.div_ceil(passes) };
        for pass in 0..passes {
            let digit = |record: R| (key(record) >> (pass * digit_bits)) as usize & ((1 << digit_bits) - 1);
            self.by_digit(1 << digit_bits, digit);
        }
    }

    fn by_digit(&mut self, digits: usize, digit: impl Fn(R) -> usize) {
        self.ends.clear();
        self.ends.resize(digits, 0);
        let ends = &mut self.ends[..];
        self.records.iter().for_each(|&record| ends[digit(record)] += 1);
        let mut begin = 0;
        ends.iter_mut().for_each(|end| begin += std::mem::replace(end, begin));
        if self.sorted.len() < self.records.len() {
            self.sorted.reserve_exact(self.records.len() - self.sorted.len());
        }
        self.sorted.resize(self.records.len(), R::zeroed());
        for &record in &self.records {
            let end = &mut ends[digit(record)];
            self.sorted[*end] = record;
            *end += 1;
        }
        std::mem::swap(&mut self.records, &mut self.sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Plain, Weighted, Wide};
    use super::*;
    use proptest::prelude::*;
    use topostream_formats::random::hash;

    fn all<R: Record>(sorted: &Pieces<R>) -> Vec<R> {
        let mut all = Vec::new();
        let collected = sorted.for_each(|some| {
            all.extend_from_slice(some);
            Ok(())
        });
        collected.unwrap();
        all
    }

    /// Compares with a comparison sort, with vertices numbered in reverse.
    fn check<R: Record>(vertices: u32, edges: &[(u32, u32, u32)], beside_bytes: u64) {
        let rename = |record: R| {
            let (source, dest, weight) = record.parts();
            R::new(vertices - 1 - source, vertices - 1 - dest, weight)
        };
        let records: Vec<R> = edges.iter().map(|&(source, dest, weight)| R::new(source, dest, weight.into())).collect();
        let mut expected: Vec<R> = records.iter().map(|&record| rename(record)).collect();
        let mut degrees = std::collections::BTreeMap::new();
        expected.iter().for_each(|record| *degrees.entry(record.parts().0).or_insert(0u32) += 1);
        let buckets = Buckets::new(vertices.into(), records.len(), degrees.into_iter());
        let passed = Mutex::new(0);
        let sorted = sort(records, &buckets, beside_bytes, rename, |records| {
            *passed.lock().unwrap() += records;
            Ok(())
        });
        let sorted = sorted.unwrap();
        expected.sort_unstable();
        assert!(all(&sorted) == expected, "{} edges, {} buckets, {beside_bytes} bytes", edges.len(), buckets.count());
        assert_eq!((sorted.records(), passed.into_inner().unwrap()), (edges.len() as u64, 2 * edges.len()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn sorts_like_a_comparison_sort(
            vertices in prop_oneof![1u32..40, 1u32..100_000, Just(u32::MAX)],
            edges in 0usize..2000,
            weights in prop_oneof![Just(1u64), Just(9), Just(1 << 32)],
            beside_bytes in prop_oneof![Just(0), Just(1 << 17), Just(1 << 30)],
        ) {
            let draw = |at: usize, range: u64| ((u128::from(hash(at as u64)) * u128::from(range)) >> 64) as u32;
            let edge = |at: usize| {
                (draw(3 * at, vertices.into()), draw(3 * at + 1, vertices.into()), draw(3 * at + 2, weights))
            };
            let edges: Vec<_> = (0..edges).map(edge).collect();
            check::<Plain>(vertices, &edges, beside_bytes);
            check::<Weighted>(vertices, &edges, beside_bytes);
            check::<Wide>(vertices, &edges, beside_bytes);
        }
    }

    /// Enough edges for several buckets, most of them of few vertices, and for blocks that are written while others
    /// are still to be read.
    #[test]
    fn sorts_skewed_edges_in_many_buckets() {
        let vertices = 1 << 17;
        let end = |at: u64| (vertices - 1 - (hash(at) >> (47 + hash(at + 1) % 17))) as u32;
        let edges: Vec<_> = (0..200_000u64).map(|at| (end(4 * at), end(4 * at + 2), at as u32)).collect();
        for beside_bytes in [0, 1 << 20, 1 << 30] {
            check::<Plain>(vertices as u32, &edges, beside_bytes);
            check::<Weighted>(vertices as u32, &edges, beside_bytes);
        }
    }

    #[test]
    fn steps_are_ranges_in_order() {
        let vertices = (0..5000).chain((9..32).flat_map(|log2| (1 << log2) - 300..(1 << log2) + 300)).chain([u32::MAX]);
        for vertex in vertices {
            let at = step(vertex);
            assert!(first_of(at) <= vertex && (vertex == u32::MAX || step(vertex + 1) - at <= 1), "{vertex}");
            assert_eq!(step(first_of(at)), at, "{vertex}");
        }
        assert!((0..1 << STEPS_LOG2).all(|vertex| step(vertex) == vertex as usize));
    }

    /// One vertex has a larger part of these edges than its degree says.
    #[test]
    fn sorts_buckets_that_are_too_large() {
        let records: Vec<Plain> = (0..50_000).map(|at| Plain::new(7, hash(at) as u32, 0)).collect();
        let buckets = Buckets::new(1 << 10, records.len(), (0..1 << 10).map(|vertex| (vertex, 16)));
        let mut expected = records.clone();
        expected.sort_unstable();
        let sorted = sort(records, &buckets, 1 << 30, |record| record, |_| Ok(())).unwrap();
        assert!(buckets.count() > 1 && all(&sorted) == expected);
    }

    /// Buckets share the edges; threads need memory.
    #[test]
    fn buckets_share_the_edges() {
        let degrees = |vertex: u32| (vertex, 1_000_000 / (vertex + 1) + 8);
        let total: usize = (0..1 << 18).map(|vertex| degrees(vertex).1 as usize).sum();
        let buckets = Buckets::new(1 << 18, total, (0..1 << 18).map(degrees));
        let mut records = vec![0; buckets.count()];
        (0..1 << 18).map(degrees).for_each(|(vertex, degree)| records[buckets.of(vertex)] += degree as usize);
        assert_eq!(buckets.records_max, 2 * records[0], "the first vertex has a bucket of its own");
        assert!(buckets.count() > 64 && records.iter().all(|&size| size <= records[0]), "{records:?}");
        let first_of_bucket = |bucket: usize| buckets.of(buckets.firsts[bucket]) == bucket;
        assert!((0..buckets.count()).all(first_of_bucket));
        let threads = |memory_bytes: u64| buckets.threads::<Plain>(total, memory_bytes);
        assert_eq!((threads(0), threads(1 << 40)), (0, rayon::current_num_threads()));
    }
}
