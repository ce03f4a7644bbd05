//! The order of names by their bytes, found in rounds: each reads seven more bytes of the names whose place is open.
//!
//! ```text
//!  order  ann bob bert │ carl    runs of vertices whose names agree so far; a bit marks where each begins
//!  keys   (seven bytes, how many of them the name has), by vertex
//! ```
//!
//! What all names begin with is skipped.

use super::{BLOCK_NAMES, StoredNames};
use crate::error::{Error, Result};
use crate::ids::VertexId;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Bytes of a name in a key; the last byte of the key says how many of them there are, or that more follow.
const KEY_BYTES: usize = 7;
const MORE_FOLLOW: u64 = 8;
/// Names that agree in as many keys are compared one by one.
const ROUNDS_MAX: usize = 64;
/// The vertices of a block: one for each bit of a word.
const WORD: usize = BLOCK_NAMES as usize;

/// The key of a name from one of its bytes on. Keys are in the order of the names.
fn key(name: &[u8], from: usize) -> u64 {
    let rest = name.get(from..).unwrap_or_default();
    let mut bytes = [0; 8];
    let count = rest.len().min(KEY_BYTES);
    bytes[..count].copy_from_slice(&rest[..count]);
    bytes[KEY_BYTES] = if rest.len() > KEY_BYTES { MORE_FOLLOW as u8 } else { count as u8 };
    u64::from_be_bytes(bytes)
}

fn has(bits: &[u64], at: usize) -> bool {
    bits[at / WORD] >> (at % WORD) & 1 != 0
}

fn add(bits: &mut [u64], at: usize) {
    bits[at / WORD] |= 1 << (at % WORD);
}

impl StoredNames {
    /// Main memory of [`ascending`](Self::ascending), in bytes.
    pub fn ascending_bytes(vertices: u64) -> u64 {
        12 * vertices + 2 * vertices.div_ceil(8) + Self::MEMORY_BYTES
    }

    /// The vertices in the order of their names, which are compared byte by byte.
    ///
    /// # Errors
    /// Errors from reading names; [`Error::Interrupted`] once `cancel` is set.
    pub fn ascending(&self, cancel: &AtomicBool) -> Result<Vec<u32>> {
        let vertices = self.count() as usize;
        let mut order: Vec<u32> = (0..vertices as u64).map(|vertex| vertex as u32).collect();
        let mut starts = vec![0; vertices.div_ceil(WORD)];
        // The vertices whose place is open.
        let mut open = vec![u64::MAX; starts.len()];
        let mut keys = vec![0; vertices];
        let mut from = if vertices > 1 { self.common_prefix(cancel)? } else { return Ok(order) };
        add(&mut starts, 0);
        for _ in 0..ROUNDS_MAX {
            self.read_keys(from, &open, &mut keys, cancel)?;
            open.fill(0);
            let mut left = false;
            each_run(&mut order, &mut starts, |run, starts, first| {
                let key = |vertex: &u32| keys[*vertex as usize];
                run.par_sort_unstable_by_key(key);
                for at in 1..run.len() {
                    // Names of a sound store differ.
                    let same = key(&run[at - 1]) == key(&run[at]);
                    if same && key(&run[at]) & 0xff == MORE_FOLLOW {
                        add(&mut open, run[at - 1] as usize);
                        add(&mut open, run[at] as usize);
                        left = true;
                    } else {
                        add(starts, first + at);
                    }
                }
                Ok(())
            })?;
            if !left {
                return Ok(order);
            }
            from += KEY_BYTES;
        }
        each_run(&mut order, &mut starts, |run, _, _| self.sort_one_by_one(run, cancel))?;
        Ok(order)
    }

    /// How many bytes all names begin with.
    fn common_prefix(&self, cancel: &AtomicBool) -> Result<usize> {
        let first = self.with_name(VertexId(0), <[u8]>::to_vec)?;
        let of_block = |block: u64| {
            check(cancel)?;
            let mut common = first.len();
            self.each_of_block(block, |_, name| {
                common = first[..common].iter().zip(name).take_while(|(one, other)| one == other).count();
            })?;
            Ok(common)
        };
        (0..self.blocks()).into_par_iter().map(of_block).try_reduce(|| first.len(), |one, other| Ok(one.min(other)))
    }

    /// Reads keys of names from one of their bytes on, of the vertices whose place is open.
    fn read_keys(&self, from: usize, open: &[u64], keys: &mut [u64], cancel: &AtomicBool) -> Result<()> {
        keys.par_chunks_mut(WORD).zip(open).enumerate().try_for_each(|(block, (keys, &open))| {
            check(cancel)?;
            if open == 0 {
                return Ok(());
            }
            self.each_of_block(block as u64, |place, name| keys[place] = key(name, from))
        })
    }

    /// Sorts vertices whose names agree for long, by insertion: a comparison may fail.
    fn sort_one_by_one(&self, run: &mut [u32], cancel: &AtomicBool) -> Result<()> {
        let mut sorted: Vec<u32> = Vec::with_capacity(run.len());
        for &vertex in &*run {
            check(cancel)?;
            let name = self.with_name(VertexId(vertex), <[u8]>::to_vec)?;
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = low + (high - low) / 2;
                let is_before = self.with_name(VertexId(sorted[middle]), |other| other < &*name)?;
                (low, high) = if is_before { (middle + 1, high) } else { (low, middle) };
            }
            sorted.insert(low, vertex);
        }
        run.copy_from_slice(&sorted);
        Ok(())
    }
}

fn check(cancel: &AtomicBool) -> Result<()> {
    if cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Calls `take` with each run of more than one vertex, the bits that mark where runs begin, and the place of the run.
fn each_run(
    order: &mut [u32],
    starts: &mut [u64],
    mut take: impl FnMut(&mut [u32], &mut [u64], usize) -> Result<()>,
) -> Result<()> {
    let mut first = 0;
    while first < order.len() {
        let end = (first + 1..order.len()).find(|&at| has(starts, at)).unwrap_or(order.len());
        if end > first + 1 {
            take(&mut order[first..end], starts, first)?;
        }
        first = end;
    }
    Ok(())
}
