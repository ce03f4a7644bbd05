//! `run components` and `run scc`.

use super::common::{Common, Shown};
use crate::cli::Outcome;
use clap::Args;
use topostream::Store;
use topostream::algorithms::{Components, Scc};
use topostream_tools::progress::Cancel;

#[derive(Args)]
pub struct ComponentsArgs {
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub struct SccArgs {
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

impl SccArgs {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.common.store)?;
        self.common.run(store, Scc, Shown::Components, cancel)
    }
}
