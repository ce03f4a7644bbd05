//! Lists of neighbours by vertex (CSR), made a part at a time in memory. Each part is a pass over the edges.

use super::graph::Export;
use super::numbering::Numbering;
use crate::cli::failure::Failure;
use rayon::slice::ParallelSliceMut;
use std::io;

/// An entry of a list: its vertex, the neighbour, and the weight of the edge.
pub type Entry = [u32; 3];

/// The main memory in which most graphs' lists can be made, in bytes. The entries of one vertex are in one part.
pub const LIST_BYTES_MIN: u64 = 4 << 20;

/// The lists of all vertices, without their entries.
pub struct Lists<'a> {
    numbering: &'a Numbering,
    direction: Direction,
    /// Where each list begins, and where the last one ends.
    pub offsets: Vec<u64>,
    /// The largest weight, as an integer.
    pub weight_max: u32,
}

/// Which end of an edge has it in its list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Out,
    In,
}

impl<'a> Lists<'a> {
    /// Counts the entries. An undirected edge is in the lists of both of its ends, a loop in one list once.
    pub fn count(export: &mut Export<'_>, numbering: &'a Numbering, direction: Direction) -> Result<Self, Failure> {
        let vertices = numbering.count() as usize;
        let mut lists = Self { numbering, direction, offsets: Vec::new(), weight_max: 0 };
        let (mut offsets, mut weight_max) = (vec![0u64; vertices + 1], 0);
        lists.each(export, |[vertex, _, weight]| {
            offsets[vertex as usize + 1] += 1;
            weight_max = weight_max.max(weight);
        })?;
        let longest = offsets.iter().max().copied().unwrap_or(0);
        for vertex in 0..vertices {
            offsets[vertex + 1] += offsets[vertex];
        }
        (lists.offsets, lists.weight_max) = (offsets, weight_max);
        match longest * size_of::<Entry>() as u64 {
            needed if needed > export.list_bytes => Err(export.refused_memory(needed)),
            _ => Ok(lists),
        }
    }

    /// The number of entries of all lists.
    pub fn entries(&self) -> u64 {
        self.offsets[self.offsets.len() - 1]
    }

    /// Passes all entries: lists in the order of their vertices, in each the neighbours ascending.
    pub fn each_part(
        &self,
        export: &mut Export<'_>,
        mut take: impl FnMut(&[Entry]) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let entries_max = export.list_bytes / size_of::<Entry>() as u64;
        let (vertices, mut part, mut first) = (self.numbering.count() as usize, Vec::<Entry>::new(), 0);
        while first < vertices {
            let begin = self.offsets[first];
            // Each list fits: it was counted.
            let end = self.offsets.partition_point(|&offset| offset <= begin + entries_max) - 1;
            part.clear();
            part.reserve_exact((self.offsets[end] - begin) as usize);
            self.each(export, |entry| {
                if (first..end).contains(&(entry[0] as usize)) {
                    part.push(entry);
                }
            })?;
            part.par_sort_unstable();
            take(&part).map_err(|error| Failure::Other(format!("writing lists: {error}")))?;
            first = end;
        }
        Ok(())
    }

    /// Reads the edges, and passes the entries that they are.
    fn each(&self, export: &mut Export<'_>, mut take: impl FnMut(Entry)) -> Result<(), Failure> {
        let directed = export.directed;
        export.each_chunk(|edges| {
            for edge in edges {
                let [source, dest] = [edge.source, edge.dest].map(|id| self.numbering.number(id) as u32);
                let (from, to) = if self.direction == Direction::Out { (source, dest) } else { (dest, source) };
                // Formats of lists have weights of 32 bits, or none.
                let weight = edge.weight as u32;
                take([from, to, weight]);
                if !directed && from != to {
                    take([to, from, weight]);
                }
            }
            Ok(())
        })
    }
}
