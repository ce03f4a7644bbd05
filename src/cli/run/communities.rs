//! `run communities` and `run clustering`.

use super::common::{Common, Shown};
use crate::cli::Outcome;
use crate::cli::args::size;
use clap::Args;
use topostream::Store;
use topostream::algorithms::{Clustering, LabelPropagation};
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct CommunitiesArgs {
    /// Stop after this many iterations at the latest
    #[arg(long, default_value_t = 10, value_name = "N")]
    iterations: u32,
    /// Memory for counting labels, in main memory and on each device: more is faster [default: a quarter of --memory, at most
    /// 1GiB]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    table: Option<u64>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub struct ClusteringArgs {
    /// Memory for lists of neighbours, in main memory and on each device: more is faster [default: a quarter of --memory, at
    /// most 1GiB]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    table: Option<u64>,
    /// How many vertices with the highest coefficients to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    common: Common,
}

impl CommunitiesArgs {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.common.store)?;
        let Self { iterations, table, common } = self;
        let shown = Shown::Communities;
        common.run_by(
            store,
            |engine, each| LabelPropagation::run(engine, iterations, table, each),
            shown,
            |_, _| Ok(String::new()),
            cancel,
        )
    }
}

impl ClusteringArgs {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.common.store)?;
        let Self { table, top, common } = self;
        let shown = Shown::Clustering(top);
        common.run_by(
            store,
            |engine, each| Clustering::run(engine, table, each),
            shown,
            |_, _| Ok(String::new()),
            cancel,
        )
    }
}
