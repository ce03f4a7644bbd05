//! The keys of `--tune` for runs and plans.

use crate::cli::tuning::Tuning;
use clap::Args;
use std::path::PathBuf;

/// Settings of a run that few need.
#[derive(Args)]
pub struct RunTuning {
    #[command(flatten)]
    pub engine: Tuning,
    /// While few vertices are active, process pages in memory again before others are read: on long graphs such as
    /// roads and grids, fewer bytes from disk for sssp, components and widest. Algorithms that compute all values anew,
    /// such as adsorption and pagerank, run as they do without it; bfs is refused
    #[arg(long, help_heading = "Pages")]
    pub asynchronous: bool,
    /// With `--output`: write only the N vertices with the largest values of the first column, the largest first;
    /// vertices without a value, such as unreached ones, are left out
    #[arg(long, value_name = "N", help_heading = "Results")]
    pub order_by_value: Option<usize>,
    /// With `--output`: make a folder of that path, with a file for each rank of `topostream-mpi`: the results of its
    /// own vertices [default format: Parquet]
    #[arg(long, conflicts_with = "order_by_value", help_heading = "Results")]
    pub output_parts: bool,
    /// Write a timeline (reads, checks, copies, kernels) to a file that ui.perfetto.dev and chrome://tracing open;
    /// takes 40 MiB of the memory
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub trace: Option<PathBuf>,
    /// Rates of this machine, for predictions [default: those that `topostream calibrate` saved]
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub calibration: Option<PathBuf>,
}
