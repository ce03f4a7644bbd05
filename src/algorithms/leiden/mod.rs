//! Communities by Leiden's algorithm (Traag, Waltman and van Eck, *From Louvain to Leiden*, Scientific Reports 9,
//! 2019), or Louvain's (Blondel et al., 2008), which does without refinement.
//!
//! ```text
//!  lists ─▶ level 0: move · refine · group ─▶ level 1 … ─▶ communities ─┬─▶ the next iteration begins with them
//!  in memory, or on disk                                                └─▶ lists, read again: names, quality
//! ```
//!
//! The answer is the same for any number of threads, whatever order pages are read in, and however the store is
//! encoded: vertices decide by what was before their turn, all scores are whole numbers, and ties are broken by hashes
//! of the seed. Another seed is another answer.
//!
//! No community is disconnected, and the quality is recomputed from the stored lists at the end.
//!
//! Memory: 4 bytes for each edge from either of its ends (8 or 12 with weights), as much again and 4 bytes for the next
//! level, and 60 bytes a vertex. Where that is too much, lists stay on disk and vertices take 48 bytes (72 of directed
//! graphs); each level is then a store, read page by page.

mod clock;
#[cfg(feature = "cli")]
pub mod command;
mod decisions;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "gpu_absent.rs"]
mod gpu;
mod graph;
mod hierarchy;
mod level;
mod lists;
mod loading;
mod making;
mod moving;
mod naming;
mod objective;
mod paged;
mod partitions;
mod quantum;
mod refining;
mod room;
mod saving;
mod scratch;
mod search;
mod shifts;
mod starts;
mod surveying;
mod tally;
mod turns;

pub use clock::{Clock, Count, Part};
#[cfg(feature = "gpu")]
pub use gpu::modules as gpu_modules;
pub use hierarchy::Hierarchy;
pub use naming::{Naming, Quality};
pub use objective::{Objective, RESOLUTION_MAX};
pub use partitions::Partitions;

use crate::engine::{Engine, KeptRun, Observer, Progress as EngineProgress};
use crate::error::{Error, Result};
use crate::model::Parameters;
use crate::pages::adjacency::{degree, in_degrees};
use crate::report::RunReport;
use gpu::{DeviceCopy, Searcher};
use graph::Graph;
use level::Watch;
use loading::{Loaded, Loading};
use objective::Pull;
use paged::{Edges, PagedLists};
use room::{Asked, Place, Room};
use saving::{Progress, Saved};
use search::{Found, Save, Search};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;
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
    /// How small communities are: more is smaller. From 0 to [`RESOLUTION_MAX`]; at least one, and all different. Each
    /// is a partition, and all read the first level together.
    pub resolutions: Vec<f64>,
    /// Whether communities are refined; without, it is Louvain's algorithm.
    pub refines: bool,
    /// Whether edges count by their weights, which must not be negative; otherwise every edge counts 1.
    pub weights: bool,
    /// The most iterations over all levels. It ends before if one changes nothing.
    pub iterations: u32,
    /// Decides between what is equal.
    pub seed: u64,
    /// The folder of levels that do not fit in memory; by default the folder of the store.
    pub temporary: Option<PathBuf>,
    /// The most bytes of a level in memory, for tests.
    #[doc(hidden)]
    pub lists_bytes_max: u64,
    /// Whether the levels of the last iteration are kept; of one resolution only.
    pub keeps_levels: bool,
    /// Is told the quality of each partition, for summaries.
    #[doc(hidden)]
    pub qualities: Arc<OnceLock<Vec<Quality>>>,
    /// Is told the levels, if they are kept.
    #[doc(hidden)]
    pub levels: Arc<OnceLock<Hierarchy>>,
    /// The times of the search, by part.
    pub clock: Arc<Clock>,
}

impl Default for Leiden {
    fn default() -> Self {
        Self {
            objective: Objective::Modularity,
            resolutions: vec![1.0],
            refines: true,
            weights: false,
            iterations: 3,
            seed: 0,
            temporary: None,
            lists_bytes_max: u64::MAX,
            keeps_levels: false,
            qualities: Arc::default(),
            levels: Arc::default(),
            clock: Arc::default(),
        }
    }
}

