//! Packed pages: the encoder knows when a page is full; neighbours that no longer fit are pushed again.

use super::TopologyWriter;
use crate::error::Result;
use crate::packed::UNIT;
use crate::page::WeightsHeader;

impl TopologyWriter {
    /// Appends a neighbour to the open record.
    pub(super) fn push_packed(&mut self, dest: u32, weight: u32) -> Result<()> {
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
        let (vertex, start) = (self.open_vertex(), *self.page.slots.last().expect("a record is open"));
        let is_large = self.page.slots.len() == 1;
        let keep = if is_large { self.page.edge_count / UNIT as u32 * UNIT as u32 } else { start };
        assert!(keep > 0 || !is_large, "a unit fits in any page");
        let weights = self.take_weights(keep);
        let encoder = self.encoder.as_mut().expect("pages are packed");
        let moved = encoder.take_from(keep);
        let before = encoder.last().filter(|_| is_large);
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
        for (number, dest) in moved.into_iter().enumerate() {
            self.push_packed(dest, weights.get(number).copied().unwrap_or(0))?;
        }
        Ok(())
    }

    /// Removes the weights of the page's neighbours from `edge` on.
    fn take_weights(&mut self, edge: u32) -> Vec<u32> {
        if self.buffers.weights.is_empty() {
            return Vec::new();
        }
        let at = |edge: u32| size_of::<WeightsHeader>() + 4 * edge as usize;
        let weights = &mut self.buffers.weights[at(edge)..at(self.page.edge_count)];
        let taken = bytemuck::cast_slice(weights).to_vec();
        weights.fill(0);
        taken
    }

    /// Begins an empty page: values are relative to the first destination of the open shard.
    pub(super) fn clear_encoder(&mut self) {
        let origin = self.shards.last().map_or(0, |shard| shard.end);
        if let Some(encoder) = &mut self.encoder {
            // The end of the last shard may be 2^32, behind which there are no neighbours.
            encoder.clear(origin as u32);
        }
    }
}
