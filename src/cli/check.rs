//! `--validate`: of searches Graph500's checks, of communities the stored edges; after the run and within its memory.

use super::failure::Failure;
use super::tables;
use crate::algorithms::command::{Finished, Runnable};
use crate::algorithms::leiden::{Objective, Quality};
use crate::checks::communities::{self, Partition, check_communities};
use crate::checks::graph500::{self, CheckOptions, Checked, Parents, check_bfs, check_sssp};
use crate::engine::{Engine, EngineOptions};
use crate::error::Error;
use crate::model::algorithm::{AnswerValues, Values, declaration_of};
use crate::pages::memory::answer_bytes;
use crate::store::{Store, VertexId};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Memory of a check for any graph: code and stacks.
const PROGRAM_BYTES: u64 = 16 << 20;

/// The rules that a search is checked by.
pub type Check = fn(&dyn Finished, VertexId, &Store, &CheckOptions) -> Result<Checked, Error>;

/// A check that is to follow a run; returns a line for people.
pub type Checking = Box<dyn FnOnce(&dyn Finished, &Store) -> Result<String, Failure>>;

/// Prepares the check of a search; its other input is examined before the run.
pub fn of_search(
    (check, source): (Check, VertexId),
    runs: &dyn Runnable,
    store: &Store,
    engine: &EngineOptions,
    rules: CheckOptions,
) -> Result<Checking, Failure> {
    let algorithm = runs.algorithm().expect("searches are single runs");
    let declaration = declaration_of(algorithm, store);
    // The run's answer stays, and so do the degrees that it has read.
    let kept_bytes = answer_bytes(&declaration, store) + 4 * store.vertices() + runs.beside_bytes(store);
    let more_bytes = graph500::memory_bytes(store, declaration.weights.are_read());
    let memory_bytes = memory_beside((declaration.name, kept_bytes), more_bytes, runs, store, engine)?;
    let options = CheckOptions { memory_bytes, cancel: engine.cancel.clone(), ..rules };
    Ok(Box::new(move |run, store| {
        let started = Instant::now();
        let checked = check(run, source, store, &options)?;
        Ok(format!(
            "validated by Graph500's rules: {} reached, {}, {} read in {:.2} s\n",
            tables::counted(checked.reached, "vertex"),
            tables::counted(checked.edges, "edge"),
            tables::bytes(checked.bytes),
            started.elapsed().as_secs_f64()
        ))
    }))
}

/// The memory that is left for a check after a run whose answer keeps so many bytes.
fn memory_beside(
    (name, kept_bytes): (&str, u64),
    more_bytes: u64,
    runs: &dyn Runnable,
    store: &Store,
    engine: &EngineOptions,
) -> Result<u64, Failure> {
    let needed_bytes = PROGRAM_BYTES + kept_bytes + more_bytes;
    if needed_bytes > engine.memory_bytes {
        // The run comes before.
        let planned = Engine::new(Store::open(store.path())?, engine.clone());
        let needed_bytes = needed_bytes.max(runs.needed_bytes(&planned)?);
        let (what, budget_bytes) = (format!("{name} with --validate"), engine.memory_bytes);
        let parts = format!("{kept_bytes} for the answer and degrees, the rest for its check");
        return Err(Error::Memory { what, needed_bytes, budget_bytes, parts }.into());
    }
    Ok(engine.memory_bytes - kept_bytes - PROGRAM_BYTES)
}

/// Prepares the check of communities.
pub fn of_communities(
    (objective, weights): (Objective, bool),
    qualities: Arc<OnceLock<Vec<Quality>>>,
    runs: &dyn Runnable,
    store: &Store,
    engine: &EngineOptions,
) -> Result<Checking, Failure> {
    let kept_bytes = runs.beside_bytes(store) + 4 * store.vertices();
    memory_beside(("leiden", kept_bytes), communities::memory_bytes(store, weights), runs, store, engine)?;
    let cancel = Arc::clone(&engine.cancel);
    Ok(Box::new(move |run, store| {
        let (started, name) = (Instant::now(), run.report().algorithm.as_str());
        let mut said = String::new();
        for (answer, &quality) in run.answers().iter().zip(qualities.get().into_iter().flatten()) {
            let AnswerValues::Vertex(labels) = &answer.values else { unreachable!("communities are vertices") };
            let partition = Partition { name: (name, &answer.name), labels, objective, weights, quality };
            let checked = check_communities(store, &partition, &cancel)?;
            said += &format!(
                "validated {}: {} connected, quality {:.9}, {}, {} read in {:.2} s\n",
                answer.name,
                tables::counted(checked.communities, "community"),
                checked.quality,
                tables::counted(checked.edges, "edge"),
                tables::bytes(checked.bytes),
                started.elapsed().as_secs_f64()
            );
        }
        Ok(said)
    }))
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
