//! Communities by Leiden's algorithm (Traag, Waltman and van Eck, *From Louvain to Leiden*, Scientific Reports 9, 2019),
//! or Louvain's (Blondel et al., 2008), which does without refinement.
//!
//! ```text
//!  lists, read once ─▶ level 0: move · refine · group ─▶ level 1 … ─▶ communities ─┬─▶ the next iteration begins with them
//!  (memory)                                                                        └─▶ lists, read again: names, quality
//! ```
//!
//! The answer is the same for any number of threads, whatever order pages are read in, and however the store is encoded:
//! vertices decide by what was before their turn, all scores are whole numbers, and ties are
//! broken by hashes of the seed. Another seed is another answer.
//!
//! No community is disconnected, and the quality is recomputed from the stored lists at the end.
//!
//! Memory: 4 bytes for each edge from either of its ends (8 or 12 with weights), as much again and 4 bytes for the next
//! level, and 60 bytes a vertex.

#[cfg(feature = "cli")]
pub mod command;
mod level;
mod lists;
mod loading;
mod moving;
mod naming;
mod objective;
mod quantum;
mod refining;
mod search;
mod tally;
mod turns;

pub use naming::{Naming, Quality};
pub use objective::{Objective, RESOLUTION_MAX};

use crate::engine::{Engine, Observer, Run};
use crate::error::{Error, Result};
use crate::pages::adjacency::{degree, in_degrees};
use lists::Lists;
use loading::{Loaded, Loading};
use objective::Pull;
use search::Search;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use topostream_formats::Store;
use topostream_formats::edge::WeightType;
use turns::seed_of;

/// Communities by Leiden's algorithm, or by Louvain's.
#[derive(Clone, Debug)]
pub struct Leiden {
    /// What is maximized.
    pub objective: Objective,
    /// How small communities are: more is smaller. From 0 to [`RESOLUTION_MAX`].
    pub resolution: f64,
    /// Whether communities are refined; without, it is Louvain's algorithm.
    pub refines: bool,
    /// Whether edges count by their weights, which must not be negative; otherwise every edge counts 1.
    pub weights: bool,
    /// The most iterations over all levels. It ends before if one changes nothing.
    pub iterations: u32,
    /// Decides between what is equal.
    pub seed: u64,
    /// Is told the quality.
    pub quality: Arc<OnceLock<Quality>>,
}

impl Default for Leiden {
    fn default() -> Self {
        Self {
            objective: Objective::Modularity,
            resolution: 1.0,
            refines: true,
            weights: false,
            iterations: 3,
            seed: 0,
            quality: Arc::default(),
        }
    }
}

/// Main memory of a vertex at a level, in bytes; and of an edge at the level after the first, from either end.
const VERTEX_BYTES: u64 = 60;
const LEVEL_EDGE_BYTES: u64 = 16;

impl Leiden {
    /// Runs to the end.
    ///
    /// # Errors
    /// The errors of [`Engine::run`]; [`Error::Parameter`] for a resolution that is out of range, weights that the store
    /// does not have, and weights below 0; [`Error::Memory`] if the lists do not fit in memory.
    pub fn run(self, engine: &Engine, observer: &mut Observer<'_>) -> Result<Run<Naming>> {
        self.check()?;
        let store = engine.store();
        let (directed, weights) = (store.manifest().directed, self.weight_type(store)?);
        self.check_memory(engine)?;
        let cancel = &engine.options().cancel;
        let in_degrees = if directed { in_degrees(store, cancel)? } else { Vec::new() };
        let out_degrees = store.out_degrees()?;
        let degrees = (0..store.vertices() as usize).map(|vertex| degree(out_degrees.values(), &in_degrees, vertex));
        let loaded = Arc::new(Loaded::of(directed, weights, degrees));
        drop(in_degrees);
        let held_bytes = Self::list_bytes(store, weights);
        let (report, loading, _) = engine
            .run_observed(Loading { name: self.name(), loaded: Arc::clone(&loaded), held_bytes }, observer)?
            .into_parts();
        drop(loading);
        engine.make_room(self.held_bytes(store));
        let largest = loaded.largest();
        let loaded = Arc::into_inner(loaded).expect("the run has ended");
        let started = Instant::now();
        let pool = topostream_formats::threads::pool("leiden", engine.options().threads)?;
        let found = pool.install(|| {
            let (lists, total) = loaded.finish(self.objective);
            self.search(&lists, total, directed, cancel)
        })?;
        let searched_ns = started.elapsed().as_nanos() as u64;
        let naming = self.naming(store, largest, found);
        let mut run = engine.run_observed(naming, observer)?;
        run.report = report.followed_by(std::mem::take(&mut run.report));
        run.report.wall_ns += searched_ns;
        Ok(run)
    }

