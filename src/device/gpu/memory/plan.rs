//! The plan of device memory before a run: attributes first, the rest for the page arena.

use super::batches::first_hubs;
pub use super::batches::{batch_bytes, hub_bytes};
use super::images;
use super::request::Request;
use super::sizes::{bins_bytes, bit_bytes, device_bytes, level_bytes};
use crate::device::gpu::adapter::open::Caps;
use crate::device::gpu::compose::layout::{self, HUB_EDGES, HubEntry, MIDDLE_EDGES, edges_per_unit};
use crate::device::settings::{Distribution, GpuSettings, PageTransfer};
use crate::error::{Error, Result};
use crate::model::attributes::{Attribute, Role};
use crate::model::border::Border;
use serde::Serialize;
use std::ops::Range;
use topostream_formats::buffer::ALIGNMENT;
use topostream_formats::page::Capacity;
use topostream_formats::{Store, Topology};

/// Maximum number of workgroups of kernels over vertices, and so of partial sums.
pub const TOTALS_MAX: u32 = 4096;
/// Bytes of a partial sum: four numbers.
pub const TOTAL_BYTES: u64 = 16;
/// Bytes of streaming slots, for pages that are copied and not kept.
const STREAM_BYTES: u64 = 256 << 20;
/// Range of a queue's capacity in vertices; by default an eighth of the graph's.
const QUEUE_VERTICES: Range<u64> = 1 << 12..1 << 20;
/// Range of a queue's capacity in edges; by default an eighth of the graph's.
const QUEUE_EDGES: Range<u64> = 1 << 16..1 << 28;
/// Bytes of a [`Course`](layout::Course) with its log, at most.
const CONTROL_BYTES: u64 = 1 << 13;
/// Minimum number of slots if pages must be copied.
const SLOTS_MIN: u64 = 4;
/// The share of an adapter's memory that a run takes by default.
const MEMORY_SHARE: f64 = 0.9;
/// The bytes that a run takes if the size of the memory is unknown.
const MEMORY_UNKNOWN: u64 = 1 << 30;

/// Device memory of a run, by part, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DevicePlan {
    /// Attributes in device memory.
    pub attributes_bytes: u64,
    /// For each attribute, whether it is in main memory and read with its pages.
    pub host_attributes: Vec<bool>,
    /// For each attribute, whether the values of other devices' vertices are in main memory.
    pub host_seen: Vec<bool>,
    /// Whether kernels read out-degrees in main memory.
    pub host_degrees: bool,
    /// The table that finds values of bordering vertices, where the values of no others are held; 0 otherwise.
    pub border_bytes: u64,
    /// Tables of the algorithm.
    pub tables_bytes: u64,
    /// The frontiers of a traversal.
    pub frontier_bytes: u64,
    /// Levels: the supersteps in which the device's own vertices were first active; 0 if unused, or if they are kept in
    /// main memory.
    pub levels_bytes: u64,
    /// Queues and tables for supersteps that the device runs without the host; 0 if it does not.
    pub loop_bytes: u64,
    /// Lists by their length, for supersteps over all in-lists; 0 if memory is short.
    pub bins_bytes: u64,
    /// Values of vertices that the vertex phase sets, and values that arrive from other devices, while lists are still
    /// read; 0 if unused, or if memory is short.
    pub next_bytes: u64,
    /// Lists of a set's vertices and of vertices that edges touch, and a mark for each vertex; 0 if unused, or if
    /// memory is short.
    pub set_bytes: u64,
    /// Degrees and page directories.
    pub graph_bytes: u64,
    /// Of them, out-degrees; 0 if no kernel reads them, or if kernels read them in main memory.
    pub degrees_bytes: u64,
    /// Of them, the lists of vertices whose values cross between devices.
    pub lists_bytes: u64,
    /// Batches, unit rows, queues, sums.
    pub working_bytes: u64,
    /// Scratch memory of exchange; 0 for a single device.
    pub exchange_bytes: u64,
    /// Slots of the page arena.
    pub slots: u32,
    /// The streaming slots among them.
    pub stream_slots: u32,
    /// Bytes of a frame.
    pub frame_bytes: u64,
    /// Bytes of a slot: as many as a frame has, or more if slots hold the plain images of packed pages.
    pub slot_bytes: u64,
    /// Plain images into which a launch decodes its packed pages; 0 if slots hold plain pages or images.
    pub images: u32,
    /// Bytes of an image with its page of weights.
    pub image_bytes: u64,
    /// Attributes are split into chunks of 2^this vertices, to stay within the binding limit.
    pub chunk_vertices_log2: u32,
    /// Words of a page's unit row; 0 without segments.
    pub row_words: u64,
    /// Initial entries of the hub queue.
    pub hub_entries: u32,
    /// Whether kernels may read pages in main memory.
    pub in_place: bool,
    /// Whether slots have room for weights.
    pub weights: bool,
}

