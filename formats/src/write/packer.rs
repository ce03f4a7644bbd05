//! Packs lists into pages, one edge at a time: no list has to fit in memory.

mod packed;

use super::degrees::{DegreesFile, whole_degree};
use super::layout::Layout;
use super::sink::{PageBuffers, Sink};
use crate::directory::{self, DirectoryEntry, version_of};
use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::manifest::{ShardManifest, TopologyManifest};
use crate::packed::{PackedParameters, PageEncoder};
use crate::page::{Capacity, HEADER_BYTES, PageHeader, PageWeights, WeightsHeader};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Up to this many empty lists are added singly.
const FEW_SLOTS: u64 = 8;

/// Writes a topology from edges in ascending order of source, within each shard if lists are grouped.
///
/// A writer created by [`layout_only`](Self::layout_only) writes nothing and only computes the positions of records.
#[derive(Debug)]
pub struct TopologyWriter {
    layout: Layout,
    capacity: Capacity,
    tag: u32,
    output: Option<Output>,
    /// The first destination of the first shard: 0, except in parts.
    first_dest: u64,
    entries: Vec<DirectoryEntry>,
    /// The complete shards, and the first page of the next one.
    shards: Vec<ShardManifest>,
    shard_first: usize,
    page: OpenPage,
    /// The neighbours of the page, if pages are packed.
    encoder: Option<PageEncoder>,
    buffers: PageBuffers,
    edges: u64,
    degree_max: u32,
}

/// The files of the results that are written last: the directory, and the tables of chunks and of the places of packed
/// weights, if there are any.
pub(super) type Tables = [Option<(PathBuf, File)>; 3];

/// The files of the results.
#[derive(Debug)]
struct Output {
    tables: Tables,
    sink: Sink,
    degrees: DegreesFile,
}

/// The page being packed. Its last record is open: it may get more neighbours.
#[derive(Debug, Default)]
struct OpenPage {
    start_vertex: u32,
    /// The first neighbour of each record, the open one last; empty before the first vertex.
    slots: Vec<u32>,
    edge_count: u32,
    /// Maximum number of neighbours with the current number of slots.
    edges_max: u32,
    /// If the open record is a large list, the number of its neighbours in earlier pages.
    large: Option<u64>,
}

impl TopologyWriter {
    pub(super) fn new(
        layout: Layout,
        tag: u32,
        tables: Tables,
        sink: Sink,
        degrees: DegreesFile,
        first_dest: u64,
    ) -> Self {
        let mut buffers = sink.empty().expect("a new sink has empty buffers");
        let encoder = buffers.encoder.take();
        let output = Some(Output { tables, sink, degrees });
        let mut writer = Self { output, first_dest, ..Self::with_buffers(layout, tag, buffers, encoder) };
        writer.clear_encoder();
        writer
    }

    /// A writer that computes the layout and writes nothing.
    pub fn layout_only(layout: Layout) -> Self {
        let empty = || crate::buffer::AlignedBuffer::new(0);
        let parameters = PackedParameters::of(layout.encoding);
        let encoder = parameters.map(|parameters| PageEncoder::new(layout.page_bytes, parameters));
        Self::with_buffers(layout, 0, PageBuffers { page: empty(), weights: empty(), encoder: None }, encoder)
    }

    fn with_buffers(layout: Layout, tag: u32, buffers: PageBuffers, encoder: Option<PageEncoder>) -> Self {
        let capacity = layout.capacity();
        Self {
            capacity,
            tag,
            output: None,
            first_dest: 0,
            entries: Vec::new(),
            shards: Vec::new(),
            shard_first: 0,
            page: OpenPage::default(),
            encoder,
            layout,
            buffers,
            edges: 0,
            degree_max: 0,
        }
    }

    /// Main memory of a writer of this layout, in bytes, without its page directory (32 bytes a page).
    pub fn memory_bytes(layout: &Layout) -> u64 {
        let weights = layout.weights.map_or(0, |of| layout.capacity().weight_page_bytes(of));
        let encoder = PackedParameters::of(layout.encoding).map_or(0, PageEncoder::memory_bytes);
        super::sink::BUFFERS as u64 * (u64::from(layout.page_bytes) + u64::from(weights) + encoder)
    }

    /// Main memory of a writer of this layout beyond [`memory_bytes`](Self::memory_bytes), in bytes, for the
    /// [`SharedLists`](crate::packed::SharedLists) of pages that are not written yet.
    pub fn shared_bytes(layout: &Layout) -> u64 {
        // With a list for each slot, a word of an image takes 9 bytes: half of a neighbour's 6 and a list's 12. The
        // encoder's 5 are counted already.
        let words = PackedParameters::of(layout.encoding).map_or(0, |parameters| parameters.image_words());
        super::sink::BUFFERS as u64 * 4 * words
    }

