//! Writes the names of a store in the order of its vertices.

use super::dictionary::{Dictionary, RANGES_MAX};
use super::spool::Spool;
use crate::progress::Cancel;
use crate::sorting::record::{Plain, Record};
use crate::sorting::sorter::Sorter;
use rayon::prelude::*;
use std::path::Path;
use topostream_formats::manifest::Ids;
use topostream_formats::names::StoredNames;
use topostream_formats::write::{NamesWriter, StoreWriter};
use topostream_formats::{Result, VertexId};
use topostream_readers::NameList;

/// Bytes for a name while the names of a range are put in order.
const NAME_BYTES: u64 = 24;
/// The least memory for the names of a range, in bytes.
const RANGE_BYTES_MIN: u64 = 8 << 20;

impl Dictionary {
    /// Minimum main memory for writing, without the order of the vertices, in bytes.
    pub fn writing_bytes(&self, is_ordered: bool) -> u64 {
        self.tables_bytes(is_ordered) + RANGE_BYTES_MIN
    }

    /// Main memory for writing without the names of a range, in bytes.
    fn tables_bytes(&self, is_ordered: bool) -> u64 {
        let arrays = u64::from(self.ranks.is_some()) + u64::from(is_ordered);
        4 * self.count * arrays + Spool::memory_bytes(self.ranges(RANGE_BYTES_MIN) as usize)
    }

    /// The number of ranges of vertices whose names are sorted in this many bytes each.
    fn ranges(&self, memory_bytes: u64) -> u64 {
        // Names of very different lengths are unevenly spread over ranges.
        (4 * (self.text_bytes + NAME_BYTES * self.count)).div_ceil(memory_bytes).clamp(1, RANGES_MAX)
    }

    /// Writes the names: vertex v has the name with the number at place v of `order`, or number v without. Takes about
    /// `memory_bytes`.
    pub(crate) fn write(
        &self,
        writer: &mut StoreWriter,
        order: Option<&Spool>,
        memory_bytes: u64,
        cancel: &Cancel,
    ) -> Result<Ids> {
        let vertices = self.vertices(order)?;
        let ranges = self.ranges(memory_bytes.saturating_sub(self.tables_bytes(order.is_some())).max(RANGE_BYTES_MIN));
        let width = self.count.div_ceil(ranges).max(1);
        let mut spool = Spool::new(&self.folder, ranges as usize)?;
        self.names.for_each(0, |number, name| {
            let vertex = vertices.as_ref().map_or(number, |vertices| vertices[number as usize].into());
            spool.push((vertex / width) as usize, vertex, name)
        })?;
        drop(vertices);
        spool.finish()?;
        let mut names = writer.names(self.id_type)?;
        let mut keys: Sorter<Plain> = Sorter::new(&self.folder, memory_bytes / 4, cancel.clone());
        let (mut list, mut places) = (NameList::default(), Vec::new());
        for range in 0..spool.parts() {
            cancel.check()?;
            list.clear();
            places.clear();
            spool.for_each(range, |vertex, name| {
                places.push((vertex as u32, list.len() as u32));
                list.push(name);
                Ok(())
            })?;
            places.par_sort_unstable();
            for &(vertex, place) in &places {
                keys.push(Plain::new(names.push(list.get(place as usize))?, vertex, 0))?;
            }
        }
        drop((spool, list, places));
        finish_keys(names, keys, cancel)
    }

    /// The vertex of each number before ranks; none if both are the same.
    fn vertices(&self, order: Option<&Spool>) -> Result<Option<Vec<u32>>> {
        let by_rank = order.map(|order| -> Result<Vec<u32>> {
            let (mut vertices, mut vertex) = (vec![0; self.count as usize], 0u32);
            order.for_each(0, |rank, _| {
                vertices[rank as usize] = vertex;
                vertex = vertex.wrapping_add(1);
                Ok(())
            })?;
            Ok(vertices)
        });
        let by_rank = by_rank.transpose()?;
        let Some(spool) = &self.ranks else { return Ok(by_rank) };
        let mut vertices = Vec::with_capacity(self.count as usize);
        spool.for_each(0, |rank, _| {
            vertices.push(by_rank.as_ref().map_or(rank as u32, |by_rank| by_rank[rank as usize]));
            Ok(())
        })?;
        Ok(Some(vertices))
    }
}

/// Notes the number of each vertex's name.
pub(crate) fn note_numbers(folder: &Path, numbers: impl Iterator<Item = u64>) -> Result<Spool> {
    let mut spool = Spool::new(folder, 1)?;
    for number in numbers {
        spool.push(0, number, b"")?;
    }
    spool.finish()?;
    Ok(spool)
}

/// Writes the names of another store's vertices, whose numbers `order` has.
pub(crate) fn copy_names(
    from: &StoredNames,
    order: &Spool,
    writer: &mut StoreWriter,
    (folder, memory_bytes): (&Path, u64),
    cancel: &Cancel,
) -> Result<Ids> {
    let mut names = writer.names(from.id_type())?;
    let mut keys: Sorter<Plain> = Sorter::new(folder, memory_bytes / 2, cancel.clone());
    let mut vertex = 0u32;
    order.for_each(0, |number, _| {
        let key = from.with_name(VertexId(number as u32), |name| names.push(name))??;
        keys.push(Plain::new(key, vertex, 0))?;
        vertex = vertex.wrapping_add(1);
        Ok(())
    })?;
    finish_keys(names, keys, cancel)
}

/// Writes the keys, sorted.
fn finish_keys(mut names: NamesWriter, keys: Sorter<Plain>, cancel: &Cancel) -> Result<Ids> {
    keys.finish()?.for_each(|some| {
        cancel.check()?;
        some.iter().try_for_each(|&entry| {
            let (key, vertex, _) = entry.parts();
            names.push_key(key, vertex)
        })
    })?;
    names.finish()
}
