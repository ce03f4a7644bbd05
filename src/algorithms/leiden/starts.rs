//! Sums of what comes before, by all threads: where lists of given lengths begin if they follow one another.

use rayon::prelude::*;
use std::ops::Range;

/// Items that a thread takes at a time.
const CHUNK: usize = 1 << 16;

/// The sums of the sizes before each of `count` items, and of all.
pub fn starts(count: usize, size: impl Fn(usize) -> u64 + Sync) -> Vec<u64> {
    let before = before(count, &size);
    let mut starts = vec![0; count + 1];
    starts[1..].par_chunks_mut(CHUNK).zip(before).enumerate().for_each(|(chunk, (starts, mut sum))| {
        for (start, at) in starts.iter_mut().zip(chunk * CHUNK..) {
            sum += size(at);
            *start = sum;
        }
    });
    starts
}

/// The first of `count` items before which there is at least a sum of the sizes, for each of some ascending sums;
/// `count` if there is none.
pub fn first_with(count: usize, size: impl Fn(usize) -> u64 + Sync, sums: &[u64]) -> Vec<usize> {
    let before = before(count, &size);
    let find = |&wanted: &u64| {
        let chunk = before.partition_point(|&sum| sum < wanted).saturating_sub(1);
        let mut sum = before.get(chunk).copied().unwrap_or(0);
        let has_more = |at: &usize| {
            let is_before = sum < wanted;
            sum += size(*at);
            is_before
        };
        chunk * CHUNK + chunk_of(chunk, count).take_while(has_more).count()
    };
    sums.par_iter().map(find).collect()
}

fn chunk_of(chunk: usize, count: usize) -> Range<usize> {
    chunk * CHUNK..((chunk + 1) * CHUNK).min(count)
}

/// The sum of the sizes before each chunk.
fn before(count: usize, size: &(impl Fn(usize) -> u64 + Sync)) -> Vec<u64> {
    let of_chunk = |chunk: usize| chunk_of(chunk, count).map(size).sum();
    let mut sums: Vec<u64> = (0..count.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    let mut before = 0;
    for sum in &mut sums {
        before += std::mem::replace(sum, before);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As one item after another.
        #[test]
        fn sums_are_those_of_a_loop(
            count in prop_oneof![0usize..50, CHUNK - 2..CHUNK + 2, 3 * CHUNK..3 * CHUNK + 2],
            most in 0u64..3,
            parts in 1u64..9,
        ) {
            let size = |at: usize| (at as u64 * 7919) % 5 * most;
            let starts = starts(count, size);
            let mut sum = 0;
            prop_assert_eq!(starts.len(), count + 1);
            for (at, &start) in starts.iter().enumerate() {
                prop_assert_eq!(start, sum);
                sum += if at < count { size(at) } else { 0 };
            }
            let wanted: Vec<u64> = (0..=parts).map(|part| sum * part / parts).collect();
            let found = first_with(count, size, &wanted);
            for (wanted, found) in wanted.into_iter().zip(found) {
                prop_assert_eq!(found, starts[..count].partition_point(|&start| start < wanted));
            }
        }
    }
}
