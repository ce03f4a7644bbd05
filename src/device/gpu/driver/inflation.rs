//! Packed pages of a launch: each is decoded to a plain image before the kernels of the launch.
//!
//! ```text
//!   images of all pages fit:   frame (main memory) ──── inflate_slots, inflate ────▶ slot
//!   otherwise:                 slot or frame ────────── inflate_slots, inflate ────▶ image of the launch
//!                              page of weights ─────── copy ───────────────────────▶ behind it
//! ```
//!
//! So packed bytes cross the bus, and other kernels read plain pages. `segments` decodes neighbours itself, so that it
//! needs only the slots of images. To slots, pages whose frames are not imported are decoded by the host.
//!
//! Owns the tables of pages that the two kernels read.

use super::batch::{Job, Place};
use super::context::Context;
use super::plan::Plan;
use crate::device::gpu::compose::layout::{Counters, GRID_ROW_MAX, InflatePage, WORKGROUP};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::arena::Slot;
use crate::device::gpu::memory::images::inflate_table_bytes;
use crate::error::Result;
use crate::pages::fetch::{Frame, PageRef};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroU64;
use topostream_formats::PageId;
use topostream_formats::packed::{PackedPage, UNIT};
use topostream_formats::page::PageDefect;
use wgpu::BufferUsages as Usage;

/// The buffers of a dispatch: packed pages in frames or in slots, slots or images, and the launch's ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Between {
    source: Place,
    /// A buffer of the arena, by index; none for the buffer of images.
    dest: Option<u32>,
    ring: usize,
}

/// What is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Slots, for a kernel that decodes neighbours itself.
    Slots,
    /// Slots and neighbours.
    Everything,
}

/// Where a page is decoded from and to: buffers and byte offsets.
struct Way {
    source: Place,
    from: u64,
    dest: Option<u32>,
    to: u64,
}

/// What inflating packed pages needs.
#[derive(Default)]
pub(super) struct Inflation {
    /// Tables of pages, by the launch's ring and, where a launch may have several, the buffer of frames.
    tables: HashMap<(usize, Option<u32>), wgpu::Buffer>,
    /// A plain image that the host has made.
    image: Vec<u32>,
}

impl Inflation {
    /// Plans the decoding of a launch's packed pages, and the copies of their weights; returns the bytes that cross
    /// the bus in copies. Pages that stay packed are in one buffer.
    ///
    /// # Errors
    /// Shader and device errors; without imported frames, the errors of reading a page.
    pub fn plan(
        &mut self,
        context: &Context,
        plan: &mut Plan<wgpu::Buffer>,
        jobs: &[Job],
        (ring, what): (usize, What),
    ) -> Result<u64> {
        let mut by_buffers: HashMap<Between, Vec<InflatePage>> = HashMap::new();
        let mut bytes = 0;
        for (at, job) in (0..).zip(jobs) {
            let way = match (&job.frame, &job.slot) {
                (_, Some(slot)) if context.images.is_some() => to_image(context, slot, at),
                (Some(frame), None) => {
                    Way { dest: None, to: at * context.plan.image_bytes, ..of_frame(context, frame) }
                }
                (Some(frame), Some(slot)) if context.home.import.is_none() => {
                    self.inflate_on_host(context, job.page, frame, slot)?;
                    bytes += context.plan.slot_bytes;
                    continue;
                }
                (Some(frame), Some(slot)) => {
                    bytes += context.plan.frame_bytes;
                    Way { dest: Some(slot.buffer), to: slot_offset(context, slot), ..of_frame(context, frame) }
                }
                // Its image is in its slot.
                (None, _) => continue,
            };
            copy_weights(context, plan, &way)?;
            let between = Between { source: way.source, dest: way.dest, ring };
            by_buffers.entry(between).or_default().push(entry(context, job.page, &way));
        }
        for (between, table) in by_buffers {
            self.plan_kernels(context, plan, (between, what), &table)?;
        }
        Ok(bytes)
    }

    /// The table of the last pages that were decoded for a ring, in a launch of pages that stay packed.
    pub fn table(&self, ring: usize, place: Place) -> Option<&wgpu::Buffer> {
        self.tables.get(&Between { source: place, dest: None, ring }.table())
    }

