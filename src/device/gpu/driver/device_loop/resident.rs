//! Tables of the pages in the arena, made once instead of for every launch.

use super::super::batch::BatchTable;
use super::super::context::Context;
use crate::device::gpu::compose::layout::{BatchHeader, HubEntry, QUEUES_MAX, WORKGROUP, page_lanes};
use crate::device::gpu::memory::arena::Arena;
use crate::device::gpu::memory::plan::QueueRoom;
use crate::device::settings::Distribution;
use crate::error::Result;
use crate::model::algorithm::Visit;
use crate::pages::fetch::PageRef;
use std::mem::offset_of;
use topostream_formats::{Direction, PageId};
use wgpu::BufferUsages as Usage;

/// The pages of one topology that are in one of the arena's buffers.
pub struct Place {
    /// The topology.
    pub direction: Direction,
    /// The buffer of the arena, by index.
    pub buffer: u32,
    /// The pages for `segments`, `compact` and `expand`.
    pub walked: Table,
    /// The same pages for `sweep`, `lists` and `hubs`.
    pub listed: Table,
    /// The queue of visited lists; only for out-lists.
    pub queue: Option<wgpu::Buffer>,
}

/// A table of pages on the device.
pub struct Table {
    /// The batch table.
    pub buffer: wgpu::Buffer,
    /// The page of each unit.
    pub units: wgpu::Buffer,
    /// Workgroups, in two dimensions.
    pub groups: (u32, u32),
    /// Workgroups of `hubs`, which runs after `lists`.
    pub hub_groups: u32,
    /// Number of pages.
    pub pages: u32,
    /// Pages that a workgroup of `compact` or `absent` processes in parallel.
    pub pages_a_group: u32,
}

/// Pages of a topology that are not in device memory.
pub struct Absent {
    /// The topology.
    pub direction: Direction,
    /// The pages.
    pub table: Table,
}

/// All pages that a run may visit.
pub struct Resident {
    /// The pages in the arena, by topology and buffer.
    pub places: Vec<Place>,
    /// The missing pages, by topology.
    pub absent: Vec<Absent>,
    /// The capacity of each queue.
    pub room: QueueRoom,
    shape: Shape,
}

/// The inputs of the tables: they are outdated when one changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    /// The version of the arena.
    version: u64,
    directions: Vec<Direction>,
    weights: bool,
    /// Whether there are queues.
    queues: bool,
    row_words: u64,
}

/// The topologies that visits may read.
fn directions(context: &Context, visits: &[(Direction, Visit)]) -> Vec<Direction> {
    let mut directions: Vec<Direction> = Vec::new();
    for &(direction, _) in visits {
        let direction = context.topology(direction).direction();
        if !directions.contains(&direction) {
            directions.push(direction);
        }
    }
    directions
}

/// The number of pages of all topologies that visits may read.
pub fn pages(context: &Context, visits: &[(Direction, Visit)]) -> usize {
    directions(context, visits).into_iter().map(|direction| context.topology(direction).page_count() as usize).sum()
}

impl Shape {
    fn of(context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Self {
        let directions = directions(context, visits);
        let (weights, row_words) = (context.algorithm.needs_weights(), context.plan.row_words);
        let queues = context.declared.decides();
        Self { version: arena.version(), directions, weights, queues, row_words }
    }
}

impl Resident {
    /// Tables of the pages of all topologies that may be visited. None if the arena has none of them, or if there are
    /// more than [`QUEUES_MAX`] queues.
    ///
    /// # Errors
    /// Device errors.
    pub fn new(context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Result<Option<Self>> {
        let room = QueueRoom::of(&context.store);
        let shape = Shape::of(context, arena, visits);
        let (mut places, mut absent) = (Vec::new(), Vec::new());
        for &direction in &shape.directions {
            let (here, missing) = describe(context, arena, direction)?;
            places.extend(here);
            absent.extend(missing);
        }
        let mut queues = 0u32;
        let queued = |place: &&mut Place| context.declared.decides() && place.direction == Direction::Out;
        for place in places.iter_mut().filter(queued) {
            let bytes = room.entries() * size_of::<HubEntry>() as u64;
            place.queue = Some(context.gpu().buffer("queue", bytes, Usage::STORAGE)?);
            let number = offset_of!(BatchHeader, queue) as u64;
            context.gpu().queue().write_buffer(&place.walked.buffer, number, bytemuck::bytes_of(&queues));
            queues += 1;
        }
        let useful = !places.is_empty() && queues as usize <= QUEUES_MAX;
        Ok(useful.then_some(Self { places, absent, room, shape }))
    }

    /// Whether the tables are still valid for these visits and this arena.
    pub fn serves(&self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> bool {
        self.shape == Shape::of(context, arena, visits)
    }

    /// Whether all pages of a topology are in the arena.
    pub fn is_complete(&self, direction: Direction) -> bool {
        self.absent.iter().all(|absent| absent.direction != direction)
    }
}

/// The pages of a topology in the arena, by buffer, and the missing ones.
fn describe(context: &Context, arena: &Arena, direction: Direction) -> Result<(Vec<Place>, Option<Absent>)> {
    let (topology, weights) = (context.topology(direction), context.algorithm.needs_weights());
    let new = |distribution| BatchTable::new(distribution, weights);
    let mut tables: Vec<(u32, [BatchTable; 2])> = Vec::new();
    let mut absent = new(Distribution::Vertex);
    for (number, entry) in topology.directory().entries().iter().enumerate() {
        let page = PageRef { direction, page: PageId(number as u32) };
        let Some(slot) = arena.slot_of(page) else {
            absent.add(entry, 0, 0, 0);
            continue;
        };
        let at = tables.iter().position(|(buffer, _)| *buffer == slot.buffer).unwrap_or_else(|| {
            tables.push((slot.buffer, [new(Distribution::Segments), new(Distribution::Hybrid)]));
            tables.len() - 1
        });
        let degree = if entry.run == 0 { 0 } else { topology.directory().run_degree(page.page) };
        let (offset, row) = (arena.offset(slot), u64::from(slot.number) * context.plan.row_words);
        tables[at].1.iter_mut().for_each(|table| table.add(entry, offset, row, degree));
    }
    let place = |(buffer, tables): (u32, [BatchTable; 2])| {
        let [walked, listed] = tables.map(|table| Table::new(context, &table));
        Ok(Place { direction, buffer, walked: walked?, listed: listed?, queue: None })
    };
    let places = tables.into_iter().map(place).collect::<Result<_>>()?;
    let absent = (absent.pages() > 0).then(|| Table::new(context, &absent)).transpose()?;
    Ok((places, absent.map(|table| Absent { direction, table })))
}

impl Table {
    fn new(context: &Context, table: &BatchTable) -> Result<Self> {
        let upload = |label, bytes: &[u8]| -> Result<wgpu::Buffer> {
            let buffer = context.gpu().buffer(label, (bytes.len() as u64).max(16), Usage::STORAGE | Usage::COPY_DST)?;
            context.gpu().queue().write_buffer(&buffer, 0, bytes);
            Ok(buffer)
        };
        let buffer = upload("resident pages", &table.bytes())?;
        let units = upload("units of resident pages", bytemuck::cast_slice(&table.unit_pages()))?;
        let pages_a_group = WORKGROUP / page_lanes(context.store.manifest().page_bytes);
        Ok(Self {
            buffer,
            units,
            groups: table.groups(),
            hub_groups: table.hub_groups(),
            pages: table.pages(),
            pages_a_group,
        })
    }
}
