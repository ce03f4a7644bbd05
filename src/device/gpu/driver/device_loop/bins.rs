//! Sorts lists by length, once for all supersteps that visit all of them, so that longer lists have more threads.

use super::super::context::Context;
use super::super::plan::{Dispatch, Plan, Variant};
use super::resident::Place;
use crate::device::gpu::compose::layout::{BINS, BinsHeader, HubEntry, WORKGROUP, grid};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::error::Result;
use crate::model::algorithm::Visit;
use wgpu::BufferUsages as Usage;

/// Threads for an entry of each bin.
const LANES: [u32; BINS] = [1, 8, 32, WORKGROUP];

/// Sorts the lists of a place: counts them, makes room, and writes their entries.
///
/// # Errors
/// Device errors.
pub fn sort(context: &mut Context, place: &mut Place) -> Result<()> {
    let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
    let bytes = |entries: u32| (size_of::<BinsHeader>() + size_of::<HubEntry>() * entries.max(1) as usize) as u64;
    let counting = context.gpu().buffer("lists by length", bytes(1), usage)?;
    let counts = launch(context, place, &counting, BinsHeader::default())?;
    let mut begins = [0; BINS];
    for bin in 1..BINS {
        begins[bin] = begins[bin - 1] + counts[bin - 1];
    }
    let buffer = context.gpu().buffer("lists by length", bytes(counts.iter().sum()), usage)?;
    launch(context, place, &buffer, BinsHeader { begins, fills: 1, ..BinsHeader::default() })?;
    let units = counts.iter().zip(LANES).map(|(count, lanes)| count.div_ceil(WORKGROUP / lanes)).sum();
    place.bins = Some((buffer, grid(units).into()));
    Ok(())
}

/// Runs `bin` over a place's lists; returns the number of entries in each bin.
fn launch(context: &mut Context, place: &Place, bins: &wgpu::Buffer, header: BinsHeader) -> Result<[u32; BINS]> {
    context.gpu().queue().write_buffer(bins, 0, bytemuck::bytes_of(&header));
    let kernel = Dispatch::new(KernelName::Bin, (place.direction, Visit::All), 0).of(Variant::Resident);
    let kernel = kernel.with(Resource::Bins, bins).with(Resource::Pages, &place.pages);
    let kernel = kernel.with(Resource::Batch, &place.by_lists.buffer).with(Resource::Units, &place.by_lists.units);
    let mut plan = Plan::default();
    plan.pass(None, vec![kernel.sized(place.by_lists.groups)]);
    plan.read(bins, 0, size_of::<[u32; BINS]>() as u64);
    let submitted = context.run(&plan)?;
    Ok(bytemuck::pod_read_unaligned(&context.read(submitted)?.bytes))
}
