//! The results of earlier ranges, in memory and in checkpoints.

use crate::engine::Engine;
use crate::error::Result;
use crate::pages::adjacency::Adjacency;
use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of values that are written or read at once.
const KEPT_AT_ONCE: u64 = 1 << 14;

/// Results for each vertex.
pub(super) struct Found {
    /// The number of edges between the vertex's neighbours; empty if there was no earlier range.
    pub(super) links: Vec<u64>,
    /// The number of the vertex's neighbours.
    pub(super) neighbours: Vec<AtomicU32>,
}

impl Found {
    /// Reads the results from the checkpoint that the next run of an algorithm of this name continues, and the range
    /// before which it was written.
    pub(super) fn kept(engine: &Engine, name: &str) -> Result<Option<(Self, Range<u64>)>> {
        let Some((mut kept, _)) = engine.kept(name)? else { return Ok(None) };
        let vertices = engine.store().vertices();
        let mut numbers = |count: u64| -> Result<Vec<u64>> {
            let words = kept.words(2 * count as usize)?;
            Ok(words.chunks_exact(2).map(|word| u64::from(word[1]) << 32 | u64::from(word[0])).collect())
        };
        let head = numbers(3)?;
        let (range, with_links) = (head[0]..head[1], head[2]);
        let mut links = Vec::with_capacity(if with_links > 0 { vertices as usize } else { 0 });
        while with_links > 0 && (links.len() as u64) < vertices {
            links.extend(numbers(KEPT_AT_ONCE.min(vertices - links.len() as u64))?);
        }
        let mut neighbours = Vec::with_capacity(vertices as usize);
        while (neighbours.len() as u64) < vertices {
            let count = KEPT_AT_ONCE.min(vertices - neighbours.len() as u64);
            neighbours.extend(kept.words(count as usize)?.into_iter().map(AtomicU32::new));
        }
        match range.start <= range.end && range.end <= vertices {
            true => Ok(Some((Self { links, neighbours }, range))),
            false => Err(kept.error(format!("a range of vertices {range:?} of {vertices}"))),
        }
    }

    /// Writes the results, with a range whose neighbours they include.
    pub(super) fn keep(&self, range: &Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        let head = [range.start, range.end, u64::from(!self.links.is_empty())];
        head.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        let mut bytes = Vec::new();
        for links in self.links.chunks(KEPT_AT_ONCE as usize) {
            bytes.clear();
            bytes.extend(links.iter().flat_map(|links| links.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        for neighbours in self.neighbours.chunks(KEPT_AT_ONCE as usize) {
            bytes.clear();
            bytes.extend(neighbours.iter().flat_map(|count| count.load(Relaxed).to_le_bytes()));
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    pub(super) fn links(&self, vertex: u32) -> u64 {
        self.links.get(vertex as usize).copied().unwrap_or(0)
    }

    /// Counts the neighbours in a table.
    pub(super) fn count(&self, table: &Adjacency, directed: bool) {
        let count = |vertex: u32, more| _ = self.neighbours[vertex as usize].fetch_add(more, Relaxed);
        table.entries.par_iter().for_each(|&vertex| count(vertex, 1));
        if !directed {
            // The table holds each edge at one of its ends.
            let starts = table.starts.par_windows(2).enumerate();
            starts.for_each(|(vertex, starts)| count(vertex as u32, starts[1] - starts[0]));
        }
    }
}
