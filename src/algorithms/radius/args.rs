//! `run radius`.

use super::common::{Common, Shown};
use super::job::Plain;
use crate::cli::Failure;
use clap::Args;
use topostream::Store;
use topostream::algorithms::Radius;

#[derive(Args)]
pub struct RadiusArgs {
    /// How many passes to average: the standard error of the number of neighbours is 25 % with 1, 12 % with 4, 6 % with 16
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    passes: u32,
    /// Keep two bitmaps a vertex instead of eight: less memory, for GPUs that bind fewer than 22 buffers, and twice the error
    #[arg(long)]
    narrow: bool,
    /// What chance begins with
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u32,
    #[command(flatten)]
    common: Common,
}

impl Plain for RadiusArgs {
    type Algorithm = Radius;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, _store: &Store) -> Result<Radius, Failure> {
        let make = if self.narrow { Radius::narrow } else { Radius::new };
        Ok(make(self.passes, self.seed))
    }

    fn shown(&self) -> Shown {
        Shown::Largest
    }
}
