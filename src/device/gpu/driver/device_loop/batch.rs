//! Submissions of several supersteps that the device runs by itself: their plans, and their logs.

use super::super::context::Context;
use super::super::executor::{Encoded, Read, Submitted};
use super::super::plan::{Dispatch, Pass, Plan, Size, Work};
use super::super::timing::DeviceSpan;
use super::super::writes::Writes;
use super::dispatches::{self, Controls, PartOf, StepDispatch, is_listed};
use super::resident::Resident;
use super::suits::facts;
use crate::device::gpu::compose::KernelName;
use crate::device::gpu::compose::layout::{
    self, Course, LISTED_EDGES_MAX, LOG_STEPS, Logged, MODE_QUEUED, MODE_WALKED, listed_bytes, lists_words, mark_bytes,
};
use crate::device::gpu::memory::plan::QueueRoom;
use crate::error::Result;
use crate::model::algorithm::{Step, Summary, Visit};
use std::collections::VecDeque;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::Direction;
use wgpu::BufferUsages as Usage;

/// The name of a superstep's kernels.
const SUPERSTEP: &str = "superstep";
/// Maximum number of submissions in flight.
pub(super) const BATCHES: usize = 2;
/// Maximum number of supersteps of a submission.
pub(super) const STEPS_MAX: u32 = 64;
/// Bytes of a log.
const LOG_BYTES: u64 = LOG_STEPS as u64 * size_of::<Logged>() as u64;
const _: () = assert!(STEPS_MAX as usize == LOG_STEPS);
pub(super) const COURSE_BYTES: u64 = size_of::<Course>() as u64;

/// Kernels that passes share.
type Kernels = Arc<[Dispatch<wgpu::Buffer>]>;

/// The buffers that control which supersteps run, and the dispatches of a superstep.
pub(super) struct Control {
    buffers: Controls<wgpu::Buffer>,
    /// What is in the table that `decide` reads.
    table: Vec<layout::Dispatch>,
    parts: Vec<StepDispatch<wgpu::Buffer>>,
    /// The kernels of even and of odd supersteps: of any, and of listed ones only.
    kernels: [[Kernels; 2]; 2],
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
    /// Submissions encoded before the run began.
    encoded: VecDeque<(Steps, Encoded)>,
}

/// Consecutive supersteps of one submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// The number of the first one.
    pub superstep: u32,
    /// How many they are.
    pub count: u32,
    /// Whether it runs [listed](layout::MODE_LISTED) ones only: it does nothing from the first other one on.
    pub only_listed: bool,
}

/// A submission in flight.
pub(super) struct Batch {
    /// Its supersteps; it may run fewer.
    pub steps: Steps,
    submitted: Submitted,
}

/// What a submission has done.
pub(super) struct Log {
    /// The supersteps that ran.
    pub logged: Vec<Logged>,
    /// Their times, if the device has timestamps.
    pub spans: Vec<DeviceSpan>,
    /// Whether the algorithm was done at its end.
    pub done: bool,
    /// Whether the next superstep needs a page that is not in device memory.
    pub misses: bool,
}

