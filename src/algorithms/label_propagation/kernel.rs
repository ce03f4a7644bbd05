//! The edge function, and the table in which it counts labels.

use super::tally::{NEIGHBOURS_MAX, SPREAD, Tally};
use crate::model::Part;
use crate::model::algorithm::{Kernel, List};
use crate::model::attributes::U32Column;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The count of a label that has already won: the vertex's room contains nothing else.
pub(super) const WON: u32 = u32::MAX;

/// The bit of a label that differs from the label in the previous iteration, if labels are marked.
pub(super) const NEW: u32 = 1 << 31;

/// Counts labels.
pub struct LabelPropagationKernel<'a> {
    pub(super) label: &'a U32Column,
    pub(super) counts: Counts<'a>,
    pub(super) both_ends: bool,
    /// Mask of the bits that hold the label.
    pub(super) mask: u32,
    /// Whether lists without a new label are skipped.
    pub(super) only_new: bool,
    /// Whether every vertex still has a label of its own.
    pub(super) all_differ: bool,
}

/// The table of counts, for the device's own vertices of a range.
pub(super) struct Counts<'a> {
    pub(super) starts: &'a [u32],
    pub(super) range: Range<u32>,
    pub(super) part: &'a Part,
    pub(super) table: &'a [AtomicU32],
}

impl Counts<'_> {
    /// A vertex's room: pairs of a label plus one, and its count.
    #[inline(always)]
    fn room(&self, vertex: u32) -> &[AtomicU32] {
        let place = |vertex: u32| self.starts[vertex as usize];
        let base = place(self.range.start);
        let (begin, end) = (place(vertex).wrapping_sub(base), place(vertex + 1).wrapping_sub(base));
        &self.table[2 * begin as usize..2 * end as usize]
    }

    #[inline(always)]
    pub(super) fn has(&self, vertex: u32) -> bool {
        self.range.contains(&vertex) && self.part.owns(vertex)
    }

    /// Counts a label of a vertex's neighbour.
    #[inline(always)]
    fn add(&self, vertex: u32, label: u32) {
        if !self.has(vertex) {
            return;
        }
        let (room, key) = (self.room(vertex), label + 1);
        let places = room.len() / 2;
        // Scales a 32-bit hash to the number of slots, without a division.
        let mut at = ((u64::from(label.wrapping_mul(SPREAD)) * places as u64) >> 32) as usize;
        loop {
            let seen = room[2 * at].load(Relaxed);
            let free = seen == 0;
            let taken = free && room[2 * at].compare_exchange(0, key, Relaxed, Relaxed).is_ok();
            if taken || seen == key || (free && room[2 * at].load(Relaxed) == key) {
                room[2 * at + 1].fetch_add(1, Relaxed);
                return;
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
    }

    /// Stores the winning label of a vertex whose labels are not counted here.
    #[inline(always)]
    fn won(&self, vertex: u32, label: u32) {
        let room = self.room(vertex);
        room[0].store(label + 1, Relaxed);
        room[1].store(WON, Relaxed);
    }

    /// Returns the most frequent label, the smallest in case of a tie, and empties the room.
    pub(super) fn take(&self, vertex: u32) -> Option<u32> {
        let mut best: Option<(u32, u32)> = None;
        for place in self.room(vertex).chunks_exact(2) {
            let (key, count) = (place[0].load(Relaxed), place[1].load(Relaxed));
            if count == WON {
                place.iter().for_each(|word| word.store(0, Relaxed));
                return Some(key - 1);
            }
            if key > 0 && best.is_none_or(|(label, most)| count > most || (count == most && key - 1 < label)) {
                best = Some((key - 1, count));
            }
            place.iter().for_each(|word| word.store(0, Relaxed));
        }
        best.map(|(label, _)| label)
    }
}

/// A list that is being read.
pub struct Counted {
    vertex: u32,
    label: u32,
    /// The thread's own counts, if it counts the list itself.
    tally: Option<Tally>,
}

impl Kernel for LabelPropagationKernel<'_> {
    type Record = Counted;

    #[inline(always)]
    fn open(&self, List { vertex, degree, whole }: List) -> Option<Counted> {
        if degree == 0 || !(self.both_ends || self.counts.has(vertex)) {
            return None;
        }
        let alone = whole && !self.both_ends && (degree <= NEIGHBOURS_MAX || self.all_differ);
        let tally = alone.then(|| Tally::new(degree, self.mask, self.all_differ));
        Some(Counted { vertex, label: self.label.get(vertex), tally })
    }

    #[inline(always)]
    fn edge(&self, counted: &mut Counted, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let label = self.label.get(neighbour);
        match &mut counted.tally {
            Some(tally) => tally.add(label),
            None => self.counts.add(counted.vertex, label & self.mask),
        }
        if self.both_ends {
            self.counts.add(neighbour, counted.label);
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        self.label.prefetch(neighbour);
    }

    #[inline(always)]
    fn close(&self, Counted { vertex, tally, .. }: Counted) {
        let Some(tally) = tally else { return };
        let count = !self.only_new || tally.has(NEW);
        if let Some(label) = tally.finish(count) {
            self.counts.won(vertex, label);
        }
    }
}
