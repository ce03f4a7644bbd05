//! Submissions of several supersteps: encoding and readback.

use super::super::context::Context;
use super::super::superstep;
use super::super::timing::DeviceSpan;
use super::super::writes::Writes;
use super::STEPS_MAX;
use super::dispatches::{PartOf, Planned, bind, is_listed, plan};
use super::resident::Resident;
use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::adapter::readback::{PATIENCE, READBACK};
use crate::device::gpu::compose::KernelName;
use crate::device::gpu::compose::layout::{
    Course, Dispatch, LISTED_EDGES_MAX, LOG_STEPS, Logged, MODE_QUEUED, MODE_WALKED, listed_bytes, lists_words,
    mark_bytes,
};
use crate::device::gpu::kernels::Kernel;
use crate::device::gpu::memory::plan::QueueRoom;
use crate::error::Result;
use crate::model::algorithm::{Step, Summary, Visit};
use std::collections::VecDeque;
use std::mem::offset_of;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use topostream_formats::Direction;
use wgpu::BufferUsages as Usage;

/// Maximum number of submissions in flight.
pub(super) const BATCHES: usize = 2;
/// Bytes of a log.
const LOG_BYTES: u64 = LOG_STEPS as u64 * size_of::<Logged>() as u64;
const _: () = assert!(STEPS_MAX as usize == LOG_STEPS);
pub(super) const COURSE_BYTES: u64 = size_of::<Course>() as u64;
/// The dispatches that end a superstep: the census or the vertex phase, and `decide`.
const END_PARTS: usize = 2;
/// Bytes of the timestamps of a submission.
const TIMES_BYTES: u64 = 2 * 8 * STEPS_MAX as u64;

/// A dispatch that is part of every superstep.
struct BoundDispatch {
    name: KernelName,
    part_of: PartOf,
    kernel: Arc<Kernel>,
    /// The visit, by index.
    visit: Option<u32>,
    /// Byte offset of its indirect arguments; none for a direct dispatch of one workgroup.
    arguments: Option<u64>,
    /// Bind groups of even and of odd supersteps.
    bound: [Vec<wgpu::BindGroup>; 2],
}

/// The buffers of a submission.
struct Ring {
    readback: wgpu::Buffer,
    times: Option<(wgpu::QuerySet, wgpu::Buffer)>,
}

/// The buffers that control which supersteps run, and the dispatches of a superstep.
pub(super) struct Control {
    course: wgpu::Buffer,
    arguments: wgpu::Buffer,
    /// The table that `decide` reads.
    dispatches: wgpu::Buffer,
    /// What is in it.
    table: Vec<Dispatch>,
    parts: Vec<BoundDispatch>,
    /// Workgroups of the census.
    totals: u32,
    visits: u32,
    /// A bit for each visit, set if all of its pages are in device memory.
    complete: u32,
    /// A bit for each visit whose supersteps may be over listed vertices.
    listed_visits: u32,
    /// The last part of `course`: a word for each resident page, then marks of vertices. Both are empty unless vertices
    /// are listed.
    stamps: Range<u64>,
    /// A word that is 1.
    one: wgpu::Buffer,
    rings: Vec<Ring>,
    next_ring: usize,
    /// Submissions encoded before the run began.
    encoded: VecDeque<Encoded>,
    period_ns: f64,
}

/// Consecutive supersteps of one submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// The number of the first one.
    pub superstep: u32,
    /// How many they are.
    pub count: u32,
    /// Whether it runs [listed](MODE_LISTED) ones only: it does nothing from the first other one on.
    pub only_listed: bool,
}

/// An encoded submission.
struct Encoded {
    steps: Steps,
    ring: usize,
    commands: wgpu::CommandBuffer,
}

/// A submission in flight.
pub(super) struct Batch {
    steps: Steps,
    ring: usize,
    submission: wgpu::SubmissionIndex,
    /// Whether the algorithm was done at its end, and whether a page was missing. Set when the log is read.
    outcome: std::cell::Cell<(bool, bool)>,
}

