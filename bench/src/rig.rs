//! Engines on any devices: the only module that uses the engine's options for devices. Experiments use [`Setup`] and
//! [`Work`].

use crate::error::Result;
use crate::measure::{Spread, ratio};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use topostream::algorithms::{self, Betweenness, Bfs, Components, DanglingMass, PageRank, Sssp, Stop, Traffic};
use topostream::device::settings::GpuSettings;
use topostream::predict::Rates;
use topostream::report::{RunReport, StepReport};
use topostream::{Engine, EngineOptions, Error, Run};
use topostream_formats::{Direction, Store, VertexId};

pub use topostream::device::DeviceChoice;
pub use topostream::device::settings::{CachePolicy, Distribution, FastPaths, PageTransfer};
pub use topostream::team::{Assignment, Exchanged, Strategy};

/// Iterations of every PageRank. The first may fill caches and is not counted.
pub const ITERATIONS: u32 = 20;
/// Main memory is not limited by a budget.
const MEMORY_BYTES: u64 = 1 << 50;

/// The algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// PageRank along out-lists.
    Push,
    /// PageRank over in-lists.
    Pull,
    /// A search that stays top-down.
    TopDown(VertexId),
    /// A search that uses bottom-up steps if they are cheaper.
    Optimizing(VertexId),
    /// Shortest paths by weight.
    Distances(VertexId),
    /// Betweenness of shortest paths from one source, in hops.
    Betweenness(VertexId),
    /// Connected components.
    Components,
}

/// The share of the pages of a run that is cached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// All of them.
    All,
    /// This share of them.
    Part(f64),
    /// None.
    Nothing,
}

/// How ranks are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// Exact, by 64-bit atomics.
    Exact,
    /// Exact, by two words with a carry.
    ExactInHalves,
    /// Single precision, by native additions.
    Single,
    /// Single precision, by a compare-exchange loop.
    SingleByExchange,
}

/// The resources of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device.
    pub devices: Vec<DeviceChoice>,
    /// CPU threads.
    pub threads: usize,
    /// The share of the pages in main memory.
    pub buffer: Share,
    /// The share of the pages in device memory.
    pub cache: Share,
    /// The distribution of work.
    pub distribution: Distribution,
    /// The maximum number of pages of a launch; by default the engine's choice.
    pub batch_pages: Option<u32>,
    /// The maximum number of launches in flight; by default the engine's choice.
    pub launches: Option<u32>,
    /// The transfer of pages that are not cached.
    pub transfer: PageTransfer,
    /// Which pages are cached in searches.
    pub policy: CachePolicy,
    /// How ranks are summed.
    pub sums: Sums,
    /// Which fast paths to take, unless `sums` rules one out.
    pub fast_paths: FastPaths,
    /// How several devices share a run.
    pub strategy: Strategy,
    /// The assignment of pages to devices.
    pub assignment: Assignment,
    /// Which values devices send each other.
    pub exchanged: Exchanged,
    /// Whether the engine chooses among equivalent supersteps by predicted time, as it does by default. Otherwise
    /// searches choose by edges alone, and their first run reads what later runs find in memory.
    pub alternatives: bool,
    /// Memory of each device, in bytes; by default nearly all of it.
    pub device_bytes: Option<u64>,
    /// Measured rates of the machine, for predictions.
    pub rates: Option<Arc<Rates>>,
}

impl Setup {
    /// All pages in device memory, other options by default.
    pub fn new(device: DeviceChoice, threads: usize) -> Self {
        Self {
            devices: vec![device],
            threads,
            buffer: Share::Nothing,
            cache: Share::All,
            distribution: Distribution::Auto,
            batch_pages: None,
            launches: None,
            transfer: PageTransfer::Auto,
            policy: CachePolicy::default(),
            sums: Sums::Exact,
            fast_paths: FastPaths::default(),
            strategy: Strategy::Auto,
            assignment: Assignment::Auto,
            exchanged: Exchanged::Mirrored,
            alternatives: false,
            device_bytes: None,
            rates: None,
        }
    }