/// Base-2 logarithm of the number of vertices whose values are in a buffer. Values have at most 8 bytes.
pub fn chunk_vertices_log2(caps: &Caps) -> u32 {
    (caps.binding_bytes_max / 8).ilog2().min(32)
}

impl DevicePlan {
    /// Plans the memory that the settings allow. Packed pages are kept as plain images if all
    /// images fit; otherwise slots hold packed pages, and each launch decodes its own.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] with all parts if they do not fit; [`Error::Parameter`] for settings that the adapter
    /// does not support.
    pub fn new(request: &Request<'_>, settings: &GpuSettings, caps: &Caps) -> Result<Self> {
        let plain = Self::with(request, settings, caps, false);
        let stays = plain.as_ref().is_ok_and(|plan| plan.stream_slots == 0);
        if stays || !request.is_packed() {
            return plain;
        }
        let needed = |error: &Error| match error {
            Error::DeviceMemory { needed_bytes, .. } => *needed_bytes,
            _ => u64::MAX,
        };
        match (plain, Self::with(request, settings, caps, true)) {
            // Images of few edges may be smaller than pages.
            (Ok(plain), Err(_)) => Ok(plain),
            (Err(plain), Err(packed)) if needed(&plain) < needed(&packed) => Err(plain),
            (_, packed) => packed,
        }
    }

    /// Plans with plain pages in slots, or with packed ones.
    fn with(request: &Request<'_>, settings: &GpuSettings, caps: &Caps, packed: bool) -> Result<Self> {
        let mut plan = Self::fixed(request, settings, caps, packed)?;
        let budget = budget_bytes(settings, caps);
        let least = if plan.in_place { 0 } else { SLOTS_MIN };
        let mut needed = plan.fixed_bytes() + least * plan.per_slot();
        // By what each step costs, least first. Without room for pages, the device needs the host for every superstep.
        // A superstep reads each degree once, in order; a traversal reads degrees of active vertices only. It reads and
        // writes attributes, and reads them again with their pages. Other devices' values are read at random.
        let steps = [Self::leave_to_host, Self::move_degrees_out, Self::move_attributes_out, Self::move_seen_out];
        for move_out in steps {
            if needed > budget {
                move_out(&mut plan, request, caps);
                needed = plan.fixed_bytes() + least * plan.per_slot();
            }
        }
        if needed > budget {
            return Err(plan.too_small(request, needed, budget));
        }
        let pages = request.pages();
        if packed {
            let spare = budget - needed;
            plan.images = images::images(plan.image_bytes, pages, spare / 4, settings, caps);
        }
        let room = (budget - plan.fixed_bytes()) / plan.per_slot();
        let asked = settings.cache_bytes.map_or(u64::MAX, |bytes| bytes / plan.slot_bytes);
        // If all pages fit, none is streamed.
        let stream = match plan.in_place || pages <= room.min(asked) {
            true => 0,
            false => (STREAM_BYTES / plan.slot_bytes).min(room / 2).min(pages).max(SLOTS_MIN),
        };
        let cached = (room - stream.min(room)).min(pages).min(asked);
        plan.slots = u32::try_from((cached + stream).max(least)).unwrap_or(u32::MAX);
        plan.stream_slots = stream as u32;
        plan.working_bytes += u64::from(plan.slots) * 4 * plan.row_words;
        let spare = (budget - plan.fixed_bytes()).saturating_sub(u64::from(plan.slots) * plan.slot_bytes);
        let bins = bins_bytes(request.store);
        if request.pulls && plan.loop_bytes > 0 && cached >= pages && bins <= spare.min(caps.binding_bytes_max) {
            plan.bins_bytes = bins;
        }
        if plan.bins_bytes > 0 && request.border.is_none() && request.next_bytes <= spare - plan.bins_bytes {
            plan.next_bytes = request.next_bytes;
        }
        let (sets, spare) = (set_bytes(request), spare - plan.bins_bytes - plan.next_bytes);
        // Sums of the terms of 2^32 vertices do not fit in the counts.
        let fits = sets <= spare.min(caps.binding_bytes_max) && request.store.vertices() <= u32::MAX.into();
        if request.lists_sets && plan.loop_bytes > 0 && cached >= pages && fits {
            plan.set_bytes = sets;
        }
        Ok(plan)
    }

