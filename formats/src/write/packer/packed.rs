//! Packed pages: the encoder knows when a page is full; neighbours that no longer fit are pushed again.
//!
//! ```text
//!  push_lists: SharedLists ─▶ many lists at once, while they surely fit ─▶ a list that may not ─▶ the next page
//! ```

use super::TopologyWriter;
use crate::error::Result;
use crate::packed::{SharedLists, UNIT};
use crate::page::WeightsHeader;
use std::ops::Range;
use std::sync::Arc;

impl TopologyWriter {
    /// Appends lists to packed pages without weights. Their vertices must be behind all before, but for a first list
    /// that goes on with the last one, and they must have been measured for the encoding and the open shard. The page's
    /// threads read the neighbours later: pages that are not written yet keep the lists.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push).
    pub fn push_lists(&mut self, lists: &Arc<SharedLists>) -> Result<()> {
        let (mut number, mut at) = (0, 0);
        if let Some((vertex, length)) = lists.continued() {
            assert!(!self.page.slots.is_empty() && self.open_vertex() == vertex, "no list of {vertex} is open");
            (number, at) = (1, length as usize);
            self.push_shared(lists, 0..at)?;
        }
        while let Some(&(vertex, length)) = lists.lengths.get(number) {
            assert!(self.next_vertex() <= vertex.into(), "sources must not descend");
            let (some, edges) = self.extend(lists, number, at)?;
            if some > 0 {
                (number, at) = (number + some, at + edges);
                continue;
            }
            self.open_record(vertex.into())?;
            let end = at + length as usize;
            self.push_shared(lists, at..end)?;
            (number, at) = (number + 1, end);
        }
        Ok(())
    }

    /// Appends lists that surely fit. Returns the numbers of lists and of their neighbours.
    fn extend(&mut self, lists: &Arc<SharedLists>, number: usize, at: usize) -> Result<(usize, usize)> {
        if self.page.large.is_some() {
            return Ok((0, 0));
        }
        let next = self.next_vertex() as u32;
        let encoder = self.encoder.as_mut().expect("pages are packed");
        let (some, edges) = encoder.extend(lists, number, at, next);
        self.page.edge_count += edges as u32;
        self.add_slots(next)?;
        Ok((some, edges))
    }

    /// Adds empty lists that surely fit to a packed page: at most for the vertices from `next` to `vertex`. Returns
    /// their number.
    pub(super) fn extend_empty(&mut self, next: u64, vertex: u64) -> Result<u64> {
        match &mut self.encoder {
            Some(encoder) if self.page.large.is_none() => {
                let some = encoder.extend_empty(next as u32, vertex + 1 - next);
                self.add_slots(next as u32)?;
                Ok(some)
            }
            _ => Ok(0),
        }
    }

    /// Adds the encoder's new slots to the page, the first of them for vertex `next`, and closes the lists of all but
    /// the last one.
    fn add_slots(&mut self, next: u32) -> Result<()> {
        let degrees = self.encoder.as_ref().map_or(&[][..], |encoder| encoder.degrees());
        let (before, slots) = (self.page.slots.len(), degrees.len());
        if before == slots {
            return Ok(());
        }
        if before == 0 {
            self.page.start_vertex = next;
        }
        // Only the number of slots and the first neighbour of the open list are used of packed pages.
        self.page.slots.resize(slots, self.page.edge_count - degrees[slots - 1]);
        self.page.edges_max = self.edges_max(slots);
        let closed = &degrees[before.saturating_sub(1)..slots - 1];
        let largest = match &mut self.output {
            Some(output) => output.degrees.add_all(closed)?,
            None => closed.iter().copied().max().unwrap_or(0),
        };
        self.degree_max = self.degree_max.max(largest);
        Ok(())
    }

