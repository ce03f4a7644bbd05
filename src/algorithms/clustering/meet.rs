//! Intersections of sorted lists without repeated entries.

use std::cmp::Ordering;

/// A list this many times as long as another is searched instead of read.
pub(super) const SEARCH_RATIO: usize = 16;

/// Counts every vertex that is in both lists at its place in `one`; returns their number.
pub(super) fn meet(one: &[u32], other: &[u32], counts: &mut [u32]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2.
        return unsafe { meet_with_avx2(one, other, counts) };
    }
    meet_lists(one, other, counts)
}

/// The same, compiled for processors with AVX2: a block of a list is compared at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn meet_with_avx2(one: &[u32], other: &[u32], counts: &mut [u32]) -> u64 {
    meet_lists(one, other, counts)
}

#[inline(always)]
fn meet_lists(one: &[u32], other: &[u32], counts: &mut [u32]) -> u64 {
    if one.len() * SEARCH_RATIO < other.len() {
        return search(one, other, |short, _| counts[short] += 1);
    }
    if other.len() * SEARCH_RATIO < one.len() {
        return search(other, one, |_, long| counts[long] += 1);
    }
    match one.len() <= other.len() {
        true => meet_blocks::<false>(one, other, counts),
        false => meet_blocks::<true>(other, one, counts),
    }
}

/// The vertices of the longer list that one of the shorter list is compared with at a time.
const LANES: usize = 8;

/// Counts every vertex that is in both lists at its place in the longer or in the shorter one; returns their number.
/// There are no branches but the loop's: which list goes on cannot be foreseen.
#[inline(always)]
fn meet_blocks<const LONGER: bool>(short: &[u32], long: &[u32], counts: &mut [u32]) -> u64 {
    let (blocks, _) = long.as_chunks::<LANES>();
    let (mut at, mut block, mut met) = (0, 0, [0u32; LANES]);
    while at < short.len() && block < blocks.len() {
        let (vertex, others) = (short[at], &blocks[block]);
        let both = others.map(|other| u32::from(other == vertex));
        if LONGER {
            let counts = &mut counts[block * LANES..][..LANES];
            counts.iter_mut().zip(both).for_each(|(count, both)| *count += both);
        } else {
            counts[at] += both.iter().fold(0, |any, both| any | both);
        }
        met.iter_mut().zip(both).for_each(|(met, both)| *met += both);
        let goes_on = vertex <= others[LANES - 1];
        at += usize::from(goes_on);
        block += usize::from(!goes_on);
    }
    let behind = block * LANES;
    let (rest, tail) = (&short[at..], &long[behind..]);
    let met: u32 = met.iter().sum();
    u64::from(met)
        + match LONGER {
            true => merge(rest, tail, |_, place| counts[behind + place] += 1),
            false => merge(rest, tail, |place, _| counts[at + place] += 1),
        }
}

/// Passes the places of every vertex that is in both lists; returns their number.
fn merge(one: &[u32], other: &[u32], mut found: impl FnMut(usize, usize)) -> u64 {
    let (mut at, mut theirs, mut met) = (0, 0, 0);
    while at < one.len() && theirs < other.len() {
        match one[at].cmp(&other[theirs]) {
            Ordering::Less => at += 1,
            Ordering::Greater => theirs += 1,
            Ordering::Equal => {
                found(at, theirs);
                (at, theirs, met) = (at + 1, theirs + 1, met + 1);
            }
        }
    }
    met
}

/// Passes the places in a short and a long list of every vertex that is in both; returns their number.
fn search(short: &[u32], long: &[u32], mut found: impl FnMut(usize, usize)) -> u64 {
    let (mut from, mut met) = (0, 0);
    for (at, &vertex) in short.iter().enumerate() {
        from += long[from..].partition_point(|&theirs| theirs < vertex);
        if long.get(from) == Some(&vertex) {
            found(at, from);
            met += 1;
        }
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Lists of any two lengths, compared with sets.
        #[test]
        fn lists_meet_where_sets_do(
            one in prop::collection::btree_set(0u32..300, 0..200),
            other in prop::collection::btree_set(0u32..300, 0..200),
            few in prop::collection::btree_set(0u32..300, 0..6),
        ) {
            for (one, other) in [(&one, &other), (&one, &few), (&few, &other)] {
                let [ones, others] = [one, other].map(|set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<_>>());
                let mut counts = vec![1; ones.len()];
                let met = meet(&ones, &others, &mut counts);
                let expected: Vec<u32> = ones.iter().map(|vertex| 1 + u32::from(other.contains(vertex))).collect();
                prop_assert_eq!(met, one.intersection(other).count() as u64);
                prop_assert_eq!(counts, expected);
            }
        }
    }
}
