//! Launches: batches of ready pages, one dispatch each.

use super::Message;
use super::batch::{BatchTable, Job, Place};
use super::compose::{KernelName, ModuleOptions, Resource};
use super::driver::{Driver, Launch};
use super::kernels::Kernel;
use crate::device::settings::Distribution;
use crate::error::Result;
use crate::model::algorithm::Visit;
use crate::model::attributes::Role;
use std::sync::Arc;
use topostream_formats::{Direction, Topology};

impl Driver {
    pub(super) fn launch(&mut self) -> Result<()> {
        while !self.free_rings.is_empty() {
            // The buffer with most to do goes first.
            let Some((&place, _)) = self.ready.iter().max_by_key(|(_, jobs)| jobs.len()) else { return Ok(()) };
            let jobs = self.ready.get_mut(&place).expect("just seen");
            let count = jobs.len().min(self.home.settings.batch_pages as usize);
            let batch: Vec<Job> = jobs.drain(..count).collect();
            if jobs.is_empty() {
                self.ready.remove(&place);
            }
            self.launch_batch(place, batch)?;
        }
        Ok(())
    }

    fn launch_batch(&mut self, place: Place, mut jobs: Vec<Job>) -> Result<()> {
        let ring = self.free_rings.pop().expect("asked by the caller");
        let table = self.table(place, &mut jobs);
        let mut encoder = self.home.gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.encode_copies(&mut encoder, &jobs);
        self.home.gpu.queue().write_buffer(&self.batch_buffers[ring], 0, &table.bytes());
        let (x, y) = table.groups();
        if x > 0 {
            let segments = self.distribution(place) == Distribution::Segments;
            let name = if segments { KernelName::Segments } else { KernelName::Lists };
            if !segments {
                // The count; the room for entries stands behind it.
                encoder.clear_buffer(&self.hubs.0, 0, Some(4));
            }
            self.encode(&mut encoder, name, place, ring, (x, y))?;
            if !segments && table.hub_groups() > 0 {
                self.encode(&mut encoder, KernelName::Hubs, place, ring, (table.hub_groups(), 1))?;
            }
        }
        self.launched += 1;
        self.transfer.batches += 1;
        let (number, messages) = (self.launched, self.messages.clone());
        self.home.gpu.queue().submit([encoder.finish()]);
        self.home.gpu.queue().on_submitted_work_done(move || drop(messages.send(Message::Completed(number))));
        self.launches.push_back(Launch { number, ring, jobs });
        Ok(())
    }

    /// Describes a batch, and uploads the unit rows that are new.
    fn table(&mut self, place: Place, jobs: &mut [Job]) -> BatchTable {
        let mut table = BatchTable::new(self.distribution(place), self.algorithm.needs_weights());
        for job in jobs {
            let topology = self.store.topology(job.page.direction).expect("pages of topologies that exist");
            let entry = topology.directory().entries()[job.page.page.index()];
            let degree = if entry.run == 0 { 0 } else { topology.directory().run_degree(job.page.page) };
            let (offset, place) = match (&job.slot, &job.frame) {
                (Some(slot), _) => (u64::from(slot.index) * self.plan.slot_bytes, slot.number),
                (None, Some(frame)) => (self.frame_place(frame.index()).1, self.plan.slots + frame.index()),
                (None, None) => unreachable!("a job has a slot or a frame"),
            };
            let row = u64::from(place) * self.plan.row_words;
            if let Some(words) = job.row.take() {
                self.home.gpu.queue().write_buffer(self.home.rows(), 4 * row, bytemuck::cast_slice(&words));
                if job.slot.is_none() {
                    self.home.frame_rows[(place - self.plan.slots) as usize] = Some(job.page);
                }
            }
            if job.slot.is_none() {
                self.transfer.in_place_bytes += self.plan.slot_bytes;
            }
            table.add(&entry, offset, row, degree);
        }
        table
    }

    /// Copies pages that have a slot but are still in their frames, before the kernel of the same launch.
    fn encode_copies(&mut self, encoder: &mut wgpu::CommandEncoder, jobs: &[Job]) {
        let bytes = self.plan.slot_bytes;
        let arena = self.home.arena.as_ref().expect("prepared with the run");
        for job in jobs {
            let (Some(frame), Some(slot)) = (&job.frame, &job.slot) else { continue };
            let (dest, to) = (&arena.buffers()[slot.buffer as usize], arena.offset(slot));
            match &self.home.import {
                Some((_, import)) => {
                    let (chunk, from) = import.locate(u64::from(frame.index()) * bytes);
                    encoder.copy_buffer_to_buffer(&import.chunks()[chunk], from, dest, to, bytes);
                }
                None => {
                    let size = std::num::NonZeroU64::new(bytes).expect("pages have bytes");
                    if let Some(mut view) = self.home.gpu.queue().write_buffer_with(dest, to, size) {
                        let page = frame.page();
                        view.slice(..page.len()).copy_from_slice(page);
                        view.slice(page.len()..).copy_from_slice(frame.weights());
                    }
                }
            }
            self.transfer.copied_bytes += bytes;
        }
    }

