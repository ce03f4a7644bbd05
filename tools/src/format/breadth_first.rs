//! New numbers for vertices, in breadth-first order.
//!
//! ```text
//!  edges ─▶ neighbours of each vertex, out and in, ascending ─▶ a queue: the vertex of the highest degree, its
//!           neighbours, theirs, … ─▶ the next component: the one of the smallest id ─▶ … ─▶ vertices without edges
//! ```
//!
//! The lists of all vertices are in memory. The order depends on the edges alone, not on theirs.

use super::order::{Numbering, Slots};
use crate::progress::Cancel;
use rayon::prelude::*;
use topostream_formats::{Error, Result};

/// A vertex that has not been reached. It is the last vertex's number as well if there are 2^32 of them.
const UNREACHED: u32 = u32::MAX;
/// Vertices whose lists a thread sorts at a time.
const SORTED: usize = 1 << 10;
/// Vertices between two checks for cancellation.
const VERTICES_PER_CHECK: usize = 1 << 16;

/// The neighbours of all vertices, by slot.
pub struct Adjacency {
    /// The end of each list so far; when it is complete, the next one begins there.
    ends: Vec<u64>,
    neighbours: Vec<u32>,
    /// Whether an edge makes each of its ends a neighbour of the other, not only its dest one of its source.
    both: bool,
}

/// Main memory of the lists, in bytes. A header may state any number of records.
pub fn memory_bytes(slots: u64, records: u64, both: bool) -> u64 {
    let neighbours_bytes = (size_of::<u32>() as u64 * (1 + u64::from(both))).saturating_mul(records);
    (size_of::<u64>() as u64).saturating_mul(slots).saturating_add(neighbours_bytes)
}

impl Adjacency {
    /// Room for lists of these lengths.
    ///
    /// # Errors
    /// [`Error::Limit`] if one of them is too long to be counted.
    pub fn new(counts: &[u32], both: bool) -> Result<Self> {
        if counts.contains(&u32::MAX) {
            return Err(Error::Limit {
                what: "edges of one vertex".into(),
                found: u32::MAX.into(),
                limit: u64::from(u32::MAX) - 1,
                hint: "choose another order than `bfs`, or remove duplicate edges".into(),
            });
        }
        let mut sum = 0;
        let starts = counts.iter().map(|&count| {
            sum += u64::from(count);
            sum - u64::from(count)
        });
        let ends = starts.collect();
        Ok(Self { ends, neighbours: vec![0; sum as usize], both })
    }

    /// Adds an edge between slots.
    pub fn add(&mut self, source: u32, dest: u32) {
        self.append(source, dest);
        if self.both {
            self.append(dest, source);
        }
    }

    #[inline]
    fn append(&mut self, to: u32, neighbour: u32) {
        let end = &mut self.ends[to as usize];
        self.neighbours[*end as usize] = neighbour;
        *end += 1;
    }

    /// Sorts the lists.
    fn sort(&mut self) {
        let (mut parts, mut rest, mut begin) = (Vec::new(), &mut self.neighbours[..], 0);
        for ends in self.ends.chunks(SORTED) {
            let (some, after) = rest.split_at_mut((ends[ends.len() - 1] - begin) as usize);
            parts.push((begin, ends, some));
            begin = ends[ends.len() - 1];
            rest = after;
        }
        parts.into_par_iter().for_each(|(mut begin, ends, mut lists)| {
            for &end in ends {
                let (list, after) = lists.split_at_mut((end - begin) as usize);
                list.sort_unstable();
                (begin, lists) = (end, after);
            }
        });
    }

    fn of(&self, slot: u32) -> &[u32] {
        let begin = (slot as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.neighbours[begin as usize..self.ends[slot as usize] as usize]
    }

    /// Numbers the vertices, of which `counts` has the lengths of the lists. All edges must have been added.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn number(mut self, slots: Slots<'_>, counts: Vec<u32>, cancel: &Cancel) -> Result<Numbering> {
        self.sort();
        let (mut starts, mut first) = (Vec::new(), 0u32);
        slots.for_each(|slot| {
            starts.push(slot);
            first = if starts.len() == 1 || counts[slot as usize] > counts[first as usize] { slot } else { first };
        });
        let vertices = starts.len();
        let (mut order, mut numbers) = (Vec::with_capacity(vertices), vec![UNREACHED; counts.len()]);
        let mut reach = |order: &mut Vec<u32>, slot: u32| {
            let number = &mut numbers[slot as usize];
            if *number == UNREACHED && order.len() < vertices {
                *number = order.len() as u32;
                order.push(slot);
            }
        };
        let mut done = 0;
        let connected = starts.iter().filter(|&&slot| counts[slot as usize] > 0);
        for &start in starts.iter().filter(|&&slot| slot == first).chain(connected) {
            reach(&mut order, start);
            while done < order.len() {
                if done.is_multiple_of(VERTICES_PER_CHECK) {
                    cancel.check()?;
                }
                self.of(order[done]).iter().for_each(|&neighbour| reach(&mut order, neighbour));
                done += 1;
            }
        }
        starts.iter().for_each(|&slot| reach(&mut order, slot));
        Ok(Numbering { order, numbers, counts })
    }
}
