//! The vertices of other devices whose values a device reads: its mirrors. A device whose memory is short holds no
//! others.
//!
//! ```text
//!  vertices     0 1 2 3 4 5 6 7 8 9       own: 4..7
//!  border         1   3       7           have edges to own ones
//!  places         0   1       2           of their values, in a buffer of three
//! ```
//!
//! A table with a bit for each vertex finds places: 2 bits a vertex, where values take 32.
//!
//! A GPU under `shard` without room for the values of all vertices holds those of its own and of bordering vertices;
//! the store's mirrors say which these are. It is for algorithms that read values through edges from their owner's
//! neighbours only: PageRank and its like by pull, shortest and widest paths, components. CPUs hold the values of all
//! vertices.

use rayon::prelude::*;
use std::ops::Range;
use topostream_formats::mirrors::Mirrors;

/// The vertices of other devices that have edges to a device's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Border {
    /// Ascending.
    vertices: Vec<u32>,
    /// For each 32 vertices of the graph, a bit for each that is in the border, and the place of the first.
    table: Vec<[u32; 2]>,
}

/// Vertices of an entry of the table.
const ENTRY: usize = 32;

#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only GPUs look vertices up in it"))]
impl Border {
    /// The border of a device with these own vertices. None if the mirrors are not known for all of them.
    ///
    /// If its range ends within a section of the mirrors, vertices with edges to others of that section count, too.
    pub fn of(mirrors: &Mirrors, own: &Range<u64>) -> Option<Self> {
        let wanted = mirrors.sections().among(own);
        if wanted & !mirrors.known() != 0 {
            return None;
        }
        let entry = |(number, masks): (usize, &[u32])| {
            let is_in =
                |&(bit, mask): &(usize, &u32)| mask & wanted != 0 && !own.contains(&((number * ENTRY + bit) as u64));
            masks.iter().enumerate().filter(is_in).map(|(bit, _)| 1 << bit).sum()
        };
        Some(Self::of_bits(mirrors.masks().par_chunks(ENTRY).enumerate().map(entry).collect()))
    }

    /// The border of these vertices: a bit for each of the graph.
    fn of_bits(bits: Vec<u32>) -> Self {
        let before =
            bits.iter().scan(0, |place, bits: &u32| Some(std::mem::replace(place, *place + bits.count_ones())));
        let table: Vec<[u32; 2]> = bits.iter().copied().zip(before).map(|(bits, place)| [bits, place]).collect();
        let vertices = table.par_iter().enumerate().flat_map_iter(|(number, &[bits, _])| {
            (0..ENTRY as u32).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| (number * ENTRY) as u32 + bit)
        });
        Self { vertices: vertices.collect(), table }
    }

    /// Its vertices, in ascending order.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Entries of 32 vertices of the graph: a bit for each that is in the border, and the place of the first of them.
    pub fn table(&self) -> &[[u32; 2]] {
        &self.table
    }

    /// Where the value of a vertex is; none if it is not in the border.
    pub fn place(&self, vertex: u32) -> Option<u32> {
        let [bits, place] = self.table[vertex as usize / ENTRY];
        let bit = 1 << (vertex as usize % ENTRY);
        (bits & bit != 0).then(|| place + (bits & (bit - 1)).count_ones())
    }

    /// The places of the vertices of a range.
    pub fn among(&self, vertices: &Range<u64>) -> Range<u64> {
        let place = |end: u64| self.vertices.partition_point(|&vertex| u64::from(vertex) < end) as u64;
        place(vertices.start)..place(vertices.end)
    }

    /// Bytes of the table for a graph of this many vertices.
    pub fn table_bytes(vertices: u64) -> u64 {
        size_of::<[u32; 2]>() as u64 * vertices.div_ceil(ENTRY as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_in_the_list(
            bits in prop::collection::vec(prop_oneof![Just(0), Just(u32::MAX), any::<u32>()], 0..20),
        ) {
            let border = Border::of_bits(bits.clone());
            let all = 0..32 * bits.len() as u32;
            let is_listed = |vertex: &u32| bits[*vertex as usize / 32] >> (vertex % 32) & 1 != 0;
            let listed: Vec<u32> = all.clone().filter(is_listed).collect();
            prop_assert_eq!(border.vertices(), &listed[..]);
            for vertex in all {
                let place = listed.iter().position(|&one| one == vertex).map(|place| place as u32);
                prop_assert_eq!(border.place(vertex), place);
                let range = u64::from(vertex / 3)..u64::from(vertex);
                let within = listed.iter().enumerate().filter(|(_, one)| range.contains(&u64::from(**one)));
                let places: Vec<u64> = within.map(|(place, _)| place as u64).collect();
                prop_assert_eq!(border.among(&range).collect::<Vec<_>>(), places);
            }
            prop_assert_eq!(8 * border.table().len() as u64, Border::table_bytes(32 * bits.len() as u64));
        }
    }
}
