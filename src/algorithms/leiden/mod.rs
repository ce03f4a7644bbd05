//! Communities by Leiden's algorithm (Traag, Waltman and van Eck, *From Louvain to Leiden*, Scientific Reports 9, 2019),
//! or Louvain's (Blondel et al., 2008), which does without refinement.
//!
//! ```text
//!  lists ─▶ level 0: move · refine · group ─▶ level 1 … ─▶ communities ─┬─▶ the next iteration begins with them
//!  in memory, or on disk                                                └─▶ lists, read again: names, quality
//! ```
//!
//! The answer is the same for any number of threads, whatever order pages are read in, and however the store is encoded:
//! vertices decide by what was before their turn, all scores are whole numbers, and ties are broken by hashes of the seed.
//! Another seed is another answer.
//!
//! No community is disconnected, and the quality is recomputed from the stored lists at the end.
//!
//! Memory: 4 bytes for each edge from either of its ends (8 or 12 with weights), as much again and 4 bytes for the next
//! level, and 60 bytes a vertex. Where that is too much, lists stay on disk and vertices take 48 bytes (72 of directed
//! graphs); each level is then a store, read page by page.

mod clock;
#[cfg(feature = "cli")]
pub mod command;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "gpu_absent.rs"]
mod gpu;
mod graph;
mod level;
mod lists;
mod loading;
mod making;
mod moving;
mod naming;
mod objective;
mod paged;
mod quantum;
mod refining;
mod room;
mod scratch;
mod search;
mod shifts;
mod surveying;
mod tally;
mod turns;

pub use clock::{Clock, Part};
pub use naming::{Naming, Quality};
pub use objective::{Objective, RESOLUTION_MAX};

use crate::engine::{Engine, Observer, Run};
use crate::error::{Error, Result};
use crate::pages::adjacency::{degree, in_degrees};
use crate::report::RunReport;
use gpu::Searcher;
use graph::Graph;
use loading::{Loaded, Loading};
use objective::Pull;
use paged::{Edges, PagedLists};
use room::{Asked, Place, Room};
use search::Search;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use surveying::{Survey, Surveying};
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
    /// The folder of levels that do not fit in memory; by default that of the store.
    pub temporary: Option<PathBuf>,
    /// The most bytes of a level in memory, for tests.
    #[doc(hidden)]
    pub lists_bytes_max: u64,
    /// Is told the quality.
    pub quality: Arc<OnceLock<Quality>>,
    /// The times of the search, by part.
    pub clock: Arc<Clock>,
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
            temporary: None,
            lists_bytes_max: u64::MAX,
            quality: Arc::default(),
            clock: Arc::default(),
        }
    }
}

impl Leiden {
    /// Runs to the end.
    ///
    /// # Errors
    /// The errors of [`Engine::run`]; [`Error::Parameter`] for a resolution that is out of range, weights that the store
    /// does not have, and weights below 0; of a graph whose lists do not fit in memory, if they are divided into shards,
    /// or it is directed and has no in-lists; [`Error::Memory`] if not even its vertices fit.
    pub fn run(self, engine: &Engine, observer: &mut Observer<'_>) -> Result<Run<Naming>> {
        self.check()?;
        let store = engine.store();
        self.weight_type(store)?;
        if store.vertices() > u32::MAX.into() {
            let message = format!("{}: {} vertices: expected fewer than 2^32", self.name(), store.vertices());
            return Err(Error::Parameter(message));
        }
        let room = self.room(engine)?;
        let (report, read) = match room.place {
            Place::Memory => self.load(engine, observer)?,
            Place::Disk => self.survey(engine, &room, observer)?,
        };
        match room.place {
            Place::Memory => engine.make_room(room.held_bytes),
            Place::Disk => engine.free_page_buffer(),
        }
        let started = Instant::now();
        let pool = topostream_formats::threads::pool("leiden", engine.options().threads)?;
        let (largest, cancel) = (read.largest(), &engine.options().cancel);
        let gpu = Searcher::of(engine)?;
        let found = pool.install(|| {
            let (graph, total) = read.finish(&self, store, &room)?;
            self.search(&graph, total, store.manifest().directed, (gpu.as_ref(), cancel))
        })?;
        let searched_ns = started.elapsed().as_nanos() as u64;
        let mut naming = self.naming(store, largest, found, room.held_bytes);
        naming.levels_on_disk = room.scratch.levels.load(Relaxed);
        let mut run = engine.run_observed(naming, observer)?;
        run.report = report.followed_by(std::mem::take(&mut run.report));
        run.report.wall_ns += searched_ns;
        if let Some(gpu) = gpu {
            run.report.device = format!("{} and {}", run.report.device, gpu.name());
        }
        Ok(run)
    }

    /// The memory of a run.
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn room(&self, engine: &Engine) -> Result<Room> {
        let store = engine.store();
        let asked = Asked {
            name: self.name(),
            weights: store.manifest().weights.filter(|_| self.weights),
            temporary: self.temporary.as_deref(),
            lists_bytes_max: self.lists_bytes_max,
        };
        Room::of(engine, &asked, |held_bytes| engine.needed_bytes(&self.planned(store, held_bytes)))
    }

