//! The cost model's prediction for a finished run, from the pages and edges in its report.

use super::EngineOptions;
use crate::model::algorithm::{Declaration, Visit};
use crate::predict::{DeviceProfile, Environment, Hits, Kernel, Phase, Prediction, Rates, Workload, pages, predict};
use crate::report::{RunReport, StepReport};
use crate::team::assignment::fractions;
use crate::team::{Assignment, Strategy};
use topostream_formats::{Direction, Store};

/// Returns the predicted time of a finished run, for the pages and edges that it had. Returns `None` if a device of the
/// run has not been measured, or if there were too many supersteps to report each.
pub fn explain(
    rates: &Rates,
    declaration: &Declaration,
    store: &Store,
    options: &EngineOptions,
    report: &RunReport,
) -> Option<Prediction> {
    if report.supersteps_a_step > 1 {
        return None;
    }
    let work = measured(declaration, store, report);
    let profile = |name: &str, share: f64| {
        let memory_bytes = (!name.starts_with("cpu, ")).then_some(u64::MAX);
        DeviceProfile { name: name.to_owned(), memory_bytes, cache_bytes: None, share }
    };
    let (profiles, strategy, assignment) = match &report.sharing {
        None => (vec![profile(&report.device, 1.0)], Strategy::Replicate, None),
        Some(sharing) => {
            let edges: Vec<f64> = sharing.devices.iter().map(|device| device.edges as f64).collect();
            let profiles = sharing.devices.iter().zip(fractions(&edges)).map(|(of, share)| profile(&of.device, share));
            (profiles.collect(), sharing.strategy, sharing.assignment)
        }
    };
    let mut environment = Environment::new(rates, declaration, store, &options.cost_options(), profiles, strategy);
    if let Some(assignment) = assignment {
        environment.aligned &= assignment == Assignment::Contiguous;
    }
    predict(&work, &environment).map(|prediction| Prediction { memory: None, ..prediction })
}

/// Returns the work that a run has done, with a phase for each superstep: times are added up over levels, as in GTS's
/// equation 2.
fn measured(declaration: &Declaration, store: &Store, report: &RunReport) -> Workload {
    let mut work = Workload::without_phases(declaration, store);
    let next = report.steps.iter().skip(1).map(|step| step.active.unwrap_or(0)).chain([0]);
    let all_at_first = declaration.visits.first().is_some_and(|(_, visit)| *visit == Visit::All);
    let kernel = |direction| match (declaration.traversal, direction) {
        (true, _) if declaration.weights.are_read() => Kernel::Weighted,
        (true, _) if all_at_first => Kernel::Labels,
        (true, Direction::Out) => Kernel::TopDown,
        (true, Direction::In) => Kernel::BottomUp,
        (false, Direction::Out) => Kernel::Push,
        (false, Direction::In) => Kernel::Pull,
    };
    let phase = |(step, next): (&StepReport, u64)| {
        let direction = step.direction.unwrap_or(Direction::Out);
        done(&work, store, step, next, direction, kernel(direction))
    };
    work.phases = report.steps.iter().zip(next).map(phase).collect();
    work
}

fn done(
    work: &Workload,
    store: &Store,
    step: &StepReport,
    activated: u64,
    direction: Direction,
    kernel: Kernel,
) -> Phase {
    let (pages, visits) = (pages(store, direction), step.pages as f64);
    let bus_bytes = (step.transfer.copied_bytes + step.transfer.in_place_bytes) as f64;
    Phase {
        supersteps: 1.0,
        kernel,
        visits,
        pages,
        edges: step.edges as f64,
        lists: if work.traversal && pages > 0.0 { visits / pages * work.vertices as f64 } else { 0.0 },
        activated: activated as f64,
        hits: Hits::Measured { disk_bytes: step.disk_bytes as f64, bus_bytes },
        skew: step.balance.skew(),
    }
}
