//! The cost model's prediction for every run, compared with the measured time.

use super::bench::Bench;
use super::predicted::Predicted;
use super::{refinement, replicate, shard};
use crate::error::Result;
use crate::measure::Spread;
use crate::outcome::{Cell, Goal, Outcome, Table};

const EXPECTATION: &str = "the model predicts the time of a run from its pages and edges, to within 30% in the median. \
    Errors are largest for short supersteps, and if several devices wait for each other";
const TARGET: f64 = 30.0;

/// Compares the runs of the experiments before it; without any, runs some of them.
///
/// # Errors
/// Any failure, including a wrong answer, or if there was no prediction.
pub fn run(bench: &Bench) -> Result<Outcome> {
    if bench.predicted.borrow().is_empty() {
        replicate::run(bench)?;
        if bench.devices.len() > 1 {
            shard::run(bench)?;
            refinement::run(bench)?;
        }
    }
    let mut outcome = bench.outcome("devices-model", EXPECTATION);
    let predicted = bench.predicted.borrow();
    if predicted.is_empty() {
        return Err(
            "--rates: the file has none of these devices; run `topostream calibrate` with the same devices".into()
        );
    }
    let columns = ["part", "run", "predicted ms", "measured ms", "error %", "wall"];
    let mut table = Table::new("Predicted and measured, whole runs", &columns);
    let mut errors = Vec::new();
    for (part, run) in names(&predicted) {
        let same: Vec<&Predicted> = predicted.iter().filter(|one| (one.part, &one.run) == (part, &run)).collect();
        let error = Spread::over(&same, |one| one.error());
        errors.push(error.median.abs());
        table.row(vec![
            part.into(),
            Cell::from(run),
            Spread::over(&same, |one| one.predicted_ns / 1e6).into(),
            Spread::over(&same, |one| one.measured_ns / 1e6).into(),
            error.into(),
            format!("{:?}", same[0].wall).to_lowercase().into(),
        ]);
    }
    let all = Spread::of(&errors);
    outcome.notes.push(format!(
        "errors of {} kinds of runs, without their signs: median {:.0}%, worst {:.0}%",
        all.runs, all.median, all.max
    ));
    outcome.claim("median error of predictions, in %", Goal::AtMost, TARGET, all);
    outcome.tables.push(table);
    outcome.report("predictions", &*predicted);
    Ok(outcome)
}

/// The runs, each once, in order.
fn names(predicted: &[Predicted]) -> Vec<(&'static str, String)> {
    let mut names: Vec<(&'static str, String)> = Vec::new();
    for one in predicted {
        if !names.iter().any(|(part, run)| (*part, run) == (one.part, &one.run)) {
            names.push((one.part, one.run.clone()));
        }
    }
    names
}