    /// Reads all lists into memory.
    fn load(&self, engine: &Engine, observer: &mut Observer<'_>) -> Result<(RunReport, Read)> {
        let (store, cancel) = (engine.store(), &engine.options().cancel);
        let (directed, weights) = (store.manifest().directed, self.weight_type(store)?);
        let in_degrees = if directed { in_degrees(store, cancel)? } else { Vec::new() };
        let out_degrees = store.out_degrees()?;
        let degrees = (0..store.vertices() as usize).map(|vertex| degree(out_degrees.values(), &in_degrees, vertex));
        let loaded = Arc::new(Loaded::of(directed, weights, degrees));
        drop(in_degrees);
        let held_bytes = room::list_bytes(store, weights);
        let loading = Loading { name: self.name(), loaded: Arc::clone(&loaded), held_bytes };
        let (report, loading, _) = engine.run_observed(loading, observer)?.into_parts();
        drop(loading);
        Ok((report, Read::Lists(Arc::into_inner(loaded).expect("the run has ended"))))
    }

    /// Reads all lists for what the vertices weigh.
    fn survey(&self, engine: &Engine, room: &Room, observer: &mut Observer<'_>) -> Result<(RunReport, Read)> {
        let store = engine.store();
        let (directed, weights) = (store.manifest().directed, self.weight_type(store)?);
        PagedLists::check(store)?;
        let survey = Arc::new(Survey::of(directed, weights, (store.vertices(), store.edges())));
        let mut run = |quantum| -> Result<RunReport> {
            let survey = Arc::clone(&survey);
            let surveying = Surveying { name: self.name(), survey, quantum, held_bytes: room.held_bytes };
            let (report, surveying, _) = engine.run_observed(surveying, observer)?.into_parts();
            drop(surveying);
            Ok(report)
        };
        let first = weights.map(|_| run(None)).transpose()?;
        let second = run(Some(survey.quantum()))?;
        let report = match first {
            Some(first) => first.followed_by(second),
            None => second,
        };
        let survey = Arc::into_inner(survey).expect("the runs have ended");
        Ok((report, Read::Survey(survey, engine.shared_store())))
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

    /// The last run: names communities, and measures their quality.
    fn naming(&self, store: &Store, largest: u64, found: Vec<u32>, held_bytes: u64) -> Naming {
        let manifest = store.manifest();
        let weights = manifest.weights.filter(|_| self.weights);
        let kind = (self.objective, self.resolution);
        let shared = (Arc::clone(&self.quality), held_bytes);
        let mut naming = Naming::new(kind, (manifest.directed, store.edges()), (weights, largest), found, shared);
        naming.name = self.name();
        naming
    }

    /// The run as far as it is known before: its memory.
    fn planned(&self, store: &Store, held_bytes: u64) -> Naming {
        self.naming(store, 0, Vec::new(), held_bytes)
    }

    /// The last run over a graph that need not exist.
    #[cfg(feature = "cli")]
    fn without_store(&self, directed: bool) -> Naming {
        let (kind, shared) = ((self.objective, self.resolution), (Arc::clone(&self.quality), 0));
        Naming::new(kind, (directed, 0), (None, 0), Vec::new(), shared)
    }

    /// Looks for communities.
    fn search(
        &self,
        graph: &Graph,
        total: u64,
        directed: bool,
        (gpu, cancel): (Option<&Searcher>, &std::sync::atomic::AtomicBool),
    ) -> Result<Vec<u32>> {
        let pull = Pull::new(self.objective, self.resolution, total, directed);
        let mut communities = (0..graph.vertices()).collect();
        for iteration in 0..self.iterations {
            let seed = seed_of(self.seed, 1000 * u64::from(iteration + 1));
            let search = Search { pull, refines: self.refines, seed, gpu, clock: &self.clock };
            let (found, moved) = search.iteration(graph, communities, cancel)?;
            communities = found;
            if !moved {
                break;
            }
        }
        Ok(communities)
    }
}

/// What a first reading leaves.
enum Read {
    Lists(Loaded),
    Survey(Survey, Arc<Store>),
}

impl Read {
    /// The bits of the largest weight.
    fn largest(&self) -> u64 {
        match self {
            Self::Lists(loaded) => loaded.largest(),
            Self::Survey(survey, _) => survey.largest(),
        }
    }

    /// The first level, and the sum of all strengths (of a directed graph, of all weights).
    fn finish(self, leiden: &Leiden, store: &Store, room: &Room) -> Result<(Graph, u64)> {
        let (survey, shared) = match self {
            Self::Lists(loaded) => return Ok(loaded.finish(leiden.objective)),
            Self::Survey(survey, shared) => (survey, shared),
        };
        let (weights, quantum) = (leiden.weight_type(store)?, survey.quantum());
        let (degrees, strengths, total) = survey.finish();
        let lists = PagedLists::of_graph(shared, (weights, quantum), degrees, room.scratch.clone());
        let masses = strengths.or_ones(leiden.objective);
        Ok((Graph { edges: Edges::Disk(Arc::new(lists)), masses, reach: Vec::new() }, total))
    }
}
