//! Which lists are in which units of packed pages, so that the visited units are found by a few bits for each.

use crate::model::bits::Bits;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use topostream_formats::Topology;
use topostream_formats::packed::UNIT;

/// Set in a slot whose list begins before the unit.
const CONTINUES: u32 = 1 << 31;

/// The lists of the units of a topology's small pages.
#[derive(Debug)]
pub(super) struct UnitLists {
    /// For each page, the slot of each unit's first neighbour; and the number of slots, for the end of the last unit.
    pages: Vec<Box<[u32]>>,
    /// A bit for each vertex that has neighbours.
    listed: Vec<u64>,
}

impl UnitLists {
    /// Finds the lists from the degrees of all vertices, on the calling thread's pool.
    pub fn new(topology: &Topology, degrees: &[u32]) -> Self {
        let word = |degrees: &[u32]| {
            degrees.iter().enumerate().fold(0, |word, (bit, &degree)| word | u64::from(degree > 0) << bit)
        };
        let listed = degrees.par_chunks(64).map(word).collect();
        let entries = topology.directory().entries().par_iter();
        let pages = entries.map(|entry| match entry.run {
            0 => {
                let of_page = &degrees[entry.start_vertex as usize..][..entry.slot_count as usize];
                first_slots(of_page, entry.edge_count)
            }
            _ => Box::default(),
        });
        Self { pages: pages.collect(), listed }
    }

    /// Main memory of the lists of a topology at most, in bytes.
    pub fn memory_bytes(pages: u64, edges: u64, vertices: u64) -> u64 {
        vertices.div_ceil(64) * 8 + edges / UNIT as u64 * 4 + pages * (size_of::<Box<[u32]>>() as u64 + 8)
    }

    /// Passes the units of a small page with lists of visited vertices, in ascending order. `visited` are the bits of
    /// vertices, or, with `inverted`, of vertices that are not visited.
    pub fn each_visited(&self, page: usize, start: u32, (visited, inverted): (&Bits, bool), mut take: impl FnMut(u32)) {
        for (unit, pair) in (0..).zip(self.pages[page].windows(2)) {
            if visited.meets(start + (pair[0] & !CONTINUES)..=start + last_slot(pair[1]), inverted, &self.listed) {
                take(unit);
            }
        }
    }
}

/// The slot of a unit's last neighbour, or a later one without neighbours before the next unit.
fn last_slot(next: u32) -> u32 {
    if next & CONTINUES != 0 { next & !CONTINUES } else { next.saturating_sub(1) }
}

/// The slot of the first neighbour of each unit, and the number of slots.
fn first_slots(degrees: &[u32], edges: u32) -> Box<[u32]> {
    let mut slots = Vec::with_capacity(edges.div_ceil(UNIT as u32) as usize + 1);
    let mut edge = 0u64;
    for (slot, &degree) in (0..).zip(degrees) {
        let end = (edge + u64::from(degree)).min(edges.into());
        while ((slots.len() * UNIT) as u64) < end {
            let continues = ((slots.len() * UNIT) as u64) > edge;
            slots.push(slot | if continues { CONTINUES } else { 0 });
        }
        edge = end;
    }
    // Degrees that are none of the page are found when it is decoded.
    slots.resize(edges.div_ceil(UNIT as u32) as usize + 1, degrees.len() as u32);
    slots.into_boxed_slice()
}

impl Bits {
    /// Whether any vertex of a range is in the set (or, with `inverted`, is not, and may be inserted) and has a bit in
    /// `among`.
    fn meets(&self, range: RangeInclusive<u32>, inverted: bool, among: &[u64]) -> bool {
        let mut found = false;
        self.for_each_word_in(range, inverted, |at, word| found |= word & among[at] != 0);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

        /// The units of the visited lists, list by list.
        #[test]
        fn units_with_visited_lists(
            degrees in prop::collection::vec(
                prop_oneof![Just(0u32), 0u32..40, 0u32..3000, Just(1024), Just(2048)],
                1..300,
            ),
            visited in prop::collection::vec(any::<u32>(), 0..12),
            start in 0u32..200,
            inverted: bool,
        ) {
            let edges: u32 = degrees.iter().sum();
            let vertices = start + degrees.len() as u32;
            let bits = Bits::new(vertices.into());
            visited.iter().for_each(|draw| { bits.insert(draw % vertices); });
            let all: Vec<u32> = vec![0; start as usize].into_iter().chain(degrees.iter().copied()).collect();
            let words = all.chunks(64).map(|some| (0..).zip(some).map(|(i, &d)| u64::from(d > 0) << i).sum()).collect();
            let lists = UnitLists { pages: vec![first_slots(&degrees, edges)], listed: words };
            let mut found = Vec::new();
            lists.each_visited(0, start, (&bits, inverted), |unit| found.push(unit));
            let (mut expected, mut edge) = (std::collections::BTreeSet::new(), 0);
            for (vertex, degree) in (start..).zip(degrees) {
                if bits.contains(vertex) != inverted {
                    expected.extend((edge..edge + degree).map(|edge| edge / UNIT as u32));
                }
                edge += degree;
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
