//! Supersteps of a device that shares a run: the engine plans them and others exchange values with it, but the device
//! reads its pages by the tables of resident pages, as it would alone.

use super::super::context::Context;
use super::{DeviceLoop, Visited, visits};
use crate::device::gpu::memory::arena::Arena;
use crate::error::Result;
use crate::model::algorithm::Visit;
use crate::pages::fetch::PageRef;

impl DeviceLoop {
    /// Submits the edge kernels of the superstep that has begun, if it visits all lists of these pages, and if the arena
    /// has these pages of their topology and no others. Returns `None` if not.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn submit_pages(
        &mut self,
        context: &mut Context,
        (arena, rows, hubs): (&Arena, &wgpu::Buffer, &wgpu::Buffer),
        pages: &[PageRef],
    ) -> Result<Option<Visited>> {
        let visit = (context.step.direction, context.step.visit);
        let Some(direction) = pages.first().map(|page| page.direction) else { return Ok(None) };
        let scan = !context.declared.traversal && visit.1 == Visit::All;
        let grouped = context.topology(direction).is_grouped();
        if !scan || grouped || context.plan.loop_bytes == 0 || !context.plan.keeps_pages() {
            return Ok(None);
        }
        let visits = visits(context);
        let serves = self.resident.as_ref().is_some_and(|resident| resident.serves(context, arena, &visits));
        if !(serves && self.visited == pages) {
            self.visited.clear();
            if !pages.iter().all(|&page| arena.slot_of(page).is_some())
                || !(serves || self.describe_now(context, arena, &visits)?)
            {
                return Ok(None);
            }
            let of_topology = |resident: &super::Resident| -> usize {
                let places = resident.places.iter().filter(|place| place.direction == direction);
                places.map(|place| place.walked.pages as usize).sum()
            };
            if self.resident.as_ref().map(of_topology) != Some(pages.len()) {
                return Ok(None);
            }
            self.visited.extend_from_slice(pages);
        }
        self.sort(context, &[visit], true)?;
        let Some(resident) = &self.resident else { return Ok(None) };
        self.paced.submit_lists(context, (resident, rows, hubs), visit)?;
        let launches = resident.places.iter().filter(|place| place.direction == direction).count() as u64;
        let edges = pages.iter().map(|&page| context.edges(page)).sum();
        Ok(Some(Visited { pages: pages.len() as u64, edges, launches, done: None }))
    }
}