    /// Appends neighbours of shared lists to the open record.
    fn push_shared(&mut self, lists: &Arc<SharedLists>, mut range: Range<usize>) -> Result<()> {
        loop {
            let encoder = self.encoder.as_mut().expect("pages are packed");
            let some = encoder.push_shared(lists, range.clone());
            self.page.edge_count += some as u32;
            range.start += some;
            if range.is_empty() {
                return Ok(());
            }
            let keep = self.kept();
            let moved = self.encoder.as_mut().expect("pages are packed").remove_shared(keep);
            self.next_page(keep)?;
            moved.into_iter().try_for_each(|(lists, range)| self.push_shared(&lists, range))?;
        }
    }

    /// Appends a neighbour to the open record.
    pub(super) fn push_packed(&mut self, dest: u32, weight: u64) -> Result<()> {
        while !self.encoder.as_mut().is_some_and(|encoder| encoder.push(dest)) {
            self.make_room_packed()?;
        }
        self.put_weight(self.page.edge_count as usize, weight);
        self.page.edge_count += 1;
        Ok(())
    }

    /// Makes room for the open record, which no longer fits in this page: moves it to a new page, or continues it in a
    /// further large page, after a multiple of 1,024 neighbours in this one.
    pub(super) fn make_room_packed(&mut self) -> Result<()> {
        let keep = self.kept();
        let weights = self.take_weights(keep);
        let moved = self.encoder.as_mut().expect("pages are packed").take_from(keep);
        self.next_page(keep)?;
        for (number, dest) in moved.into_iter().enumerate() {
            self.push_packed(dest, weights.get(number).copied().unwrap_or(0))?;
        }
        Ok(())
    }

    /// The number of neighbours that stay in the page if the open record no longer fits.
    fn kept(&self) -> u32 {
        match self.page.slots[..] {
            [_] => self.page.edge_count / UNIT as u32 * UNIT as u32,
            [.., start] => start,
            [] => unreachable!("a record is open"),
        }
    }

    /// Ends the page after `keep` neighbours, from which the encoder has removed the others, and opens the record in a
    /// new one.
    fn next_page(&mut self, keep: u32) -> Result<()> {
        let (vertex, is_large) = (self.open_vertex(), self.page.slots.len() == 1);
        assert!(keep > 0 || !is_large, "a unit fits in any page");
        let before = self.encoder.as_ref().and_then(|encoder| encoder.last()).filter(|_| is_large);
        let offset = self.page.large.unwrap_or(0) + u64::from(keep);
        self.page.edge_count = keep;
        match is_large {
            true => _ = self.page.large.get_or_insert(0),
            false => _ = self.page.slots.pop(),
        }
        self.emit(is_large)?;
        self.page.large = is_large.then_some(offset);
        self.page.start_vertex = vertex;
        self.page.slots.push(0);
        let opened = self.encoder.as_mut().is_some_and(|encoder| encoder.open_list(vertex, before));
        assert!(opened, "an empty page has room for a slot");
        Ok(())
    }

    /// Removes the weights of the page's neighbours from `edge` on.
    fn take_weights(&mut self, edge: u32) -> Vec<u64> {
        if self.buffers.weights.is_empty() {
            return Vec::new();
        }
        let bytes = self.weight_bytes();
        let at = |edge: u32| size_of::<WeightsHeader>() + bytes * edge as usize;
        let weights = &mut self.buffers.weights[at(edge)..at(self.page.edge_count)];
        let taken = match bytes {
            8 => bytemuck::cast_slice(weights).to_vec(),
            _ => bytemuck::cast_slice::<_, u32>(weights).iter().map(|&weight| weight.into()).collect(),
        };
        weights.fill(0);
        taken
    }

    /// Begins an empty page: values are relative to the first destination of the open shard.
    pub(super) fn clear_encoder(&mut self) {
        let origin = self.shards.last().map_or(self.first_dest, |shard| shard.end);
        if let Some(encoder) = &mut self.encoder {
            // The end of the last shard may be 2^32, behind which there are no neighbours.
            encoder.clear(origin as u32);
        }
    }
}