    /// Appends an edge, with the bits of its weight. Sources must not descend within a shard; destinations of a source
    /// should ascend.
    ///
    /// # Errors
    /// [`Error::Limit`] if there are too many pages, or neighbours of a vertex; [`Error::Io`].
    #[inline]
    pub fn push(&mut self, source: u32, dest: u32, weight: u64) -> Result<()> {
        if self.page.slots.is_empty() || source != self.open_vertex() {
            self.open_record(u64::from(source))?;
        }
        if self.encoder.is_some() {
            return self.push_packed(dest, weight);
        }
        if self.page.edge_count == self.page.edges_max {
            self.make_room()?;
        }
        if self.output.is_some() {
            self.put(self.page.edge_count as usize, dest, weight);
        }
        self.page.edge_count += 1;
        Ok(())
    }

    /// Appends neighbours of a vertex, in ascending order, and their weights if the graph has any.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push).
    pub fn push_list(&mut self, source: u32, dests: &[u32], weights: PageWeights<'_>) -> Result<()> {
        let plain = matches!(self.layout.encoding, Encoding::VertexId) && self.output.is_some();
        if !weights.is_none() || !plain && self.encoder.is_none() {
            return dests.iter().enumerate().try_for_each(|(at, &dest)| self.push(source, dest, weights.get(at)));
        }
        if self.page.slots.is_empty() || source != self.open_vertex() {
            self.open_record(source.into())?;
        }
        let mut rest = dests;
        while !rest.is_empty() {
            let some = match &mut self.encoder {
                Some(encoder) => encoder.push_all(rest),
                None => self.put_all(rest),
            };
            self.page.edge_count += some as u32;
            rest = &rest[some..];
            match self.encoder {
                _ if rest.is_empty() => {}
                Some(_) => self.make_room_packed()?,
                None => self.make_room()?,
            }
        }
        Ok(())
    }

    /// Writes neighbours into the page, as many as it has room for, as vertex ids. Returns their number.
    fn put_all(&mut self, dests: &[u32]) -> usize {
        let some = dests.len().min((self.page.edges_max - self.page.edge_count) as usize);
        let at = HEADER_BYTES + 4 * self.page.edge_count as usize;
        let places = self.buffers.page[at..at + 4 * some].as_chunks_mut::<4>().0;
        places.iter_mut().zip(dests).for_each(|(place, dest)| *place = dest.to_le_bytes());
        some
    }

    /// Ends a shard in a graph with `vertices` vertices, after all edges with destinations from the end of the previous
    /// shard to `end`. The next shard begins again with the first source. The last shard must be ended, too.
    ///
    /// # Errors
    /// [`Error::Limit`], [`Error::Io`].
    pub fn end_shard(&mut self, end: u64, vertices: u64) -> Result<()> {
        self.end_lists(vertices)?;
        let pages = (self.entries.len() - self.shard_first) as u64;
        self.shards.push(ShardManifest { end, pages });
        self.shard_first = self.entries.len();
        self.clear_encoder();
        Ok(())
    }

    /// Closes the last list, and adds empty ones for the remaining vertices.
    fn end_lists(&mut self, vertices: u64) -> Result<()> {
        if vertices > 0 {
            self.open_record(vertices - 1)?;
            self.close_record()?;
            if !self.page.slots.is_empty() {
                self.emit(false)?;
            }
        }
        self.output.as_mut().map_or(Ok(()), |output| output.degrees.end_round())
    }

    /// Ends the topology of a graph with `vertices` vertices. Vertices after the last source get empty lists.
    ///
    /// # Errors
    /// [`Error::Limit`], [`Error::Io`].
    pub fn finish(mut self, vertices: u64) -> Result<(TopologyManifest, Vec<DirectoryEntry>)> {
        if self.shards.is_empty() {
            self.end_lists(vertices)?;
        }
        let grouped = !self.shards.is_empty();
        let mut summary = TopologyManifest {
            pages: self.entries.len() as u64,
            large_pages: self.entries.iter().filter(|entry| entry.run > 0).count() as u64,
            degree_max: self.degree_max,
            directory_crc: 0,
            chunks_crc: None,
            weights_crc: None,
            degrees_crc: 0,
            shards: grouped.then_some(self.shards),
        };
        if let Some(output) = self.output.take() {
            summary.degrees_crc = output.degrees.finish()?;
            let written = output.sink.finish()?;
            for (entry, crcs) in self.entries.iter_mut().zip(written.checksums) {
                (entry.crc, entry.weights_crc) = crcs;
            }
            let [directory, chunks_file, places_file] = output.tables;
            if let Some((chunks, file)) = written.chunks.zip(chunks_file) {
                let (bytes, crc) = chunks.encode(self.entries.len() as u64, self.tag, self.layout.page_bytes);
                write_whole(file, &bytes)?;
                summary.chunks_crc = Some(crc);
            }
            if let Some((places, file)) = written.weight_places.zip(places_file) {
                let (bytes, crc) = places.encode(self.tag);
                write_whole(file, &bytes)?;
                summary.weights_crc = Some(crc);
            }
            let version = version_of(self.layout.encoding.is_packed(), grouped);
            let (bytes, crc) = directory::encode(&self.entries, self.tag, self.layout.page_bytes, version);
            write_whole(directory.expect("every topology has a directory"), &bytes)?;
            summary.directory_crc = crc;
        }
        Ok((summary, self.entries))
    }

