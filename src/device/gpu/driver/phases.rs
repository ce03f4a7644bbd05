//! Vertex phases of the parts of a superstep whose values are exchanged while lists are still read.

use super::context::Context;
use super::plan::Plan;
use super::superstep;
use crate::device::gpu::compose::layout::{self, Merge as MergeLayout, Step as StepLayout, WORKGROUP};
use crate::device::gpu::compose::{KernelName, Resource};
use crate::device::gpu::memory::plan::{TOTAL_BYTES, TOTALS_MAX};
use crate::error::Result;
use crate::model::algorithm::Visit;
use std::ops::Range;
use topostream_formats::Direction;
use wgpu::BufferUsages as Usage;

/// The vertex phases of a superstep's parts: superstep after superstep they are the same.
#[derive(Default)]
pub(super) struct Overlap {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Whether next values are the current values of the device's own vertices.
    pub current: bool,
}

/// The vertex phase of a part.
pub(super) struct Phase {
    /// The part's own vertices.
    pub vertices: Range<u64>,
    step: wgpu::Buffer,
    /// Its partial sums.
    pub totals: wgpu::Buffer,
    /// The number of workgroups.
    pub groups: u32,
}

impl Overlap {
    /// Whether the last superstep was made in parts.
    pub fn is_under_way(&self) -> bool {
        self.current
    }

    /// Another vertex phase sets the current values.
    pub fn forget_values(&mut self) {
        self.current = false;
    }

    /// Makes the vertex phases of parts with these vertices.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn prepare(&mut self, context: &Context, parts: &[Range<u64>]) -> Result<()> {
        if !self.phases.iter().map(|phase| &phase.vertices).eq(parts) {
            let most = TOTALS_MAX / parts.len() as u32;
            let phase = |vertices: &Range<u64>| Phase::new(context, vertices.clone(), most);
            self.phases = parts.iter().map(phase).collect::<Result<_>>()?;
        }
        Ok(())
    }
}

impl Phase {
    fn new(context: &Context, vertices: Range<u64>, groups_max: u32) -> Result<Self> {
        let gpu = &context.home.gpu;
        let step = gpu.buffer("step of a part", size_of::<StepLayout>() as u64, Usage::UNIFORM | Usage::COPY_DST)?;
        // The first block begins with a multiple of 64.
        let blocks = (vertices.end - vertices.start + 63).div_ceil(WORKGROUP.into());
        let groups = blocks.clamp(1, groups_max.into()) as u32;
        let totals = TOTAL_BYTES * u64::from(groups);
        let totals = gpu.buffer("totals of a part", totals, Usage::STORAGE | Usage::COPY_SRC)?;
        Ok(Self { vertices, step, totals, groups })
    }

    /// Adds the phase of this superstep to a plan.
    pub fn plan(&self, context: &Context, plan: &mut Plan<wgpu::Buffer>) {
        let step = superstep::step_of_part(context, &self.vertices);
        context.gpu().queue().write_buffer(&self.step, 0, bytemuck::bytes_of(&step));
        let kernel = context.dispatch(KernelName::VertexPhase, superstep::visits(context)[0]);
        let mut kernel = kernel.with(Resource::Step, &self.step).with(Resource::Totals, &self.totals);
        kernel.bound.extend(context.buffers.all_next().map(|(resource, next)| (resource, next.clone())));
        plan.run(kernel.sized(self.groups));
    }
}

/// Which values of a vertex are copied to which.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Copied {
    /// Current values become next ones.
    ToNext,
    /// Next values become current ones.
    ToCurrent,
}

/// Plans copies between the current and the next values of own vertices, of all attributes with
/// next ones. By a kernel: a copy on the compute queue
/// moves 100 GB/s. Up to three values before the first own one are copied too; lists read
/// what other devices' vertices have afterwards.
pub(super) fn copy_own(context: &Context, plan: &mut Plan<wgpu::Buffer>, copied: Copied) {
    let own = context.part.own.clone();
    for attribute in context.buffers.with_next() {
        let declared = context.declared.attributes[attribute];
        let next = context.buffers.next_spans(attribute, &own, context.plan.chunk_vertices_log2);
        for (current, next) in context.spans(attribute, &own).iter().zip(&next) {
            let words = current.words(&declared);
            let begin = (words.start / 4 * 4) as u32;
            let layout = MergeLayout {
                operation: layout::MERGE_REPLACE,
                kind: layout::WORDS_U32,
                words: words.end as u32 - begin,
                to: begin,
                begin,
                first_mask: u32::MAX,
                last_mask: u32::MAX,
                spare: 0,
            };
            let (from, to) = if copied == Copied::ToNext { (current, next) } else { (next, current) };
            let kernel = context.dispatch(KernelName::Merge, (Direction::Out, Visit::All));
            let kernel = kernel.told(Resource::Merge, &layout).with(Resource::Merged, to.buffer);
            plan.run(kernel.with(Resource::Received, from.buffer).sized(layout::merge_groups(layout.words)));
        }
    }
}
