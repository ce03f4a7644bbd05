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
//!                  ├─▶ launches launches in flight                       │
//!                  ├─▶ sums     the cost of exact sums                   │
//!                  └─▶ cuda     plain arrays, nvcc           (optional) ─┘
//! ```

mod baseline;
mod batch;
mod bench;
mod bus;
mod cache;
mod cuda;
mod directions;
mod launches;
mod small;
mod ssd;
mod sums;
mod vram;
mod work;

use crate::error::Result;
use crate::outcome::Outcome;
use crate::series;
use bench::{Bench, Settings};
use clap::ValueEnum;

/// A GPU: in device memory, over the bus, from the SSD; caches, distributions, batches, sums; compared with CUDA
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Only these experiments
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<Experiment>,
    #[command(flatten)]
    pub settings: Settings,
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
    /// Launches in flight
    Launches,
    /// The cost of exact sums
    Sums,
    /// Compared with a CUDA program over plain arrays
    Cuda,
}

impl series::Experiment for Experiment {
    type Bench = Bench;

    fn obstacle(self, bench: &Bench) -> Option<&'static str> {
        (self == Self::Cuda && bench.settings.baseline.is_none()).then_some("no --baseline")
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
            Self::Launches => launches::run(bench),
            Self::Sums => sums::run(bench),
            Self::Cuda => cuda::run(bench),
        }
    }
}

/// Runs the requested experiments, or all.
///
/// # Errors
/// The first failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    let (bench, results) = (Bench::new(&options.settings), &options.settings.resources.results);
    series::run(&bench, &options.only, |outcome| results.join(format!("{}.json", outcome.name)))
}
