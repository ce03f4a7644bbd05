//! Ranges of sources that fit in memory, and the buckets in which a range is sorted.
//!
//! ```text
//!  edges by step of their source ─▶ buckets: steps of some ten thousand edges ─▶ ranges: buckets that fit in memory
//! ```
//!
//! A step is a single vertex at first, and a part of a power of two from there on: fine where vertices have most edges,
//! in the orders by degree, and fine enough where they are scattered.

use super::blocks::RecordLayout;
use std::ops::Range;

/// A power of two of vertices has as many steps as two to this.
const STEPS_LOG2: u32 = 12;
/// A bucket of this many edges is sorted within a core's cache.
const BUCKET_RECORDS: u64 = 1 << 15;
/// The maximum number of buckets of a range, at about which writing to all of them gets slow.
const BUCKETS_MAX: usize = 1 << 10;

/// The step of a vertex.
#[inline]
pub fn step(vertex: u32) -> usize {
    let at = u64::from(vertex) + (1 << STEPS_LOG2);
    let octave = at.ilog2() - STEPS_LOG2;
    ((u64::from(octave) << STEPS_LOG2) + (at >> octave) - (1 << STEPS_LOG2)) as usize
}

/// The first vertex of a step, or 2^32 or more behind the last one.
fn first_of(step: usize) -> u64 {
    let (octave, at) = (step >> STEPS_LOG2, step & ((1 << STEPS_LOG2) - 1));
    (((1 << STEPS_LOG2) + at as u64) << octave) - (1 << STEPS_LOG2)
}

/// The number of steps of this many vertices.
pub fn steps(vertices: u64) -> usize {
    vertices.checked_sub(1).map_or(0, |last| step(last as u32) + 1)
}

/// A bucket: consecutive sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its sources.
    pub sources: Range<u64>,
    /// The number of their edges, exact or estimated.
    pub records: u64,
}

/// All sources in buckets, and these in ranges.
#[derive(Debug)]
pub struct Ranges {
    of_step: Vec<u32>,
    /// In ascending order.
    pub buckets: Vec<Bucket>,
    /// The buckets of each range.
    pub ranges: Vec<Range<usize>>,
}

impl Ranges {
    /// Divides the sources, whose edges `weights` counts by step, into ranges of at most `records_max` edges, which is
    /// for one that has this many buckets. Buckets may have more edges if a single step has.
    pub fn new(vertices: u64, weights: &[u64], records_max: impl Fn(usize) -> u64) -> Self {
        let total: u64 = weights.iter().sum();
        let least = total.div_ceil(records_max(0).max(1)).max(1);
        let share = total.div_ceil(least * BUCKETS_MAX as u64).max(BUCKET_RECORDS);
        let (mut of_step, mut buckets) = (Vec::with_capacity(weights.len()), Vec::<Bucket>::new());
        for (step, &records) in weights.iter().enumerate() {
            let sources = first_of(step)..first_of(step + 1).min(vertices);
            match buckets.last_mut() {
                Some(last) if last.records + records <= share => {
                    last.records += records;
                    last.sources.end = sources.end;
                }
                _ => buckets.push(Bucket { sources, records }),
            }
            of_step.push(buckets.len() as u32 - 1);
        }
        let (mut ranges, mut first, mut sum) = (Vec::new(), 0, 0);
        for (at, bucket) in buckets.iter().enumerate() {
            if at > first && sum + bucket.records > records_max(at + 1 - first) {
                ranges.push(first..at);
                (first, sum) = (at, 0);
            }
            sum += bucket.records;
        }
        if first < buckets.len() {
            ranges.push(first..buckets.len());
        }
        Self { of_step, buckets, ranges }
    }

    /// The bucket of a source.
    #[inline]
    pub fn bucket_of(&self, source: u32) -> usize {
        self.of_step[step(source)] as usize
    }

    /// The range of each source, by its step.
    pub fn range_of_steps(&self) -> Vec<u16> {
        let range = |bucket: u32| self.ranges.partition_point(|range| range.end <= bucket as usize);
        self.of_step.iter().map(|&bucket| range(bucket) as u16).collect()
    }

    /// The sources of a range.
    pub fn sources(&self, range: usize) -> Range<u64> {
        let buckets = &self.buckets[self.ranges[range].clone()];
        buckets[0].sources.start..buckets[buckets.len() - 1].sources.end
    }

    /// The edges of a range, exact or estimated.
    pub fn records(&self, range: usize) -> u64 {
        self.buckets[self.ranges[range].clone()].iter().map(|bucket| bucket.records).sum()
    }

    /// How edges of a range are written beside others of their bucket.
    pub fn bucket_layout(&self, range: usize, dests: u64, weighted: bool) -> RecordLayout {
        let spans = self.buckets[self.ranges[range].clone()].iter();
        let sources = spans.map(|bucket| bucket.sources.end - bucket.sources.start).max().unwrap_or(0);
        RecordLayout::new(sources, dests, weighted)
    }

    /// How edges of a range are written beside others of the range.
    pub fn range_layout(&self, range: usize, dests: u64, weighted: bool) -> RecordLayout {
        let sources = self.sources(range);
        RecordLayout::new(sources.end - sources.start, dests, weighted)
    }

    /// The edges of the largest buckets, this many of them.
    pub fn largest(&self, count: usize) -> u64 {
        let mut records: Vec<u64> = self.buckets.iter().map(|bucket| bucket.records).collect();
        records.sort_unstable_by(|a, b| b.cmp(a));
        records.iter().take(count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_divide_all_vertices() {
        let mut before = 0;
        for number in 0..=step(u32::MAX) {
            let (first, end) = (first_of(number), first_of(number + 1).min(1 << 32));
            assert_eq!(first, before);
            assert_eq!((step(first as u32), step((end - 1) as u32)), (number, number));
            before = end;
        }
        assert_eq!(before, 1 << 32);
        assert_eq!((steps(0), steps(1), steps(1 << 32)), (0, 1, step(u32::MAX) + 1));
    }

    proptest! {
        #[test]
        fn ranges_have_every_bucket_once_and_fit(
            counts in prop::collection::vec((0u32..200_000, 0u64..300_000), 0..60),
            records_max in 1u64..3_000_000,
        ) {
            let mut weights = vec![0; steps(200_000)];
            counts.iter().for_each(|&(vertex, count)| weights[step(vertex)] += count);
            let ranges = Ranges::new(200_000, &weights, |buckets| records_max.saturating_sub(buckets as u64));
            let all: Vec<usize> = ranges.ranges.iter().flat_map(|range| range.clone()).collect();
            prop_assert!(all.iter().copied().eq(0..ranges.buckets.len()));
            let contains = |source: u32| ranges.buckets[ranges.bucket_of(source)].sources.contains(&source.into());
            prop_assert!((0..200_000).step_by(77).all(contains));
            for (number, buckets) in ranges.ranges.iter().enumerate() {
                let most = records_max.saturating_sub(buckets.len() as u64);
                prop_assert!(buckets.len() == 1 || ranges.records(number) <= most);
            }
            let sum: u64 = ranges.buckets.iter().map(|bucket| bucket.records).sum();
            prop_assert_eq!(sum, weights.iter().sum::<u64>());
        }
    }
}