    /// Plans everything except the arena; `in_slots`: packed pages.
    fn fixed(request: &Request<'_>, settings: &GpuSettings, caps: &Caps, in_slots: bool) -> Result<Self> {
        let (vertices, image_bytes) = (request.store.vertices(), request.image_bytes());
        if image_bytes.max(request.frame_bytes) > caps.binding_bytes_max {
            let (most, page) = (caps.binding_bytes_max, image_bytes.max(request.frame_bytes));
            let message = format!("the device binds at most {most} bytes at once, and a page takes {page}");
            return Err(Error::Parameter(message));
        }
        request.check_tables(caps)?;
        let chunk_vertices_log2 = chunk_vertices_log2(caps);
        let auto = settings.distribution == Distribution::Auto && settings.fast_paths.device_loop;
        let segments = matches!(settings.distribution, Distribution::Auto | Distribution::Segments);
        let edges_max = Capacity::new(request.page_bytes(), request.store.manifest().encoding).list_max();
        let row_words = if segments { row_words(edges_max, edges_per_unit(request.weights)) } else { 0 };
        let packed = request.is_packed();
        // Plain images of packed pages are not in main memory.
        let images = packed && !in_slots;
        // Over the bus each word should be read once.
        let once = !request.counts_lists || settings.transfer == PageTransfer::InPlace;
        let in_place = request.host_import && segments && !images && once && settings.transfer != PageTransfer::Copy;
        if settings.transfer == PageTransfer::InPlace && !in_place {
            let why = match (images, segments) {
                (true, _) => "the store's pages are packed",
                (false, true) => "the device cannot read the page buffer",
                (false, false) => "only segments are read in place",
            };
            return Err(Error::Parameter(format!("in-place transfer: {why}; use copies")));
        }
        let directories = request.store.topologies().map(|topology| 16 * u64::from(topology.page_count())).sum::<u64>();
        let batch = batch_bytes(settings.batch_pages) + images::table_bytes(request, settings, caps, in_slots);
        let rows = 4 * row_words * u64::from(request.frames);
        let hub_entries = first_hubs(request.store, caps);
        let hubs = hub_bytes(hub_entries);
        let attributes = request.attributes.iter();
        let (held, holding) = (request.part.held(Role::Own), request.holding());
        let degrees_bytes = if request.reads_degrees { 4 * (held.end - held.start) } else { 0 };
        Ok(Self {
            attributes_bytes: attributes.map(|one| holding.held_bytes(one) + holding.copied_bytes(one)).sum(),
            host_attributes: vec![false; request.attributes.len()],
            host_seen: vec![false; request.attributes.len()],
            host_degrees: false,
            border_bytes: request.border.map_or(0, |_| Border::table_bytes(vertices)),
            tables_bytes: request.tables.iter().map(|table| 4 * table.contents.words()).sum(),
            frontier_bytes: if request.traversal { 2 * bit_bytes(vertices) } else { 0 },
            levels_bytes: if request.keeps_activations { level_bytes(request.part) } else { 0 },
            // Its kernels read plain pages in slots.
            loop_bytes: if auto && !in_slots { loop_bytes(request, caps) } else { 0 },
            bins_bytes: 0,
            next_bytes: 0,
            set_bytes: 0,
            graph_bytes: degrees_bytes + directories + request.lists_bytes,
            degrees_bytes,
            lists_bytes: request.lists_bytes,
            working_bytes: u64::from(settings.launches) * batch + rows + hubs + 2 * TOTAL_BYTES * u64::from(TOTALS_MAX),
            exchange_bytes: request.exchange_bytes,
            slots: 0,
            stream_slots: 0,
            frame_bytes: request.frame_bytes,
            slot_bytes: if in_slots { request.frame_bytes } else { image_bytes },
            images: in_slots.into(),
            image_bytes,
            chunk_vertices_log2,
            row_words,
            hub_entries,
            in_place,
            weights: request.weights,
        })
    }