    /// An engine over a store, for one kind of work.
    ///
    /// # Errors
    /// If the store does not open.
    pub fn rig(&self, path: &Path, work: Work) -> Result<Rig> {
        let store = Store::open(path)?;
        let cancel = Arc::new(AtomicBool::new(false));
        let options = self.options(&store, work.page_bytes(&store)).with_cancel(Arc::clone(&cancel));
        Ok(Rig { engine: Engine::new(store, options), cancel, work, sums: self.sums })
    }

    /// The engine's options for work that reads this many bytes of pages.
    pub fn options(&self, store: &Store, page_bytes: u64) -> EngineOptions {
        let frames_min = 64 * u64::from(store.manifest().page_bytes);
        let buffer_bytes = match self.buffer {
            Share::All => None,
            Share::Part(part) => Some(((page_bytes as f64 * part) as u64).max(frames_min)),
            Share::Nothing => Some(frames_min),
        };
        EngineOptions::default()
            .with_memory_bytes(MEMORY_BYTES)
            .with_buffer_bytes(buffer_bytes)
            .with_threads(self.threads)
            .with_devices(self.devices.clone())
            .with_gpu(self.gpu_settings(page_bytes))
            .with_strategy(self.strategy)
            .with_assignment(self.assignment)
            .with_exchanged(self.exchanged)
            .with_alternatives(self.alternatives)
            .with_rates(self.rates.clone())
    }

    fn gpu_settings(&self, page_bytes: u64) -> GpuSettings {
        let defaults = GpuSettings::default();
        GpuSettings {
            memory_bytes: self.device_bytes,
            cache_bytes: match self.cache {
                Share::All => None,
                Share::Part(part) => Some((page_bytes as f64 * part) as u64),
                Share::Nothing => Some(0),
            },
            distribution: self.distribution,
            batch_pages: self.batch_pages.unwrap_or(defaults.batch_pages),
            launches: self.launches.unwrap_or(defaults.launches),
            transfer: self.transfer,
            cache_policy: self.policy,
            fast_paths: FastPaths {
                wide_integers: self.fast_paths.wide_integers && self.sums != Sums::ExactInHalves,
                float_atomics: self.fast_paths.float_atomics && self.sums != Sums::SingleByExchange,
                ..self.fast_paths
            },
            ..defaults
        }
    }
}

impl Sums {
    /// The name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact, 64-bit atomics",
            Self::ExactInHalves => "exact, two words with a carry",
            Self::Single => "single precision, native additions",
            Self::SingleByExchange => "single precision, compare-exchange",
        }
    }

    /// The tolerated relative error of a rank.
    pub fn error_max(self) -> f64 {
        match self {
            Self::Exact | Self::ExactInHalves => 1e-4,
            Self::Single | Self::SingleByExchange => 5e-2,
        }
    }
}

impl Work {
    /// The name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Push => "PageRank push",
            Self::Pull => "PageRank pull",
            Self::TopDown(_) => "BFS top-down",
            Self::Optimizing(_) => "BFS direction-optimizing",
            Self::Distances(_) => "shortest paths",
            Self::Betweenness(_) => "betweenness, one source",
            Self::Components => "components",
        }
    }

    /// Whether it is a search.
    pub fn is_search(self) -> bool {
        matches!(self, Self::TopDown(_) | Self::Optimizing(_))
    }

    /// Whether it is PageRank, whose iterations are all alike.
    pub fn is_scan(self) -> bool {
        matches!(self, Self::Push | Self::Pull)
    }

    /// The lists that it reads.
    pub fn directions(self) -> &'static [Direction] {
        match self {
            Self::Push | Self::TopDown(_) | Self::Distances(_) | Self::Betweenness(_) | Self::Components => {
                &[Direction::Out]
            }
            Self::Pull => &[Direction::In],
            Self::Optimizing(_) => &[Direction::Out, Direction::In],
        }
    }

    /// Bytes of the pages that it reads.
    pub fn page_bytes(self, store: &Store) -> u64 {
        let pages = |&direction: &Direction| store.topology(direction).map_or(0, |lists| lists.page_count().into());
        self.directions().iter().map(pages).sum::<u64>() * u64::from(store.manifest().page_bytes)
    }
}