    /// The name of the command.
    fn name(&self) -> &'static str {
        if self.refines { "leiden" } else { "louvain" }
    }

    /// Checks parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<()> {
        if (0.0..=RESOLUTION_MAX).contains(&self.resolution) {
            return Ok(());
        }
        let message =
            format!("{}: a resolution of {}: expected one from 0 to {RESOLUTION_MAX}", self.name(), self.resolution);
        Err(Error::Parameter(message))
    }

    fn weight_type(&self, store: &Store) -> Result<Option<WeightType>> {
        match store.manifest().weights {
            None if self.weights => Err(Error::Parameter("--weights: the store has no weights".into())),
            weights => Ok(weights.filter(|_| self.weights)),
        }
    }

    /// The bytes of lists in memory.
    fn list_bytes(store: &Store, weights: Option<WeightType>) -> u64 {
        let ends = if store.manifest().directed { 2 } else { 1 };
        let of_weights = weights.map_or(0, |weights| weights.bytes() as u64);
        12 * store.vertices() + ends * store.edges() * (4 + of_weights)
    }

    /// The main memory of a search, or of naming what it finds, in bytes.
    fn held_bytes(&self, store: &Store) -> u64 {
        let weights = store.manifest().weights.filter(|_| self.weights);
        let ends = if store.manifest().directed { 2 } else { 1 };
        Self::list_bytes(store, weights) + VERTEX_BYTES * store.vertices() + LEVEL_EDGE_BYTES * ends * store.edges()
    }

    /// The last run: names communities, and measures their quality.
    fn naming(&self, store: &Store, largest: u64, found: Vec<u32>) -> Naming {
        let manifest = store.manifest();
        let weights = manifest.weights.filter(|_| self.weights);
        let kind = (self.objective, self.resolution);
        let shared = (Arc::clone(&self.quality), self.held_bytes(store));
        let mut naming = Naming::new(kind, (manifest.directed, store.edges()), (weights, largest), found, shared);
        naming.name = self.name();
        naming
    }

    /// The run as far as it is known before: its memory.
    pub(crate) fn planned(&self, store: &Store) -> Naming {
        self.naming(store, 0, Vec::new())
    }

    /// The last run over a graph that need not exist.
    #[cfg(feature = "cli")]
    fn without_store(&self, directed: bool) -> Naming {
        let (kind, shared) = ((self.objective, self.resolution), (Arc::clone(&self.quality), 0));
        Naming::new(kind, (directed, 0), (None, 0), Vec::new(), shared)
    }

    fn check_memory(&self, engine: &Engine) -> Result<()> {
        let (needed_bytes, budget_bytes) = (engine.needed_bytes(&self.planned(engine.store()))?, engine.usable_bytes());
        if needed_bytes <= budget_bytes {
            return Ok(());
        }
        let parts = format!("lists in memory, and those of the next level, {}", self.held_bytes(engine.store()));
        Err(Error::Memory { what: self.name().into(), needed_bytes, budget_bytes, parts })
    }

    /// Looks for communities.
    fn search(
        &self,
        lists: &Lists,
        total: u64,
        directed: bool,
        cancel: &std::sync::atomic::AtomicBool,
    ) -> Result<Vec<u32>> {
        let pull = Pull::new(self.objective, self.resolution, total, directed);
        let mut communities = (0..lists.vertices()).collect();
        for iteration in 0..self.iterations {
            let seed = seed_of(self.seed, 1000 * u64::from(iteration + 1));
            let search = Search { pull, refines: self.refines, seed };
            let (found, moved) = search.iteration(lists, communities, cancel)?;
            communities = found;
            if !moved {
                break;
            }
        }
        Ok(communities)
    }
}
