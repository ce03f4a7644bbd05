//! Additional work of a command: further files, checks by Graph500's rules.

use super::levels::LevelsFolder;
use crate::algorithms::command::{Companion, Finished, Runnable, WriteFile};
use crate::algorithms::leiden::Hierarchy;
use crate::checks::graph500::CheckOptions;
use crate::cli::check::{self, Check, Checking};
use crate::cli::export::write_edges;
use crate::cli::failure::Failure;
use crate::cli::opening;
use crate::cli::output::OutputFile;
use crate::cli::results::ResultFormat;
use crate::engine::EngineOptions;
use crate::extract::{ExtractOptions, crossing};
use crate::model::vertex_set::VertexSet;
use crate::store::{Store, VertexId};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use topostream_tools::progress::Cancel;

/// Main memory for writing an edge list.
const BASE_BYTES: u64 = 32 << 20;

/// The work that is left for after the run.
#[derive(Default)]
pub struct Companions {
    files: Vec<(OutputFile, WriteFile)>,
    checks: Vec<Checking>,
    levels: Option<(LevelsFolder, Arc<OnceLock<Hierarchy>>)>,
    said: String,
}

impl Companions {
    /// Does the work that precedes the run over a store, which is at a path, and checks whether the rest will be
    /// possible with the options of an engine.
    pub fn begin(
        wanted: Vec<Companion>,
        runs: &dyn Runnable,
        (store, path_of_store): (&Store, &Path),
        (options, format): (&EngineOptions, ResultFormat),
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let mut companions = Self::default();
        for companion in wanted {
            let mut check = |check: (Check, VertexId), rules| -> Result<(), Failure> {
                companions.checks.push(check::of_search(check, runs, store, options, rules)?);
                Ok(())
            };
            match companion {
                Companion::CheckSearch { source } => check((check::bfs, source), CheckOptions::default())?,
                Companion::CheckPaths { source, single, cutoff } => {
                    let cutoff = cutoff.unwrap_or(f64::INFINITY);
                    let rules = CheckOptions { single, cutoff, ..CheckOptions::default() };
                    check((check::sssp, source), rules)?;
                }
                Companion::CheckCommunities { objective, weights, qualities } => {
                    let of = (objective, weights);
                    companions.checks.push(check::of_communities(of, qualities, runs, store, options)?);
                }
                Companion::Levels { path, levels } => {
                    let folder = LevelsFolder::create(&path, format, &store.manifest().ids)?;
                    companions.levels = Some((folder, levels));
                }
                Companion::File { path, write } => companions.files.push((OutputFile::create(&path)?, write)),
                Companion::CrossingEdges { path, from, to } => {
                    companions.said += &write_crossing(&path, path_of_store, (from, to), options, cancel)?;
                }
            }
        }
        Ok(companions)
    }

    /// Whether nothing is left for after the run.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.checks.is_empty() && self.levels.is_none()
    }

    /// Does the rest; returns lines for people.
    pub fn finish(mut self, run: &dyn Finished, store: &Store, cancel: &Cancel) -> Result<String, Failure> {
        for (file, write) in self.files {
            file.write(cancel, |out| write(run, store, out))?;
        }
        for check in self.checks {
            self.said += &check(run, store)?;
        }
        if let Some((folder, levels)) = self.levels {
            let none = Hierarchy::default();
            self.said += &folder.write(levels.get().unwrap_or(&none), store, cancel)?;
        }
        Ok(self.said)
    }
}

/// Writes the edges between two sets, before attributes take their memory.
fn write_crossing(
    path: &Path,
    path_of_store: &Path,
    (from, to): (Arc<VertexSet>, Arc<VertexSet>),
    options: &EngineOptions,
    cancel: &Cancel,
) -> Result<String, Failure> {
    let memory_bytes = options.memory_bytes.saturating_sub(BASE_BYTES);
    let options = ExtractOptions { memory_bytes, cancel: cancel.flag() };
    let mut edges = crossing(Arc::new(opening::open(path_of_store)?), from, to, &options)?;
    write_edges(path, &mut edges, cancel)
}
