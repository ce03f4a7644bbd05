//! `run radius`.

use super::common::{Common, Shown};
use crate::cli::Outcome;
use clap::Args;
use topostream::Store;
use topostream::algorithms::Radius;
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct RadiusArgs {
    /// How many passes to average: the standard error of the number of neighbours is 25 % with 1, 12 % with 4, 6 % with 16
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    passes: u32,
    /// What chance begins with
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u32,
    #[command(flatten)]
    common: Common,
}

impl RadiusArgs {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.common.store)?;
        self.common.run(store, Radius::new(self.passes, self.seed), Shown::Largest, cancel)
    }
}
