//! Several devices that share a run: their speedup, and the cost of exchanges.
//!
//! ```text
//!  stores (R-MAT) ─┬─▶ replicate    1, 2, … devices, each page over a bus      ─┐
//!                  ├─▶ assignments  modulo, contiguous                          │
//!                  ├─▶ scaling      strong and weak, pages in device memory     │
//!                  ├─▶ shard        plain store ∥ store in shards               ├─▶ devices-NAME-N-SCALE.json
//!                  ├─▶ refinement   bytes exchanged ∥ bytes of all values       │
//!  R-MAT and grids ─── mirrors      all values ∥ linked ∥ mirrored              │
//!  R-MAT and grids ─── exchange     all values ∥ maximal set ∥ changed          │
//!  R-MAT and grids ─── memory       values of all vertices ∥ of bordering ones  │
//!  uniform, grids ─┴─▶ capacity     the most vertices under a memory cap        │
//!  every run above ──▶ model        predicted ∥ measured           (optional)  ─┘
//! ```
//!
//! Compared runs alternate within a round: a slower minute of the machine slows all of them.

mod assignments;
mod bench;
mod capacity;
mod exchange;
mod memory;
mod mirrors;
mod model;
mod predicted;
mod pulled;
mod refinement;
mod replicate;
mod scaling;
mod shard;
mod sides;

use crate::error::Result;
use crate::outcome::Outcome;
use crate::rig::DeviceChoice;
use crate::series;
use bench::{Bench, Settings};
use clap::ValueEnum;

/// Several devices that share a run: strategies, assignments, shards, capacity, exchange, the cost model
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Only these experiments
    #[arg(value_name = "PART")]
    pub parts: Vec<Experiment>,
    /// Only these experiments, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    pub only: Vec<Experiment>,
    #[command(flatten)]
    pub settings: Settings,
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
    /// Searches and shortest paths, timed: all values exchanged, those that others read, those that have changed
    Exchange,
    /// The cost model's predictions for all runs
    Model,
}

impl series::Experiment for Experiment {
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
            Self::Exchange => exchange::run(bench),
            Self::Model => model::run(bench),
        }
    }

    fn obstacle(self, bench: &Bench) -> Option<&'static str> {
        match self {
            Self::Model if bench.rates.is_none() => Some("no --rates"),
            Self::Capacity | Self::Memory if bench.devices.contains(&DeviceChoice::Cpu) => {
                Some("a CPU has no device memory to limit")
            }
            Self::Scaling
            | Self::Assignments
            | Self::Shard
            | Self::Refinement
            | Self::Mirrors
            | Self::Exchange
            | Self::Memory
                if bench.devices.len() < 2 =>
            {
                Some("at least two devices are needed")
            }
            _ => None,
        }
    }
}

/// Runs the requested experiments, or all.
///
/// # Errors
/// The first failure, including a wrong answer.
pub fn run(options: &Options) -> Result<()> {
    let bench = Bench::new(&options.settings)?;
    let wanted: Vec<Experiment> = options.parts.iter().chain(&options.only).copied().collect();
    series::run(&bench, &wanted, |outcome| {
        let file = format!("{}-{}-{}.json", outcome.name, bench.devices.len(), options.settings.scale);
        options.settings.resources.results.join(file)
    })
}