/// A finished run of either kind.
pub enum Finished {
    /// A run of PageRank.
    Ranks(Run<PageRank>),
    /// A run of a search.
    Levels(Run<Bfs>),
    /// A run of shortest paths.
    Distances(Run<Sssp>),
    /// A run of betweenness.
    Between(Run<Betweenness>),
    /// A run of connected components.
    Labels(Run<Components>),
}

impl Finished {
    /// Its report.
    pub fn report(&self) -> &RunReport {
        match self {
            Self::Ranks(run) => &run.report,
            Self::Levels(run) => &run.report,
            Self::Distances(run) => &run.report,
            Self::Between(run) => &run.report,
            Self::Labels(run) => &run.report,
        }
    }
}

/// An engine and its work.
pub struct Rig {
    engine: Engine,
    /// Stops a run.
    cancel: Arc<AtomicBool>,
    /// The work.
    pub work: Work,
    /// How ranks are summed.
    pub sums: Sums,
}

impl Rig {
    /// Runs the work.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn run(&self) -> Result<Finished> {
        self.run_observed(&mut |_| ())
    }

    /// Runs the work until a superstep has ended: whether it can be run is known then.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn start(&self) -> Result<()> {
        let ran = self.run_observed(&mut |_| self.cancel.store(true, Ordering::Relaxed));
        self.cancel.store(false, Ordering::Relaxed);
        match ran {
            Err(error) if matches!(error.downcast_ref(), Some(Error::Interrupted)) => Ok(()),
            ran => ran.map(drop),
        }
    }

    fn run_observed(&self, observer: &mut dyn FnMut(&StepReport)) -> Result<Finished> {
        Ok(match self.work {
            Work::Push => Finished::Ranks(self.engine.run_observed(self.pagerank(Traffic::Push), observer)?),
            Work::Pull => Finished::Ranks(self.engine.run_observed(self.pagerank(Traffic::Pull), observer)?),
            Work::TopDown(source) | Work::Optimizing(source) => {
                let bottom_up = matches!(self.work, Work::Optimizing(_));
                let search = Bfs { bottom_up, ..Bfs::from(source) };
                Finished::Levels(self.engine.run_observed(search, observer)?)
            }
            Work::Distances(source) => {
                let weights = self.engine.store().manifest().weights.ok_or("shortest paths need weights")?;
                Finished::Distances(self.engine.run_observed(Sssp::new(source, weights), observer)?)
            }
            Work::Betweenness(source) => {
                Finished::Between(self.engine.run_observed(Betweenness::of_sources(&[source]), observer)?)
            }
            Work::Components => {
                let directed = self.engine.store().manifest().directed;
                Finished::Labels(self.engine.run_observed(Components { directed }, observer)?)
            }
        })
    }

    /// The same engine with other work over the same lists, such as a search from another source.
    pub fn with(self, work: Work) -> Self {
        Self { work, ..self }
    }

    fn pagerank(&self, traffic: Traffic) -> PageRank {
        let sums = match self.sums {
            Sums::Exact | Sums::ExactInHalves => algorithms::Sums::Exact,
            Sums::Single | Sums::SingleByExchange => algorithms::Sums::Single,
        };
        let (dangling, stop) = (DanglingMass::Redistributed, Stop::Iterations(ITERATIONS));
        PageRank { damping: topostream_oracles::pagerank::DAMPING, dangling, stop, traffic, sums }
    }
}

/// The device memory that would be needed, if it is too little.
pub fn needed_bytes(error: &Error) -> Option<u64> {
    match error {
        Error::DeviceMemory { needed_bytes, .. } => Some(*needed_bytes),
        Error::Device { source, .. } => needed_bytes(source),
        _ => None,
    }
}