impl Control {
    /// Makes the plan of a superstep.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn new(
        context: &Context,
        (resident, rows): (&Resident, &wgpu::Buffer),
        visits: &[(Direction, Visit)],
    ) -> Result<Self> {
        let (gpu, facts, pages) = (context.gpu(), facts(context), resident.all());
        let storage = Usage::STORAGE | Usage::COPY_DST;
        let lists = visits.iter().any(|&visit| is_listed(&facts, pages, visit));
        let listed = |pages: u32| COURSE_BYTES + LOG_BYTES + listed_bytes(context.declared.traversal, pages.into());
        let stamps = if lists { listed(0)..listed(resident.pages) } else { 0..0 };
        let marks = if lists && context.lists_sets() { mark_bytes(context.graph.vertices) } else { 0 };
        // Without lists, one word makes the array that they are in.
        let bytes = (stamps.end + marks).max(COURSE_BYTES + LOG_BYTES + 16);
        let course = gpu.buffer("course", bytes, storage | Usage::COPY_SRC)?;
        let one = gpu.buffer("one", 4, Usage::COPY_SRC | Usage::COPY_DST)?;
        gpu.queue().write_buffer(&one, 0, bytemuck::bytes_of(&1u32));
        let planned = dispatches::plan(&facts, pages, visits);
        let bytes = (16 * planned.len() as u64).max(16);
        let arguments = gpu.buffer("arguments", bytes, storage | Usage::INDIRECT)?;
        let buffers =
            Controls { course, arguments, dispatches: gpu.buffer("dispatches", bytes, storage)?, rows: rows.clone() };
        let parts = dispatches::bound(&planned, &buffers);
        let kernels = [0, 1].map(|odd| {
            [PartOf::OnlyListed, PartOf::Every].map(|other| {
                let parts = parts.iter().filter(|part| part.part_of != other);
                parts.map(|part| part.in_superstep(odd)).collect()
            })
        });
        let mut control = Self {
            buffers,
            table: Vec::new(),
            parts,
            kernels,
            totals: facts.groups,
            // The last one visits nothing.
            visits: visits.len() as u32 - 1,
            complete: 0,
            listed_visits: 0,
            stamps,
            one,
            encoded: VecDeque::new(),
        };
        control.update(context, resident, visits);
        Ok(control)
    }

    /// Sets the numbers of workgroups according to the tables of resident pages.
    pub fn update(&mut self, context: &Context, resident: &Resident, visits: &[(Direction, Visit)]) {
        let (facts, pages) = (facts(context), resident.all());
        self.table = dispatches::plan(&facts, pages, visits).iter().filter_map(|one| one.dispatch).collect();
        context.gpu().queue().write_buffer(&self.buffers.dispatches, 0, bytemuck::cast_slice(&self.table));
        // Except for `Visit::All`, `absent` searches missing pages for visited lists.
        let complete = |(bit, &(direction, visit)): (usize, &(Direction, Visit))| {
            let complete = visit != Visit::All || resident.is_complete(context.topology(direction).direction());
            u32::from(complete) << bit
        };
        self.complete = visits.iter().enumerate().map(complete).sum();
        let listed = |(bit, &visit): (usize, &(Direction, Visit))| u32::from(is_listed(&facts, pages, visit)) << bit;
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
        writes.add(&self.buffers.course, 0, bytemuck::bytes_of(&course));
        writes.add(&self.buffers.arguments, 0, bytemuck::cast_slice(&groups));
        true
    }

    /// Commands to clear the marks of vertices before the first superstep, if there are any.
    ///
    /// # Errors
    /// Device errors.
    pub fn clear_marks(&self, context: &mut Context) -> Result<Option<Encoded>> {
        let mut plan = Plan::default();
        plan.work.push(Work::Clear(self.buffers.course.clone(), self.stamps.end, None));
        let has_marks = self.stamps.end > 0 && context.lists_sets();
        has_marks.then(|| context.encode(&plan)).transpose()
    }

    /// Encodes one submission for each element of `steps`, with that many supersteps, from superstep 0 on.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn prepare(&mut self, context: &mut Context, counts: &[u32]) -> Result<()> {
        let mut superstep = 0;
        for &count in counts {
            let steps = Steps { superstep, count, only_listed: false };
            self.encoded.push_back((steps, context.encode(&self.plan(steps))?));
            superstep += count;
        }
        Ok(())
    }

    /// Submits supersteps. `first` goes before them.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn submit(&mut self, context: &mut Context, first: Option<Encoded>, steps: Steps) -> Result<Batch> {
        let encoded = match self.encoded.pop_front().filter(|(encoded, _)| *encoded == steps) {
            Some((_, encoded)) => encoded,
            None => {
                self.encoded.clear();
                context.encode(&self.plan(steps))?
            }
        };
        Ok(Batch { steps, submitted: context.submit(first.into_iter().chain([encoded])) })
    }

    /// The plan of supersteps, and of reading their log.
    fn plan(&self, steps: Steps) -> Plan<wgpu::Buffer> {
        let Steps { superstep, count, only_listed } = steps;
        let (mut plan, course) = (Plan { times: true, ..Plan::default() }, &self.buffers.course);
        plan.clear_bytes(course, offset_of!(Course, logged) as u64, 4);
        let switch = offset_of!(Course, only_listed) as u64;
        match only_listed {
            true => plan.copy((&self.one, 0), (course, switch), 4),
            false => plan.clear_bytes(course, switch, 4),
        }
        if self.listed_visits != 0 {
            // An earlier run may have counted pages in supersteps with the same numbers.
            plan.clear_bytes(course, self.stamps.start, self.stamps.end - self.stamps.start);
        }
        for at in 0..count {
            let odd = superstep.wrapping_add(at) % 2;
            let kernels = Arc::clone(&self.kernels[odd as usize][usize::from(only_listed)]);
            plan.work.push(Work::Pass(Pass { name: Some(SUPERSTEP), joined: true, kernels }));
        }
        plan.read(course, 0, COURSE_BYTES + LOG_BYTES);
        plan
    }

    /// The state of the superstep.
    pub fn course(&self) -> &wgpu::Buffer {
        &self.buffers.course
    }

    /// The kernels over the lists that a superstep visits. No page may be missing.
    pub fn lists(&self, superstep: u32, visit: u32) -> Vec<Dispatch<wgpu::Buffer>> {
        dispatches::lists(&self.parts, superstep, visit)
    }

    /// The census of a superstep.
    pub fn census(&self, superstep: u32) -> Dispatch<wgpu::Buffer> {
        dispatches::census(&self.parts, superstep)
    }

    /// Visits for which the device has to check whether pages are missing.
    fn checked(&self) -> impl Iterator<Item = u32> {
        (0..=self.visits).filter(|&visit| self.absent(visit).next().is_some())
    }

    fn absent(&self, visit: u32) -> impl Iterator<Item = &StepDispatch<wgpu::Buffer>> {
        self.parts.iter().filter(move |part| part.kernel.kernel == KernelName::Absent && part.is_of(visit))
    }

    /// Plans the search for missing pages that a superstep would visit, for each of its possible visits.
    pub fn plan_check(&self, plan: &mut Plan<wgpu::Buffer>, superstep: u32) {
        let missing = offset_of!(Course, missing) as u64;
        for visit in self.checked() {
            let absent = |part: &StepDispatch<wgpu::Buffer>| {
                let (entry, _) = part.entry.expect("it has a dispatch");
                Dispatch { size: Size::from(self.table[entry].x), ..part.in_superstep(superstep) }
            };
            plan.pass(None, self.absent(visit).map(absent).collect());
            plan.read(self.course(), missing, 4);
            plan.clear_bytes(self.course(), missing, 4);
        }
    }

    /// A bit for each visit that needs a missing page, from what is read after [`plan_check`](Self::plan_check).
    pub fn missing(&self, read: &[u8]) -> u32 {
        let found = self.checked().zip(read.chunks_exact(4));
        let found = found.filter(|(_, word)| word.iter().any(|byte| *byte != 0));
        found.fold(!self.complete, |missing, (visit, _)| missing | 1 << visit)
    }
}

impl Batch {
    /// Waits for a submission.
    ///
    /// # Errors
    /// Device errors.
    pub fn read(self, context: &mut Context) -> Result<Log> {
        let Read { bytes, mut spans } = context.read_later(self.submitted)?;
        let (course, log) = bytes.split_at(COURSE_BYTES as usize);
        let course: Course = bytemuck::pod_read_unaligned(course);
        let log = log.chunks_exact(size_of::<Logged>()).take(course.logged as usize);
        let logged: Vec<Logged> = log.map(bytemuck::pod_read_unaligned).collect();
        spans.retain(|span| span.name == SUPERSTEP);
        spans.truncate(logged.len());
        let misses = course.missing != 0;
        Ok(Log { logged, spans, done: course.done != 0 && !misses, misses })
    }
}