    /// Whether pages stay in the arena; otherwise it only streams them.
    pub fn keeps_pages(&self) -> bool {
        self.slots > self.stream_slots
    }

    /// Bytes of a slot with its unit row.
    fn per_slot(&self) -> u64 {
        self.slot_bytes + 4 * self.row_words
    }

    /// Leaves levels, and the choice of supersteps, to the host.
    fn leave_to_host(&mut self, _request: &Request<'_>, _caps: &Caps) {
        (self.levels_bytes, self.loop_bytes) = (0, 0);
    }

    /// Leaves degrees in main memory, where the host has them.
    fn move_degrees_out(&mut self, request: &Request<'_>, caps: &Caps) {
        if self.degrees_bytes > 0 && request.host_import && caps.import_alignment <= ALIGNMENT as u64 {
            self.graph_bytes -= self.degrees_bytes;
            (self.degrees_bytes, self.host_degrees) = (0, true);
        }
    }

    /// Moves attributes to main memory that are only read, and only with their page.
    fn move_attributes_out(&mut self, request: &Request<'_>, caps: &Caps) {
        let log2 = self.chunk_vertices_log2;
        for (out, attribute) in self.host_attributes.iter_mut().zip(request.attributes) {
            if attribute.role == Role::ReadOnly && may_move_out(attribute, request, caps, log2) {
                *out = true;
                self.attributes_bytes -= request.holding().held_bytes(attribute);
            }
        }
    }

    /// Moves received values of other devices' vertices to main memory: their size does not shrink with more devices.
    fn move_seen_out(&mut self, request: &Request<'_>, caps: &Caps) {
        let log2 = self.chunk_vertices_log2;
        for (out, attribute) in self.host_seen.iter_mut().zip(request.attributes) {
            let bytes = request.holding().copied_bytes(attribute);
            if bytes > 0 && may_move_out(attribute, request, caps, log2) {
                *out = true;
                self.attributes_bytes -= bytes;
            }
        }
    }

    /// Bytes of everything except the arena.
    fn fixed_bytes(&self) -> u64 {
        let attributes = self.attributes_bytes + self.border_bytes;
        let vertices = attributes + self.tables_bytes + self.frontier_bytes + self.levels_bytes;
        let images = u64::from(self.images) * self.image_bytes;
        vertices
            + self.loop_bytes
            + self.bins_bytes
            + self.next_bytes
            + self.set_bytes
            + self.graph_bytes
            + self.working_bytes
            + self.exchange_bytes
            + images
    }

    /// Whether copies of other devices' values are read in main memory, over the bus.
    pub fn moves_copies_out(&self) -> bool {
        self.host_seen.contains(&true)
    }

    /// Bytes of everything.
    pub fn total_bytes(&self) -> u64 {
        self.fixed_bytes() + u64::from(self.slots) * self.slot_bytes
    }

    fn too_small(&self, request: &Request<'_>, needed_bytes: u64, budget_bytes: u64) -> Error {
        let least = if self.in_place { 0 } else { SLOTS_MIN };
        let exchange = match self.exchange_bytes {
            0 => String::new(),
            bytes => format!(", exchange with other devices {bytes}"),
        };
        let image = match self.images {
            0 => String::new(),
            images => format!(", decoded pages {}", u64::from(images) * self.image_bytes),
        };
        let degrees = if self.degrees_bytes > 0 { "degrees and " } else { "" };
        let parts = format!(
            "attributes {}, tables {}, frontiers {}, {degrees}directories {}, working memory {}{exchange}{image}, \
             at least {least} pages of {}",
            self.attributes_bytes + self.border_bytes,
            self.tables_bytes,
            self.frontier_bytes + self.levels_bytes,
            self.graph_bytes,
            self.working_bytes,
            self.slot_bytes,
        );
        let parts = format!("{}: {parts}", request.device);
        Error::DeviceMemory { what: request.algorithm.to_owned(), needed_bytes, budget_bytes, parts }
    }
}

