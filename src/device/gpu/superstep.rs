//! The beginning and the end of a superstep, and of a run: kernels over vertices, and what is read back.
//!
//! One small readback ends a superstep: the sums of the vertex phase (or the census of the next frontier), the counters, a
//! bit for each page that the next superstep may visit, and the timestamps.

use super::NextPages;
use super::buffers::{COUNTERS_BYTES, chunks};
use super::compose::layout::{self, CensusTotal, Counters, Fill, Step as StepLayout};
use super::compose::{KernelName, Resource};
use super::driver::{Driver, hub_queue};
use super::launch::dispatch_pass;
use super::open::Gpu;
use super::plan::{TOTAL_BYTES, TOTALS_MAX, bit_bytes, hub_bytes};
use super::rounds;
use super::timing::{DeviceSpan, overlap_ns, union_ns};
use crate::device::StepEnd;
use crate::device::exchange::Move;
use crate::error::Result;
use crate::model::algorithm::{Scalars, Seeds, Step, Summary, Visit};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge};
use crate::model::bits::Bits;
use crate::trace::Lane;
use std::collections::BTreeMap;
use std::ops::{AddAssign, Range};
use std::time::Duration;
use topostream_formats::Direction;

/// What a readback may take: the longest of kernels is far below it.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);
/// The lanes of a workgroup.
const WORKGROUP: u64 = layout::WORKGROUP as u64;
/// How many pages a workgroup of `next-pages` looks at side by side.
const PAGES_A_GROUP: u32 = 8;

/// Words of a set that are uploaded at once.
const PIECE_WORDS: usize = 1 << 20;

/// Kernels over pages: what counts as computing.
const OVER_PAGES: [&str; 3] = [KernelName::Lists.name(), KernelName::Segments.name(), KernelName::Hubs.name()];

/// Parts of a readback: where each lies.
#[derive(Default)]
struct Layout {
    copies: Vec<(wgpu::Buffer, u64, u64)>,
    bytes: u64,
}

impl Driver {
    /// Sets first values and seeds.
    pub(super) fn initialise(&mut self) -> Result<(Scalars, NextPages)> {
        let mut encoder = self.encoder();
        for place in 0..self.declared.attributes.len() {
            self.fill_attribute(&mut encoder, place)?;
        }
        for superstep in 0..2 {
            self.buffers.frontier(superstep).iter().for_each(|chunk| encoder.clear_buffer(chunk, 0, None));
        }
        self.home.gpu.queue().submit([encoder.finish()]);
        self.plant(&self.algorithm.seeds());
        self.algorithm.seed_sets().iter().try_for_each(|(place, set)| self.plant_set(*place, set))?;
        // What is visited first is what "the superstep before the first" has activated.
        self.step = Step::new(u32::MAX, Direction::Out, Visit::All);
        self.write_step();
        let end = self.vertices(Some(KernelName::Initialise), &[])?;
        Ok((end.summary.totals, std::mem::take(&mut self.next_pages)))
    }

    /// Sets the first values of an attribute. What will be added up with other devices' values is its owner's only.
    fn fill_attribute(&mut self, encoder: &mut wgpu::CommandEncoder, place: usize) -> Result<()> {
        let Attribute { initial, merge, .. } = self.declared.attributes[place];
        let log2 = self.plan.chunk_vertices_log2;
        let buffers: Vec<_> =
            self.buffers.attribute(place, log2).map(|(first, buffer)| (first, buffer.clone())).collect();
        buffers.iter().try_for_each(|(first, buffer)| self.fill(encoder, buffer, initial, *first))?;
        if initial != Initial::Bits(0) && merge == Merge::Add {
            for others in [0..self.part.own.start, self.part.own.end..self.part.vertices] {
                self.clear_values(encoder, place, &others);
            }
        }
        Ok(())
    }