/// The measurements: of a whole run, or of PageRank's median iteration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Elapsed nanoseconds.
    pub ns: f64,
    /// Nanoseconds of edge kernels.
    pub kernel_ns: f64,
    /// Edges: all of them for PageRank, the out-edges of reached vertices for searches.
    pub edges: f64,
    /// Supersteps.
    pub steps: f64,
    /// The share of pages in device memory.
    pub resident: f64,
    /// Bytes of pages that went over the bus.
    pub bus_bytes: f64,
    /// Bytes read from disk.
    pub disk_bytes: f64,
    /// Nanoseconds of copies.
    pub copy_ns: f64,
    /// Nanoseconds of copies that overlap kernels.
    pub overlap_ns: f64,
    /// Launches over batches of pages.
    pub batches: f64,
    /// Nanoseconds of the full supersteps: those that visit at least half as many pages as the largest one.
    pub full_ns: f64,
    /// Bytes read from disk in them.
    pub full_disk_bytes: f64,
    /// The largest relative error of a rank.
    pub rank_error: f64,
}

impl Measured {
    /// The measurements of a run.
    pub fn of(work: Work, report: &RunReport) -> Self {
        let lanes = f64::from(report.lanes.max(1));
        if !work.is_scan() {
            let measured = Self::sums(std::slice::from_ref(&report.total), lanes);
            let edges = report.traversed_edges.unwrap_or(report.total.edges) as f64;
            let most = report.steps.iter().map(|step| step.pages).max().unwrap_or(0);
            let full: Vec<_> = report.steps.iter().filter(|step| 2 * step.pages >= most).copied().collect();
            let full = Self::sums(&full, lanes).times(full.len() as f64);
            let (full_ns, full_disk_bytes) = (full.ns, full.disk_bytes);
            let (ns, steps) = (report.wall_ns as f64, report.steps.len() as f64);
            return Self { ns, steps, edges, full_ns, full_disk_bytes, ..measured };
        }
        let steady = report.steps.get(1..).filter(|steps| !steps.is_empty()).unwrap_or(&report.steps);
        let median = |of: fn(&StepReport) -> u64| Spread::over(steady, |step| of(step) as f64).median;
        let kernel_ns = median(|step| step.compute_ns) / lanes;
        let ns = median(|step| step.wall_ns);
        let mean = Self::sums(steady, lanes);
        Self { ns, kernel_ns, full_ns: ns, full_disk_bytes: mean.disk_bytes, ..mean }
    }

    /// The mean over supersteps.
    fn sums(steps: &[StepReport], lanes: f64) -> Self {
        let mut total = StepReport::default();
        steps.iter().for_each(|step| total.add(step));
        let mean = |sum: u64| sum as f64 / steps.len().max(1) as f64;
        let moved = total.transfer;
        Self {
            ns: mean(total.wall_ns),
            kernel_ns: mean(total.compute_ns) / lanes,
            edges: mean(total.edges),
            steps: 1.0,
            resident: total.resident_rate(),
            bus_bytes: mean(moved.copied_bytes + moved.in_place_bytes),
            disk_bytes: mean(total.disk_bytes),
            copy_ns: mean(moved.copy_ns),
            overlap_ns: mean(moved.overlap_ns),
            batches: mean(moved.batches),
            ..Self::default()
        }
    }

    /// This many devices of the same kind.
    fn times(self, count: f64) -> Self {
        Self { ns: self.ns * count, disk_bytes: self.disk_bytes * count, ..self }
    }

    /// Edges over elapsed time, in billions per second.
    pub fn gedges_per_s(&self) -> f64 {
        ratio(self.edges, self.ns)
    }

    /// Bytes over the bus, in GB/s.
    pub fn bus_gb_per_s(&self) -> f64 {
        ratio(self.bus_bytes, self.ns)
    }

    /// Bytes from disk in the full supersteps, in GB/s.
    pub fn full_disk_gb_per_s(&self) -> f64 {
        ratio(self.full_disk_bytes, self.full_ns)
    }

    /// Bytes from disk, in GB/s.
    pub fn disk_gb_per_s(&self) -> f64 {
        ratio(self.disk_bytes, self.ns)
    }
}
