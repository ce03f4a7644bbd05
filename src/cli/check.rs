//! `--validate` of `run bfs` and `run sssp`: Graph500's checks, after the run and within its memory.

use super::failure::Failure;
use super::tables;
use crate::algorithms::command::{Finished, Runnable};
use crate::checks::graph500::{self, CheckOptions, Checked, Parents, check_bfs, check_sssp};
use crate::engine::{Engine, EngineOptions};
use crate::error::Error;
use crate::model::algorithm::{AnswerValues, Values, declaration_of};
use crate::pages::memory::answer_bytes;
use crate::store::{Store, VertexId};
use std::time::Instant;

/// Memory of a check for any graph: code and stacks.
const PROGRAM_BYTES: u64 = 16 << 20;

/// The rules that an answer is checked by.
pub type Check = fn(&dyn Finished, VertexId, &Store, &CheckOptions) -> Result<Checked, Error>;

/// A check that is to follow a run.
pub struct Checking {
    check: Check,
    source: VertexId,
    options: CheckOptions,
}

impl Checking {
    /// Prepares a check of a single run; its other input is examined before the run.
    pub fn new(
        (check, source): (Check, VertexId),
        runs: &dyn Runnable,
        store: &Store,
        engine: &EngineOptions,
        rules: CheckOptions,
    ) -> Result<Self, Failure> {
        let algorithm = runs.algorithm().expect("searches are single runs");
        let declaration = declaration_of(algorithm, store);
        // The run's answer stays, and so do the degrees that it has read.
        let kept_bytes = answer_bytes(&declaration, store) + 4 * store.vertices() + runs.beside_bytes(store);
        let needed_bytes = PROGRAM_BYTES + kept_bytes + graph500::memory_bytes(store, declaration.weights.are_read());
        if needed_bytes > engine.memory_bytes {
            // The run comes before.
            let planned = Engine::new(Store::open(store.path())?, engine.clone());
            let needed_bytes = needed_bytes.max(runs.needed_bytes(&planned)?);
            let (what, budget_bytes) = (format!("{} with --validate", declaration.name), engine.memory_bytes);
            let parts = format!("{kept_bytes} for the answer and degrees, the rest for its check");
            return Err(Error::Memory { what, needed_bytes, budget_bytes, parts }.into());
        }
        let memory_bytes = engine.memory_bytes - kept_bytes - PROGRAM_BYTES;
        let options = CheckOptions { memory_bytes, cancel: engine.cancel.clone(), ..rules };
        Ok(Self { check, source, options })
    }

    /// Checks a run's answer; returns a line for people.
    pub fn run(self, run: &dyn Finished, store: &Store) -> Result<String, Failure> {
        let started = Instant::now();
        let checked = (self.check)(run, self.source, store, &self.options)?;
        Ok(format!(
            "validated by Graph500's rules: {} reached, {}, {} read in {:.2} s\n",
            tables::counted(checked.reached, "vertex"),
            tables::counted(checked.edges, "edge"),
            tables::bytes(checked.bytes),
            started.elapsed().as_secs_f64()
        ))
    }
}

/// Levels, and the tree where parents were kept.
pub fn bfs(run: &dyn Finished, source: VertexId, store: &Store, options: &CheckOptions) -> Result<Checked, Error> {
    let answers = run.answers();
    let AnswerValues::Integer(levels) = &answers[0].values else { unreachable!("levels are whole numbers") };
    let parents: Option<&Parents<'_>> = match answers.get(1).map(|answer| &answer.values) {
        Some(AnswerValues::Vertex(parents)) => Some(parents),
        _ => None,
    };
    check_bfs(store, source, levels, parents, options)
}

/// Distances, and the tree where parents were kept.
pub fn sssp(run: &dyn Finished, source: VertexId, store: &Store, options: &CheckOptions) -> Result<Checked, Error> {
    let answers = run.answers();
    let parents: Option<&Parents<'_>> = match answers.get(1).map(|answer| &answer.values) {
        Some(AnswerValues::Vertex(parents)) => Some(parents),
        _ => None,
    };
    match &answers[0].values {
        AnswerValues::F64(distances) => check_sssp(store, source, distances, parents, options),
        AnswerValues::Vertex(_) => unreachable!("distances are numbers"),
        AnswerValues::Integer(distances) => {
            let distance = |vertex| distances.get(vertex).map_or(f64::INFINITY, |distance| distance as f64);
            check_sssp(store, source, &Values::new(distance), parents, options)
        }
    }
}
