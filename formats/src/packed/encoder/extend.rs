//! Appends shared lists to a page: many at once as long as they surely fit, then neighbour by neighbour.

use super::super::bits::block_words;
use super::super::layout::BLOCK;
use super::shared::{Piece, SharedLists};
use super::{PageEncoder, largest, width_of};
use std::ops::Range;
use std::sync::Arc;

/// Neighbours that are laid out at a time: two blocks.
const SOME: usize = 2 * BLOCK;

impl PageEncoder {
    /// Appends whole lists from list `number` on, whose neighbours begin at `at`, and empty ones for vertices from
    /// `next` on that have none: as many as surely fit. Returns the numbers of lists and of their neighbours. The last
    /// one is open, but gets no more neighbours.
    pub fn extend(&mut self, lists: &Arc<SharedLists>, number: usize, at: usize, next: u32) -> (usize, usize) {
        let (begin, mut next, mut end, mut list_at) = (number, u64::from(next), at, self.widths.len());
        let mut number = number;
        if self.degrees.is_empty() {
            (self.first, self.before) = (next as u32, None);
        }
        loop {
            let edges = self.widths.len();
            let (mut some, mut taken) = (0, 0);
            while some < SOME
                && let Some(&(vertex, length)) = lists.lengths.get(number + taken)
            {
                let slots = (u64::from(vertex) + 1 - next) as usize;
                if length as usize > SOME || !self.surely_fits(slots, some + length as usize) {
                    break;
                }
                list_at = edges + some;
                self.degrees.resize(self.degrees.len() + slots - 1, 0);
                self.degrees.push(length);
                some += length as usize;
                taken += 1;
                next = u64::from(vertex) + 1;
            }
            if taken == 0 {
                break;
            }
            self.close_degree_blocks();
            self.widths.extend_from_slice(&lists.widths[end..end + some]);
            self.close_blocks();
            number += taken;
            end += some;
        }
        if number > begin {
            self.add_piece(lists, at..end);
            self.settle();
            // The vertex behind the last one may be number 2^32.
            self.begin_list((next - 1) as u32, None);
            (self.list.at, self.list.last) = (list_at, Some(lists.dests[end - 1]));
        }
        (number - begin, end - at)
    }

    /// Appends neighbours in a range of shared lists to the open list, as many as fit; returns their number.
    pub fn push_shared(&mut self, lists: &Arc<SharedLists>, range: Range<usize>) -> usize {
        let mut at = range.start;
        while at < range.end {
            let some = (range.end - at).min(SOME);
            if self.surely_fits(0, some) {
                self.widths.extend_from_slice(&lists.widths[at..at + some]);
                *self.degrees.last_mut().expect("a list is open") += some as u32;
                self.close_blocks();
                self.settle();
                at += some;
            } else if self.push_width(lists.widths[at].into()) {
                at += 1;
            } else {
                break;
            }
        }
        if at > range.start {
            self.add_piece(lists, range.start..at);
            self.list.last = Some(lists.dests[at - 1]);
        }
        at - range.start
    }

    /// Removes the open list's neighbours from neighbour `edge` of the page on, which must be among them and shared.
    /// Returns where they are, in order. If none are left, the list itself is removed.
    pub fn remove_shared(&mut self, edge: u32) -> Vec<(Arc<SharedLists>, Range<usize>)> {
        let edge = edge as usize;
        let first = self.pieces.partition_point(|piece| piece.end() <= edge);
        let mut removed = Vec::with_capacity(self.pieces.len() - first);
        for Piece { lists, mut range, at } in self.pieces.split_off(first) {
            let kept = edge.saturating_sub(at);
            if kept > 0 {
                let kept = range.start..range.start + kept;
                range.start = kept.end;
                self.pieces.push(Piece { lists: Arc::clone(&lists), range: kept, at });
            }
            removed.push((lists, range));
        }
        self.remove_from(edge);
        removed
    }

    /// Lets go of shared lists: the page has been written.
    pub(crate) fn release(&mut self) {
        self.pieces.clear();
    }

    /// Appends empty lists for vertices from `next` on, as many as surely fit and at most `most`. Returns their
    /// number. The last one is open.
    pub fn extend_empty(&mut self, next: u32, most: u64) -> u64 {
        let mut count = 0;
        while count < most {
            let some = (most - count).min(BLOCK as u64) as usize;
            if !self.surely_fits(some, 0) {
                break;
            }
            if self.degrees.is_empty() {
                (self.first, self.before) = (next, None);
            }
            self.degrees.resize(self.degrees.len() + some, 0);
            self.close_degree_blocks();
            count += some as u64;
        }
        if count > 0 {
            self.settle();
            self.begin_list((u64::from(next) + count - 1) as u32, None);
        }
        count
    }

    /// Whether this many more slots and neighbours fit, whatever they are.
    #[inline]
    fn surely_fits(&self, slots: usize, edges: usize) -> bool {
        let (all_slots, all_edges) = (self.degrees.len() + slots, self.widths.len() + edges);
        let blocks = all_edges.div_ceil(BLOCK) - self.shapes.len();
        let degree_blocks = all_slots.div_ceil(BLOCK) - self.degree_widths.len();
        let open_words = ((blocks + degree_blocks) * block_words(u32::BITS)) as u64;
        self.words_with(all_slots as u64, all_edges as u64) + open_words <= self.page_words
            && all_edges <= self.parameters.edges_max as usize
            && ((all_edges + all_slots) as u64) < self.parameters.image_words()
    }

    /// Completes the degree blocks that are full and not the last one.
    fn close_degree_blocks(&mut self) {
        while self.degrees.len() > (self.degree_widths.len() + 1) * BLOCK {
            let begin = self.degree_widths.len() * BLOCK;
            self.close_degrees(width_of(&self.degrees[begin..begin + BLOCK]));
        }
    }

    /// Brings the bits of the open blocks up to date.
    fn settle(&mut self) {
        self.open.bits = largest(&self.widths[self.shapes.len() * BLOCK..]);
        self.open.degree_bits = width_of(&self.degrees[self.degree_widths.len() * BLOCK..]);
        self.open.is_bounded = false;
    }

    /// Notes where the page's last neighbours are.
    fn add_piece(&mut self, lists: &Arc<SharedLists>, range: Range<usize>) {
        let at = self.widths.len() - range.len();
        match self.pieces.last_mut() {
            Some(last) if Arc::ptr_eq(&last.lists, lists) && last.end() == at && last.range.end == range.start => {
                last.range.end = range.end;
            }
            _ => self.pieces.push(Piece { lists: Arc::clone(lists), range, at }),
        }
    }
}