    /// The vertex of the open record, which must exist.
    fn open_vertex(&self) -> u32 {
        self.page.start_vertex + (self.page.slots.len() as u32 - 1)
    }

    /// Closes the open record and opens the record of `vertex`, with empty records for the vertices in between.
    fn open_record(&mut self, vertex: u64) -> Result<()> {
        let mut next = self.next_vertex();
        assert!(next <= vertex + 1, "sources must not descend");
        while next <= vertex {
            if vertex - next > FEW_SLOTS {
                let some = self.extend_empty(next, vertex)?;
                if some > 0 {
                    next += some;
                    continue;
                }
            }
            self.close_record()?;
            if !self.has_room_for_slot(next as u32) {
                self.emit(false)?;
                assert!(self.has_room_for_slot(next as u32), "an empty page has room for a slot");
            }
            if self.page.slots.is_empty() {
                self.page.start_vertex = next as u32;
            }
            self.page.slots.push(self.page.edge_count);
            self.page.edges_max = self.edges_max(self.page.slots.len());
            next += 1;
        }
        Ok(())
    }

    /// Whether a further slot fits in the page; if pages are packed, it is added to the encoder's.
    fn has_room_for_slot(&mut self, vertex: u32) -> bool {
        match &mut self.encoder {
            Some(encoder) => encoder.open_list(vertex, None),
            None => self.capacity.fits(self.page.slots.len() as u64 + 1, self.page.edge_count.into()),
        }
    }

    /// The vertex after the last one with a record.
    fn next_vertex(&self) -> u64 {
        match self.entries[self.shard_first..].last() {
            _ if !self.page.slots.is_empty() => u64::from(self.open_vertex()) + 1,
            Some(last) => u64::from(last.start_vertex) + u64::from(last.slot_count),
            None => 0,
        }
    }

    fn edges_max(&self, slots: usize) -> u32 {
        if self.encoder.is_some() {
            // Depends on the neighbours.
            return u32::MAX;
        }
        let slot_bytes = 4 * (slots as u32 + 1);
        (self.capacity.page_bytes - HEADER_BYTES as u32 - slot_bytes) / self.capacity.width_bytes
    }

    /// Closes the open record, if there is one: writes its degree, and the last page of a large list.
    fn close_record(&mut self) -> Result<()> {
        let Some(&start) = self.page.slots.last() else { return Ok(()) };
        let degree = self.page.large.unwrap_or(0) + u64::from(self.page.edge_count - start);
        let whole = match &mut self.output {
            Some(output) => output.degrees.add(degree)?,
            None => whole_degree(degree)?,
        };
        self.degree_max = self.degree_max.max(whole);
        if self.page.large.is_some() {
            self.emit(true)?;
            let vertex = self.entries[self.entries.len() - 1].start_vertex;
            let run =
                self.entries[self.shard_first..].iter_mut().rev().take_while(|entry| entry.start_vertex == vertex);
            run.zip(1..).for_each(|(entry, left)| entry.run = left);
        }
        Ok(())
    }

    /// Makes room for the open record, which no longer fits in this page: moves it to a new page, or continues it in a
    /// further large page.
    fn make_room(&mut self) -> Result<()> {
        let start = *self.page.slots.last().expect("a record is open");
        if self.page.slots.len() == 1 {
            let offset = self.page.large.unwrap_or(0) + u64::from(self.page.edge_count);
            let vertex = self.page.start_vertex;
            self.page.large.get_or_insert(0);
            self.emit(true)?;
            self.page.large = Some(offset);
            self.page.start_vertex = vertex;
        } else {
            let (vertex, moved) = (self.open_vertex(), self.page.edge_count - start);
            let (ids, weights) = self.open_record_bytes(start, moved);
            self.page.slots.pop();
            self.page.edge_count = start;
            self.emit(false)?;
            self.page.start_vertex = vertex;
            self.page.edge_count = moved;
            if self.output.is_some() {
                self.buffers.page[HEADER_BYTES..HEADER_BYTES + ids.len()].copy_from_slice(&ids);
                let at = size_of::<WeightsHeader>();
                if !self.buffers.weights.is_empty() {
                    self.buffers.weights[at..at + weights.len()].copy_from_slice(&weights);
                }
            }
        }
        self.page.slots.push(0);
        self.page.edges_max = self.edges_max(1);
        // The moved record may fill its new page exactly.
        if self.page.edge_count == self.page.edges_max { self.make_room() } else { Ok(()) }
    }