    /// Sets the values where a run begins: of vertices that are held here, or noted as told by their owners.
    fn plant(&self, seeds: &Seeds) {
        let attributes = &self.declared.attributes;
        // By attribute, or none for the frontier; whether it is written here, which may differ within a word of bits; its place.
        let mut words = BTreeMap::new();
        for seed in &seeds.values {
            let Attribute { of, merge, role, .. } = attributes[seed.attribute];
            if merge == Merge::Add && !self.part.owns(seed.vertex) {
                continue;
            }
            let vertex = u64::from(seed.vertex);
            let here = !role.is_written() || self.part.writable().contains(&vertex);
            match of {
                AttributeType::Bit => {
                    let (_, bits) = words.entry((Some(seed.attribute), here, vertex / 32)).or_insert((vertex, 0u32));
                    *bits |= (seed.bits & 1) << (vertex % 32);
                }
                _ => drop(words.insert((Some(seed.attribute), here, vertex), (vertex, seed.bits))),
            }
        }
        for vertex in seeds.active.iter().copied().map(u64::from) {
            let (_, bits) = words.entry((None, true, vertex / 32)).or_insert((vertex, 0));
            *bits |= 1 << (vertex % 32);
        }
        let (queue, log2) = (self.home.gpu.queue(), self.plan.chunk_vertices_log2);
        for ((attribute, _, _), (vertex, value)) in words {
            let Some(place) = attribute else {
                let word = (vertex & ((1 << log2) - 1)) / 32;
                let chunk = &self.buffers.frontier(0)[(vertex >> log2) as usize];
                queue.write_buffer(chunk, 4 * word, &value.to_le_bytes());
                continue;
            };
            for span in self.buffers.spans(place, &(vertex..vertex + 1), log2) {
                let words = span.words(&attributes[place]);
                queue.write_buffer(span.buffer, 4 * words.start, &value.to_le_bytes());
            }
        }
    }

