//! The plan of a superstep as text, of an algorithm and of what is resident: `topostream shader --plan`. It is made by
//! the builders of runs, over names in place of buffers, so that no device is needed. Numbers of workgroups are for one
//! page of each topology.

use super::context::distribution;
use super::device_loop::{AllPages, Controls, Facts, Place, Table, bound, census, lists, plan, plan_end, plan_places};
use super::exchange::plan_message;
use super::launches::{OfBatch, plan_batch};
use super::plan::{Dispatch, Pass, Plan, Variant, Work};
use crate::device::gpu::compose::layout::MessageParams;
use crate::device::gpu::compose::{Declared, KernelName, Resource};
use crate::device::settings::Distribution;
use crate::model::algorithm::Visit;
use std::fmt::Write;
use std::str::FromStr;
use topostream_formats::Direction;

/// What is resident, and who chooses the next superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanOf {
    /// Pages that are launched as they come.
    Streamed,
    /// All pages; the host chooses.
    Paced,
    /// All pages; the device chooses.
    Alone,
    /// All pages that several devices see; they exchange messages.
    Joint,
}

impl FromStr for PlanOf {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "streamed" => Ok(Self::Streamed),
            "paced" => Ok(Self::Paced),
            "alone" => Ok(Self::Alone),
            "joint" => Ok(Self::Joint),
            _ => Err("expected one of streamed, paced, alone, joint".into()),
        }
    }
}

/// The plans of an algorithm's supersteps with these visits, one after another. Empty if it has no such supersteps.
pub fn plan_text(declared: &Declared, visits: &[(Direction, Visit)], undirected: bool, of: PlanOf) -> String {
    let facts = Facts {
        traversal: declared.traversal,
        lists_sets: declared.set.is_some(),
        plurality: declared.plurality.is_some(),
        alone: of == PlanOf::Alone,
        undirected,
        groups: 1,
    };
    let plans: Vec<(String, Plan<&'static str>)> = match of {
        PlanOf::Streamed => each(visits, |visit| Some(streamed(&facts, visits[0], visit))),
        PlanOf::Paced if declared.traversal => Vec::new(),
        PlanOf::Paced => each(visits, |visit| (visit.1 == Visit::All).then(|| paced(&facts, visits[0], visit))),
        PlanOf::Alone | PlanOf::Joint if !declared.decides() => Vec::new(),
        PlanOf::Alone => vec![("every visit".into(), alone(&facts, visits))],
        PlanOf::Joint if !declared.traversal => Vec::new(),
        PlanOf::Joint => each(visits, |visit| Some(joint(&facts, visits, visit))),
    };
    let mut text = String::new();
    for (visit, plan) in plans {
        write!(text, "superstep over {visit}\n{plan}").expect("strings take all text");
    }
    text
}

/// A plan for each visit that has one.
fn each(
    visits: &[(Direction, Visit)],
    plan: impl Fn((Direction, Visit)) -> Option<Plan<&'static str>>,
) -> Vec<(String, Plan<&'static str>)> {
    let named = |&visit: &(Direction, Visit)| Some((format!("{:?} {:?}", visit.0, visit.1), plan(visit)?));
    visits.iter().filter_map(named).collect()
}

/// A launch of pages that stay in the arena, and the end of the superstep without the search for the next pages.
fn streamed(facts: &Facts, first: (Direction, Visit), visit: (Direction, Visit)) -> Plan<&'static str> {
    let mut plan = Plan::default();
    plan.copy((&"frame", 0), (&"arena", 0), 1);
    let over = Dispatch::new(KernelName::Segments, visit, 0).with(Resource::Pages, &"arena");
    let over = over.with(Resource::Batch, &"batch").with(Resource::Rows, &"rows").with(Resource::HubQueue, &"hubs");
    let segments = distribution(Distribution::Auto, visit, false) == Distribution::Segments;
    let kernels = match facts.plurality {
        true => OfBatch::Plurality,
        false if segments => OfBatch::Segments,
        false => OfBatch::Lists { hub_groups: 1 },
    };
    plan_batch(&mut plan, &over, &"hubs", ((1, 1), kernels));
    let name = if facts.traversal { KernelName::Census } else { KernelName::VertexPhase };
    plan.run(Dispatch::new(name, first, 0).sized(facts.groups));
    plan
}

/// A page of each topology that is visited.
fn places(facts: &Facts, visits: &[(Direction, Visit)]) -> Vec<Place<&'static str>> {
    let table = |buffer| Table {
        buffer,
        units: "units",
        unit_count: 1,
        groups: (1, 1),
        hub_groups: 1,
        pages: 1,
        pages_a_group: 1,
        place: (0, 0),
    };
    let visited = |&direction: &Direction| visits.iter().any(|visit| facts.read(visit.0) == direction);
    let place = |direction| Place {
        direction,
        part: 0,
        buffer: 0,
        pages: "arena",
        by_edges: table("by edges"),
        by_lists: table("by lists"),
        bins: (direction == Direction::In).then_some(("bins", (1, 1))),
        swept: Some("swept"),
        queue: Some("queue"),
    };
    [Direction::Out, Direction::In].into_iter().filter(visited).map(place).collect()
}

fn paced(facts: &Facts, first: (Direction, Visit), visit: (Direction, Visit)) -> Plan<&'static str> {
    let mut plan = Plan { times: true, ..Plan::default() };
    plan_places(&mut plan, places(facts, &[visit]).iter(), (visit, facts.plurality), (&"rows", &"hubs"));
    plan_end(&mut plan, first, facts.groups, (&"totals", &"counters"));
    plan
}

/// The visits of supersteps without the engine: also of none.
fn with_none(visits: &[(Direction, Visit)]) -> Vec<(Direction, Visit)> {
    visits.iter().copied().chain([(Direction::Out, Visit::None)]).collect()
}

const CONTROLS: Controls<&str> =
    Controls { course: "course", arguments: "arguments", dispatches: "dispatches", rows: "rows" };

fn alone(facts: &Facts, visits: &[(Direction, Visit)]) -> Plan<&'static str> {
    let places = places(facts, visits);
    let pages: AllPages<'_, _> = (&places, &[]);
    let steps = bound(&plan(facts, pages, &with_none(visits)), &CONTROLS);
    let kernels = steps.iter().map(|step| step.in_superstep(0)).collect();
    let pass = Pass { name: Some("superstep"), joined: true, kernels };
    Plan { work: vec![Work::Pass(pass)], times: true }
}

fn joint(facts: &Facts, visits: &[(Direction, Visit)], visit: (Direction, Visit)) -> Plan<&'static str> {
    let places = places(facts, visits);
    let pages: AllPages<'_, _> = (&places, &[]);
    let steps = bound(&plan(facts, pages, &with_none(visits)), &CONTROLS);
    let number = visits.iter().position(|one| *one == visit).unwrap_or(0);
    let mut plan = Plan { times: true, ..Plan::default() };
    plan.pass(Some("lists"), lists(&steps, 0, number as u32));
    let mut message = |names: &[KernelName]| {
        let params = MessageParams { first: 0, last: 0, begin: 0, sparse_max: 0 };
        plan_message(&mut plan, names, 0, (params, 1), (&"collected", &"exchange"));
    };
    message(&[KernelName::Collect, KernelName::Ship]);
    message(&[KernelName::Apply]);
    plan.run(Dispatch { variant: Variant::Resident, ..census(&steps, 0) });
    plan
}
