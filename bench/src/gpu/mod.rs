//! GPUs: each figure is compared with its upper bound, measured in the same run.
//!
//! ```text
//!  stores (R-MAT) ─┬─▶ vram     everything in device memory             ─┐
//!                  ├─▶ bus      everything in main memory    ∥ bus rate  │
//!                  ├─▶ ssd      nothing kept                 ∥ raw reads ├─▶ an Outcome each ─▶ gpu-NAME.json
//!                  ├─▶ directions   searches from disk   ∥ the better    │
//!                  ├─▶ cache    0 to 100% in device memory               │
//!                  ├─▶ work     distributions × densities                │
//!                  ├─▶ batch    pages of a launch                        │
//!                  ├─▶ sums     the cost of exact sums                   │
//!                  └─▶ cuda     plain arrays, nvcc           (optional) ─┘
//! ```

pub(crate) mod api;
mod batch;
mod bus;
mod cache;
pub(crate) mod case;
mod cuda;
mod directions;
mod small;
mod ssd;
mod sums;
mod vram;
mod work;

use crate::Result;
use crate::experiments;
use crate::graph::{Order, Wanted};
use crate::measure::Spread;
use crate::outcome::Outcome;
use crate::resources::Resources;
use api::{DeviceChoice, Measured, Setup, Work};
use case::Case;
use clap::ValueEnum;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use topostream::report::RunReport;

/// A GPU: in device memory, over the bus, from the SSD; caches, distributions, batches, sums; compared with CUDA
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scales of R-MAT graphs of edge factor 16 [default: 24,26]
    #[arg(long, value_delimiter = ',')]
    pub scale: Vec<u32>,
    /// The scale of the graphs of other densities [default: 22]
    #[arg(long)]
    pub density_scale: Option<u32>,
    /// Only these experiments
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<Experiment>,
    /// The orders of vertices in the graphs of edge factor 16, measured one after another
    #[arg(long, value_enum, value_delimiter = ',', default_value = "natural")]
    pub order: Vec<Order>,
    /// Small graphs and few runs, as a functional check
    #[arg(long)]
    pub quick: bool,
    /// The devices, as for `topostream run --device`
    #[arg(long, default_value = "gpu")]
    pub device: DeviceChoice,
    /// bench/cuda/baseline.cu, compiled; without it there is no comparison with CUDA
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Number of measurements after a warm-up [default: 5, quick: 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    #[command(flatten)]
    pub resources: Resources,
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Everything in device memory
    Vram,
    /// Everything in main memory, no device cache
    #[value(alias = "pcie")]
    Bus,
    /// Runs of thousands of small supersteps
    Small,
    /// From the SSD, with small buffers
    Ssd,
    /// Directions of searches from disk, by time, by edges, and top-down
    Directions,
    /// 0 to 100% of the pages in device memory
    Cache,
    /// Distributions of work, at several densities
    Work,
    /// Pages per launch
    Batch,
    /// The cost of exact sums
    Sums,
    /// Compared with a CUDA program over plain arrays
    Cuda,
}

impl experiments::Experiment for Experiment {
    type Bench = Bench;

    fn obstacle(self, bench: &Bench) -> Option<&'static str> {
        (self == Self::Cuda && bench.options.baseline.is_none()).then_some("no --baseline")
    }

    fn run(self, bench: &Bench) -> Result<Outcome> {
        match self {
            Self::Vram => vram::run(bench),
            Self::Bus => bus::run(bench),
            Self::Small => small::run(bench),
            Self::Ssd => ssd::run(bench),
            Self::Directions => directions::run(bench),
            Self::Cache => cache::run(bench),
            Self::Work => work::run(bench),
            Self::Batch => batch::run(bench),
            Self::Sums => sums::run(bench),
            Self::Cuda => cuda::run(bench),
        }
    }
}

/// Random sources of searches, as in Graph500's kernel but fewer.
const SOURCES: usize = 16;

/// Repeated runs of the same work.
type Measurements = Rc<Vec<Measured>>;

