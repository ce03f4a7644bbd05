//! `run components` and `run scc`.

use super::common::{Common, Shown};
use super::job::Plain;
use crate::cli::Failure;
use clap::Args;
use topostream::Store;
use topostream::algorithms::{Components, Scc};

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

impl Plain for ComponentsArgs {
    type Algorithm = Components;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, store: &Store) -> Result<Components, Failure> {
        Ok(Components { directed: store.manifest().directed })
    }

    fn shown(&self) -> Shown {
        Shown::Components
    }
}

impl Plain for SccArgs {
    type Algorithm = Scc;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, _store: &Store) -> Result<Scc, Failure> {
        Ok(Scc)
    }

    fn shown(&self) -> Shown {
        Shown::Components
    }
}
