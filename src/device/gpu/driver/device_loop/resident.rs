//! Tables of the pages in the arena, made once instead of for every launch.

use super::super::batch::BatchTable;
use super::super::context::Context;
use super::super::parts::Parts;
use crate::device::gpu::compose::layout::{HubEntry, QUEUES_MAX, WORKGROUP, page_lanes};
use crate::device::gpu::memory::arena::Arena;
use crate::device::gpu::memory::plan::QueueRoom;
use crate::device::gpu::memory::sizes::bit_bytes;
use crate::device::joint::SeenPages;
use crate::device::settings::Distribution;
use crate::error::Result;
use crate::model::algorithm::Visit;
use crate::pages::fetch::PageRef;
use std::sync::Arc;
use topostream_formats::{Direction, PageId};
use wgpu::BufferUsages as Usage;

/// The pages of one topology that are in one of the arena's buffers.
pub struct Place<B = wgpu::Buffer> {
    /// The topology.
    pub direction: Direction,
    /// The part of the lists, if supersteps over all of them are made in [parts](Parts).
    pub part: usize,
    /// The buffer of the arena, by index.
    pub buffer: u32,
    /// The buffer.
    pub pages: B,
    /// The pages for `segments`, `compact` and `expand`.
    pub by_edges: Table<B>,
    /// The same pages for `sweep`, `lists` and `hubs`.
    pub by_lists: Table<B>,
    /// The lists sorted by length and their number of workgroups, if they have been sorted.
    pub bins: Option<(B, (u32, u32))>,
    /// For `sweep`: a bit for each vertex whose list is known to be empty, then the units of `by_lists` with visited
    /// lists.
    pub swept: Option<B>,
    /// The queue of visited lists, if supersteps may queue them.
    pub queue: Option<B>,
}

/// A table of pages on the device.
pub struct Table<B = wgpu::Buffer> {
    /// The batch table.
    pub buffer: B,
    /// The page of each unit.
    pub units: B,
    /// Number of units.
    pub unit_count: u32,
    /// Workgroups, one for each unit, in two dimensions.
    pub groups: (u32, u32),
    /// Workgroups of `hubs`, which runs after `lists`.
    pub hub_groups: u32,
    /// Number of pages.
    pub pages: u32,
    /// Pages that a workgroup of `compact` or `absent` processes in parallel.
    pub pages_a_group: u32,
    /// The index of its queue, and the number of pages in tables before it.
    pub place: (u32, u32),
}

/// Pages of a topology that are not in device memory.
pub struct Absent<B = wgpu::Buffer> {
    /// The topology.
    pub direction: Direction,
    /// The pages.
    pub table: Table<B>,
}

/// Pages of all topologies, in device memory and missing.
pub type AllPages<'a, B> = (&'a [Place<B>], &'a [Absent<B>]);

/// All pages that a run may visit.
pub struct Resident {
    /// The pages in the arena, by topology and buffer.
    pub places: Vec<Place>,
    /// The missing pages, by topology.
    pub absent: Vec<Absent>,
    /// Capacity of the tables of pages in the arena, in pages.
    pub pages: u32,
    /// The capacity of each queue.
    pub room: QueueRoom,
    shape: Shape,
    /// The version of the arena.
    version: u64,
}

/// The inputs of the kernels over tables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    directions: Vec<Direction>,
    /// Topologies with queued lists.
    queued: Vec<Direction>,
    /// Topologies whose lists `sweep` processes.
    swept: Vec<Direction>,
    room: QueueRoom,
    weights: bool,
    row_words: u64,
    /// The pages that the device sees; all of them if none are given.
    seen: Option<Arc<SeenPages>>,
    /// The parts of supersteps over all in-lists.
    parts: Parts,
}

/// The topologies that visits may read.
fn directions(context: &Context, visits: impl Iterator<Item = (Direction, Visit)>) -> Vec<Direction> {
    let mut directions: Vec<Direction> = Vec::new();
    for (direction, _) in visits.filter(|&(_, visit)| visit != Visit::None) {
        let direction = context.topology(direction).direction();
        if !directions.contains(&direction) {
            directions.push(direction);
        }
    }
    directions
}

/// The number of pages of all topologies that visits may read.
pub fn pages(context: &Context, visits: &[(Direction, Visit)]) -> usize {
    let directions = directions(context, visits.iter().copied()).into_iter();
    directions.map(|direction| context.topology(direction).page_count() as usize).sum()
}