    /// Sets the bits of an attribute that edges do not write: all vertices' values are held here.
    fn plant_set(&self, place: usize, set: &Bits) -> Result<()> {
        let attribute = &self.declared.attributes[place];
        assert!(!attribute.role.is_written(), "sets are planted where edges do not write");
        for span in self.buffers.spans(place, &(0..self.part.vertices), self.plan.chunk_vertices_log2) {
            let words = span.words(attribute);
            for begin in words.clone().step_by(PIECE_WORDS) {
                let piece = begin..words.end.min(begin + PIECE_WORDS as u64);
                let bits: Vec<u32> = piece.map(|word| set.half_word((span.first / 32 + word) as u32)).collect();
                self.home.gpu.queue().write_buffer(span.buffer, 4 * begin, bytemuck::cast_slice(&bits));
                // Staging memory is given back piece by piece.
                self.home.gpu.queue().submit([]);
                self.home.gpu.poll()?;
            }
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, step: &Step) {
        self.step = *step;
        self.forget_groups();
        self.write_step();
        self.home.gpu.queue().write_buffer(&self.buffers.counters, 0, &[0; COUNTERS_BYTES as usize]);
    }

    /// Leaves the active vertices of some pages, a bit each, to the next superstep.
    pub(super) fn put_off(&mut self, direction: Direction, pages: &[u32]) -> Result<()> {
        let graph = self.home.graph.as_ref().expect("prepared with the run");
        let groups = (graph.pages(direction).div_ceil(PAGES_A_GROUP).clamp(1, TOTALS_MAX), 1);
        self.home.gpu.queue().write_buffer(graph.next_pages(direction), 0, bytemuck::cast_slice(pages));
        let mut encoder = self.encoder();
        self.vertex_pass(&mut encoder, KernelName::PutOff, (direction, self.step.visit), groups, None)?;
        self.home.gpu.queue().submit([encoder.finish()]);
        Ok(())
    }

    pub(super) fn write_step(&self) {
        let layout = self.step_layout(self.step.direction);
        self.home.gpu.queue().write_buffer(&self.buffers.step, 0, bytemuck::bytes_of(&layout));
    }

    /// This superstep as kernels see it that look at one topology's pages.
    fn step_layout(&self, direction: Direction) -> StepLayout {
        let Step { superstep, scalars, integers, .. } = self.step;
        let own = &self.part.own;
        // An empty range starts after its end.
        let (own_first, own_last) = if own.is_empty() { (1, 0) } else { (own.start as u32, (own.end - 1) as u32) };
        StepLayout {
            vertices_last: (self.graph.vertices.max(1) - 1) as u32,
            superstep,
            page_count: self.home.graph.as_ref().expect("prepared with the run").pages(direction),
            own_first,
            own_last,
            spare_0: 0,
            spare_1: 0,
            spare_2: 0,
            scalars: scalars.map(|scalar| scalar as f32),
            integers,
        }
    }

    fn step_buffer(&self, direction: Direction) -> Result<wgpu::Buffer> {
        uniform(&self.home.gpu, bytemuck::bytes_of(&self.step_layout(direction)))
    }

    /// Sets the first values of one buffer of an attribute, which begins with `first_vertex`.
    fn fill(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        buffer: &wgpu::Buffer,
        initial: Initial,
        first_vertex: u64,
    ) -> Result<()> {
        if initial == Initial::Bits(0) {
            encoder.clear_buffer(buffer, 0, None);
            return Ok(());
        }
        let kernel = self.kernel(KernelName::Fill, Direction::Out, Visit::All, false)?;
        let words = (buffer.size() / 4) as u32;
        let (value, increment) = (initial.of(first_vertex as u32), u32::from(initial == Initial::Vertex));
        let fill = Fill { value, words, increment, ..Fill::default() };
        let fill = uniform(&self.home.gpu, bytemuck::bytes_of(&fill))?;
        let find = |resource: &Resource| if *resource == Resource::Filled { buffer } else { &fill };
        let bound: Vec<_> = (0..kernel.groups()).map(|group| kernel.bind(&self.home.gpu, group, find)).collect();
        let groups = words.div_ceil(WORKGROUP as u32).clamp(1, TOTALS_MAX);
        dispatch_pass(encoder, &kernel, &bound.iter().collect::<Vec<_>>(), (groups, 1), None);
        Ok(())
    }

    pub(super) fn end(&mut self, _step: &Step, told: &[Move]) -> Result<(StepEnd, NextPages)> {
        let mut end = self.vertices(Some(KernelName::VertexPhase), told)?;
        end.work.add_assign(std::mem::take(&mut self.work));
        Ok((end, std::mem::take(&mut self.next_pages)))
    }

    /// Runs the kernels over vertices and pages that end a superstep (or a beginning), tells other devices what they have to
    /// know, and reads back what was found. Without a phase nothing becomes of values: only of a traversal there is a census.
    pub(super) fn vertices(&mut self, phase: Option<KernelName>, told: &[Move]) -> Result<StepEnd> {
        let (traversal, own) = (self.declared.traversal, self.part.own_words());
        let vertices = own.end - own.start;
        let mut encoder = self.encoder();
        let items = if traversal { vertices.div_ceil(32) } else { vertices };
        let groups = items.div_ceil(WORKGROUP).clamp(1, TOTALS_MAX.into()) as u32;
        let name = if traversal { Some(KernelName::Census) } else { phase };
        let visits = self.algorithm.visits(self.graph.has_in_lists);
        if let Some(name) = name {
            self.vertex_pass(&mut encoder, name, visits[0], (groups, 1), None)?;
        }
        self.encode_moves(&mut encoder, told)?;
        let mut layout = Layout::default();
        layout.add(&self.buffers.totals, 0, TOTAL_BYTES * u64::from(groups));
        layout.add(&self.buffers.counters, 0, COUNTERS_BYTES);
        if self.notes.is_some() {
            self.activated(|buffer, words| layout.add(buffer, 4 * words.start, 4 * (words.end - words.start)));
        }
        let readback = self.readback(&mut encoder, &mut layout, &visits, traversal)?;
        if traversal {
            self.buffers.frontier(self.step.superstep).iter().for_each(|old| encoder.clear_buffer(old, 0, None));
        }
        let submission = self.home.gpu.queue().submit([encoder.finish()]);
        let bytes = read_buffer(&self.home.gpu, &readback, submission, layout.bytes)?;
        self.readback = Some(readback);
        self.bring_out(told)?;
        self.digest(&bytes, groups, &visits, traversal)
    }

    /// Copies everything that is to be read into one buffer; finds the next pages of each possible superstep on the way.
    fn readback(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        layout: &mut Layout,
        visits: &[(Direction, Visit)],
        traversal: bool,
    ) -> Result<wgpu::Buffer> {
        let partial: Vec<_> = partial(visits, traversal).collect();
        let bits: u64 = partial.iter().map(|&(direction, _)| self.page_bits_bytes(direction)).sum();
        // Each visit has a pass of its own to come, with a beginning and an end.
        let total = layout.bytes + bits + self.timing.bytes() + 16 * visits.len() as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let readback = match self.readback.take().filter(|kept| kept.size() >= total.next_multiple_of(16)) {
            Some(kept) => kept,
            None => self.home.gpu.buffer("readback", total.next_multiple_of(4096), usage)?,
        };
        let mut at = 0;
        for (buffer, from, bytes) in layout.copies.drain(..) {
            encoder.copy_buffer_to_buffer(&buffer, from, &readback, at, bytes);
            at += bytes;
        }
        for (direction, visit) in partial {
            let bytes = self.page_bits_bytes(direction);
            let graph = self.home.graph.as_ref().expect("prepared with the run");
            let (marks, pages) = (graph.next_pages(direction).clone(), graph.pages(direction));
            encoder.clear_buffer(&marks, 0, None);
            if pages > 0 {
                let step = self.step_buffer(direction)?;
                let groups = (pages.div_ceil(PAGES_A_GROUP).min(TOTALS_MAX), 1);
                self.vertex_pass(encoder, KernelName::NextPages, (direction, visit), groups, Some(&step))?;
            }
            encoder.copy_buffer_to_buffer(&marks, 0, &readback, at, bytes);
            at += bytes;
        }
        self.timing.resolve(encoder, &readback, at);
        layout.bytes = total;
        Ok(readback)
    }

    /// Calls `take` for the words of the vertices that are active next, as far as they are this device's own.
    fn activated(&self, mut take: impl FnMut(&wgpu::Buffer, Range<u64>)) {
        let own = self.part.own_words();
        let frontier = self.buffers.frontier(self.step.superstep.wrapping_add(1));
        for (chunk, vertices) in frontier.iter().zip(chunks(&(0..self.part.vertices), self.plan.chunk_vertices_log2)) {
            let here = own.start.max(vertices.start)..own.end.min(vertices.end);
            if here.start < here.end {
                take(chunk, (here.start - vertices.start) / 32..(here.end - vertices.start).div_ceil(32));
            }
        }
    }

    /// Has it noted which vertices are active next, where that is wanted and has been read back; returns what lies behind it.
    fn note_activated<'a>(&self, bytes: &'a [u8], activated: u64) -> &'a [u8] {
        let Some(notes) = &self.notes else { return bytes };
        let own = self.part.own_words();
        // Chunks are cut between words: those of all chunks follow each other.
        let (bits, rest) = bytes.split_at(bit_bytes(own.end - own.start) as usize);
        if activated > 0 {
            notes.take(self.step.superstep.wrapping_add(1), bits);
        }
        rest
    }

    fn page_bits_bytes(&self, direction: Direction) -> u64 {
        bit_bytes(self.home.graph.as_ref().expect("prepared with the run").pages(direction).into()).max(4)
    }

    /// Makes sense of a readback.
    fn digest(&mut self, bytes: &[u8], groups: u32, visits: &[(Direction, Visit)], traversal: bool) -> Result<StepEnd> {
        let (totals, rest) = bytes.split_at(TOTAL_BYTES as usize * groups as usize);
        let (counters, mut rest) = rest.split_at(COUNTERS_BYTES as usize);
        let counters: Counters = bytemuck::pod_read_unaligned(&counters[..size_of::<Counters>()]);
        if counters.loops_cut != 0 {
            return Err(rounds::cut(&self.home.gpu, self.algorithm.name()).into());
        }
        let mut end = StepEnd { summary: summary(totals, traversal), ..StepEnd::default() };
        rest = self.note_activated(rest, end.summary.activated);
        for (direction, visit) in partial(visits, traversal) {
            let (bits, more) = rest.split_at(self.page_bits_bytes(direction) as usize);
            let words = bits.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
            self.next_pages.insert((direction, visit), words);
            rest = more;
        }
        if self.step.visit != Visit::All {
            end.work.edges = counters.edges();
        }
        let spans = self.timing.spans(rest);
        let over_pages = |span: &DeviceSpan| OVER_PAGES.contains(&span.name);
        let (mut kernels, mut others): (Vec<_>, Vec<_>) = spans.into_iter().partition(over_pages);
        let copies = std::mem::take(&mut self.copy_spans);
        if let Some(timeline) = &self.trace {
            self.timing.tell(timeline, Lane::Kernels, &kernels);
            self.timing.tell(timeline, Lane::Kernels, &others);
            self.timing.tell(timeline, Lane::Copies, &copies);
        }
        end.work.compute_ns = union_ns(&mut kernels) as u64;
        end.transfer = std::mem::take(&mut self.transfer);
        end.transfer.vertex_kernels_ns = union_ns(&mut others) as u64;
        end.transfer.copy_ns = union_ns(&mut copies.clone()) as u64;
        end.transfer.overlap_ns = overlap_ns(&kernels, &copies) as u64;
        self.grow_hubs(counters.hub_wanted);
        Ok(end)
    }

    /// Just-enough allocation: makes room for as many long lists as the superstep had. Without room they were worked on where
    /// they were found, only more slowly.
    fn grow_hubs(&mut self, wanted: u32) {
        if wanted <= self.hubs.1 {
            return;
        }
        let mut entries = wanted.checked_next_power_of_two().unwrap_or(1 << 31);
        while hub_bytes(entries) > self.home.gpu.caps().binding_bytes_max {
            entries /= 2;
        }
        if entries > self.hubs.1
            && let Ok(hubs) = hub_queue(&self.home.gpu, entries)
        {
            self.hubs = (hubs, entries);
            self.forget_groups();
        }
    }

    /// One pass of a kernel that has no batch.
    fn vertex_pass(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        name: KernelName,
        (direction, visit): (Direction, Visit),
        groups: (u32, u32),
        step: Option<&wgpu::Buffer>,
    ) -> Result<()> {
        let kernel = self.kernel(name, direction, visit, false)?;
        let graph = self.home.graph.as_ref().expect("prepared with the run");
        let bind = |group| {
            kernel.bind(&self.home.gpu, group, |resource| match (resource, step) {
                (Resource::Step, Some(step)) => step,
                _ => self.buffers.find(graph, self.step.superstep, direction, resource),
            })
        };
        let bound: Vec<_> = (0..kernel.groups()).map(bind).collect();
        let stamps = self.timing.next(&self.home.gpu, name.name());
        dispatch_pass(encoder, &kernel, &bound.iter().collect::<Vec<_>>(), groups, stamps);
        Ok(())
    }

    pub(super) fn encoder(&self) -> wgpu::CommandEncoder {
        self.home.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }
}