impl Leiden {
    /// Runs to the end.
    ///
    /// # Errors
    /// The errors of [`Engine::run`]; [`Error::Parameter`] for a resolution that is out of range, weights that the
    /// store does not have, and weights below 0; of a graph whose lists do not fit in memory, if they are divided into
    /// shards, or it is directed and has no in-lists; [`Error::Memory`] if not even its vertices fit.
    pub fn run(self, engine: &Engine, observer: &mut Observer<'_>) -> Result<Partitions> {
        self.check()?;
        let store = engine.store();
        self.weight_type(store)?;
        if store.vertices() > u32::MAX.into() {
            let message = format!("{}: {} vertices: expected fewer than 2^32", self.name(), store.vertices());
            return Err(Error::Parameter(message));
        }
        // Its runs are parts of one: checkpoints belong to the search.
        let (whole, saved) = (engine, self.saved());
        let run = whole.keep_run(&saved)?;
        let parts = whole.options().checkpoints.as_ref().map(|_| whole.without_checkpoints());
        let engine = parts.as_ref().unwrap_or(whole);
        let room = self.room(engine)?;
        let ((report, read), gpu) = thread::scope(|scope| -> Result<_> {
            let gpu = scope.spawn(|| Searcher::of(engine));
            let read = match room.place {
                Place::Memory => self.load(engine, observer)?,
                Place::Disk => {
                    making::check_folder(&room.scratch.parent)?;
                    self.survey(engine, &room, observer)?
                }
            };
            Ok((read, gpu.join().expect("it does not panic")?))
        })?;
        match room.place {
            Place::Memory => engine.make_room(room.held_bytes),
            Place::Disk => engine.free_page_buffer(),
        }
        let started = Instant::now();
        let (cancel, progress) = (&*engine.options().cancel, engine.options().progress.clone());
        let saves = Saves { run, saved, cancel, progress };
        let pool = topostream_formats::threads::pool("leiden", engine.options().threads)?;
        let (largest, directed) = (read.largest(), store.manifest().directed);
        let found = pool.install(|| {
            let (graph, total) = read.finish(&self, store, &room)?;
            let pull = |resolution| Pull::new(self.objective, resolution, total, directed);
            self.search(&graph, &pull, &saves, gpu.as_ref())
        })?;
        let searched_ns = started.elapsed().as_nanos() as u64;
        let mut name = |found: (f64, Vec<u32>)| {
            let mut naming = self.naming(store, largest, found, room.held_bytes);
            naming.levels_on_disk = room.scratch.levels.load(Relaxed);
            engine.run_observed(naming, observer)
        };
        let mut found = self.resolutions.iter().copied().zip(found);
        let first = name(found.next().expect("there is a resolution"))?;
        let mut partitions = found.try_fold(Partitions::first(report, first), |all, next| all.and(name(next)?))?;
        partitions.report.wall_ns += searched_ns;
        partitions.report.checkpoints = saves.run.report();
        if let Some(gpu) = gpu {
            partitions.report.device = format!("{} and {}", partitions.report.device, gpu.name());
        }
        self.qualities.set(partitions.qualities().to_vec()).ok();
        Ok(partitions)
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
            resolutions: self.resolutions.len() as u64,
            keeps_levels: self.keeps_levels,
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
        let degree = |vertex| degree(out_degrees.values(), &in_degrees, vertex);
        let loaded = Arc::new(Loaded::of(directed, weights, store.vertices() as usize, degree));
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
        let wrong = |message: String| Err(Error::Parameter(format!("{}: {message}", self.name())));
        let is_wrong = |resolution: &&f64| !(0.0..=RESOLUTION_MAX).contains(*resolution);
        if let Some(resolution) = self.resolutions.iter().find(is_wrong) {
            return wrong(format!("a resolution of {resolution}: expected one from 0 to {RESOLUTION_MAX}"));
        }
        let is_second = |(at, resolution): &(usize, &f64)| self.resolutions[..*at].contains(resolution);
        if let Some((_, resolution)) = self.resolutions.iter().enumerate().find(is_second) {
            return wrong(format!("the resolution {resolution} is there twice"));
        }
        if self.keeps_levels && self.resolutions.len() > 1 {
            return wrong("levels are kept of one resolution only".into());
        }
        if self.resolutions.is_empty() { wrong("expected at least one resolution".into()) } else { Ok(()) }
    }

    fn weight_type(&self, store: &Store) -> Result<Option<WeightType>> {
        match store.manifest().weights {
            None if self.weights => Err(Error::Parameter("--weights: the store has no weights".into())),
            weights => Ok(weights.filter(|_| self.weights)),
        }
    }

