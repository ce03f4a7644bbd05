//! `run components`.

use super::common::{Common, Shown};
use crate::cli::Outcome;
use clap::Args;
use topostream::Store;
use topostream::algorithms::Components;
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct ComponentsArgs {
    #[command(flatten)]
    common: Common,
}

impl ComponentsArgs {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.common.store)?;
        let directed = store.manifest().directed;
        self.common.run(store, Components { directed }, Shown::Components, cancel)
    }
}