impl Shape {
    fn of(context: &Context, visits: &[(Direction, Visit)]) -> Self {
        let queued = |&(_, visit): &(Direction, Visit)| context.declared.decides() && is_queued(visit);
        let swept = |&(_, visit): &(Direction, Visit)| matches!(visit, Visit::Without(_));
        Self {
            directions: directions(context, visits.iter().copied()),
            queued: directions(context, visits.iter().copied().filter(queued)),
            swept: directions(context, visits.iter().copied().filter(swept)),
            room: QueueRoom::of(&context.store, visits.iter().any(|(_, visit)| matches!(visit, Visit::Within(_)))),
            weights: context.declaration.weights.are_read(),
            row_words: context.plan.row_words,
            seen: context.seen.clone(),
            parts: context.parts.clone(),
        }
    }
}

/// Whether a visit's lists may be queued.
pub fn is_queued(visit: Visit) -> bool {
    matches!(visit, Visit::Frontier | Visit::Within(_))
}

impl Resident {
    /// Tables of the pages of all topologies that may be visited. None if the arena has none of them and the device
    /// does not run supersteps together with others, or if there are more than [`QUEUES_MAX`] queues.
    ///
    /// # Errors
    /// Device errors.
    pub fn new(context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Result<Option<Self>> {
        let shape = Shape::of(context, visits);
        let (mut places, mut absent) = (Vec::new(), Vec::new());
        let (mut queues, mut pages) = (0u32, 0u32);
        for &direction in &shape.directions {
            let described = Described::new(context, arena, direction, &shape.parts);
            let whole = (described.absent.pages() > 0).then(|| Described::whole(context, direction));
            let swept = shape.swept.contains(&direction);
            for (&(buffer, part), [by_edges, by_lists]) in described.here.iter().map(|(place, tables)| (place, tables))
            {
                let [of_by_edges, of_by_lists] =
                    whole.as_ref().map_or([by_edges, by_lists], |[by_edges, by_lists]| [by_edges, by_lists]);
                let queue = shape.queued.contains(&direction).then(|| {
                    let bytes = shape.room.entries() * size_of::<HubEntry>() as u64;
                    context.gpu().buffer("queue", bytes, Usage::STORAGE)
                });
                let number = (queues, pages);
                pages += of_by_edges.pages();
                queues += u32::from(queue.is_some() || swept);
                let bytes = bit_bytes(context.graph.vertices) + 4 * u64::from(of_by_lists.units());
                let swept = swept.then(|| context.gpu().buffer("swept lists", bytes.max(16), Usage::STORAGE));
                places.push(Place {
                    direction,
                    part,
                    buffer,
                    pages: context.arena_buffers[buffer as usize].buffer().clone(),
                    by_edges: Table::new(context, by_edges, of_by_edges, number)?,
                    by_lists: Table::new(context, by_lists, of_by_lists, number)?,
                    bins: None,
                    swept: swept.transpose()?,
                    queue: queue.transpose()?,
                });
            }
            if described.absent.pages() > 0 {
                let table = Table::new(context, &described.absent, &described.absent, (0, 0))?;
                absent.push(Absent { direction, table });
            }
        }
        // A device may see no pages, and still have vertices that others activate.
        let useful = (context.seen.is_some() || !places.is_empty()) && queues as usize <= QUEUES_MAX;
        let (room, version) = (shape.room, arena.version());
        Ok(useful.then_some(Self { places, absent, pages, room, shape, version }))
    }

    /// Whether the tables are still valid for these visits and this arena.
    pub fn serves(&self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> bool {
        self.version == arena.version() && self.shape == Shape::of(context, visits)
    }

    /// Updates the tables in place, so that bind groups remain valid. False if that is impossible, or if no page is
    /// missing any more: the kernels that check for missing pages are then not needed.
    pub fn update(&mut self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> bool {
        if self.shape != Shape::of(context, visits) {
            return false;
        }
        let directions = self.shape.directions.iter();
        let described: Vec<Described> =
            directions.map(|&direction| Described::new(context, arena, direction, &self.shape.parts)).collect();
        let fits = described.iter().all(|described| {
            let absent = self.absent.iter().find(|absent| absent.direction == described.direction);
            let room = absent.is_none_or(|absent| absent.table.has_room(&described.absent));
            let known = |(at, tables): &((u32, usize), [BatchTable; 2])| {
                let is_it = |place: &&Place| (place.direction, place.at()) == (described.direction, *at);
                let place = self.places.iter().find(is_it);
                place.is_some_and(|place| place.by_edges.has_room(&tables[0]) && place.by_lists.has_room(&tables[1]))
            };
            absent.is_some() == (described.absent.pages() > 0) && room && described.here.iter().all(known)
        });
        if !fits {
            return false;
        }
        for place in &mut self.places {
            let described = described.iter().find(|described| described.direction == place.direction);
            let here = described.and_then(|described| described.here.iter().find(|(at, _)| *at == place.at()));
            let empty = || Described::empty(context);
            let [by_edges, by_lists] = here.map_or_else(empty, |(_, tables)| tables.clone());
            place.bins = None;
            place.by_edges.write(context, &by_edges);
            place.by_lists.write(context, &by_lists);
        }
        for absent in &mut self.absent {
            if let Some(described) = described.iter().find(|described| described.direction == absent.direction) {
                absent.table.write(context, &described.absent);
            }
        }
        self.version = arena.version();
        true
    }

    /// The pages that the tables were made for, if the device sees some of all pages.
    pub fn seen(&self) -> Option<Arc<SeenPages>> {
        self.shape.seen.clone()
    }

    /// All pages.
    pub fn all(&self) -> AllPages<'_, wgpu::Buffer> {
        (&self.places, &self.absent)
    }

    /// The number of buffers that hold a topology's pages.
    pub fn launches(&self, direction: Direction) -> u64 {
        self.places.iter().filter(|place| place.direction == direction).count() as u64
    }

    /// The parts of supersteps over all in-lists.
    pub fn parts(&self) -> &Parts {
        &self.shape.parts
    }

    /// Whether all pages of a topology are in the arena.
    pub fn is_complete(&self, direction: Direction) -> bool {
        self.absent.iter().all(|absent| absent.direction != direction)
    }
}

impl Place {
    /// The buffer and the part.
    fn at(&self) -> (u32, usize) {
        (self.buffer, self.part)
    }
}

/// The pages of a topology in the arena, by buffer and part, as batches of `segments` and of `lists`, and the missing
/// ones.
struct Described {
    direction: Direction,
    here: Vec<((u32, usize), [BatchTable; 2])>,
    absent: BatchTable,
}

impl Described {
    fn new(context: &Context, arena: &Arena, direction: Direction, parts: &Parts) -> Self {
        let topology = context.topology(direction);
        let mut here: Vec<((u32, usize), [BatchTable; 2])> = Vec::new();
        let mut absent = BatchTable::new(Distribution::Vertex, context.declaration.weights.are_read());
        for (number, entry) in topology.directory().entries().iter().enumerate() {
            let page = PageRef { direction, page: PageId(number as u32) };
            if context.seen.as_ref().is_some_and(|seen| !seen.sees(page)) {
                continue;
            }
            let Some(slot) = arena.slot_of(page) else {
                absent.add(entry, 0, 0, 0);
                continue;
            };
            let place = (slot.buffer, parts.of_page(page));
            let at = here.iter().position(|(at, _)| *at == place).unwrap_or_else(|| {
                here.push((place, Self::empty(context)));
                here.len() - 1
            });
            let degree = if entry.run == 0 { 0 } else { topology.directory().run_degree(page.page) };
            let (offset, row) = (arena.offset(slot), u64::from(slot.number) * context.plan.row_words);
            here[at].1.iter_mut().for_each(|table| table.add(entry, offset, row, degree));
        }
        Self { direction, here, absent }
    }

    /// All pages of a topology, as if they were in one buffer: the size that tables need when no page is missing.
    fn whole(context: &Context, direction: Direction) -> [BatchTable; 2] {
        let mut tables = Self::empty(context);
        for entry in context.topology(direction).directory().entries() {
            tables.iter_mut().for_each(|table| table.add(entry, 0, 0, 0));
        }
        tables
    }

    fn empty(context: &Context) -> [BatchTable; 2] {
        let weights = context.declaration.weights.are_read();
        [Distribution::Segments, Distribution::Hybrid].map(|distribution| BatchTable::new(distribution, weights))
    }
}

impl Table {
    /// Creates a table with the capacity for `most`.
    fn new(context: &Context, table: &BatchTable, most: &BatchTable, place: (u32, u32)) -> Result<Self> {
        let storage = Usage::STORAGE | Usage::COPY_DST;
        let manifest = context.store.manifest();
        let plain_bytes = manifest.encoding.plain_bytes(manifest.page_bytes);
        let pages_a_group = WORKGROUP / page_lanes(u32::try_from(plain_bytes).unwrap_or(u32::MAX));
        let buffer = context.gpu().buffer("resident pages", most.bytes_len(), storage)?;
        let units = context.gpu().buffer("units of resident pages", (4 * u64::from(most.units())).max(16), storage)?;
        let mut new =
            Self { buffer, units, unit_count: 0, groups: (0, 0), hub_groups: 0, pages: 0, pages_a_group, place };
        new.write(context, table);
        Ok(new)
    }

    fn has_room(&self, table: &BatchTable) -> bool {
        table.bytes_len() <= self.buffer.size() && 4 * u64::from(table.units()) <= self.units.size()
    }

    fn write(&mut self, context: &Context, table: &BatchTable) {
        let queue = context.gpu().queue();
        queue.write_buffer(&self.buffer, 0, &table.bytes(self.place.0, self.place.1));
        queue.write_buffer(&self.units, 0, bytemuck::cast_slice(&table.unit_pages()));
        (self.groups, self.hub_groups, self.pages) = (table.groups(), table.hub_groups(), table.pages());
        self.unit_count = table.units();
    }
}