    /// Encodes one pass of a kernel over a batch.
    fn encode(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        name: KernelName,
        place: Place,
        ring: usize,
        groups: (u32, u32),
    ) -> Result<()> {
        let in_place = matches!(place, Place::Frames(_));
        let kernel = self.kernel(name, self.step.direction, self.step.visit, in_place)?;
        for group in 0..kernel.groups() {
            let key = (name, group, place, ring);
            if !self.groups.contains_key(&key) {
                let made = self.bind(&kernel, group, place, ring);
                self.groups.insert(key, made);
            }
        }
        let bound: Vec<_> = (0..kernel.groups()).map(|group| &self.groups[&(name, group, place, ring)]).collect();
        let stamps = self.timing.next(&self.home.gpu, name.name());
        dispatch_pass(encoder, &kernel, &bound, groups, stamps);
        Ok(())
    }

    fn bind(&self, kernel: &Kernel, group: u32, place: Place, ring: usize) -> wgpu::BindGroup {
        let graph = self.home.graph.as_ref().expect("prepared with the run");
        kernel.bind(&self.home.gpu, group, |resource| match resource {
            Resource::Pages => match place {
                Place::Arena(buffer) => &self.home.arena.as_ref().expect("prepared").buffers()[buffer as usize],
                Place::Frames(chunk) => &self.home.import.as_ref().expect("prepared").1.chunks()[chunk as usize],
            },
            Resource::Batch => &self.batch_buffers[ring],
            Resource::Rows => self.home.rows(),
            Resource::HubQueue => &self.hubs.0,
            other => self.buffers.find(graph, self.step.superstep, self.step.direction, other),
        })
    }

    /// A kernel of this run.
    pub(super) fn kernel(
        &mut self,
        name: KernelName,
        direction: Direction,
        visit: Visit,
        in_place: bool,
    ) -> Result<Arc<Kernel>> {
        let options = ModuleOptions { in_place, ..self.options(direction, visit) };
        self.home.kernels.get(&self.home.gpu, &self.declared, name, &options)
    }

    fn options(&self, direction: Direction, visit: Visit) -> ModuleOptions {
        let (caps, manifest) = (self.home.gpu.caps(), self.store.manifest());
        let held = self.part.held(Role::Own);
        ModuleOptions {
            encoding: manifest.encoding,
            page_bytes: manifest.page_bytes,
            weights: self.algorithm.needs_weights(),
            direction,
            visit,
            grouped: self.store.topology(direction).is_some_and(Topology::is_grouped),
            attribute_chunk_vertices_log2: self.plan.chunk_vertices_log2,
            vertices: self.graph.vertices,
            sharded: self.part.sharded,
            held_vertices: held.end - held.start,
            float_atomics: caps.float_atomics,
            wide_integers: caps.wide_atomics,
            in_place: false,
            loops_limited: caps.loops_limited,
            subgroups: caps.subgroups,
        }
    }

    pub(super) fn completed(&mut self, number: u64) {
        let Some(at) = self.launches.iter().position(|launch| launch.number == number) else { return };
        let Launch { ring, jobs, .. } = self.launches.remove(at).expect("just found");
        self.free_rings.push(ring);
        let policy = self.policy;
        let mut done = Vec::new();
        for mut job in jobs {
            done.extend(self.release(&mut job));
            if let Some(slot) = job.slot {
                self.arena().put_back(job.page, slot, policy);
            }
        }
        if !done.is_empty() {
            self.done.send(Some(done)).ok();
        }
    }

    /// What a superstep leaves behind for the next: nothing that is bound to its buffers.
    pub(super) fn forget_groups(&mut self) {
        self.groups.clear();
    }
}

/// One dispatch in a pass of its own, timed where there are places for its times.
pub(super) fn dispatch_pass(
    encoder: &mut wgpu::CommandEncoder,
    kernel: &Kernel,
    bound: &[&wgpu::BindGroup],
    (x, y): (u32, u32),
    stamps: Option<(&wgpu::QuerySet, u32, u32)>,
) {
    let timestamp_writes = stamps.map(|(query_set, begin, end)| wgpu::ComputePassTimestampWrites {
        query_set,
        beginning_of_pass_write_index: Some(begin),
        end_of_pass_write_index: Some(end),
    });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
    pass.set_pipeline(&kernel.pipeline);
    bound.iter().enumerate().for_each(|(group, bound)| pass.set_bind_group(group as u32, *bound, &[]));
    pass.dispatch_workgroups(x, y, 1);
}
