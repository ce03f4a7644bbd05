//! Supersteps over all lists, which the host chooses: the driver, if the device is alone, or else the engine, which
//! plans supersteps of devices that exchange values. They read pages by the tables of resident pages.

use super::super::context::Context;
use super::super::plan::Plan;
use super::super::superstep;
use super::super::tally::Tally;
use super::paced::{Over, plan_lists};
use super::residency::{DeviceLoop, Goal, Residency};
use super::suits::{is_alone, suits};
use crate::device::gpu::memory::arena::Arena;
use crate::device::{PageWork, StepEnd, Transfer};
use crate::error::Result;
use crate::model::algorithm::{Step, Visit};
use crate::pages::fetch::PageRef;
use std::ops::Range;
use topostream_formats::Direction;

/// The pages of a superstep.
#[derive(Default)]
pub struct Visited {
    /// Number of pages.
    pub pages: u64,
    /// Number of neighbours in them.
    pub edges: u64,
    /// Number of buffers that hold them: one launch each.
    pub launches: u64,
    /// The end of the superstep, if it is complete, and the maximum number of parts of long lists in a launch.
    pub done: Option<(StepEnd, u32)>,
}

impl From<Visited> for Tally {
    fn from(visited: Visited) -> Self {
        let work = PageWork { edges: visited.edges, ..PageWork::default() };
        let Visited { pages: resident_pages, launches: batches, .. } = visited;
        Self { work, transfer: Transfer { resident_pages, batches, ..Transfer::default() }, copies: Vec::new() }
    }
}

impl DeviceLoop {
    /// Submits the edge kernels of a superstep that visits all lists, or none, of an algorithm with a vertex phase.
    /// None if any of its pages are not in device memory.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn submit(
        &mut self,
        context: &mut Context,
        (arena, rows, hubs): (&Arena, &wgpu::Buffer, &wgpu::Buffer),
        step: &Step,
    ) -> Result<Option<Visited>> {
        let all = matches!(step.visit, Visit::All | Visit::None);
        if !self.asked || context.declared.traversal || !all || !is_alone(context) || context.plan.loop_bytes == 0 {
            return Ok(None);
        }
        if step.visit == Visit::None && !superstep::partial(context).is_empty() {
            superstep::begin(context, step);
            return Ok(Some(Visited::default()));
        }
        // What the device can run by itself it would have run.
        if suits(context) {
            return Ok(None);
        }
        if !self.describe(context, arena)? {
            return Ok(None);
        }
        self.sort(context, &[(step.direction, step.visit)], false)?;
        let direction = context.topology(step.direction).direction();
        self.enter(context, Goal::Paced, None)?;
        let Residency::Paced(resident, paced) = &mut self.residency else { return Ok(None) };
        if !resident.is_complete(direction) {
            return Ok(None);
        }
        let (resident, launches) = (&*resident, resident.launches(direction));
        let over = (resident, rows, hubs);
        // Which pages a visit of a set needs is known at the end of the superstep.
        let done = if superstep::partial(context).is_empty() {
            Some(paced.run(context, over, step)?)
        } else {
            superstep::begin(context, step);
            let all = 0..resident.parts().count();
            submit_lists(context, over, ((step.direction, step.visit), all))?;
            None
        };
        if step.visit == Visit::None {
            return Ok(Some(Visited { done, ..Visited::default() }));
        }
        let entries = context.topology(step.direction).directory().entries();
        let edges = entries.iter().map(|entry| u64::from(entry.edge_count)).sum();
        Ok(Some(Visited { pages: entries.len() as u64, edges, launches, done }))
    }

    /// Submits the edge kernels of the superstep that has begun, if it visits all lists of these pages, and if the
    /// arena has these pages of their topology and no others. Returns `None` if not. If the superstep has several
    /// parts, only the first one is submitted: [`plan_part`](Self::plan_part) and
    /// [`submit_left`](Self::submit_left) are for the others.
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
        let serves = self.serves(context, arena);
        let again = serves && matches!(&self.residency, Residency::Paced(_, paced) if paced.visited == pages);
        if !again {
            if !pages.iter().all(|&page| arena.slot_of(page).is_some())
                || !(serves || self.describe_now(context, arena)?)
            {
                return Ok(None);
            }
            let places = self.residency.tables().into_iter().flat_map(|tables| &tables.places);
            let places = places.filter(|place| place.direction == direction);
            if places.map(|place| place.by_edges.pages as usize).sum::<usize>() != pages.len() {
                return Ok(None);
            }
        }
        self.sort(context, &[visit], true)?;
        self.enter(context, Goal::Paced, None)?;
        let Residency::Paced(resident, paced) = &mut self.residency else { return Ok(None) };
        if paced.visited != pages {
            paced.visited = pages.to_vec();
        }
        submit_lists(context, (resident, rows, hubs), (visit, 0..1))?;
        paced.left = (resident.parts().count() > 1).then_some(visit);
        let launches = resident.launches(direction);
        let edges = pages.iter().map(|&page| context.edges(page)).sum();
        Ok(Some(Visited { pages: pages.len() as u64, edges, launches, done: None }))
    }

    /// The own vertices of each part of the superstep that has begun, if only its first part has been submitted.
    pub fn parts_left(&self) -> Option<Vec<Range<u64>>> {
        match &self.residency {
            Residency::Paced(resident, paced) if paced.left.is_some() => Some(resident.parts().vertices().collect()),
            _ => None,
        }
    }

    /// Plans the edge kernels of a part that has not been submitted.
    pub fn plan_part(
        &mut self,
        context: &Context,
        plan: &mut Plan<wgpu::Buffer>,
        (rows, hubs): (&wgpu::Buffer, &wgpu::Buffer),
        part: usize,
    ) {
        let Residency::Paced(resident, paced) = &mut self.residency else { return };
        let Some(visit) = paced.left.take() else { return };
        paced.left = (part + 1 < resident.parts().count()).then_some(visit);
        plan_lists(context, plan, (resident, rows, hubs), (visit, part..part + 1));
    }

    /// Submits the edge kernels of all parts that have not been submitted.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn submit_left(&mut self, context: &mut Context, (rows, hubs): (&wgpu::Buffer, &wgpu::Buffer)) -> Result<()> {
        let Residency::Paced(resident, paced) = &mut self.residency else { return Ok(()) };
        let Some(visit) = paced.left.take() else { return Ok(()) };
        submit_lists(context, (resident, rows, hubs), (visit, 1..resident.parts().count()))
    }
}

/// Submits the kernels over the lists of some parts; the end of the superstep reads their times.
fn submit_lists(context: &mut Context, over: Over<'_>, lists: ((Direction, Visit), Range<usize>)) -> Result<()> {
    let mut plan = Plan::default();
    plan_lists(context, &mut plan, over, lists);
    context.run(&plan)?;
    Ok(())
}