/// The device memory that a run may use, in bytes.
pub fn budget_bytes(settings: &GpuSettings, caps: &Caps) -> u64 {
    let known = caps.memory_bytes.map_or(MEMORY_UNKNOWN, |bytes| (bytes as f64 * MEMORY_SHARE) as u64);
    settings.memory_bytes.unwrap_or(known)
}

/// The capacity of the queues of supersteps that the device runs without the host. For larger frontiers, reading whole
/// pages is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRoom {
    /// Vertices of a frontier.
    pub vertices: u32,
    /// Edges of their lists.
    pub edges: u32,
    /// Parts of long lists.
    parts: u64,
}

impl QueueRoom {
    /// The room of each queue for a graph. Vertices of sets are queued (`sets`) whatever the lengths of their lists,
    /// which are not counted.
    pub fn of(store: &Store, sets: bool) -> Self {
        let vertices = (store.vertices() / 8).clamp(QUEUE_VERTICES.start, QUEUE_VERTICES.end) as u32;
        let edges = if sets { store.edges() } else { store.edges() / 8 };
        let edges = edges.clamp(QUEUE_EDGES.start, if sets { u32::MAX.into() } else { QUEUE_EDGES.end }) as u32;
        let parts = |topology: &Topology| {
            let entries = topology.directory().entries().iter();
            entries.filter(|entry| entry.run > 0).map(|entry| u64::from(entry.edge_count.div_ceil(HUB_EDGES))).sum()
        };
        let large: u64 = store.topologies().map(parts).max().unwrap_or(0);
        // A split list of a small page has more than half as many edges as its parts can hold.
        Self { vertices, edges, parts: u64::from(edges / MIDDLE_EDGES) + large + 1 }
    }

    /// Entries of a queue.
    pub fn entries(&self) -> u64 {
        2 * u64::from(self.vertices) + self.parts
    }
}

/// Bytes for supersteps over the listed vertices of a set.
fn set_bytes(request: &Request<'_>) -> u64 {
    let pages = request.store.topologies().map(|topology| u64::from(topology.page_count())).sum();
    CONTROL_BYTES + layout::listed_bytes(false, pages) + layout::mark_bytes(request.store.vertices())
}

/// Bytes of queues, tables of resident pages, and sets of empty lists.
fn loop_bytes(request: &Request<'_>, caps: &Caps) -> u64 {
    let store = request.store;
    let pages: u64 = store.topologies().map(|topology| u64::from(topology.page_count())).sum();
    let buffers = (pages * request.plain_bytes()).div_ceil(caps.binding_bytes_max) + 1;
    // Two tables, by edges and by slots, for each topology.
    let edges = store.edges().div_ceil(edges_per_unit(true).into());
    let units = 2 * (2 * pages + edges + store.vertices().div_ceil(layout::WORKGROUP.into()));
    let queue = QueueRoom::of(store, request.visits_sets).entries() * size_of::<HubEntry>() as u64;
    // Lists of a scan are neither queued nor swept.
    let empties = buffers * bit_bytes(store.vertices());
    let some = request.traversal || request.visits_sets;
    let queues = if request.decides && some { buffers * queue + empties } else { 0 };
    let listed = if request.decides && request.traversal { layout::listed_bytes(true, pages) } else { 0 };
    if queue.max(listed) > caps.binding_bytes_max {
        return 0;
    }
    queues + listed + buffers * (batch_bytes(0) + 64 * pages + 8 * units)
}

/// Whether an attribute of all vertices may be in main memory: its chunks must be importable.
fn may_move_out(attribute: &Attribute, request: &Request<'_>, caps: &Caps, log2: u32) -> bool {
    let chunks = request.part.vertices.div_ceil(1 << log2);
    let aligned = device_bytes(attribute, 1 << log2).is_multiple_of(caps.import_alignment);
    request.host_import && (chunks <= 1 || aligned)
}

/// The maximum number of words of a page's unit row, for pages of at most `edges_max` edges.
fn row_words(edges_max: u64, unit_edges: u32) -> u64 {
    edges_max.div_ceil(u64::from(unit_edges)) + 1
}