    /// Copies of the neighbours and weights of the open record.
    fn open_record_bytes(&mut self, start: u32, count: u32) -> (Vec<u8>, Vec<u8>) {
        if self.output.is_none() {
            return (Vec::new(), Vec::new());
        }
        let width = self.capacity.width_bytes as usize;
        let (from, to) = (start as usize, (start + count) as usize);
        let ids = &mut self.buffers.page[HEADER_BYTES + from * width..HEADER_BYTES + to * width];
        let moved = ids.to_vec();
        ids.fill(0);
        if self.buffers.weights.is_empty() {
            return (moved, Vec::new());
        }
        let at = size_of::<WeightsHeader>();
        let bytes = self.weight_bytes();
        let weights = &mut self.buffers.weights[at + from * bytes..at + to * bytes];
        let moved_weights = weights.to_vec();
        weights.fill(0);
        (moved, moved_weights)
    }

    /// Writes one neighbour into the page.
    #[inline]
    fn put(&mut self, edge: usize, dest: u32, weight: u64) {
        let at = HEADER_BYTES + 4 * edge;
        self.buffers.page[at..at + 4].copy_from_slice(&dest.to_le_bytes());
        self.put_weight(edge, weight);
    }

    /// Writes the weight of a neighbour, if there are weights.
    #[inline]
    fn put_weight(&mut self, edge: usize, weight: u64) {
        if !self.buffers.weights.is_empty() {
            let bytes = self.weight_bytes();
            let at = size_of::<WeightsHeader>() + edge * bytes;
            self.buffers.weights[at..at + bytes].copy_from_slice(&weight.to_le_bytes()[..bytes]);
        }
    }

    /// Bytes of a weight, 4 without weights.
    fn weight_bytes(&self) -> usize {
        self.layout.weights.map_or(4, WeightType::bytes)
    }

    /// Ends the page and begins an empty one.
    fn emit(&mut self, large: bool) -> Result<()> {
        let page = self.entries.len() as u64;
        let pages_max = self.layout.encoding.pages_max();
        if page >= pages_max {
            return Err(Error::limit("pages", page + 1, pages_max, "choose larger pages (--page-size)"));
        }
        let header = PageHeader {
            page: page as u32,
            tag: self.tag,
            start_vertex: self.page.start_vertex,
            slot_count: self.page.slots.len() as u32,
            edge_count: self.page.edge_count,
            large: u32::from(large),
            list_offset: self.page.large.unwrap_or(0),
        };
        self.entries.push(DirectoryEntry {
            start_vertex: header.start_vertex,
            slot_count: header.slot_count,
            edge_count: header.edge_count,
            run: u32::from(large),
            first_edge: self.edges,
            ..DirectoryEntry::default()
        });
        self.edges += u64::from(header.edge_count);
        self.write_out(&header)?;
        self.page = OpenPage { slots: std::mem::take(&mut self.page.slots), ..OpenPage::default() };
        self.page.slots.clear();
        self.clear_encoder();
        Ok(())
    }

    /// Completes the page's bytes and exchanges them for an empty buffer.
    fn write_out(&mut self, header: &PageHeader) -> Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        if self.encoder.is_none() {
            let page = &mut self.buffers.page;
            page[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(header));
            let slots = self.page.slots.iter().chain([&self.page.edge_count]);
            for (place, slot) in page.rchunks_exact_mut(4).zip(slots) {
                place.copy_from_slice(&slot.to_le_bytes());
            }
        }
        if !self.buffers.weights.is_empty() {
            let head = WeightsHeader { page: header.page, tag: header.tag, edge_count: header.edge_count, reserved: 0 };
            self.buffers.weights[..size_of::<WeightsHeader>()].copy_from_slice(bytemuck::bytes_of(&head));
        }
        let Some(mut empty) = output.sink.empty() else {
            let output = self.output.take().expect("checked above");
            return Err(match output.sink.finish() {
                Err(error) => error,
                Ok(_) => unreachable!("a sink stops early only when it fails"),
            });
        };
        let encoder = std::mem::replace(&mut self.encoder, empty.encoder.take());
        let full = PageBuffers { encoder, ..std::mem::replace(&mut self.buffers, empty) };
        output.sink.write(*header, full);
        Ok(())
    }
}

fn write_whole((path, mut file): (PathBuf, File), bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(Error::io(&path, "write"))?;
    file.sync_all().map_err(Error::io(&path, "sync"))
}