/// The shared state of all experiments.
pub struct Bench {
    options: Options,
    cases: RefCell<HashMap<(u32, u64, Order), Rc<Case>>>,
    /// The measurements with everything in device memory, by graph and work.
    in_vram: RefCell<HashMap<(String, Work), Measurements>>,
    /// The output of the CUDA baseline, by graph.
    cuda: RefCell<HashMap<String, Rc<cuda::Figures>>>,
}

impl Bench {
    /// The scales of the graphs of edge factor 16.
    fn scales(&self) -> Vec<u32> {
        match (&self.options.scale[..], self.options.quick) {
            ([], true) => vec![14, 16],
            ([], false) => vec![24, 26],
            (scales, _) => scales.to_vec(),
        }
    }

    fn density_scale(&self) -> u32 {
        self.options.density_scale.unwrap_or(if self.options.quick { 13 } else { 22 })
    }

    fn runs(&self) -> u32 {
        self.options.runs.unwrap_or(if self.options.quick { 1 } else { 5 })
    }

    /// For work that takes seconds each time: two runs fewer.
    fn fewer_runs(&self) -> u32 {
        self.runs().saturating_sub(2).max(1)
    }

    fn sources(&self) -> usize {
        if self.options.quick { 3 } else { SOURCES }
    }

    fn threads(&self) -> usize {
        self.options.resources.threads()
    }

    /// The device with default options.
    fn setup(&self) -> Setup {
        Setup::new(self.options.device.clone(), self.threads())
    }

    /// The R-MAT graph of a scale, with this many edges per vertex and its vertices in an order.
    fn case(&self, scale: u32, edge_factor: u64, order: Order) -> Result<Rc<Case>> {
        if let Some(case) = self.cases.borrow().get(&(scale, edge_factor, order)) {
            return Ok(Rc::clone(case));
        }
        let resources = &self.options.resources;
        let store = Wanted { order, ..resources.wanted() }.rmat_of(&resources.dir, scale, edge_factor)?;
        let ordered = if order == Order::Degree { ", degree order" } else { "" };
        let name = format!("R-MAT {scale}, 1:{edge_factor}{ordered}");
        let case = Rc::new(Case::new(&store, name, self.sources(), self.threads())?);
        self.cases.borrow_mut().insert((scale, edge_factor, order), Rc::clone(&case));
        Ok(case)
    }

    /// The graphs of edge factor 16.
    fn graphs(&self) -> Result<Vec<Rc<Case>>> {
        let orders = &self.options.order;
        let graphs = self.scales().into_iter().flat_map(|scale| orders.iter().map(move |&order| (scale, order)));
        graphs.map(|(scale, order)| self.case(scale, crate::graph::EDGE_FACTOR, order)).collect()
    }

    /// Work with everything in device memory, measured once per process.
    fn in_vram(&self, case: &Case, work: Work) -> Result<Measurements> {
        let key = (case.name.clone(), work);
        if let Some(measured) = self.in_vram.borrow().get(&key) {
            return Ok(Rc::clone(measured));
        }
        let measured = Rc::new(case.measure(&self.setup(), work, self.runs())?);
        self.in_vram.borrow_mut().insert(key, Rc::clone(&measured));
        Ok(measured)
    }

    /// Creates an empty outcome.
    fn outcome(&self, name: &'static str, expectation: &'static str) -> Outcome {
        let mut outcome = Outcome::new(name, expectation);
        outcome.verified(case::CHECK);
        outcome
    }
}

/// PageRank both ways and both kinds of search from the hub.
fn all_work(case: &Case) -> [Work; 4] {
    [Work::Push, Work::Pull, Work::TopDown(case.hub), Work::Optimizing(case.hub)]
}

/// The spread of a figure over reports.
fn over_runs(reports: &[RunReport], of: impl Fn(&RunReport) -> f64) -> Spread {
    Spread::over(reports, of)
}

/// The spread of a figure.
fn over(measured: &[Measured], of: impl Fn(&Measured) -> f64) -> Spread {
    Spread::over(measured, of)
}

/// Runs the requested experiments, or all.
///
/// # Errors
/// The first failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    let (cases, in_vram, cuda) = Default::default();
    let bench = Bench { options: options.clone(), cases, in_vram, cuda };
    experiments::run(&bench, &options.only, |outcome| options.resources.results.join(format!("{}.json", outcome.name)))
}
