//! `run kcore`.

use super::common::{Common, Shown};
use crate::cli::Outcome;
use clap::Args;
use topostream::algorithms::KCore;
use topostream::{Direction, Store};
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct KCoreArgs {
    /// Never read in-lists, even where the store has them: every round reads all out-lists
    #[arg(long)]
    out_lists: bool,
    #[command(flatten)]
    common: Common,
}

impl KCoreArgs {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.common.store)?;
        let directed = store.manifest().directed;
        let in_lists = directed && !self.out_lists && store.topology(Direction::In).is_some();
        self.common.run(store, KCore { directed, in_lists }, Shown::Largest, cancel)
    }
}
