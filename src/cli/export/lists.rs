//! Lists of neighbours by vertex (CSR), in a temporary file in the folder of the output.

use super::graph::Export;
use super::numbering::Numbering;
use crate::cli::failure::Failure;
use memmap2::MmapMut;
use std::io::Read;
use std::path::Path;

/// The lists of all vertices.
pub struct Lists {
    /// Where each list begins, and where the last one ends.
    pub offsets: Vec<u64>,
    /// Pairs of a neighbour and its weight, by list; neighbours ascend.
    entries: Option<MmapMut>,
    /// Their length in 4-byte words.
    words: usize,
}

/// Which end of an edge has it in its list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Out,
    In,
}

impl Lists {
    /// Reads the edges twice: to count, and to fill in. An undirected edge is in the lists of both of its ends, a loop
    /// in one list once.
    pub fn new(
        export: &mut Export<'_>,
        numbering: &Numbering,
        direction: Direction,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let vertices = numbering.count() as usize;
        let (directed, mut offsets) = (export.directed, vec![0u64; vertices + 1]);
        let each = |export: &mut Export<'_>, take: &mut dyn FnMut(usize, u32, u32)| {
            // Formats of lists have weights of 32 bits, or none.
            export.each_chunk(|edges| {
                for edge in edges {
                    let [source, dest] = [edge.source, edge.dest].map(|id| numbering.number(id) as u32);
                    let (from, to) = if direction == Direction::Out { (source, dest) } else { (dest, source) };
                    let weight = edge.weight as u32;
                    take(from as usize, to, weight);
                    if !directed && from != to {
                        take(to as usize, from, weight);
                    }
                }
                Ok(())
            })
        };
        each(export, &mut |from, _, _| offsets[from + 1] += 1)?;
        for vertex in 0..vertices {
            offsets[vertex + 1] += offsets[vertex];
        }
        let words = 2 * offsets[vertices] as usize;
        let mut lists = Self { offsets, entries: None, words };
        if words == 0 {
            return Ok(lists);
        }
        lists.entries = Some(mapped(folder, 4 * words as u64).map_err(|error| Export::failure(folder, error))?);
        let mut next = lists.offsets.clone();
        let entries = lists.entries_mut();
        each(export, &mut |from, to, weight| {
            let place = &mut next[from];
            entries[*place as usize] = [to, weight];
            *place += 1;
        })?;
        for vertex in 0..vertices {
            let list = lists.offsets[vertex] as usize..lists.offsets[vertex + 1] as usize;
            lists.entries_mut()[list].sort_unstable();
        }
        Ok(lists)
    }

    /// The neighbours and weights of all lists.
    pub fn entries(&self) -> &[[u32; 2]] {
        self.entries.as_ref().map_or(&[], |bytes| bytemuck::cast_slice(&bytes[..4 * self.words]))
    }

    fn entries_mut(&mut self) -> &mut [[u32; 2]] {
        let words = self.words;
        self.entries.as_mut().map_or(&mut [], |bytes| bytemuck::cast_slice_mut(&mut bytes[..4 * words]))
    }
}

/// A temporary file without a name, in memory.
#[expect(unsafe_code, reason = "a mapped file is memory that others could change")]
fn mapped(folder: &Path, bytes: u64) -> std::io::Result<MmapMut> {
    let mut file = tempfile::tempfile_in(folder)?;
    // Written, so that it has its space: to a mapped page on a full disk, writing would be a signal, not an error.
    std::io::copy(&mut std::io::repeat(0).take(bytes), &mut file)?;
    // SAFETY: the file has no name, so that no other process can change or shorten it.
    unsafe { MmapMut::map_mut(&file) }
}