    /// A last run: names communities that were found by a resolution, and measures their quality.
    fn naming(&self, store: &Store, largest: u64, (resolution, found): (f64, Vec<u32>), held_bytes: u64) -> Naming {
        let manifest = store.manifest();
        let weights = manifest.weights.filter(|_| self.weights);
        let kind = (self.objective, resolution);
        let mut naming = Naming::new(kind, (manifest.directed, store.edges()), (weights, largest), found, held_bytes);
        naming.name = self.name();
        naming
    }

    /// The run as far as it is known before: its memory.
    fn planned(&self, store: &Store, held_bytes: u64) -> Naming {
        self.naming(store, 0, (1.0, Vec::new()), held_bytes)
    }

    /// The last run over a graph that need not exist.
    #[cfg(feature = "cli")]
    fn without_store(&self, directed: bool) -> Naming {
        Naming::new((self.objective, 1.0), (directed, 0), (None, 0), Vec::new(), 0)
    }

    /// The search as checkpoints know it.
    fn saved(&self) -> Saved {
        let parameters = Parameters::none()
            .with("objective", self.objective)
            .with("resolutions", &self.resolutions)
            .with("weights", self.weights)
            .with("iterations", self.iterations)
            .with("seed", self.seed)
            .with("levels", self.keeps_levels);
        let limits = (self.resolutions.len() as u32, self.iterations);
        Saved { name: self.name(), parameters, limits, progress: Mutex::default() }
    }

    /// Looks for communities by each resolution.
    fn search(
        &self,
        graph: &Graph,
        pull: &dyn Fn(f64) -> Pull,
        saves: &Saves<'_>,
        gpu: Option<&Searcher>,
    ) -> Result<Vec<Vec<u32>>> {
        let every = || (0..graph.vertices()).collect::<Vec<u32>>();
        let begin = || Progress {
            going: (0..self.resolutions.len() as u32).collect(),
            found: self.resolutions.iter().map(|_| every()).collect(),
            ..Progress::default()
        };
        let mut now = saves.resumed()?.unwrap_or_else(begin);
        while now.iterations < self.iterations && !now.going.is_empty() {
            let seed = seed_of(self.seed, 1000 * u64::from(now.iterations + 1));
            let search = |&which: &u32| Search {
                pull: pull(self.resolutions[which as usize]),
                refines: self.refines,
                seed,
                keeps_levels: self.keeps_levels,
                gpu,
            };
            let (cancel, progress) = (saves.cancel, saves.progress.as_deref());
            let watch = Watch { cancel, progress, iteration: now.iterations, clock: &self.clock };
            let searches: Vec<Search<'_>> = now.going.iter().map(search).collect();
            let (climb, is_one) = (now.climb.take(), self.resolutions.len() == 1);
            let mut before: Vec<_> = now.going.iter().map(|&of| std::mem::take(&mut now.found[of as usize])).collect();
            let save: &mut Save<'_> = &mut |climb| {
                if !is_one {
                    return Ok(climb);
                }
                now.climb = Some(climb);
                now = saves.save(std::mem::take(&mut now))?;
                Ok(now.climb.take().expect("it was put there"))
            };
            let after = match climb {
                Some(climb) => vec![searches[0].resume(graph, climb, watch, save)?],
                None => search::iteration(&searches, graph, std::mem::take(&mut before), watch, save)?,
            };
            let mut after = after.into_iter();
            let (found, levels) = (&mut now.found, &mut now.levels);
            now.going.retain(|&which| {
                let Found { communities, moved, levels: of } = after.next().expect("a search each");
                (found[which as usize], *levels) = (communities, of);
                moved
            });
            now.iterations += 1;
            now = saves.save(now)?;
        }
        self.levels.set(now.levels).ok();
        Ok(now.found)
    }
}

/// Where a search is saved.
struct Saves<'a> {
    run: KeptRun<'a>,
    saved: Saved,
    cancel: &'a AtomicBool,
    progress: Option<Arc<EngineProgress>>,
}

impl Saves<'_> {
    /// How far the search had come that is resumed.
    fn resumed(&self) -> Result<Option<Progress>> {
        self.run.resume(&self.saved)?;
        Ok(self.now().take())
    }

    /// Writes a checkpoint if one is due.
    fn save(&self, now: Progress) -> Result<Progress> {
        *self.now() = Some(now);
        self.run.save(&self.saved)?;
        Ok(self.now().take().expect("it was put there"))
    }

    fn now(&self) -> MutexGuard<'_, Option<Progress>> {
        self.saved.progress.lock().expect("nothing panics while it is held")
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
        let (edges, copy) = (Edges::Disk(Arc::new(lists)), DeviceCopy::default());
        Ok((Graph { edges, masses, reach: Vec::new(), copy }, total))
    }
}
