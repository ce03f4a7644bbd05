//! Passes over all vertices of an answer, on all threads.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use topostream_formats::huge::plain;

/// Vertices that a thread takes at a time.
const PART: u64 = 1 << 18;
/// Groups that a thread counts before it adds them to the counts of all.
const NEAR: usize = 256;

/// The vertices in parts, in no particular order.
pub fn parts(vertices: u64) -> impl ParallelIterator<Item = Range<u64>> {
    let part = move |number: u64| number * PART..((number + 1) * PART).min(vertices);
    (0..vertices.div_ceil(PART)).into_par_iter().map(part)
}

/// Counts the vertices of each group, which has the number of one of them.
pub fn group_sizes<I: Iterator<Item = Option<u32>>>(
    vertices: u64,
    groups: impl Fn(Range<u64>) -> I + Sync,
) -> Vec<u32> {
    let mut sizes = Vec::new();
    sizes.resize_with(vertices as usize, AtomicU32::default);
    // A count that overflows is of a group of 2^32 vertices: all there are.
    let add = |group: u32, count: u32| {
        let size = &sizes[group as usize];
        if size.fetch_add(count, Ordering::Relaxed).checked_add(count).is_none() {
            size.store(u32::MAX, Ordering::Relaxed);
        }
    };
    parts(vertices).for_each(|part| {
        // Most vertices may be in one group: threads that all count it there would wait for each other.
        let mut near = [(0, 0); NEAR];
        for group in groups(part).flatten() {
            let slot = &mut near[group as usize % NEAR];
            if slot.0 != group {
                add(slot.0, slot.1);
                *slot = (group, 0);
            }
            slot.1 += 1;
        }
        near.into_iter().filter(|(_, count)| *count > 0).for_each(|(group, count)| add(group, count));
    });
    plain(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_is_counted_in_its_group() {
        // A large group, several small ones that share its place, and vertices without a group.
        let group = |vertex: u32| match vertex % 7 {
            0 => None,
            1 => Some(vertex / 1000 * NEAR as u32),
            _ => Some(0),
        };
        let vertices = 2 * PART + 12_345;
        let sizes = group_sizes(vertices, |part| (part.start as u32..part.end as u32).map(group));
        let mut expected = vec![0; vertices as usize];
        (0..vertices as u32).filter_map(group).for_each(|group| expected[group as usize] += 1);
        assert!(sizes == expected);
        assert!(group_sizes(0, |_| std::iter::empty()).is_empty());
    }
}
