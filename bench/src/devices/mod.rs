//! Several devices that share a run: their speedup, and the cost of exchanges.
//!
//! ```text
//!  stores (R-MAT) ─┬─▶ replicate    1, 2, … devices, each page over a bus      ─┐
//!                  ├─▶ assignments  modulo, contiguous                          │
//!                  ├─▶ scaling      strong and weak, pages in device memory     │
//!                  ├─▶ shard        plain store ∥ store in shards               ├─▶ devices-NAME-N-SCALE.json
//!                  ├─▶ refinement   bytes exchanged ∥ bytes of all values       │
//!  R-MAT and grids ─── mirrors      all values ∥ linked ∥ mirrored              │
//!  R-MAT and grids ─── memory       values of all vertices ∥ of bordering ones  │
//!  uniform, grids ─┴─▶ capacity     the most vertices under a memory cap        │
//!  every run above ──▶ model        predicted ∥ measured           (optional)  ─┘
//! ```
//!
//! Compared runs alternate within a round: a slower minute of the machine slows all of them.

mod assignments;
mod capacity;
mod memory;
mod mirrors;
mod model;
mod refinement;
mod replicate;
mod scaling;
mod shard;
mod sides;

use crate::Result;
use crate::experiments;
use crate::gpu::api::{DeviceChoice, Setup, Share, Strategy, Work};
use crate::gpu::case::Case;
use crate::graph::{self, Wanted};
use crate::outcome::Outcome;
use crate::resources::Resources;
use clap::ValueEnum;
use model::Predicted;
use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use topostream::device::gpu::adapters;
use topostream::predict::Rates;
use topostream::report::RunReport;
use topostream_formats::Store;

/// Several devices that share a run: strategies, assignments, shards, capacity, exchange, the cost model
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Only these experiments
    #[arg(value_name = "PART")]
    pub parts: Vec<Experiment>,
    /// Only these experiments, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    pub only: Vec<Experiment>,
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(4..=30))]
    pub scale: u32,
    /// The devices, as for `topostream run --device`: several, or one several times
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "LIST")]
    pub device: Vec<DeviceChoice>,
    /// The numbers of devices, always the first of the list [default: powers of two, and all]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    pub counts: Vec<usize>,
    /// Number of measurements after a warm-up
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Number of searches, from the vertices of the highest degrees
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub sources: u32,
    /// `scaling`: only these algorithms, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "WORKS")]
    pub works: Vec<scaling::Kind>,
    /// `scaling`: no weak scaling, which takes a second graph
    #[arg(long)]
    pub strong: bool,
    /// `capacity`: memory of each device
    #[arg(long, default_value = "128MiB", value_name = "SIZE", value_parser = crate::size)]
    pub cap: u64,
    /// `model`: the file of `topostream calibrate`; without it nothing is predicted
    #[arg(long, value_name = "FILE")]
    pub rates: Option<PathBuf>,
    #[command(flatten)]
    pub resources: Resources,
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// One device, two, and so on; everything in main memory, no caches on devices
    Replicate,
    /// Strong and weak scaling: all pages in device memory
    Scaling,
    /// Page assignments
    Assignments,
    /// Partitioned attributes: a plain store, and one with shards
    Shard,
    /// The largest graph under a cap on device memory
    Capacity,
    /// Device memory under `shard`: values of all vertices, or of bordering ones
    Memory,
    /// Bytes that devices exchange, compared with exchanging everything
    Refinement,
    /// What devices send each other in PageRank: all values, linked ones, mirrored ones
    Mirrors,
    /// The cost model's predictions for all runs
    Model,
}

impl experiments::Experiment for Experiment {
    type Bench = Bench;

    fn run(self, bench: &Bench) -> Result<Outcome> {
        match self {
            Self::Replicate => replicate::run(bench),
            Self::Scaling => scaling::run(bench),
            Self::Assignments => assignments::run(bench),
            Self::Shard => shard::run(bench),
            Self::Capacity => capacity::run(bench),
            Self::Memory => memory::run(bench),
            Self::Refinement => refinement::run(bench),
            Self::Mirrors => mirrors::run(bench),
            Self::Model => model::run(bench),
        }
    }

    fn obstacle(self, bench: &Bench) -> Option<&'static str> {
        match self {
            Self::Model if bench.rates.is_none() => Some("no --rates"),
            Self::Capacity | Self::Memory if bench.devices.contains(&DeviceChoice::Cpu) => {
                Some("a CPU has no device memory to limit")
            }
            Self::Scaling | Self::Assignments | Self::Shard | Self::Refinement | Self::Mirrors | Self::Memory
                if bench.devices.len() < 2 =>
            {
                Some("at least two devices are needed")
            }
            _ => None,
        }
    }
}