    /// Plans the kernels over pages between two buffers.
    fn plan_kernels(
        &mut self,
        context: &Context,
        plan: &mut Plan<wgpu::Buffer>,
        (between, what): (Between, What),
        table: &[InflatePage],
    ) -> Result<()> {
        let key = between.table();
        let buffer = match self.tables.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let bytes = inflate_table_bytes(context.home.settings.batch_pages);
                place.insert(context.gpu().buffer("packed pages", bytes, Usage::STORAGE | Usage::COPY_DST)?)
            }
        };
        context.gpu().queue().write_buffer(buffer, 0, bytemuck::cast_slice(table));
        let (frames, inflated) = (context.page_buffer(between.source)?, dest_buffer(context, between.dest));
        let lists = (context.step.direction, context.step.visit);
        let most = |count: fn(&InflatePage) -> u32| table.iter().map(count).max().unwrap_or(0);
        let slots = most(|page| page.slot_count.div_ceil(WORKGROUP));
        let units = most(|page| page.edge_count.div_ceil(UNIT as u32));
        for (name, groups) in [(KernelName::InflateSlots, slots), (KernelName::Inflate, units)] {
            if groups > 0 && (name == KernelName::InflateSlots || what == What::Everything) {
                let x = groups.min(GRID_ROW_MAX);
                let kernel = context.dispatch(name, lists).with(Resource::Frames, frames);
                let kernel = kernel.with(Resource::Inflation, buffer).with(Resource::Inflated, inflated);
                plan.run(kernel.sized([x, table.len() as u32, groups.div_ceil(x)]));
            }
        }
        Ok(())
    }

    /// Decodes a page on this thread, and uploads its plain image and its weights.
    fn inflate_on_host(&mut self, context: &Context, page: PageRef, frame: &Frame, slot: &Slot) -> Result<()> {
        let (store, topology) = (&context.store, context.topology(page.direction));
        let about = store.page_context(topology);
        let weights = frame.weights();
        let image_bytes = context.plan.slot_bytes as usize - weights.len();
        self.image.resize(image_bytes / 4, 0);
        let image: &mut [u8] = bytemuck::cast_slice_mut(&mut self.image);
        let inflated = PackedPage::open(frame.page(), about.encoding, about.destinations(page.page.0))
            .and_then(|packed| packed.inflate(image));
        inflated.map_err(|defect| topology.page_error(page.page, false, defect))?;
        let (dest, to) = (dest_buffer(context, Some(slot.buffer)), slot_offset(context, slot));
        let size = NonZeroU64::new(context.plan.slot_bytes).expect("pages have bytes");
        if let Some(mut view) = context.gpu().queue().write_buffer_with(dest, to, size) {
            view.slice(..image_bytes).copy_from_slice(image);
            view.slice(image_bytes..).copy_from_slice(weights);
        }
        Ok(())
    }
}

impl Between {
    /// The table of a dispatch.
    fn table(&self) -> (usize, Option<u32>) {
        let frames = match (self.source, self.dest) {
            (Place::Frames(buffer), Some(_)) => Some(buffer),
            _ => None,
        };
        (self.ring, frames)
    }
}

/// The byte offset of a slot in its buffer.
fn slot_offset(context: &Context, slot: &Slot) -> u64 {
    u64::from(slot.index) * context.plan.slot_bytes
}

/// From an imported frame to somewhere.
fn of_frame(context: &Context, frame: &Frame) -> Way {
    let (chunk, from) = context.frame_place(frame.index());
    Way { source: Place::Frames(chunk), from, dest: None, to: 0 }
}

/// From a slot to an image of the launch.
fn to_image(context: &Context, slot: &Slot, image: u64) -> Way {
    let from = slot_offset(context, slot);
    Way { source: Place::Arena(slot.buffer), from, dest: None, to: image * context.plan.image_bytes }
}

fn dest_buffer(context: &Context, dest: Option<u32>) -> &wgpu::Buffer {
    match dest {
        Some(buffer) => &context.arena_buffers[buffer as usize],
        None => context.images.as_ref().expect("launches have images if slots are packed"),
    }
}

/// Copies a page of weights, which is not packed, behind the plain image.
fn copy_weights(context: &Context, plan: &mut Plan<wgpu::Buffer>, way: &Way) -> Result<()> {
    let page_bytes = u64::from(context.store.manifest().page_bytes);
    let bytes = context.plan.frame_bytes - page_bytes;
    if bytes > 0 {
        let (source, dest) = (context.page_buffer(way.source)?, dest_buffer(context, way.dest));
        let image_bytes = context.plan.image_bytes - bytes;
        plan.copy((source, way.from + page_bytes), (dest, way.to + image_bytes), bytes);
    }
    Ok(())
}

/// A page as the kernels find it.
fn entry(context: &Context, page: PageRef, way: &Way) -> InflatePage {
    let topology = context.topology(page.direction);
    let (at, entries) = (page.page.index(), topology.directory().entries());
    let entry = entries[at];
    // A page that is not the last of its run is followed by the next one.
    let continues = at.checked_sub(1).is_some_and(|before| entries[before].run > 1);
    let about = context.store.page_context(topology);
    let destinations = about.destinations(page.page.0);
    InflatePage {
        packed: (way.from / 4) as u32,
        image: (way.to / 4) as u32,
        number: page.page.0,
        start_vertex: entry.start_vertex,
        slot_count: entry.slot_count,
        edge_count: entry.edge_count,
        continues: continues.into(),
        origin: destinations.start as u32,
        value_max: (destinations.end - destinations.start).saturating_sub(1) as u32,
    }
}

/// Whether all pages that have been inflated in a superstep were sound.
///
/// # Errors
/// A page's error, if one of its neighbours was not among its destinations.
pub(super) fn check(context: &Context, counters: &Counters) -> Result<()> {
    let Some(page) = counters.defect.checked_sub(1).map(PageId) else { return Ok(()) };
    let topology = context.topology(context.step.direction);
    let about = context.store.page_context(topology);
    let (first, end) = (about.destinations(page.0).start, about.destinations(page.0).end);
    let expected = format!("neighbours from {first} on and below {end}");
    let defect = PageDefect { expected, found: "another vertex".into() };
    Err(topology.page_error(page, false, defect).into())
}
