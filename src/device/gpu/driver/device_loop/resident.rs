//! Tables of the pages that are in the arena: what a launch would describe anew, described once.

use super::super::batch::BatchTable;
use super::super::context::Context;
use crate::device::gpu::compose::layout::{HubEntry, QUEUES_MAX};
use crate::device::gpu::memory::arena::Arena;
use crate::device::gpu::memory::plan::QueueRoom;
use crate::device::settings::Distribution;
use crate::error::Result;
use crate::model::algorithm::Visit;
use crate::pages::fetch::PageRef;
use topostream_formats::{Direction, PageId};
use wgpu::BufferUsages as Usage;

/// The pages of one topology that are in one of the arena's buffers.
pub struct Place {
    /// The topology.
    pub direction: Direction,
    /// Which of the arena's buffers.
    pub buffer: u32,
    /// Its pages, as `segments` and `compact` read them.
    pub walked: Table,
    /// The same as `sweep` reads them.
    pub swept: Table,
    /// How many.
    pub pages: u32,
    /// Visited lists, of out-lists.
    pub queue: Option<wgpu::Buffer>,
}

/// A table of pages on the device.
pub struct Table {
    /// A batch.
    pub buffer: wgpu::Buffer,
    /// Workgroups, in two dimensions.
    pub groups: (u32, u32),
}

/// All pages of a run.
pub struct Resident {
    /// By topology and buffer.
    pub places: Vec<Place>,
    /// How much the queues hold.
    pub room: QueueRoom,
    shape: Shape,
}

/// What tables depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    /// The state of the arena.
    version: u64,
    directions: Vec<Direction>,
    weights: bool,
    row_words: u64,
}

impl Shape {
    fn of(context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Self {
        let mut directions: Vec<Direction> = Vec::new();
        for &(direction, _) in visits {
            let direction = context.topology(direction).direction();
            if !directions.contains(&direction) {
                directions.push(direction);
            }
        }
        let (weights, row_words) = (context.algorithm.needs_weights(), context.plan.row_words);
        Self { version: arena.version(), directions, weights, row_words }
    }
}

impl Resident {
    /// Describes the pages of all topologies that may be visited; none if one of them is missing.
    ///
    /// # Errors
    /// What the device says.
    pub fn new(context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> Result<Option<Self>> {
        let room = QueueRoom::of(&context.store);
        let mut places: Vec<Place> = Vec::new();
        let shape = Shape::of(context, arena, visits);
        for &direction in &shape.directions {
            let Some(described) = describe(context, arena, direction)? else { return Ok(None) };
            places.extend(described);
        }
        let mut queues = 0;
        for place in places.iter_mut().filter(|place| place.direction == Direction::Out) {
            let bytes = room.entries() * size_of::<HubEntry>() as u64;
            place.queue = Some(context.gpu().buffer("queue", bytes, Usage::STORAGE)?);
            let number: u32 = queues;
            context.gpu().queue().write_buffer(&place.walked.buffer, 8, bytemuck::bytes_of(&number));
            queues += 1;
        }
        let fits = queues as usize <= QUEUES_MAX;
        Ok(fits.then(|| Self { places, room, shape }))
    }

    /// Whether they describe what supersteps may visit, and the arena still has the pages where they were.
    pub fn serves(&self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> bool {
        self.shape == Shape::of(context, arena, visits)
    }
}

/// The pages of a topology, by buffer; none if one of them is not in the arena.
fn describe(context: &Context, arena: &Arena, direction: Direction) -> Result<Option<Vec<Place>>> {
    let (topology, weights) = (context.topology(direction), context.algorithm.needs_weights());
    let mut tables: Vec<(u32, BatchTable, BatchTable, u32)> = Vec::new();
    let rows = context.plan.row_words;
    for (number, entry) in topology.directory().entries().iter().enumerate() {
        let page = PageRef { direction, page: PageId(number as u32) };
        let Some(slot) = arena.slot_of(page) else { return Ok(None) };
        let at = match tables.iter().position(|(buffer, ..)| *buffer == slot.buffer) {
            Some(at) => at,
            None => {
                let table = |distribution| BatchTable::new(distribution, weights);
                tables.push((slot.buffer, table(Distribution::Segments), table(Distribution::Vertex), 0));
                tables.len() - 1
            }
        };
        let degree = if entry.run == 0 { 0 } else { topology.directory().run_degree(page.page) };
        let (offset, row) = (arena.offset(slot), u64::from(slot.number) * rows);
        let (_, walked, swept, pages) = &mut tables[at];
        walked.add(entry, offset, row, degree);
        swept.add(entry, offset, row, degree);
        *pages += 1;
    }
    let upload = |table: &BatchTable| -> Result<Table> {
        let bytes = table.bytes();
        let buffer = context.gpu().buffer("resident pages", bytes.len() as u64, Usage::STORAGE | Usage::COPY_DST)?;
        context.gpu().queue().write_buffer(&buffer, 0, &bytes);
        Ok(Table { buffer, groups: table.groups() })
    };
    let place = |(buffer, walked, swept, pages): (u32, BatchTable, BatchTable, u32)| {
        Ok(Place { direction, buffer, walked: upload(&walked)?, swept: upload(&swept)?, pages, queue: None })
    };
    tables.into_iter().map(place).collect::<Result<_>>().map(Some)
}