impl Batch {
    /// Its supersteps; it may run fewer.
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// Whether the algorithm was done at its end.
    pub fn done(&self) -> bool {
        self.outcome.get() == (true, false)
    }

    /// Whether the next superstep needs a page that is not in device memory.
    pub fn misses(&self) -> bool {
        self.outcome.get().1
    }
}

impl Control {
    /// Composes the kernels of all supersteps, and binds their buffers.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn new(
        context: &mut Context,
        (resident, rows): (&Resident, &wgpu::Buffer),
        visits: &[(Direction, Visit)],
    ) -> Result<Self> {
        let gpu = context.gpu();
        let storage = Usage::STORAGE | Usage::COPY_DST;
        let lists = visits.iter().any(|&visit| is_listed(context, resident, visit));
        let listed = |pages: u32| COURSE_BYTES + LOG_BYTES + listed_bytes(context.declared.traversal, pages.into());
        let stamps = if lists { listed(0)..listed(resident.pages) } else { 0..0 };
        let marks = if lists && context.lists_sets() { mark_bytes(context.graph.vertices) } else { 0 };
        // Without lists, one word makes the array that they are in.
        let bytes = (stamps.end + marks).max(COURSE_BYTES + LOG_BYTES + 16);
        let course = gpu.buffer("course", bytes, storage | Usage::COPY_SRC)?;
        let one = gpu.buffer("one", 4, Usage::COPY_SRC | Usage::COPY_DST)?;
        gpu.queue().write_buffer(&one, 0, bytemuck::bytes_of(&1u32));
        let rings = (0..BATCHES).map(|_| Ring::new(gpu)).collect::<Result<_>>()?;
        let period_ns = f64::from(gpu.queue().get_timestamp_period());
        let planned = plan(context, resident, visits);
        let bytes = (16 * planned.len() as u64).max(16);
        let arguments = context.gpu().buffer("arguments", bytes, storage | Usage::INDIRECT)?;
        let dispatches = context.gpu().buffer("dispatches", bytes, storage)?;
        let control = [&course, &arguments, &dispatches, rows];
        let mut parts = Vec::new();
        let mut indirect = 0;
        for planned in planned {
            let (part_of, Planned { name, visit, dispatch, pages }) = (planned.part_of(), planned);
            let arguments = dispatch.map(|_| 12 * indirect);
            indirect += u64::from(dispatch.is_some());
            let (kernel, bound) = bind(context, name, visit, pages, control)?;
            let visit = dispatch.map(|dispatch| dispatch.visit);
            parts.push(BoundDispatch { name, part_of, kernel, visit, arguments, bound });
        }
        let totals = superstep::groups(context);
        let mut control = Self {
            course,
            arguments,
            dispatches,
            table: Vec::new(),
            parts,
            totals,
            // The last one visits nothing.
            visits: visits.len() as u32 - 1,
            complete: 0,
            listed_visits: 0,
            stamps,
            one,
            rings,
            next_ring: 0,
            encoded: VecDeque::new(),
            period_ns,
        };
        control.update(context, resident, visits);
        Ok(control)
    }

    /// Sets the numbers of workgroups according to the tables of resident pages.
    pub fn update(&mut self, context: &Context, resident: &Resident, visits: &[(Direction, Visit)]) {
        self.table = plan(context, resident, visits).iter().filter_map(|one| one.dispatch).collect();
        context.gpu().queue().write_buffer(&self.dispatches, 0, bytemuck::cast_slice(&self.table));
        // Except for `Visit::All`, `absent` searches missing pages for visited lists.
        let complete = |(bit, &(direction, visit)): (usize, &(Direction, Visit))| {
            let complete = visit != Visit::All || resident.is_complete(context.topology(direction).direction());
            u32::from(complete) << bit
        };
        self.complete = visits.iter().enumerate().map(complete).sum();
        let listed =
            |(bit, &visit): (usize, &(Direction, Visit))| u32::from(is_listed(context, resident, visit)) << bit;
        self.listed_visits = visits.iter().enumerate().map(listed).sum();
    }

    /// Adds the state with which the device begins a superstep. False if any of its pages are missing.
    pub fn begin(
        &self,
        context: &Context,
        room: &QueueRoom,
        step: &Step,
        (visit, found): (u32, &Summary),
        writes: &mut Writes,
    ) -> bool {
        let (vertices, edges) = (found.activated, found.activated_edges);
        let queued = context.declared.traversal
            && step.visit == Visit::Frontier
            && vertices <= u64::from(room.vertices)
            && edges <= u64::from(room.edges);
        if !queued && self.complete >> visit & 1 == 0 {
            return false;
        }
        // Of a set, the number is not known yet.
        let few = match context.declared.traversal {
            true => vertices.max(edges) <= LISTED_EDGES_MAX.into(),
            false => step.visit != Visit::All,
        };
        let course = Course {
            visit,
            mode: if queued { MODE_QUEUED } else { MODE_WALKED },
            queue_vertices_max: room.vertices,
            queue_edges_max: room.edges,
            dispatches: self.table.len() as u32,
            totals: self.totals,
            visits: self.visits,
            complete: self.complete,
            vertices: u32::MAX,
            listing: u32::from(self.listed_visits != 0 && few),
            listed_visits: self.listed_visits,
            marks: lists_words(context.declared.traversal) + ((self.stamps.end - self.stamps.start) / 4) as u32,
            ..Course::default()
        };
        let groups: Vec<[u32; 3]> = self.table.iter().map(|one| one.groups(visit, queued, vertices, edges)).collect();
        writes.add(&self.course, 0, bytemuck::bytes_of(&course));
        writes.add(&self.arguments, 0, bytemuck::cast_slice(&groups));
        true
    }

    /// Commands to clear the marks of vertices before the first superstep, if there are any.
    pub fn clear_marks(&self, context: &Context) -> Option<wgpu::CommandBuffer> {
        (self.stamps.end > 0 && context.lists_sets()).then(|| {
            let mut encoder = context.encoder();
            encoder.clear_buffer(&self.course, self.stamps.end, None);
            encoder.finish()
        })
    }

    /// Encodes one submission for each element of `steps`, with that many supersteps, from superstep 0 on.
    pub fn prepare(&mut self, context: &Context, counts: &[u32]) {
        let mut superstep = 0;
        for &count in counts {
            let encoded = self.encode(context, Steps { superstep, count, only_listed: false });
            self.encoded.push_back(encoded);
            superstep += count;
        }
    }

    /// Submits supersteps. `first` goes before them.
    pub fn submit(&mut self, context: &Context, first: Option<wgpu::CommandBuffer>, steps: Steps) -> Batch {
        let same = |one: &Encoded| one.steps == steps;
        let encoded = match self.encoded.pop_front().filter(same) {
            Some(encoded) => encoded,
            None => {
                self.encoded.clear();
                self.encode(context, steps)
            }
        };
        let Encoded { ring, commands, .. } = encoded;
        let submission = context.gpu().queue().submit(first.into_iter().chain([commands]));
        self.rings[ring].readback.map_async(wgpu::MapMode::Read, .., |_| {});
        Batch { steps, ring, submission, outcome: std::cell::Cell::default() }
    }

    /// Encodes supersteps and the readback of their log.
    fn encode(&mut self, context: &Context, steps: Steps) -> Encoded {
        let Steps { superstep, count, only_listed } = steps;
        let ring = self.next_ring;
        self.next_ring = (ring + 1) % self.rings.len();
        let Ring { readback, times } = &self.rings[ring];
        let mut encoder = context.encoder();
        encoder.clear_buffer(&self.course, offset_of!(Course, logged) as u64, Some(4));
        let switch = offset_of!(Course, only_listed) as u64;
        match only_listed {
            true => encoder.copy_buffer_to_buffer(&self.one, 0, &self.course, switch, 4),
            false => encoder.clear_buffer(&self.course, switch, Some(4)),
        }
        if self.listed_visits != 0 {
            // An earlier run may have counted pages in supersteps with the same numbers.
            let Range { start, end } = self.stamps;
            encoder.clear_buffer(&self.course, start, Some(end - start));
        }
        let inside = context.gpu().caps().pass_timestamps;
        let passes = if inside { 1 } else { count };
        for at in 0..passes {
            let timestamp_writes =
                times.as_ref().filter(|_| !inside).map(|(set, _)| wgpu::ComputePassTimestampWrites {
                    query_set: set,
                    beginning_of_pass_write_index: Some(2 * at),
                    end_of_pass_write_index: Some(2 * at + 1),
                });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            let inside = times.as_ref().filter(|_| inside);
            inside.iter().for_each(|(set, _)| pass.write_timestamp(set, 0));
            for here in 0..count / passes {
                self.encode_step(&mut pass, superstep.wrapping_add(at + here), only_listed);
                inside.iter().for_each(|(set, _)| pass.write_timestamp(set, here + 1));
            }
        }
        encoder.copy_buffer_to_buffer(&self.course, 0, readback, 0, COURSE_BYTES + LOG_BYTES);
        if let Some((set, resolved)) = times {
            encoder.resolve_query_set(set, 0..2 * count, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, readback, COURSE_BYTES + LOG_BYTES, 16 * u64::from(count));
        }
        Encoded { steps, ring, commands: encoder.finish() }
    }

    /// Encodes the dispatches of one superstep.
    fn encode_step(&self, pass: &mut wgpu::ComputePass<'_>, superstep: u32, only_listed: bool) {
        let other = if only_listed { PartOf::Every } else { PartOf::OnlyListed };
        let parts = self.parts.iter().filter(|part| part.part_of != other);
        parts.for_each(|part| self.encode_parts(pass, superstep, slice::from_ref(part)));
    }

    /// The state of the superstep.
    pub fn course(&self) -> &wgpu::Buffer {
        &self.course
    }

    /// Encodes the dispatches over the lists that a superstep visits. No page may be missing.
    pub fn encode_lists(&self, pass: &mut wgpu::ComputePass<'_>, superstep: u32, visit: u32) {
        let lists = &self.parts[..self.parts.len() - END_PARTS];
        let of_visit = |part: &&BoundDispatch| part.name != KernelName::Absent && part.visit == Some(visit);
        lists.iter().filter(of_visit).for_each(|part| self.encode_parts(pass, superstep, slice::from_ref(part)));
    }

    /// Visits for which the device has to check whether pages are missing.
    fn checked(&self) -> impl Iterator<Item = u32> {
        let absent = |visit: &u32| self.absent(*visit).next().is_some();
        (0..=self.visits).filter(absent)
    }

    fn absent(&self, visit: u32) -> impl Iterator<Item = &BoundDispatch> {
        self.parts.iter().filter(move |part| part.name == KernelName::Absent && part.visit == Some(visit))
    }

    /// Bytes that [`encode_check`](Self::encode_check) writes.
    pub fn check_bytes(&self) -> u64 {
        4 * self.checked().count() as u64
    }

    /// Encodes the search for missing pages that a superstep would visit, for each of its possible visits.
    pub fn encode_check(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        superstep: u32,
        (readback, at): (&wgpu::Buffer, u64),
    ) {
        let missing = offset_of!(Course, missing) as u64;
        for (number, visit) in self.checked().enumerate() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for BoundDispatch { kernel, arguments, bound, .. } in self.absent(visit) {
                let entry = arguments.expect("it has a dispatch") / 12;
                let bound = &bound[(superstep % 2) as usize];
                kernel.dispatch_groups_in(&mut pass, bound, self.table[entry as usize].x);
            }
            drop(pass);
            encoder.copy_buffer_to_buffer(&self.course, missing, readback, at + 4 * number as u64, 4);
            encoder.clear_buffer(&self.course, missing, Some(4));
        }
    }

    /// A bit for each visit that needs a missing page, from what [`encode_check`](Self::encode_check) has written.
    pub fn missing(&self, read: &[u8]) -> u32 {
        let found = self.checked().zip(read.chunks_exact(4));
        let found = found.filter(|(_, word)| word.iter().any(|byte| *byte != 0));
        found.fold(!self.complete, |missing, (visit, _)| missing | 1 << visit)
    }

    /// Encodes the census of a superstep.
    pub fn encode_census(&self, pass: &mut wgpu::ComputePass<'_>, superstep: u32) {
        let census = self.parts.len() - END_PARTS;
        self.encode_parts(pass, superstep, &self.parts[census..=census]);
    }

    fn encode_parts(&self, pass: &mut wgpu::ComputePass<'_>, superstep: u32, parts: &[BoundDispatch]) {
        for BoundDispatch { kernel, arguments, bound, .. } in parts {
            let arguments = arguments.map(|offset| (&self.arguments, offset));
            kernel.dispatch_in(pass, &bound[(superstep % 2) as usize], arguments);
        }
    }

    /// Waits for a submission; returns its log and, if the device has timestamps, the spans of its supersteps.
    ///
    /// # Errors
    /// Device errors.
    pub fn read(&mut self, context: &Context, batch: &Batch) -> Result<(Vec<Logged>, Vec<DeviceSpan>)> {
        let gpu = context.gpu();
        if !gpu.wait(batch.submission.clone(), PATIENCE)? {
            return Err(gpu.health().lost("a superstep did not end").into());
        }
        let Ring { readback, times } = &self.rings[batch.ring];
        let view = readback.get_mapped_range(..);
        let view = view.map_err(|error| gpu.health().fault("readback", &format!("{error:?}")))?;
        let bytes: Vec<u8> = view.to_vec();
        drop(view);
        readback.unmap();
        let course: Course = bytemuck::pod_read_unaligned(&bytes[..COURSE_BYTES as usize]);
        batch.outcome.set((course.done != 0, course.missing != 0));
        let log = &bytes[COURSE_BYTES as usize..(COURSE_BYTES + LOG_BYTES) as usize];
        let log: Vec<Logged> = log
            .chunks_exact(size_of::<Logged>())
            .take(course.logged as usize)
            .map(bytemuck::pod_read_unaligned)
            .collect();
        if times.is_none() {
            return Ok((log, Vec::new()));
        }
        let ticks = bytes[(COURSE_BYTES + LOG_BYTES) as usize..].chunks_exact(8);
        let ns: Vec<f64> =
            ticks.map(|tick| bytemuck::pod_read_unaligned::<u64>(tick) as f64 * self.period_ns).collect();
        // One timestamp between two supersteps, or two for each.
        let step = if gpu.caps().pass_timestamps { 1 } else { 2 };
        let span = |at: usize| DeviceSpan { name: "superstep", begin_ns: ns[at * step], end_ns: ns[at * step + 1] };
        let spans = (0..log.len()).map(span).collect();
        Ok((log, spans))
    }
}

impl Ring {
    fn new(gpu: &Gpu) -> Result<Self> {
        let readback = gpu.buffer("log", COURSE_BYTES + LOG_BYTES + TIMES_BYTES, READBACK)?;
        let times = gpu.caps().timestamps.then(|| {
            let (label, ty) = (Some("times of supersteps"), wgpu::QueryType::Timestamp);
            let set = wgpu::QuerySetDescriptor { label, ty, count: 2 * STEPS_MAX };
            let usage = Usage::QUERY_RESOLVE | Usage::COPY_SRC;
            let resolved = wgpu::BufferDescriptor { label, size: TIMES_BYTES, usage, mapped_at_creation: false };
            (gpu.device().create_query_set(&set), gpu.device().create_buffer(&resolved))
        });
        Ok(Self { readback, times })
    }
}