/// The description of checks, for outcomes.
const CHECK: &str = "every run: ranks within 1e-4 of the CPU device's alone on every vertex (single-precision sums: \
    5e-2); levels of searches from three vertices of the highest degrees as the CPU device alone finds them, of \
    further ones how many vertices and edges are reached by all runs";

/// The shared state of all experiments.
pub struct Bench {
    options: Options,
    /// The devices, each by an unambiguous choice.
    devices: Vec<DeviceChoice>,
    rates: Option<Arc<Rates>>,
    plain: OnceCell<Rc<Case>>,
    /// The predictions for the runs so far.
    predicted: RefCell<Vec<Predicted>>,
}

impl Bench {
    fn new(options: &Options) -> Result<Self> {
        let chosen = adapters::choose_all(&options.device)?;
        let choice = |adapter: &adapters::Adapter| DeviceChoice::Index(adapter.report.index);
        let devices: Vec<_> = chosen.iter().map(|adapter| adapter.as_ref().map_or(DeviceChoice::Cpu, choice)).collect();
        if let Some(&count) = options.counts.iter().find(|&&count| count == 0 || count > devices.len()) {
            return Err(format!("--counts {count}: there are {} devices", devices.len()).into());
        }
        let rates = options.rates.as_deref().map(Rates::read).transpose()?.map(Arc::new);
        let (options, predicted) = (options.clone(), RefCell::default());
        Ok(Self { options, devices, rates, plain: OnceCell::new(), predicted })
    }

    /// The numbers of devices: one first, since the others are compared with it.
    fn counts(&self) -> Vec<usize> {
        let all = self.devices.len();
        let mut counts = match &self.options.counts[..] {
            [] => std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&count| count < all).collect(),
            asked => asked.to_vec(),
        };
        counts.push(1);
        if self.options.counts.is_empty() {
            counts.push(all);
        }
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn threads(&self) -> usize {
        self.options.resources.threads()
    }

    /// The first devices, with every page in main memory and none kept on a device.
    fn setup(&self, devices: usize, strategy: Strategy) -> Setup {
        Setup {
            devices: self.devices[..devices].to_vec(),
            buffer: Share::All,
            cache: Share::Nothing,
            strategy,
            rates: self.rates.clone(),
            ..Setup::new(DeviceChoice::Cpu, self.threads())
        }
    }

    fn wanted(&self) -> Wanted {
        self.options.resources.wanted()
    }

    /// The R-MAT graph in a store of some kind.
    fn store(&self, wanted: &Wanted) -> Result<Store> {
        self.store_of(wanted, self.options.scale)
    }

    /// The R-MAT graph of some scale.
    fn store_of(&self, wanted: &Wanted, scale: u32) -> Result<Store> {
        wanted.rmat(&self.options.resources.dir, scale)
    }

    /// Prepares a store's graph; searches from vertices of the highest degrees are checked.
    fn case(&self, store: &Store, name: String) -> Result<Rc<Case>> {
        let hubs = graph::largest_vertices(store, self.options.sources as usize)?;
        let mut case = Case::new(store, name, 0, self.threads())?;
        case.sources = hubs.into_iter().filter(|&hub| hub != case.hub).collect();
        Ok(Rc::new(case))
    }

    /// The graph in a plain store.
    fn plain(&self) -> Result<Rc<Case>> {
        if self.plain.get().is_none() {
            let case = self.case(&self.store(&self.wanted())?, format!("R-MAT {}", self.options.scale))?;
            self.plain.set(case).ok();
        }
        Ok(Rc::clone(self.plain.get().expect("just set")))
    }

    /// Searches of a kind from the hubs.
    fn searches(&self, case: &Case, search: fn(topostream::VertexId) -> Work) -> Vec<Work> {
        let others = self.options.sources as usize - 1;
        std::iter::once(case.hub).chain(case.sources.iter().copied().take(others)).map(search).collect()
    }

    /// Creates an empty outcome.
    fn outcome(&self, name: &'static str, expectation: &'static str) -> Outcome {
        let mut outcome = Outcome::new(name, expectation);
        outcome.verified(CHECK);
        let devices: Vec<String> = self.devices.iter().map(DeviceChoice::to_string).collect();
        outcome.notes.push(format!("devices: {}", devices.join(", ")));
        outcome
    }

    /// Keeps the prediction for a run.
    fn keep(&self, part: &'static str, run: &str, report: &RunReport) {
        self.predicted.borrow_mut().extend(Predicted::of(part, run, report));
    }
}

/// Runs the requested experiments, or all.
///
/// # Errors
/// The first failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    let bench = Bench::new(options)?;
    let wanted: Vec<Experiment> = options.parts.iter().chain(&options.only).copied().collect();
    experiments::run(&bench, &wanted, |outcome| {
        let file = format!("{}-{}-{}.json", outcome.name, bench.devices.len(), options.scale);
        options.resources.results.join(file)
    })
}