impl Layout {
    fn add(&mut self, buffer: &wgpu::Buffer, from: u64, bytes: u64) {
        self.copies.push((buffer.clone(), from, bytes));
        self.bytes += bytes;
    }
}

/// Those supersteps that visit some of a traversal's pages; the others visit all.
fn partial(visits: &[(Direction, Visit)], traversal: bool) -> impl Iterator<Item = (Direction, Visit)> {
    visits.iter().copied().filter(move |&(_, visit)| match visit {
        Visit::All | Visit::None => false,
        Visit::Within(_) => true,
        Visit::Frontier | Visit::Without(_) => traversal,
    })
}

/// The sums of a vertex phase, or the census of a frontier: partial sums added up in the order of their vertices.
fn summary(totals: &[u8], traversal: bool) -> Summary {
    let mut summary = Summary::default();
    for partial in totals.chunks_exact(TOTAL_BYTES as usize) {
        if traversal {
            let partial: CensusTotal = bytemuck::pod_read_unaligned(partial);
            let wide = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
            summary.activated += wide(partial.vertices);
            summary.activated_edges += wide(partial.edges);
        } else {
            let sums: [f32; 4] = bytemuck::pod_read_unaligned(partial);
            summary.totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += f64::from(sum));
        }
    }
    summary
}

/// A small uniform with these bytes.
pub(super) fn uniform(gpu: &Gpu, bytes: &[u8]) -> Result<wgpu::Buffer> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = gpu.buffer("uniform", bytes.len() as u64, usage)?;
    gpu.queue().write_buffer(&buffer, 0, bytes);
    Ok(buffer)
}

/// Waits for a submission and reads the first bytes of a buffer that it has filled.
pub(super) fn read_buffer(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    bytes: u64,
) -> Result<Vec<u8>> {
    let range = 0..bytes.next_multiple_of(8);
    buffer.map_async(wgpu::MapMode::Read, range.clone(), |_| {});
    if !gpu.wait(submission, PATIENCE)? {
        return Err(gpu.health().lost("a superstep did not end").into());
    }
    let view = buffer.get_mapped_range(range);
    let view = view.map_err(|error| gpu.health().fault("readback", &format!("{error:?}")))?;
    let read = view[..bytes as usize].to_vec();
    drop(view);
    buffer.unmap();
    Ok(read)
}
