//! `run communities` and `run clustering`.

use super::common::{Common, Shown};
use super::job::Job;
use crate::cli::args::size;
use crate::cli::{Failure, Outcome};
use clap::Args;
use topostream::algorithms::{Clustering, LabelPropagation};
use topostream::engine::Observer;
use topostream::model::algorithm::Algorithm;
use topostream::{Engine, Store};
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

impl Job for CommunitiesArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let run =
            |engine: &Engine, each: &mut Observer<'_>| LabelPropagation::run(engine, self.iterations, self.table, each);
        self.common.run_by(store, run, Shown::Communities, |_, _| Ok(String::new()), cancel)
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(Box::new(LabelPropagation::new(engine, self.iterations, self.table)?))
    }

    fn left_out(&self) -> Option<&'static str> {
        Some("not in the times: a directed graph without in-lists is read once before, to count edges")
    }
}

impl Job for ClusteringArgs {
    fn common(&self) -> &Common {
        &self.common
    }

    fn run(&self, store: Store, cancel: &Cancel) -> Outcome {
        let run = |engine: &Engine, each: &mut Observer<'_>| Clustering::run(engine, self.table, each);
        self.common.run_by(store, run, Shown::Clustering(self.top), |_, _| Ok(String::new()), cancel)
    }

    fn planned(&self, engine: &Engine) -> Result<Box<dyn Algorithm>, Failure> {
        Ok(Box::new(Clustering::planned(engine, self.table)?))
    }

    fn left_out(&self) -> Option<&'static str> {
        Some(
            "memory is the most that a table of neighbours can take: some of them may turn out the same. Not in the times: before each \
             superstep a table is made, for which a directed graph is read twice, an undirected one once and again in parts",
        )
    }
}
