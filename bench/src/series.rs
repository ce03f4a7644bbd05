//! Runs the experiments of a benchmark one after another.

use crate::error::Result;
use crate::measure::timed;
use crate::outcome::Outcome;
use clap::ValueEnum;
use std::path::PathBuf;

/// An experiment of a benchmark, whose shared state is `Bench`.
pub trait Experiment: ValueEnum + Copy + PartialEq + 'static {
    /// The shared state of all experiments.
    type Bench;

    /// Why the experiment cannot run here.
    fn obstacle(self, bench: &Self::Bench) -> Option<&'static str>;

    /// Measures.
    ///
    /// # Errors
    /// Any failure, including a wrong answer.
    fn run(self, bench: &Self::Bench) -> Result<Outcome>;
}

/// Runs the wanted experiments, or all; writes each outcome to `path` of it, and prints all claims at the end.
///
/// # Errors
/// The first failure, including a wrong answer.
pub fn run<E: Experiment>(bench: &E::Bench, wanted: &[E], path: impl Fn(&Outcome) -> PathBuf) -> Result<()> {
    let mut summary = String::new();
    for &experiment in E::value_variants().iter().filter(|one| wanted.is_empty() || wanted.contains(one)) {
        let value = experiment.to_possible_value().expect("every experiment has a name");
        let name = value.get_name();
        if let Some(obstacle) = experiment.obstacle(bench) {
            eprintln!("{name}: skipped: {obstacle}");
            continue;
        }
        let (took, outcome) = timed(|| experiment.run(bench));
        let outcome = outcome.map_err(|error| format!("{name}: {error}"))?;
        outcome.publish(Some(&path(&outcome)))?;
        eprintln!("{}: {:.1} s", outcome.name, took.as_secs_f64());
        outcome.claims.iter().for_each(|claim| summary += &format!("{claim}\n"));
    }
    println!("## All claims\n\n| claim | target | measured | verdict |\n| --- | --- | --- | --- |\n{summary}");
    Ok(())
}
