//! What the experiments on several devices share: options, devices, graphs, and the predictions for runs.

use super::predicted::Predicted;
use crate::case::Case;
use crate::error::Result;
use crate::graph::{self, Wanted};
use crate::options::{Resources, size};
use crate::outcome::Outcome;
use crate::rig::{DeviceChoice, Setup, Share, Strategy, Work};
use clap::ValueEnum;
use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use topostream::device::gpu::adapters;
use topostream::predict::Rates;
use topostream::report::RunReport;
use topostream_formats::{Store, WeightType};

/// The options of all experiments.
#[derive(Debug, Clone, clap::Args)]
pub struct Settings {
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
    pub works: Vec<Kind>,
    /// `scaling`: no weak scaling, which takes a second graph
    #[arg(long)]
    pub strong: bool,
    /// `capacity`: memory of each device
    #[arg(long, default_value = "128MiB", value_name = "SIZE", value_parser = size)]
    pub cap: u64,
    /// `model`: the file of `topostream calibrate`; without it nothing is predicted
    #[arg(long, value_name = "FILE")]
    pub rates: Option<PathBuf>,
    #[command(flatten)]
    pub resources: Resources,
}

/// An algorithm of `scaling`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// PageRank over in-lists
    Pull,
    /// PageRank over out-lists
    Push,
    /// Top-down search
    TopDown,
    /// Direction-optimizing search
    Optimizing,
    /// Connected components
    Components,
    /// Betweenness of shortest paths from the vertex of the highest degree
    Betweenness,
    /// Shortest paths by weight, over a store with weights
    Distances,
}

/// The description of checks, for outcomes.
const CHECK: &str = "every run: ranks within 1e-4 of the CPU device's alone on every vertex (single-precision sums: \
    5e-2); levels of searches from three vertices of the highest degrees as the CPU device alone finds them, of \
    further ones how many vertices and edges are reached by all runs; components and distances equal to the CPU \
    device's, betweenness within 1e-3";

/// The shared state of all experiments.
pub struct Bench {
    /// The options.
    pub settings: Settings,
    /// The devices, each by an unambiguous choice.
    pub devices: Vec<DeviceChoice>,
    /// Measured rates of the machine, if given.
    pub rates: Option<Arc<Rates>>,
    plain: OnceCell<Rc<Case>>,
    weighted: OnceCell<Rc<Case>>,
    /// The predictions for the runs so far.
    pub predicted: RefCell<Vec<Predicted>>,
}

impl Bench {
    /// Opens the devices.
    ///
    /// # Errors
    /// If there is none, or fewer than `--counts` asks for.
    pub fn new(settings: &Settings) -> Result<Self> {
        let chosen = adapters::choose_all(&settings.device)?;
        let choice = |adapter: &adapters::Adapter| DeviceChoice::Index(adapter.report.index);
        let devices: Vec<_> = chosen.iter().map(|adapter| adapter.as_ref().map_or(DeviceChoice::Cpu, choice)).collect();
        if let Some(&count) = settings.counts.iter().find(|&&count| count == 0 || count > devices.len()) {
            return Err(format!("--counts {count}: there are {} devices", devices.len()).into());
        }
        let rates = settings.rates.as_deref().map(Rates::read).transpose()?.map(Arc::new);
        let (settings, predicted) = (settings.clone(), RefCell::default());
        Ok(Self { settings, devices, rates, plain: OnceCell::new(), weighted: OnceCell::new(), predicted })
    }

    /// The numbers of devices: one first, since the others are compared with it.
    pub fn counts(&self) -> Vec<usize> {
        let all = self.devices.len();
        let mut counts = match &self.settings.counts[..] {
            [] => std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&count| count < all).collect(),
            asked => asked.to_vec(),
        };
        counts.push(1);
        if self.settings.counts.is_empty() {
            counts.push(all);
        }
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// The number of CPU threads.
    pub fn threads(&self) -> usize {
        self.settings.resources.threads()
    }

    /// The first devices, with every page in main memory and none kept on a device.
    pub fn setup(&self, devices: usize, strategy: Strategy) -> Setup {
        Setup {
            devices: self.devices[..devices].to_vec(),
            buffer: Share::All,
            cache: Share::Nothing,
            strategy,
            rates: self.rates.clone(),
            ..Setup::new(DeviceChoice::Cpu, self.threads())
        }
    }

    /// A plain store.
    pub fn wanted(&self) -> Wanted {
        self.settings.resources.wanted()
    }

    /// The R-MAT graph in a store of some kind.
    pub fn store(&self, wanted: &Wanted) -> Result<Store> {
        self.store_of(wanted, self.settings.scale)
    }

    /// The R-MAT graph of some scale.
    pub fn store_of(&self, wanted: &Wanted, scale: u32) -> Result<Store> {
        wanted.rmat(&self.settings.resources.dir, scale)
    }

    /// Prepares a store's graph; searches from vertices of the highest degrees are checked.
    pub fn case(&self, store: &Store, name: String) -> Result<Rc<Case>> {
        let hubs = graph::largest_vertices(store, self.settings.sources as usize)?;
        let mut case = Case::new(store, name, 0, self.threads())?;
        case.sources = hubs.into_iter().filter(|&hub| hub != case.hub).collect();
        Ok(Rc::new(case))
    }

    /// The graph in a plain store.
    pub fn plain(&self) -> Result<Rc<Case>> {
        if self.plain.get().is_none() {
            let case = self.case(&self.store(&self.wanted())?, format!("R-MAT {}", self.settings.scale))?;
            self.plain.set(case).ok();
        }
        Ok(Rc::clone(self.plain.get().expect("just set")))
    }

    /// A store with weights, without in-lists.
    pub fn wanted_weighted(&self) -> Wanted {
        Wanted { weights: Some(WeightType::U32), in_edges: false, ..self.wanted() }
    }

    /// The graph in a store with weights.
    pub fn weighted(&self) -> Result<Rc<Case>> {
        if self.weighted.get().is_none() {
            let name = format!("R-MAT {} with weights", self.settings.scale);
            self.weighted.set(self.case(&self.store(&self.wanted_weighted())?, name)?).ok();
        }
        Ok(Rc::clone(self.weighted.get().expect("just set")))
    }

    /// Searches of a kind from the hubs.
    pub fn searches(&self, case: &Case, search: fn(topostream::VertexId) -> Work) -> Vec<Work> {
        let others = self.settings.sources as usize - 1;
        std::iter::once(case.hub).chain(case.sources.iter().copied().take(others)).map(search).collect()
    }

    /// Creates an empty outcome.
    pub fn outcome(&self, name: &'static str, expectation: &'static str) -> Outcome {
        let mut outcome = Outcome::new(name, expectation);
        outcome.verified(CHECK);
        let devices: Vec<String> = self.devices.iter().map(DeviceChoice::to_string).collect();
        outcome.notes.push(format!("devices: {}", devices.join(", ")));
        outcome
    }

    /// Keeps the prediction for a run.
    pub fn keep(&self, part: &'static str, run: &str, report: &RunReport) {
        self.predicted.borrow_mut().extend(Predicted::of(part, run, report));
    }
}
